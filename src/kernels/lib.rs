//! The likelihood kernels of mlsearch, compiled for each instruction set: P-matrices, updates of conditional likelihood
//! vectors (CLVs), likelihoods at an edge and of insertions, sumtables and derivatives. `body` has their formulas;
//! all sets give the same bits.
//!
//! A crate of its own for the compiler: kernels need all their functions in one unit, where each is inlined, and everything
//! else is compiled in half the time in several units. Only mlsearch uses it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod body;
pub mod elementary;
mod kernels;
pub mod layout;
mod model_block;
mod scalar;
pub mod scaling;

pub use kernels::{Kernels, PartitionKernels};
pub use model_block::ModelBlock;

/// A state or a set of states of a tip, as a number: an index into the partition's list of codes.
pub type Code = u16;

/// All sets that this machine can run, fastest first.
pub fn all_kernels() -> Vec<Box<dyn Kernels>> {
    let mut sets: Vec<Box<dyn Kernels>> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(set) = avx512::Avx512::detect() {
            sets.push(Box::new(set));
        }
        if let Some(set) = avx2::Avx2::detect() {
            sets.push(Box::new(set));
        }
    }
    sets.push(Box::new(scalar::Scalar));
    sets
}
