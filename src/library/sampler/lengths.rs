//! Sets of branch lengths of a chain: those of the tree, or under unlinked lengths those of every partition's tree, which has
//! the taxa of the partition alone.

use crate::likelihood::Evaluator;
use crate::rng::Rng;
use crate::tree::{EdgeId, Tree};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// A set of branch lengths: of the tree, or of the partition with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LengthSet {
    Shared,
    Own(u32),
}

impl LengthSet {
    /// Of the partition with this number.
    pub(super) fn of_partition(evaluator: &Evaluator, partition: usize) -> Self {
        match evaluator.linkage().has_own_lengths() {
            true => LengthSet::Own(partition as u32),
            false => LengthSet::Shared,
        }
    }

    /// All sets with branches.
    pub(super) fn all(evaluator: &Evaluator) -> Vec<LengthSet> {
        match evaluator.linkage().has_own_lengths() {
            true => (0..evaluator.num_partitions())
                .filter(|&partition| evaluator.num_taxa_of(partition) >= 2)
                .map(|partition| LengthSet::Own(partition as u32))
                .collect(),
            false => vec![LengthSet::Shared],
        }
    }

    /// The tree that has these lengths.
    pub(super) fn tree(self, evaluator: &Evaluator) -> &Tree {
        match self {
            LengthSet::Shared => evaluator.tree(),
            LengthSet::Own(partition) => evaluator.partition_tree(partition as usize).0,
        }
    }

    /// The partition whose likelihood alone depends on it.
    pub(super) fn partition(self) -> Option<usize> {
        match self {
            LengthSet::Shared => None,
            LengthSet::Own(partition) => Some(partition as usize),
        }
    }

    /// Sets these lengths.
    pub(super) fn set(self, evaluator: &mut Evaluator, lengths: &[(EdgeId, f64)]) {
        match self {
            LengthSet::Shared => evaluator.set_brlens(lengths),
            LengthSet::Own(partition) => evaluator.set_own_brlens(partition as usize, lengths),
        }
    }

    /// Moves virtual roots to a branch, whose length then changes without any change of CLVs.
    pub(super) fn move_roots(self, evaluator: &mut Evaluator, edge: EdgeId) {
        match self {
            LengthSet::Shared => evaluator.move_virtual_roots(edge),
            LengthSet::Own(partition) => evaluator.set_virtual_root(partition as usize, edge),
        }
    }

    /// True if its tree has this branch.
    pub(super) fn has(self, evaluator: &Evaluator, edge: EdgeId) -> bool {
        self.partition().is_none_or(|partition| partition < evaluator.num_partitions())
            && edge.index() < self.tree(evaluator).num_edges()
    }

    /// A set, drawn by the number of branches, of those whose trees have so many taxa at least; `None` if there are none.
    pub(super) fn draw(evaluator: &Evaluator, least_taxa: usize, rng: &mut Rng) -> Option<Self> {
        let mut sets = LengthSet::all(evaluator);
        sets.retain(|set| set.tree(evaluator).num_tips() >= least_taxa);
        if sets.len() < 2 {
            return sets.pop();
        }
        let all: usize = sets.iter().map(|set| set.tree(evaluator).num_edges()).sum();
        let mut at = rng.random_range(0..all);
        sets.into_iter().find(|set| {
            let own = set.tree(evaluator).num_edges();
            let is_here = at < own;
            at = at.saturating_sub(own);
            is_here
        })
    }
}
