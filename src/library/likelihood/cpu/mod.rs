//! The CPU engine: units of blocks, and worker threads.

mod arena;
mod clvs;
mod derivatives;
mod edge;
mod engine;
mod insertion;
mod limit;
mod pmatrices;
mod pmatrix_gradient;
mod recomputation;
mod repeats;
mod select;
mod states;
mod unit;
mod workers;

pub use engine::ENTRY;
pub use mlsearch_kernels::{Kernels, all_kernels, body};
pub use select::{INSTRUCTION_SET_HELP, INSTRUCTION_SETS, select_kernels, why_slow};
pub use workers::{CpuEngine, Part};
