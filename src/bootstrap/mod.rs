//! Bootstrap: resampling of alignment columns, and branch support from replicate trees.

mod kind;
mod support;
mod transfer;
mod weights;

pub(crate) use kind::{Support, SupportKind};
pub(crate) use support::map_support;
pub(crate) use transfer::map_transfer;
pub(crate) use weights::bootstrap_weights;
