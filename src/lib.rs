//! mlsearch: maximum-likelihood phylogenetic tree search.

pub mod error;
pub mod rng;
pub mod taxa;

pub mod tree;

pub mod distance;

pub mod bootstrap;

pub mod parsimony;
