//! Distances: between trees over the same taxa.
//!
//! No likelihood is known here.

mod robinson_foulds;

pub use robinson_foulds::{RfDistance, RfMatrix, rf_distance, rf_matrix};
