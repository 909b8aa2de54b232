//! The CPU engine: kernels for each instruction set, units of blocks, worker threads.

mod arena;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod body;
mod clvs;
mod derivatives;
mod engine;
mod insertion;
mod kernels;
mod limit;
mod pmatrices;
mod recomputation;
mod repeats;
mod scalar;
mod select;
mod states;
mod unit;
mod workers;

pub use engine::ENTRY;
pub use kernels::Kernels;
pub use select::{INSTRUCTION_SET_HELP, INSTRUCTION_SETS, all_kernels, select_kernels, why_slow};
pub use workers::CpuEngine;
