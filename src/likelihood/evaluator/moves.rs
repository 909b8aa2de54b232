//! Changes of topology that can be taken back: moves of subtrees, and snapshots.

use super::brlens::halve;
use super::evaluator::Evaluator;
use super::gene_state::GeneState;
use super::gene_tree::GeneTree;
use super::linkage::BrlenLinkage;
use crate::model::Model;
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// Where an evaluator stood: what [`Evaluator::restore`] and [`Evaluator::resume`] go back to.
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

/// What takes back one [`Evaluator::move_subtree`].
#[derive(Debug)]
pub struct SubtreeMove {
    pub(super) pruned: PrunedSubtree,
    pub(super) regraft: RegraftUndo,
    /// Per gene: what happened to its own tree.
    pub(super) genes: Vec<Option<(PrunedSubtree, RegraftUndo)>>,
    /// All lengths before, of each set of lengths.
    brlens: Vec<Vec<f64>>,
}

impl SubtreeMove {
    /// The edges of the global tree where something changed: the new place's three, and the edge
    /// that was left behind.
    pub fn places(&self) -> [EdgeId; 2] {
        [self.pruned.pendant, self.pruned.merged]
    }
}

impl Snapshot {
    /// Takes over what another snapshot of the same topology has of a gene: its own lengths, its scaler.
    pub fn take_gene(&mut self, gene: usize, other: &Snapshot) {
        self.genes[gene].clone_from(&other.genes[gene]);
    }
}

impl Evaluator {
    /// Topology, all lengths and scalers, to come back to.
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

    /// Goes back to a snapshot of this evaluator (taken under the same linkage).
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

    /// Stands where an evaluator of the same data stood, with these models: all that follows has the bits
    /// that it had there.
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

    /// Moves the subtree behind `pendant`, seen from `attach`, into the middle of `target`, in the
    /// global tree and in every gene's tree whose topology changes by it.
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

    /// Takes back a move: topology and every length are as before, bit for bit.
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
