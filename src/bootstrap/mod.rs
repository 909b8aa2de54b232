//! Bootstrap: resampling of columns, and what replicates say about the branches of a tree.

mod support;
mod weights;

pub use support::map_support;
pub use weights::bootstrap_weights;
