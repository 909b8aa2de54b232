//! `--terrace`: the trees that give every partition the same tree as the given one.

mod options;
mod report;
mod run;

pub(crate) use options::WORD;
