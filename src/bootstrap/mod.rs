//! Bootstrap: resampling of columns, and the support of the branches of a tree by replicates.

mod support;
mod weights;

pub(crate) use support::map_support;
pub(crate) use weights::bootstrap_weights;
