//! mlsearch: maximum-likelihood phylogenetic tree search.

pub mod error;
pub mod rng;
pub mod taxa;

pub mod alphabet;
pub mod tree;

pub mod alignment;

pub mod partition;
