//! Bootstrap: what replicates say about the branches of a tree.

mod support;

pub use support::map_support;
