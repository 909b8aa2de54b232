//! `--evaluate`: branch lengths and models on given trees.

mod options;
mod run;

pub(crate) use options::{ANCESTRAL, TEST, WORD};
