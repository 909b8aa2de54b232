//! `simulate`: sequences along a tree, optionally with missing genes.

mod run;

pub(crate) use run::Simulate;
