//! The page of a finished run, made again from its JSON file.

mod options;
mod run;

pub(crate) use options::WORD;
