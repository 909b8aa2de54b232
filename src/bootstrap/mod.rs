//! Bootstrap: resampling of columns, and what replicates say about the branches of a tree.

mod support;
mod weights;

pub(crate) use support::map_support;
pub(crate) use weights::bootstrap_weights;
