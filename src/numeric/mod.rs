//! Pure mathematics without any phylogenetics: discretised gamma distribution, minimisers in one and
//! in several dimensions, eigensystems.
//!
//! Everything here gives the same bits on every machine: transcendental functions come from the
//! pure-Rust `libm`, never from the platform, and nothing depends on the CPU found at run time.

mod bfgs;
mod brent;
mod eigen;
mod gamma;

pub use bfgs::Bfgs;
pub use brent::Brent;
pub use eigen::symmetric_eigen;
pub use gamma::{GammaMode, discrete_gamma};
