//! mlsearch: maximum-likelihood phylogenetic tree search.

pub mod error;
pub mod rng;
pub mod taxa;

pub mod tree;

pub mod simulate;

pub mod search;

pub mod output;

pub mod run;

pub mod cli;
