//! A chain: a tree with its lengths and models, and its state as a plain value.

use super::lengths::LengthSet;
use crate::likelihood::{Evaluator, Snapshot};
use crate::model::{Model, ModelValues};
use crate::rng::Rng;
use crate::tree::EdgeId;
use serde::{Deserialize, Serialize};

/// A chain.
pub(super) struct Chain {
    pub(super) evaluator: Evaluator,
    pub(super) models: Vec<Model>,
    pub(super) rng: Rng,
    /// Log-likelihood of each partition; 0 of a chain on the prior alone.
    pub(super) gene_lnls: Vec<f64>,
    /// Natural logarithm of the prior density.
    pub(super) ln_prior: f64,
    pub(super) block: Block,
}

/// Proposals of the same kind in a row share computations. Which they are depends on nothing but chance and the topology,
/// which they do not change, so that the chain has the same distribution as with proposals in random order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Block {
    /// The next proposal may be of any kind.
    None,
    /// So many changes of branches are to follow, each beside the one before; the last was of this branch.
    Branches(LengthSet, EdgeId, u32),
    /// So many changes of parameters are to follow.
    Parameters(u32),
}

/// The state of a chain between two steps, as a plain value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChainState {
    snapshot: Snapshot,
    models: Vec<ModelValues>,
    rng: Rng,
    gene_lnls: Vec<f64>,
    ln_prior: f64,
    block: Block,
}

impl Chain {
    /// The chain that was in this state, in an evaluator of the same data.
    pub(super) fn resume(mut evaluator: Evaluator, given: &[Model], state: ChainState) -> Self {
        let models: Vec<Model> =
            given.iter().zip(&state.models).map(|(m, v)| m.with_values(v)).collect();
        evaluator.resume(&state.snapshot, &models);
        let ChainState { rng, gene_lnls, ln_prior, block, .. } = state;
        Chain { evaluator, models, rng, gene_lnls, ln_prior, block }
    }

    /// Its state.
    pub(super) fn state(&self) -> ChainState {
        ChainState {
            snapshot: self.evaluator.snapshot(),
            models: self.models.iter().map(Model::values).collect(),
            rng: self.rng.clone(),
            gene_lnls: self.gene_lnls.clone(),
            ln_prior: self.ln_prior,
            block: self.block,
        }
    }

    /// Log-likelihood.
    pub(super) fn lnl(&self) -> f64 {
        self.gene_lnls.iter().sum()
    }

    /// Log-likelihood and logarithm of the prior density.
    pub(super) fn ln_posterior(&self) -> f64 {
        self.lnl() + self.ln_prior
    }

    /// A partition's model has changed.
    pub(super) fn show_model(&mut self, gene: usize) {
        self.evaluator.set_model(gene, &self.models[gene]);
    }
}

impl ChainState {
    /// True if it may be a state of a chain with this evaluator and models like these.
    pub(super) fn fits(&self, evaluator: &Evaluator, models: &[Model]) -> bool {
        self.snapshot.fits(evaluator)
            && self.models.len() == models.len()
            && self.gene_lnls.len() == models.len()
            && !matches!(self.block, Block::Branches(set, edge, _) if !set.has(evaluator, edge))
            && models.iter().zip(&self.models).all(|(model, values)| model.fits(values))
    }
}
