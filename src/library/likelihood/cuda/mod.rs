//! The engine for NVIDIA GPUs: it is bit-identical to the CPU engine. Its kernels are in `cuda/` at the root of the
//! repository (`kernels`, `launch`); this folder plans programs of work for them (`program`, `batch`, `tape`, `sweep`), plans
//! its memory (`memory`, `recomputation`), keeps the data of partitions on a GPU (`partition`, `gpu`), and measures GPUs
//! (`rates`). Derivatives in P-matrices, which are rare, are computed by the processor (`pmatrix_gradient`). What speaks to the driver is in `crate::gpu`.
//!
//! Without the feature `cuda`, only an entry remains that refuses with a message (`disabled`).

#[cfg(feature = "cuda")]
mod batch;
#[cfg(not(feature = "cuda"))]
mod disabled;
#[cfg(feature = "cuda")]
mod engine;
mod error;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod partition;
#[cfg(feature = "cuda")]
mod pmatrix_gradient;
#[cfg(feature = "cuda")]
mod program;
#[cfg(feature = "cuda")]
mod rates;
#[cfg(feature = "cuda")]
mod recomputation;
#[cfg(feature = "cuda")]
mod sweep;
#[cfg(feature = "cuda")]
mod tape;

#[cfg(not(feature = "cuda"))]
pub use disabled::{ENTRY, describe, free_bytes, rates};
#[cfg(feature = "cuda")]
pub use engine::{ENTRY, describe, free_bytes, rates};
