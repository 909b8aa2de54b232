//! Bootstrap: resampling of columns, and the support of the branches of a tree by replicates.

mod support;
mod weights;

pub use support::map_support;
pub use weights::bootstrap_weights;
