//! Which trees are made from distances.

use super::joined_tree::JoinedTree;
use super::neighbor_joining::{bionj, neighbor_joining};
use super::square::{SquareMatrix, Stored};
use super::upgma::upgma;

/// A way from distances to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceTree {
    /// Neighbor joining (Saitou & Nei 1987).
    NeighborJoining,
    /// BIONJ (Gascuel 1997).
    Bionj,
    /// UPGMA.
    Upgma,
}

impl DistanceTree {
    /// All of them.
    pub const ALL: [DistanceTree; 3] =
        [DistanceTree::NeighborJoining, DistanceTree::Bionj, DistanceTree::Upgma];

    /// Its name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            DistanceTree::NeighborJoining => "nj",
            DistanceTree::Bionj => "bionj",
            DistanceTree::Upgma => "upgma",
        }
    }

    /// The tree of these distances.
    pub fn tree<T: Stored>(self, matrix: SquareMatrix<T>) -> JoinedTree {
        match self {
            DistanceTree::NeighborJoining => neighbor_joining(matrix),
            DistanceTree::Bionj => bionj(matrix),
            DistanceTree::Upgma => upgma(matrix),
        }
    }
}
