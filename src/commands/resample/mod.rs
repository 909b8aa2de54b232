//! `--bsmsa`: the alignments of bootstrap replicates.

mod options;
mod run;

pub(crate) use options::WORD;
