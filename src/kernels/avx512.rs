//! The kernels compiled for AVX-512.

use super::kernels::instantiate_kernels;

/// Proof that this machine has AVX-512 F, DQ and VL, AVX2 and FMA: constructed only by [`Avx512::detect`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    /// The proof, if the machine has these instructions.
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma"))
        .then_some(Avx512(()))
    }
}

instantiate_kernels!(
    Avx512,
    "avx512",
    8,
    target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")
);
