//! Distances on NVIDIA GPUs, bit-identical to those of the processor. The kernels are in `cuda/distances.cu` at the root of the
//! repository.
//!
//! Without the feature `cuda`, only a refusal remains (`disabled`).

#[cfg(not(feature = "cuda"))]
mod disabled;
#[cfg(feature = "cuda")]
mod pairs;

#[cfg(not(feature = "cuda"))]
pub(super) use disabled::PairGpus;
#[cfg(feature = "cuda")]
pub(super) use pairs::PairGpus;
