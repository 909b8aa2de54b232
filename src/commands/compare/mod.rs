//! `--rfdist`: distances between all trees of a file, or between those of two files.

mod options;
mod report;
mod run;

pub(crate) use options::WORD;
