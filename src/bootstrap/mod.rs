//! Bootstrap: resampling of alignment columns, and branch support from replicate trees.

mod support;
mod weights;

pub(crate) use support::map_support;
pub(crate) use weights::bootstrap_weights;
