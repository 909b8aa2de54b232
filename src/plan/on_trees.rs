//! What is asked of commands on trees.

use crate::tree_distance::TreeMetric;
use std::path::PathBuf;

/// Distances between trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistancePlan {
    /// The file of trees.
    pub trees: PathBuf,
    /// The file whose trees are compared with each of the others; without it, all are compared with all.
    pub reference: Option<PathBuf>,
    /// Which distances, in the order in which they are shown; at least one.
    pub metrics: Vec<TreeMetric>,
}

/// Concordance factors of the branches of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcordancePlan {
    /// The tree.
    pub tree: PathBuf,
    /// Trees of genes, which may lack taxa.
    pub gene_trees: Option<PathBuf>,
    /// Number of quartets of taxa per branch, for which sites of the alignment are counted.
    pub quartets: Option<usize>,
}

/// The terrace of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerracePlan {
    /// The tree.
    pub tree: PathBuf,
    /// Most trees that are written.
    pub trees: usize,
}
