//! `--bsconverge`: whether the replicate trees of a file are enough.

mod run;

pub(crate) use run::Converge;
