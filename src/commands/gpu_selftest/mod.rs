//! `mlsearch gpu-selftest`: whether cards give the processor's bits, and how fast they are.

mod options;
mod report;
mod run;

pub(crate) use options::WORD;
