//! The kernels without any instruction set beyond the target's baseline: the reference.

use super::kernels::instantiate_kernels;

/// Works on every machine. Slow on x86-64, where a fused multiply-add is then a function call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scalar;

instantiate_kernels!(Scalar, "scalar", 4, inline);
