//! The kernels compiled for AVX2 and FMA.

use super::kernels::instantiate_kernels;

/// Proof that this machine has AVX2 and FMA: constructed only by [`Avx2::detect`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The proof, if the machine has these instructions.
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }
}

instantiate_kernels!(Avx2, "avx2", 4, target_feature(enable = "avx2,fma"));
