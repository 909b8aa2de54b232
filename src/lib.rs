//! mlsearch: maximum-likelihood phylogenetic tree search.

pub mod error;
pub mod numeric;
pub mod rng;
pub mod taxa;

pub mod alphabet;
pub mod parallel;
pub mod tree;

pub mod alignment;
pub mod model;

pub mod partition;

pub mod distance;
pub mod likelihood;
pub mod parsimony;

pub mod bootstrap;
