//! NVIDIA GPUs, and the only part of mlsearch that speaks to their driver: devices and what is free on them (`device`), memory
//! (`buffer`), compiled kernels (`module`), and launches (`launch`). What is computed, and with which kernels, is the affair of the
//! rooms above: `distance/cuda` and `likelihood/cuda`.
//!
//! Without the feature `cuda`, only the errors remain (`error`), and a refusal (`disabled`).

#[cfg(feature = "cuda")]
mod buffer;
#[cfg(feature = "cuda")]
mod device;
#[cfg(not(feature = "cuda"))]
mod disabled;
mod error;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod module;

#[cfg(feature = "cuda")]
pub(crate) use buffer::Buffer;
#[cfg(feature = "cuda")]
pub use device::{Device, Known, look_at, mebibytes, not_enough, numbers};
#[cfg(not(feature = "cuda"))]
pub(crate) use disabled::not_built;
pub use error::{GpuError, NAME, Result};
#[cfg(feature = "cuda")]
pub(crate) use launch::{Grid, launch, launch_together};
#[cfg(feature = "cuda")]
pub(crate) use module::Module;
