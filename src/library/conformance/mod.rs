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
