//! Which trees are made from distances.

use super::joined_tree::JoinedTree;
use super::minimum_evolution::{MOST_TAXA, minimum_evolution};
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
    /// Balanced minimum evolution (Desper & Gascuel 2002).
    MinimumEvolution,
}

impl DistanceTree {
    /// All of them.
    pub const ALL: [DistanceTree; 4] = [
        DistanceTree::NeighborJoining,
        DistanceTree::Bionj,
        DistanceTree::Upgma,
        DistanceTree::MinimumEvolution,
    ];

    /// Its name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            DistanceTree::NeighborJoining => "nj",
            DistanceTree::Bionj => "bionj",
            DistanceTree::Upgma => "upgma",
            DistanceTree::MinimumEvolution => "bme",
        }
    }

    /// Most taxa for which there is reason to expect the memory.
    pub(crate) fn most_taxa(self) -> usize {
        // 4 bytes for each pair and direction: 1.6 GB, twice that for BIONJ.
        const MOST: usize = 20_000;
        match self {
            DistanceTree::MinimumEvolution => MOST_TAXA,
            _ => MOST,
        }
    }

    /// The tree of these distances.
    pub fn tree<T: Stored>(self, matrix: SquareMatrix<T>) -> JoinedTree {
        match self {
            DistanceTree::NeighborJoining => neighbor_joining(matrix),
            DistanceTree::Bionj => bionj(matrix),
            DistanceTree::Upgma => upgma(matrix),
            DistanceTree::MinimumEvolution => minimum_evolution(matrix),
        }
    }
}
