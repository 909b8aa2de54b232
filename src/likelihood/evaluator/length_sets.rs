//! Which sets of branch lengths there are.
//!
//! All that depends on the linkage goes through [`LengthSet`]: under linked and scaled lengths there is one
//! set, that of the global tree, which determines the lengths of every restricted tree; under unlinked
//! lengths each gene's tree has a set of its own. What is done with lengths (to change, optimise, keep or
//! take them back) is done set by set.

use super::brlens::all_brlens;
use super::evaluator::Evaluator;
use crate::tree::{EdgeId, Tree};

/// Lengths that are free to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LengthSet {
    /// Those of the global tree, which all genes share.
    Shared,
    /// Those of a gene's own tree.
    Own(usize),
}

impl Evaluator {
    /// All sets of lengths that count.
    pub(super) fn length_sets(&self) -> Vec<LengthSet> {
        match self.linkage.has_own_lengths() {
            true => (0..self.genes.len()).map(LengthSet::Own).collect(),
            false => vec![LengthSet::Shared],
        }
    }

    /// The tree that a set's lengths are of.
    pub(super) fn tree_of(&self, set: LengthSet) -> &Tree {
        match set {
            LengthSet::Shared => &self.tree,
            LengthSet::Own(gene) => self.genes[gene].tree.tree(),
        }
    }

    /// All lengths of each set.
    pub(super) fn all_length_sets(&self) -> Vec<Vec<f64>> {
        self.length_sets().into_iter().map(|set| all_brlens(self.tree_of(set))).collect()
    }

    /// Sets the lengths of a set, by edge; [`Evaluator::update_restrictions`] is to follow.
    pub(super) fn set_lengths(&mut self, set: LengthSet, lengths: &[f64]) {
        match set {
            LengthSet::Shared => {
                for (edge, &length) in lengths.iter().enumerate() {
                    self.tree.set_brlen(EdgeId(edge as u32), length);
                }
                self.distances_valid = false;
            }
            LengthSet::Own(gene) => self.genes[gene].set_brlens(lengths),
        }
    }
}
