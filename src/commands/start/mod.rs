//! `--start`: starting trees alone.

mod options;
mod run;

pub(crate) use options::WORD;
