//! Sets of independent branch lengths.
//!
//! Under linked and scaled lengths there is one set, that of the global tree, which determines the lengths
//! of all restricted trees; under unlinked lengths each partition's tree has its own set. All operations on
//! branch lengths (changing, optimising, saving and restoring) treat one [`LengthSet`] after the other.

use super::evaluator::Evaluator;
use crate::tree::{EdgeId, Tree};

/// A set of independent branch lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LengthSet {
    /// The lengths of the global tree, which all partitions share.
    Shared,
    /// The lengths of one partition's restricted tree.
    Own(usize),
}

impl Evaluator {
    /// All sets of lengths under the current linkage.
    pub(super) fn length_sets(&self) -> Vec<LengthSet> {
        match self.linkage.has_own_lengths() {
            true => (0..self.partitions.len()).map(LengthSet::Own).collect(),
            false => vec![LengthSet::Shared],
        }
    }

    /// The tree to which a set of lengths belongs.
    pub(super) fn tree_of(&self, set: LengthSet) -> &Tree {
        match set {
            LengthSet::Shared => &self.tree,
            LengthSet::Own(partition) => self.partitions[partition].tree.tree(),
        }
    }

    /// Sets the lengths of a set, by edge. The caller must call [`Evaluator::update_restrictions`] afterwards.
    pub(super) fn set_lengths(&mut self, set: LengthSet, lengths: &[f64]) {
        match set {
            LengthSet::Shared => {
                for (edge, &length) in lengths.iter().enumerate() {
                    self.tree.set_brlen(EdgeId(edge as u32), length);
                }
                self.outdated.mark(self.tree.edges());
            }
            LengthSet::Own(partition) => self.partitions[partition].set_brlens(lengths),
        }
    }

    /// Sets one length of a set. The caller must call [`Evaluator::update_restrictions`] afterwards.
    pub(super) fn set_length(&mut self, set: LengthSet, edge: EdgeId, length: f64) {
        match set {
            LengthSet::Shared => {
                self.tree.set_brlen(edge, length);
                self.outdated.mark([edge]);
            }
            LengthSet::Own(partition) => self.partitions[partition].set_brlen(edge, length),
        }
    }
}
