//! Pure mathematics without any phylogenetics: discretised gamma
//! distribution, the normal distribution, optimisers in one and in several dimensions, weights of mixtures, eigensystems.
//!
//! Everything here gives the same bits on every machine: transcendental functions are those of `mlsearch_kernels::elementary` or come
//! from the pure-Rust `libm`, never from the platform, and nothing depends on the CPU found at run time.

mod bfgs;
mod eigen;
mod gamma;
mod gamma_fit;
mod mixture_weights;
mod newton;
mod normal;

pub use gamma::GammaMode;
pub(crate) use gamma_fit::GammaFit;
pub use gamma_fit::{Gamma, GammaPrior};

pub use bfgs::Bfgs;
pub use eigen::symmetric_eigen;
pub use gamma::discrete_gamma;
pub use mixture_weights::MixtureLikelihoods;
pub use newton::Newton;
pub use normal::{normal_density, normal_tail};
