//! A chain: a tree with its lengths and models, and steps from one state to the next.

use super::moves::{Move, Undo};
use super::parameters::Parameter;
use super::priors::BrlenPrior;
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::model::{Model, ModelValues};
use crate::rng::Rng;
use crate::tree::EdgeId;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// What all chains have in common.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) parameters: Vec<Parameter>,
    pub(super) brlen_prior: BrlenPrior,
    /// The prior alone: the data count for nothing.
    pub(super) prior_only: bool,
}

/// A chain.
pub(super) struct Chain {
    pub(super) evaluator: Evaluator,
    pub(super) models: Vec<Model>,
    pub(super) rng: Rng,
    /// Log-likelihood of each partition; 0 of a chain on the prior alone.
    gene_lnls: Vec<f64>,
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
    Branches(EdgeId, u32),
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
    /// A chain that begins with the evaluator's tree and these models, which are those of the evaluator.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn begin(
        evaluator: Evaluator,
        models: Vec<Model>,
        rng: Rng,
        target: &Target,
    ) -> Result<Self> {
        let (gene_lnls, block) = (vec![0.0; models.len()], Block::None);
        let mut chain = Chain { evaluator, models, rng, gene_lnls, ln_prior: 0.0, block };
        chain.ln_prior = chain.calc_ln_prior(target);
        chain.gene_lnls = chain.calc_gene_lnls(target, None)?;
        Ok(chain)
    }

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

    /// Proposes one change, and accepts it with the probability of Metropolis and Hastings for the posterior to the power of
    /// `heat`. Returns whether it was accepted.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn step(
        &mut self,
        kind: Move,
        boldness: f64,
        heat: f64,
        target: &Target,
    ) -> Result<bool> {
        let Some((undo, ln_hastings)) = kind.propose(self, boldness) else { return Ok(false) };
        let ln_prior = self.calc_ln_prior(target);
        // Drawn in any case, so that the stream is in the same place after every step of a kind.
        let chance = self.rng.random::<f64>();
        if ln_prior > f64::NEG_INFINITY {
            let changed = if let Undo::Model(gene, _) = &undo { Some(*gene) } else { None };
            let gene_lnls = self.calc_gene_lnls(target, changed)?;
            let lnl: f64 = gene_lnls.iter().sum();
            let ln_ratio = heat * (lnl + ln_prior - self.ln_posterior()) + ln_hastings;
            if libm::log(chance) < ln_ratio {
                (self.gene_lnls, self.ln_prior) = (gene_lnls, ln_prior);
                return Ok(true);
            }
        }
        self.take_back(undo);
        Ok(false)
    }

    fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Lengths(before) => self.evaluator.set_brlens(&before),
            Undo::Swaps(swaps) => {
                for [edge, first, second] in swaps.into_iter().rev() {
                    self.evaluator.swap_subtrees(edge, second, first);
                }
            }
            Undo::Model(gene, before) => {
                self.models[gene] = *before;
                self.show_model(gene);
            }
            Undo::Scalers(before) => {
                for (gene, scaler) in before.into_iter().enumerate() {
                    self.evaluator.set_brlen_scaler(gene, scaler);
                }
            }
        }
    }

    /// A partition's model has changed.
    pub(super) fn show_model(&mut self, gene: usize) {
        self.evaluator.set_model(gene, &self.models[gene]);
    }

    fn calc_ln_prior(&self, target: &Target) -> f64 {
        let parameters = target.parameters.iter();
        let parameters: f64 =
            parameters.map(|one| one.ln_prior(&self.models, &self.evaluator)).sum();
        target.brlen_prior.ln_density(self.evaluator.tree()) + parameters
    }

    /// Of all partitions, or after a change of one of them.
    fn calc_gene_lnls(&mut self, target: &Target, changed: Option<usize>) -> Result<Vec<f64>> {
        match changed {
            _ if target.prior_only => Ok(self.gene_lnls.clone()),
            None => self.evaluator.gene_log_likelihoods(),
            Some(gene) => {
                let mut lnls = self.gene_lnls.clone();
                lnls[gene] = self.evaluator.log_likelihoods_of(&[gene])?[0];
                Ok(lnls)
            }
        }
    }
}

impl ChainState {
    /// True if it may be a state of a chain with this evaluator and models like these.
    pub(super) fn fits(&self, evaluator: &Evaluator, models: &[Model]) -> bool {
        self.snapshot.fits(evaluator)
            && self.models.len() == models.len()
            && self.gene_lnls.len() == models.len()
            && !matches!(self.block, Block::Branches(edge, _) if edge.index() >= evaluator.tree().num_edges())
            && models.iter().zip(&self.models).all(|(model, values)| model.fits(values))
    }
}
