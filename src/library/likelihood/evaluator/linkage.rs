//! How partitions share branch lengths.

use serde::{Deserialize, Serialize};

/// How partitions share branch lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BrlenLinkage {
    /// One set of lengths for all partitions.
    Linked,
    /// One set of lengths, multiplied by a scaler per partition.
    Scaled,
    /// Each partition has its own lengths on its restricted tree.
    Unlinked,
}

impl BrlenLinkage {
    /// True if each partition has its own lengths.
    pub fn has_own_lengths(self) -> bool {
        self == BrlenLinkage::Unlinked
    }

    /// True if partitions share lengths up to a scaler per partition.
    pub fn has_scalers(self) -> bool {
        self == BrlenLinkage::Scaled
    }
}
