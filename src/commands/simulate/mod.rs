//! `simulate`: sequences along a tree, optionally with missing partitions.

mod options;
mod run;

pub(crate) use options::WORD;
