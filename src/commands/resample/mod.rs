//! `--bsmsa`: the alignments of bootstrap replicates.

mod run;

pub(crate) use run::Resample;
