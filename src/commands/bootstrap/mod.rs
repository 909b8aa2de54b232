//! `--bootstrap`: searches on resampled columns.

mod run;

pub(crate) use run::Bootstrap;
