//! Steps of a chain from one state to the next.

use super::chain::{Block, Chain};
use super::conflicts::{Drawn, KnownConflicts};
use super::lengths::LengthSet;
use super::moves::Move;
use super::parameters::Parameter;
use super::priors::Priors;
use super::proposal::{Proposal, Undo};
use super::proposal_context::ProposalContext;
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::rng::Rng;
use crate::tree::Constraint;
use rand::RngExt;

/// What all chains have in common.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) parameters: Vec<Parameter>,
    pub(super) priors: Priors,
    /// The prior alone: the data count for nothing.
    pub(super) prior_only: bool,
    /// The power to which the likelihood is raised.
    pub(super) data_power: f64,
    /// What all trees must satisfy.
    pub(super) constraint: Option<Constraint>,
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
        let (partition_lnls, block) = (vec![0.0; models.len()], Block::None);
        let (ln_prior, conflicts) = (0.0, KnownConflicts::default());
        let mut chain =
            Chain { evaluator, models, rng, partition_lnls, ln_prior, block, conflicts };
        chain.ln_prior = chain.calc_ln_prior(target);
        chain.partition_lnls = chain.calc_partition_lnls(target, None)?;
        Ok(chain)
    }

    /// Proposes one change, and accepts it with the probability of Metropolis and Hastings for the posterior to the power of
    /// `context.heat`. Returns whether it was accepted.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn step(
        &mut self,
        kind: Move,
        context: &ProposalContext,
        target: &Target,
    ) -> Result<bool> {
        if !kind.goes_on_with(self.block) {
            self.block = Block::None;
        }
        let Some(Proposal { undo, ln_ratio, drawn }) = kind.propose(self, context)? else {
            return Ok(false);
        };
        let other_tree = matches!(undo, Undo::Swaps(..) | Undo::Moved(_));
        let is_allowed = !other_tree || self.satisfies(target);
        let ln_prior = if is_allowed { self.calc_ln_prior(target) } else { f64::NEG_INFINITY };
        // Drawn in any case, so that the stream is in the same place after every step of a kind.
        let chance = self.rng.random::<f64>();
        if ln_prior > f64::NEG_INFINITY && ln_ratio > f64::NEG_INFINITY {
            let changed = match &undo {
                Undo::Model(partition, ..) => Some(*partition),
                Undo::Lengths(set, _) => set.partition(),
                _ => None,
            };
            let partition_lnls = self.calc_partition_lnls(target, changed)?;
            let lnl: f64 = partition_lnls.iter().sum();
            let gain = target.data_power * (lnl - self.lnl()) + ln_prior - self.ln_prior;
            // If it is refused even where the way back is certain, the weights of the new tree need not be computed.
            let at_most = context.heat * gain + ln_ratio;
            let ln_chance = libm::log(chance);
            if ln_chance < at_most && ln_chance < at_most + self.ln_way_back(drawn, context) {
                (self.partition_lnls, self.ln_prior) = (partition_lnls, ln_prior);
                return Ok(true);
            }
        }
        self.take_back(undo);
        Ok(false)
    }

    /// Logarithm of the probability with which the way back draws what it has to.
    fn ln_way_back(&mut self, drawn: Option<Drawn>, context: &ProposalContext) -> f64 {
        let Chain { evaluator, conflicts, .. } = self;
        drawn.map_or(0.0, |drawn| conflicts.ln_chance(evaluator.tree(), &context.guide(), drawn))
    }

    fn satisfies(&self, target: &Target) -> bool {
        let tree = self.evaluator.tree();
        target.constraint.as_ref().is_none_or(|constraint| constraint.violated(tree).is_none())
    }

    fn calc_ln_prior(&self, target: &Target) -> f64 {
        let parameters = target.parameters.iter();
        let parameters: f64 =
            parameters.map(|one| one.ln_prior(&target.priors, &self.models, &self.evaluator)).sum();
        let sets = LengthSet::all(&self.evaluator).into_iter();
        let ln_lengths =
            |set: LengthSet| target.priors.brlens.ln_density(set.tree(&self.evaluator));
        sets.map(ln_lengths).sum::<f64>() + parameters
    }

    /// Of all partitions, or after a change of one of them.
    pub(super) fn calc_partition_lnls(
        &mut self,
        target: &Target,
        changed: Option<usize>,
    ) -> Result<Vec<f64>> {
        match changed {
            _ if target.prior_only => Ok(self.partition_lnls.clone()),
            None => self.evaluator.partition_log_likelihoods(),
            Some(partition) => {
                let mut lnls = self.partition_lnls.clone();
                lnls[partition] = self.evaluator.log_likelihoods_of(&[partition])?[0];
                Ok(lnls)
            }
        }
    }
}
