//! Tree search: from starting trees to a maximum-likelihood tree.
//!
//! Nothing here prints, writes a file or knows which device computes likelihoods.

mod observer;

pub use observer::{Event, Observer, Silent};
