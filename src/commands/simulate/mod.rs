//! `simulate`: sequences along a tree, optionally with missing genes.

mod options;
mod run;

pub(crate) use options::WORD;
