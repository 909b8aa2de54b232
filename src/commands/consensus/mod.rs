//! `--consense`: the consensus of all trees of a file.

mod options;
mod run;

pub(crate) use options::WORD;
