//! What every engine of likelihoods must compute alike: partitions of all kinds, and every verb on them. The tests and
//! `mlsearch gpu-selftest` compare the numbers of one engine with those of another.
//!
//! A [`CaseShape`] says what is simulated; a [`Case`] is the tree with its partitions; [`everything`] has an engine go through all
//! verbs and returns [`Found`], lists of numbers with what they are.

mod cases;
mod shapes;
mod verbs;

pub use cases::{Case, Sampled};
pub use shapes::{CASES, CaseShape, GTR, HKY_I, Lengths, Shape, WIDE_CASES};
pub use verbs::{Found, everything, gradients, regrafts};

/// True if the tests go through all their cases, however long that takes: if the environment has `MLSEARCH_LONG`.
pub fn all_cases_are_asked() -> bool {
    std::env::var_os("MLSEARCH_LONG").is_some()
}

/// The cases that a test goes through: every `step`-th from the one with the index `first` on, or all if these are
/// [asked](all_cases_are_asked).
pub fn some_of<T>(cases: &[T], first: usize, step: usize) -> impl Iterator<Item = &T> {
    let (first, step) = if all_cases_are_asked() { (0, 1) } else { (first, step) };
    cases.iter().skip(first).step_by(step)
}
