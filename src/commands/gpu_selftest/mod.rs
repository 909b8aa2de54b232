//! `mlsearch gpu-selftest`: whether cards give the processor's bits, and how fast they are.

mod run;

pub(crate) use run::GpuSelftest;
