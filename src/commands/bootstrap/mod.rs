//! `--bootstrap`: searches on resampled columns.

mod options;
mod run;

pub(crate) use options::WORD;
