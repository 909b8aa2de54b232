//! Changes of topology that can be undone: subtree moves, and snapshots.

use super::brlens::halve;
use super::evaluator::{Evaluator, Outdated};
use super::length_sets::LengthSet;
use super::linkage::BrlenLinkage;
use super::partition_state::PartitionState;
use crate::model::Model;
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};
use serde::{Deserialize, Serialize};

/// Topology, branch lengths and scalers of an evaluator, for [`Evaluator::restore`] and
/// [`Evaluator::resume`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    tree: Tree,
    linkage: BrlenLinkage,
    partitions: Vec<PartitionSnapshot>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PartitionSnapshot {
    tree: Tree,
    brlen_scaler: f64,
    root: EdgeId,
    lnl: Option<f64>,
}

/// A move made by [`Evaluator::move_subtree`], with all that is needed to undo it.
#[derive(Debug)]
pub struct SubtreeMove {
    pub(super) pruned: PrunedSubtree,
    pub(super) regraft: RegraftUndo,
    /// Per partition: the move in its restricted tree, if its topology changed.
    pub(super) partitions: Vec<Option<(PrunedSubtree, RegraftUndo)>>,
    /// Branch lengths that were changed after the move, in this order, with their values before the change.
    pub(super) lengths: Vec<ChangedLength>,
    /// Log-likelihoods of the partitions before the move, where they were known.
    lnls: Vec<Option<f64>>,
}

/// A branch length before it was changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangedLength {
    pub(super) set: LengthSet,
    pub(super) edge: EdgeId,
    pub(super) before: f64,
}

impl SubtreeMove {
    /// Edges of the global tree at the two places that the move changed: the pendant edge of the subtree at its
    /// new position, and the merged edge at its old one.
    pub fn places(&self) -> [EdgeId; 2] {
        [self.pruned.pendant, self.pruned.merged]
    }

    /// The global tree before the move, from the one after it, with the numbers of nodes and edges from which
    /// pruning and regrafting the same subtree leads to those after it.
    pub fn tree_before(&self, after: &Tree) -> Tree {
        let mut tree = after.clone();
        tree.undo_regraft(&self.pruned, &self.regraft);
        tree.undo_prune(&self.pruned);
        tree
    }

    /// The move in the tree of a set of lengths, if the topology of that tree has changed.
    pub(super) fn of(&self, set: LengthSet) -> Option<(PrunedSubtree, RegraftUndo)> {
        match set {
            LengthSet::Shared => Some((self.pruned, self.regraft)),
            LengthSet::Own(partition) => self.partitions[partition],
        }
    }
}

impl Snapshot {
    /// The global tree; see [`Evaluator::tree`].
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Copies a partition's own branch lengths and scaler from another snapshot of the same topology.
    pub fn take_partition(&mut self, partition: usize, other: &Snapshot) {
        self.partitions[partition].clone_from(&other.partitions[partition]);
    }

    /// The log-likelihood, if it was known when the snapshot was taken.
    pub fn log_likelihood(&self) -> Option<f64> {
        self.partitions.iter().map(|partition| partition.lnl).sum()
    }

    /// True if trees and partitions have the sizes of the evaluator's, as those of a snapshot of the same data have.
    pub fn fits(&self, evaluator: &Evaluator) -> bool {
        let fits = |(kept, state): (&PartitionSnapshot, &PartitionState)| {
            let tree = state.tree.tree();
            kept.tree.num_tips() == tree.num_tips()
                && match tree.num_edges() {
                    0 => kept.root == EdgeId::NONE,
                    more => kept.root.index() < more,
                }
                && kept.brlen_scaler.is_finite()
        };
        self.tree.num_tips() == evaluator.tree.num_tips()
            && self.partitions.len() == evaluator.partitions.len()
            && self.partitions.iter().zip(&evaluator.partitions).all(fits)
    }
}

impl Evaluator {
    /// A snapshot of topology, all branch lengths and scalers.
    pub fn snapshot(&self) -> Snapshot {
        let of_partition = |partition: &PartitionState| PartitionSnapshot {
            tree: partition.tree.tree().clone(),
            brlen_scaler: partition.brlen_scaler,
            root: partition.tree.root(),
            lnl: partition.lnl,
        };
        let partitions = self.partitions.iter().map(of_partition).collect();
        Snapshot { tree: self.tree.clone(), linkage: self.linkage, partitions }
    }

    /// Restores a snapshot of this evaluator, taken under the same linkage. CLVs that have not changed since
    /// remain valid.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.set_snapshot(snapshot, |state, kept| {
            state.tree.set_tree(kept.tree.clone());
            state.lnl = None;
        });
    }

    /// Restores a snapshot of an evaluator of the same data, with its linkage, virtual roots and the given
    /// models, so that all further computations give the same bits as they would have given there.
    pub fn resume(&mut self, snapshot: &Snapshot, models: &[Model]) {
        self.linkage = snapshot.linkage;
        for (partition, model) in models.iter().enumerate() {
            if self.partitions[partition].model != *model {
                self.set_model(partition, model);
            }
        }
        self.return_to(snapshot);
    }

    /// Restores a snapshot, taken under the same linkage and models, with its virtual roots, so that all further computations
    /// give the same bits as they gave after it was taken.
    pub fn return_to(&mut self, snapshot: &Snapshot) {
        self.set_snapshot(snapshot, |state, kept| {
            state.tree.set_rooted_tree(kept.tree.clone(), kept.root);
            state.lnl = kept.lnl;
        });
    }

    /// Takes over a snapshot; `set_partition` gives a partition its tree and log-likelihood.
    fn set_snapshot(
        &mut self,
        snapshot: &Snapshot,
        set_partition: impl Fn(&mut PartitionState, &PartitionSnapshot),
    ) {
        self.tree.clone_from(&snapshot.tree);
        for (state, kept) in self.partitions.iter_mut().zip(&snapshot.partitions) {
            if state.brlen_scaler != kept.brlen_scaler {
                state.tree.invalidate();
                state.brlen_scaler = kept.brlen_scaler;
            }
            set_partition(state, kept);
        }
        self.outdated = Outdated::All;
        self.update_restrictions();
    }

    /// Prunes the subtree behind `pendant`, seen from `attach`, and regrafts it into the middle of `target`,
    /// in the global tree and in each restricted tree whose topology changes by the move.
    pub fn move_subtree(&mut self, attach: NodeId, pendant: EdgeId, target: EdgeId) -> SubtreeMove {
        let moved = self.begin_move(attach, pendant, target);
        self.update_restrictions();
        moved
    }

    /// [`Evaluator::move_subtree`] without the last step: the caller must call [`Evaluator::update_restrictions`]
    /// afterwards, and may change branch lengths before.
    pub(super) fn begin_move(
        &mut self,
        attach: NodeId,
        pendant: EdgeId,
        target: EdgeId,
    ) -> SubtreeMove {
        self.update_restrictions();
        let lnls = self.partitions.iter().map(|partition| partition.lnl).collect();
        let mut moves = Vec::with_capacity(self.partitions.len());
        for state in &mut self.partitions {
            let restriction = &self.restrictions[state.set];
            moves.push(state.move_subtree(restriction, attach, pendant, target));
        }
        let pruned = self.tree.prune(attach, pendant);
        let halves = halve(self.tree.brlen(target));
        let regraft = self.tree.regraft(&pruned, target, halves);
        self.outdated.mark([pendant, pruned.merged, target, pruned.spare]);
        SubtreeMove { pruned, regraft, partitions: moves, lengths: Vec::new(), lnls }
    }

    /// Undoes a move: the topology, the branch lengths that the move changed, and those that were changed after it
    /// by [`Evaluator::insert`] and [`Evaluator::optimize_around`] are restored bit for bit, and so
    /// are the log-likelihoods.
    pub fn undo_move(&mut self, undo: SubtreeMove) {
        self.tree.undo_regraft(&undo.pruned, &undo.regraft);
        self.tree.undo_prune(&undo.pruned);
        for (state, moved) in self.partitions.iter_mut().zip(&undo.partitions) {
            if let Some((pruned, regraft)) = moved {
                state.tree.undo_move(pruned, regraft);
            }
        }
        let PrunedSubtree { pendant, merged, spare, .. } = undo.pruned;
        self.outdated.mark([pendant, merged, undo.regraft.target, spare]);
        for &ChangedLength { set, edge, before } in undo.lengths.iter().rev() {
            let moved = undo.of(set);
            // These already have their lengths before the move.
            let is_joined = |(pruned, regraft): (PrunedSubtree, RegraftUndo)| {
                [pruned.merged, pruned.spare, regraft.target].contains(&edge)
            };
            if !moved.is_some_and(is_joined) {
                self.set_length(set, edge, before);
            }
        }
        self.update_restrictions();
        for (state, lnl) in self.partitions.iter_mut().zip(undo.lnls) {
            state.lnl = lnl;
        }
    }
}
