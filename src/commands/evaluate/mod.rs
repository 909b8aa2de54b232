//! `--evaluate`: branch lengths and models on given trees.

mod run;

pub(crate) use run::Evaluate;
