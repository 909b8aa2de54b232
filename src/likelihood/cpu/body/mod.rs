//! The kernels, written once for any number of states and any instruction set.
//!
//! Every function here is `#[inline(always)]` and generic over the number of states, so that the
//! thin wrappers in `scalar`, `avx2` and `avx512` compile it for their instruction set. The compiler
//! never reorders floating point, so all give the same bits.

pub mod derivatives;
pub mod likelihood;
pub mod operand;
pub mod partials;
pub mod pmatrix;
