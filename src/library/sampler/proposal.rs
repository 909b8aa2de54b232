//! What a proposal has changed, and what takes it back.

use super::chain::Chain;
use super::conflicts::Drawn;
use super::lengths::LengthSet;
use crate::likelihood::SubtreeMove;
use crate::model::Model;
use crate::tree::EdgeId;

/// A swap of two subtrees across an edge, as [`crate::likelihood::Evaluator::swap_subtrees`] needs it.
pub(super) type Swap = [EdgeId; 3];

/// A subtree that was moved, with the lengths of the two branches that were beside it.
pub(super) type Moved = (SubtreeMove, [(EdgeId, f64); 2]);

/// A change of a chain's state.
pub(super) struct Proposal {
    /// What takes it back.
    pub(super) undo: Undo,
    /// Logarithm of the Hastings ratio, but for the probability of `drawn` on the way back.
    pub(super) ln_ratio: f64,
    /// What the way back has to draw by the weights of the new tree.
    pub(super) drawn: Option<Drawn>,
}

/// One whose Hastings ratio is known.
impl From<(Undo, f64)> for Proposal {
    fn from((undo, ln_ratio): (Undo, f64)) -> Self {
        Proposal { undo, ln_ratio, drawn: None }
    }
}

/// What takes a proposal back.
pub(super) enum Undo {
    Lengths(LengthSet, Vec<(EdgeId, f64)>),
    /// Swaps, and branch lengths that were changed with them.
    Swaps(Vec<Swap>, Vec<(EdgeId, f64)>),
    /// Subtrees that were moved, in this order.
    Moved(Vec<Moved>),
    /// A model, and the branch lengths of its partition if these changed too.
    Model(usize, Box<Model>, Vec<(EdgeId, f64)>),
    Scalers(Vec<f64>),
}

impl Chain {
    /// Restores the state before a proposal.
    pub(super) fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Lengths(set, before) => set.set(&mut self.evaluator, &before),
            Undo::Swaps(swaps, lengths) => {
                self.conflicts.take_back();
                for [edge, first, second] in swaps.into_iter().rev() {
                    self.evaluator.swap_subtrees(edge, second, first);
                }
                if !lengths.is_empty() {
                    self.evaluator.set_brlens(&lengths);
                }
            }
            Undo::Moved(moved) => {
                self.conflicts.take_back();
                for (moved, lengths) in moved.into_iter().rev() {
                    self.evaluator.undo_move(moved);
                    self.evaluator.set_brlens(&lengths);
                }
            }
            Undo::Model(partition, before, lengths) => {
                self.models[partition] = *before;
                LengthSet::of_partition(&self.evaluator, partition)
                    .set(&mut self.evaluator, &lengths);
                self.show_model(partition);
            }
            Undo::Scalers(before) => {
                for (partition, scaler) in before.into_iter().enumerate() {
                    self.evaluator.set_brlen_scaler(partition, scaler);
                }
            }
        }
    }
}
