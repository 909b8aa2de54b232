//! Distances: between trees over the same taxa.
//!
//! This room does not depend on likelihoods.

mod robinson_foulds;

pub use robinson_foulds::{RfDistance, RfMatrix, rf_distance, rf_matrix};
