//! `--rfdist`: distances between all trees of a file, or between those of two files.

mod run;

pub(crate) use run::Compare;
