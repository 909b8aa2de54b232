//! A tree drawn for a publication.

mod clades;
mod options;
mod run;

pub(crate) use options::WORD;
