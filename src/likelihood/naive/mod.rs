//! The slow truth: textbook formulas without blocks, tables, kernels or threads, for tests. [`NaiveEngine`]
//! keeps the contract of every engine; `felsenstein` does without that, too.

mod engine;
mod felsenstein;
mod rows;

pub use engine::{ENTRY, NaiveEngine};
pub use felsenstein::{naive_log_likelihood, naive_pattern_log_likelihoods};
