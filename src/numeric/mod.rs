//! Pure mathematics without any phylogenetics: lane-wise logarithm and exponential, discretised gamma
//! distribution, optimisers in one and in several dimensions, eigensystems.
//!
//! Everything here gives the same bits on every machine: transcendental functions are defined here or come
//! from the pure-Rust `libm`, never from the platform, and nothing depends on the CPU found at run time.

mod bfgs;
mod brent;
mod eigen;
pub mod elementary;
mod gamma;
mod newton;

pub use bfgs::Bfgs;
pub use brent::Brent;
pub use eigen::symmetric_eigen;
pub use gamma::{GammaMode, discrete_gamma};
pub use newton::Newton;
