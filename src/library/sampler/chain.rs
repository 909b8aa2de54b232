//! A chain: a tree with its lengths and models, and its state as a plain value.

use super::conflicts::KnownConflicts;
use super::lengths::LengthSet;
use crate::likelihood::{Evaluator, Snapshot};
use crate::model::{Model, ModelValues};
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};

/// A chain.
pub(super) struct Chain {
    pub(super) evaluator: Evaluator,
    pub(super) models: Vec<Model>,
    pub(super) rng: Rng,
    /// Log-likelihood of each partition; 0 of a chain on the prior alone.
    pub(super) partition_lnls: Vec<f64>,
    /// Natural logarithm of the prior density.
    pub(super) ln_prior: f64,
    pub(super) block: Block,
    /// Of the evaluator's tree.
    pub(super) conflicts: KnownConflicts,
}

/// Proposals in a row at one place of the tree share computations. A block is ended at a time that depends on nothing but
/// chance.
///
/// The place of the first two depends on nothing but chance and the topology, which the proposals do not change. That of the
/// others was drawn by weights that depend on the state x: with the probability p(place | x). Proposals of the block leave
/// the posterior times p(place | x) unchanged, so that state and place together have this distribution until the block
/// ends, and the state by itself has the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Block {
    /// The next proposal may be of any kind.
    None,
    /// So many changes of branches are to follow, each beside the one before; the last was of this branch.
    Branches(LengthSet, EdgeId, u32),
    /// So many changes of parameters are to follow.
    Parameters(u32),
    /// So many interchanges across this inner branch, or changes of lengths around it, are to follow.
    Around(EdgeId, u32),
    /// So many moves of the subtree that hangs from this node by this branch are to follow.
    Subtree(NodeId, EdgeId, u32),
}

impl Block {
    /// True if it may be one of a chain with this evaluator and tree.
    fn fits(self, evaluator: &Evaluator, tree: &Tree) -> bool {
        let has = |edge: EdgeId| edge.index() < tree.num_edges();
        match self {
            Block::None | Block::Parameters(_) => true,
            Block::Branches(set, edge, _) => set.has(evaluator, edge),
            Block::Around(edge, _) => has(edge) && !tree.is_terminal(edge),
            Block::Subtree(attach, pendant, _) => {
                has(pendant) && tree.ends(pendant).contains(&attach) && !tree.is_tip(attach)
            }
        }
    }
}

/// The state of a chain between two steps, as a plain value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChainState {
    snapshot: Snapshot,
    models: Vec<ModelValues>,
    rng: Rng,
    partition_lnls: Vec<f64>,
    ln_prior: f64,
    block: Block,
}

impl Chain {
    /// The chain that was in this state, in an evaluator of the same data.
    pub(super) fn resume(mut evaluator: Evaluator, given: &[Model], state: ChainState) -> Self {
        let models: Vec<Model> =
            given.iter().zip(&state.models).map(|(m, v)| m.with_values(v)).collect();
        evaluator.resume(&state.snapshot, &models);
        let ChainState { rng, partition_lnls, ln_prior, block, .. } = state;
        let conflicts = KnownConflicts::default();
        Chain { evaluator, models, rng, partition_lnls, ln_prior, block, conflicts }
    }

    /// Its state.
    pub(super) fn state(&self) -> ChainState {
        ChainState {
            snapshot: self.evaluator.snapshot(),
            models: self.models.iter().map(Model::values).collect(),
            rng: self.rng.clone(),
            partition_lnls: self.partition_lnls.clone(),
            ln_prior: self.ln_prior,
            block: self.block,
        }
    }

    /// Log-likelihood.
    pub(super) fn lnl(&self) -> f64 {
        self.partition_lnls.iter().sum()
    }

    /// Log-likelihood and logarithm of the prior density.
    pub(super) fn ln_posterior(&self) -> f64 {
        self.lnl() + self.ln_prior
    }

    /// A partition's model has changed.
    pub(super) fn show_model(&mut self, partition: usize) {
        self.evaluator.set_model(partition, &self.models[partition]);
    }
}

impl ChainState {
    /// True if it may be a state of a chain with this evaluator and models like these.
    pub(super) fn fits(&self, evaluator: &Evaluator, models: &[Model]) -> bool {
        self.snapshot.fits(evaluator)
            && self.models.len() == models.len()
            && self.partition_lnls.len() == models.len()
            && self.block.fits(evaluator, self.snapshot.tree())
            && models.iter().zip(&self.models).all(|(model, values)| model.fits(values))
    }
}
