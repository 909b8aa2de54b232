//! Which trees are made from distances.

use super::joined_tree::JoinedTree;
use super::minimum_evolution::{MOST_TAXA, minimum_evolution};
use super::neighbor_joining::{
    bionj, join_neighbors, join_neighbors_by_variance, neighbor_joining,
};
use super::row_file::RowFile;
use super::square::{SquareMatrix, Stored};
use super::upgma::{link_averages, upgma};

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

    /// Most taxa, if there is a limit besides that of the disk.
    pub fn most_taxa(self) -> Option<usize> {
        (self == DistanceTree::MinimumEvolution).then_some(MOST_TAXA)
    }

    /// Matrices that are needed at the same time.
    pub fn num_matrices(self) -> usize {
        if self == DistanceTree::Bionj { 2 } else { 1 }
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

    /// The same of distances in a file; not for balanced minimum evolution.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    ///
    /// # Panics
    /// If there are fewer than two taxa, or for balanced minimum evolution.
    pub fn tree_of_file(self, rows: RowFile) -> std::io::Result<JoinedTree> {
        match self {
            DistanceTree::NeighborJoining => join_neighbors(rows),
            DistanceTree::Bionj => join_neighbors_by_variance(rows),
            DistanceTree::Upgma => link_averages(rows),
            DistanceTree::MinimumEvolution => panic!("its averages are in memory"),
        }
    }
}
