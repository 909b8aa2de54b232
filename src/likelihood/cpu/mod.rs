//! The engine on the processor: kernels per instruction set, units of blocks, worker threads.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod body;
mod constant_patterns;
mod derivatives;
mod engine;
mod kernels;
mod model_block;
mod scalar;
mod select;
mod sweep;
mod unit;
mod workers;

pub use kernels::Kernels;
pub use model_block::{empty_model, fill_model};
pub use select::{all_kernels, select_kernels};
pub use workers::CpuEngine;
