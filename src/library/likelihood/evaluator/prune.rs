//! [`Prune`]: a subtree whose regraft positions are evaluated.

use crate::tree::{EdgeId, NodeId};

/// A subtree whose regraft positions are evaluated, made by [`Evaluator::prune`](super::Evaluator::prune).
/// Valid while the tree, its branch lengths and models are the same; moves that were undone in the meantime
/// do not invalidate it.
#[derive(Debug, Clone)]
pub struct Prune {
    pub(super) attach: NodeId,
    pub(super) pendant: EdgeId,
    /// Partitions with taxa both in the subtree and in the rest.
    pub(super) moving: Vec<usize>,
    /// Length of the global merged edge minus the sum of its two parts (linked and scaled lengths).
    pub(super) merged_change: f64,
    /// The same for each partition's merged edge (unlinked lengths).
    pub(super) merged_changes: Vec<f64>,
    /// Log-likelihood of each partition: of moving partitions with the subtree at its present position, of the others
    /// with the optimised length of the merged edge.
    pub(super) lnls: Vec<f64>,
}

impl Prune {
    /// A subtree without moving partitions and with unchanged merged edges. `lnls` has the log-likelihoods of all
    /// partitions.
    pub(super) fn new(attach: NodeId, pendant: EdgeId, lnls: Vec<f64>) -> Self {
        let merged_changes = vec![0.0; lnls.len()];
        Prune { attach, pendant, moving: Vec::new(), merged_change: 0.0, merged_changes, lnls }
    }
}
