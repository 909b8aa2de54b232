//! [`Prune`]: a subtree that is about to be moved.

use crate::tree::{EdgeId, NodeId};

/// A subtree that is about to be moved. Holds as long as the evaluator's tree and lengths are those of
/// now; moves that were taken back do no harm.
#[derive(Debug, Clone)]
pub struct Prune {
    pub(super) attach: NodeId,
    pub(super) pendant: EdgeId,
    /// Genes with taxa both in the subtree and in the rest.
    pub(super) moving: Vec<usize>,
    /// By how much the global edge that is left behind is longer than its two parts (not unlinked).
    pub(super) merged_change: f64,
    /// The same of each gene's own edge (unlinked).
    pub(super) merged_changes: Vec<f64>,
    /// Log-likelihood of each gene where the subtree hangs now; of those that do not move, with the
    /// merged edge as it would be left behind.
    pub(super) lnls: Vec<f64>,
}

impl Prune {
    /// The same subtree, not looked at yet. `lnls` are those of all genes.
    pub(super) fn new(attach: NodeId, pendant: EdgeId, lnls: Vec<f64>) -> Self {
        let merged_changes = vec![0.0; lnls.len()];
        Prune { attach, pendant, moving: Vec::new(), merged_change: 0.0, merged_changes, lnls }
    }
}
