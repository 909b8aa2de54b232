//! Changes of topology that can be taken back: moves of subtrees, and snapshots.

use super::evaluator::{BrlenLinkage, Evaluator};
use super::gene_tree::GeneTree;
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree, to_length_grid};

/// What [`Evaluator::restore`] goes back to: topology, lengths and scalers.
#[derive(Debug, Clone)]
pub struct Snapshot {
    tree: Tree,
    genes: Vec<(Tree, f64)>,
}

/// What takes back one [`Evaluator::move_subtree`].
#[derive(Debug)]
pub struct SubtreeMove {
    pub(super) pruned: PrunedSubtree,
    pub(super) regraft: RegraftUndo,
    /// Per gene: what happened to its own tree.
    pub(super) genes: Vec<Option<(PrunedSubtree, RegraftUndo)>>,
    /// All lengths before: of the global tree, or of each gene's tree when unlinked.
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
        let genes =
            self.genes.iter().map(|gene| (gene.tree.tree().clone(), gene.brlen_scaler)).collect();
        Snapshot { tree: self.tree.clone(), genes }
    }

    /// Goes back to a snapshot of this evaluator (taken under the same linkage).
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.tree.clone_from(&snapshot.tree);
        for (state, (tree, brlen_scaler)) in self.genes.iter_mut().zip(&snapshot.genes) {
            state.tree = GeneTree::new(tree.clone());
            state.brlen_scaler = *brlen_scaler;
            state.lnl = None;
        }
        self.distances_valid = false;
        self.update_restrictions();
    }

    /// Moves the subtree behind `pendant`, seen from `attach`, into the middle of `target`, in the
    /// global tree and in every gene's tree whose topology changes by it.
    pub fn move_subtree(&mut self, attach: NodeId, pendant: EdgeId, target: EdgeId) -> SubtreeMove {
        self.update_restrictions();
        let brlens = match self.linkage {
            BrlenLinkage::Unlinked => {
                self.genes.iter().map(|gene| all_brlens(gene.tree.tree())).collect()
            }
            _ => vec![all_brlens(&self.tree)],
        };
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
        if self.linkage == BrlenLinkage::Unlinked {
            for (state, brlens) in self.genes.iter_mut().zip(&undo.brlens) {
                for (i, &length) in brlens.iter().enumerate() {
                    if state.tree.set_brlen(EdgeId(i as u32), length) {
                        state.lnl = None;
                    }
                }
            }
        } else {
            for (i, &length) in undo.brlens[0].iter().enumerate() {
                self.tree.set_brlen(EdgeId(i as u32), length);
            }
        }
        self.distances_valid = false;
        self.update_restrictions();
    }
}

/// Two halves of a length that sum to it exactly, both on the length grid.
pub(super) fn halve(length: f64) -> [f64; 2] {
    let first = to_length_grid(length / 2.0);
    [first, length - first]
}

pub(super) fn all_brlens(tree: &Tree) -> Vec<f64> {
    tree.edges().map(|edge| tree.brlen(edge)).collect()
}
