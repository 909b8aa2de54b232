//! How genes share branch lengths.

/// How genes share branch lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrlenLinkage {
    /// One set of lengths for all genes.
    Linked,
    /// One set of lengths, multiplied by a scaler per gene.
    Scaled,
    /// Every gene has its own lengths on its own restricted tree.
    Unlinked,
}

impl BrlenLinkage {
    /// True if every gene has lengths of its own, on its own tree.
    pub fn has_own_lengths(self) -> bool {
        self == BrlenLinkage::Unlinked
    }

    /// True if genes differ by a factor of the lengths that they share.
    pub fn has_scalers(self) -> bool {
        self == BrlenLinkage::Scaled
    }
}
