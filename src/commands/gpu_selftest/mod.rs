//! `mlsearch gpu-selftest`: whether GPUs give the processor's bits, and how fast they are.

mod compare;
mod measure;
mod options;
mod report;
mod run;

pub(crate) use options::WORD;
