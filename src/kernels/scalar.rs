//! The kernels compiled for the target's baseline instruction set: the reference.

use super::kernels::instantiate_kernels;

/// Available on all machines. Slow on x86-64, where each fused multiply-add is then a function call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scalar;

instantiate_kernels!(Scalar, "scalar", 4, inline);
