//! `--bsconverge`: whether the replicate trees of a file are enough.

mod options;
mod run;

pub(crate) use options::WORD;
