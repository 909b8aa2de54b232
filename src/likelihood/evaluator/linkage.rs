//! How genes share branch lengths.

use serde::{Deserialize, Serialize};

/// How genes share branch lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BrlenLinkage {
    /// One set of lengths for all genes.
    Linked,
    /// One set of lengths, multiplied by a scaler per gene.
    Scaled,
    /// Each gene has its own lengths on its restricted tree.
    Unlinked,
}

impl BrlenLinkage {
    /// True if each gene has its own lengths.
    pub fn has_own_lengths(self) -> bool {
        self == BrlenLinkage::Unlinked
    }

    /// True if genes share lengths up to a scaler per gene.
    pub fn has_scalers(self) -> bool {
        self == BrlenLinkage::Scaled
    }
}
