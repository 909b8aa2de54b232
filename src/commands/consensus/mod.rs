//! `--consense`: the consensus of all trees of a file.

mod run;

pub(crate) use run::Consensus;
