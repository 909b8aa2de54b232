//! Reference implementations for tests: textbook formulas without blocks, tables, kernels or threads.
//! [`NaiveEngine`] fulfils the contract of engines; `felsenstein` is independent of it.

mod engine;
mod felsenstein;
mod rows;

pub use engine::{ENTRY, NaiveEngine};
pub use felsenstein::{naive_log_likelihood, naive_pattern_log_likelihoods};
