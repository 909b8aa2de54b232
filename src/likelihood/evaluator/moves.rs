//! Changes of topology that can be undone: subtree moves, and snapshots.

use super::brlens::halve;
use super::evaluator::Evaluator;
use super::gene_state::GeneState;
use super::gene_tree::GeneTree;
use super::linkage::BrlenLinkage;
use crate::model::Model;
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// Topology, branch lengths and scalers of an evaluator, for [`Evaluator::restore`] and
/// [`Evaluator::resume`].
#[derive(Debug, Clone)]
pub struct Snapshot {
    tree: Tree,
    linkage: BrlenLinkage,
    genes: Vec<GeneSnapshot>,
}

#[derive(Debug, Clone)]
struct GeneSnapshot {
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
    /// Per gene: the move in its restricted tree, if its topology changed.
    pub(super) genes: Vec<Option<(PrunedSubtree, RegraftUndo)>>,
    /// All branch lengths before the move, of each set of lengths.
    brlens: Vec<Vec<f64>>,
}

impl SubtreeMove {
    /// Edges of the global tree at the two places that the move changed: the pendant edge of the subtree at its
    /// new position, and the merged edge at its old one.
    pub fn places(&self) -> [EdgeId; 2] {
        [self.pruned.pendant, self.pruned.merged]
    }
}

impl Snapshot {
    /// The global tree.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Copies a gene's own branch lengths and scaler from another snapshot of the same topology.
    pub fn take_gene(&mut self, gene: usize, other: &Snapshot) {
        self.genes[gene].clone_from(&other.genes[gene]);
    }
}

impl Evaluator {
    /// A snapshot of topology, all branch lengths and scalers.
    pub fn snapshot(&self) -> Snapshot {
        let of_gene = |gene: &GeneState| GeneSnapshot {
            tree: gene.tree.tree().clone(),
            brlen_scaler: gene.brlen_scaler,
            root: gene.tree.root(),
            lnl: gene.lnl,
        };
        let genes = self.genes.iter().map(of_gene).collect();
        Snapshot { tree: self.tree.clone(), linkage: self.linkage, genes }
    }

    /// Restores a snapshot of this evaluator, taken under the same linkage. All CLVs become stale.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.tree.clone_from(&snapshot.tree);
        for (state, kept) in self.genes.iter_mut().zip(&snapshot.genes) {
            state.tree = GeneTree::new(kept.tree.clone());
            state.brlen_scaler = kept.brlen_scaler;
            state.lnl = None;
        }
        self.distances_valid = false;
        self.update_restrictions();
    }

    /// Restores a snapshot of an evaluator of the same data, with its linkage, virtual roots and the given
    /// models, so that all further computations give the same bits as they would have given there.
    pub fn resume(&mut self, snapshot: &Snapshot, models: &[Model]) {
        self.linkage = snapshot.linkage;
        self.restore(snapshot);
        for (gene, model) in models.iter().enumerate() {
            self.set_model(gene, model);
        }
        for (state, kept) in self.genes.iter_mut().zip(&snapshot.genes) {
            if kept.root != EdgeId::NONE {
                state.tree.move_root(kept.root);
            }
            state.lnl = kept.lnl;
        }
    }

    /// Prunes the subtree behind `pendant`, seen from `attach`, and regrafts it into the middle of `target`,
    /// in the global tree and in each restricted tree whose topology changes by the move.
    pub fn move_subtree(&mut self, attach: NodeId, pendant: EdgeId, target: EdgeId) -> SubtreeMove {
        self.update_restrictions();
        let brlens = self.all_length_sets();
        let mut moves = Vec::with_capacity(self.genes.len());
        for state in &mut self.genes {
            let restriction = &self.restrictions[state.set];
            moves.push(state.move_subtree(restriction, attach, pendant, target));
        }
        let pruned = self.tree.prune(attach, pendant);
        let halves = halve(self.tree.brlen(target));
        let regraft = self.tree.regraft(&pruned, target, halves);
        self.distances_valid = false;
        self.update_restrictions();
        SubtreeMove { pruned, regraft, genes: moves, brlens }
    }

    /// Undoes a move: topology and all branch lengths are restored bit for bit.
    pub fn undo_move(&mut self, undo: SubtreeMove) {
        self.tree.undo_regraft(&undo.pruned, &undo.regraft);
        self.tree.undo_prune(&undo.pruned);
        for (state, moved) in self.genes.iter_mut().zip(&undo.genes) {
            if let Some((pruned, regraft)) = moved {
                state.tree.undo_move(pruned, regraft);
                state.lnl = None;
            }
        }
        for (set, brlens) in self.length_sets().into_iter().zip(&undo.brlens) {
            self.set_lengths(set, brlens);
        }
        self.distances_valid = false;
        self.update_restrictions();
    }
}
