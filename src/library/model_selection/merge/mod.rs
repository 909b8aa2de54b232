//! Merging of partitions: which of them are better described by one model together (Lanfear, Calcott, Ho & Guindon 2012, *Mol.
//! Biol. Evol.* 29:1695; Lanfear, Calcott, Kainer, Mayer & Stamatakis 2014, *BMC Evol. Biol.* 14:82).
//!
//! A *subset* is a set of the partitions that were given, with one model; a *scheme* divides all partitions into subsets.
//! [`Merging`] begins with a subset for each partition, asks for fits of unions of two subsets, and merges those whose union has the
//! better criterion; [`MergeMethod`] says which unions are asked for, by the dissimilarity of [`SubsetTraits`].
//!
//! This module fits nothing itself.

mod dissimilarity;
mod merging;
#[cfg(test)]
mod merging_tests;
mod method;

pub use dissimilarity::SubsetTraits;
pub use merging::{Asked, Merge, Merging, SchemeParts, SubsetScore};
pub use method::MergeMethod;
