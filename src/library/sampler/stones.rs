//! [`SteppingStones`]: the marginal likelihood, by a chain that goes from the posterior to the prior in steps (Xie, Lewis,
//! Fan, Kuo & Chen 2011, Syst. Biol. 60:150).
//!
//! On step k from K down to 1 the likelihood counts to the power b(k-1) = ((k-1)/K)^(1/0.4). The marginal likelihood is the
//! product over all steps of the mean, over the states of the step, of the likelihood to the power b(k) - b(k-1).

use super::chain::{Block, Chain, ChainState};
use super::chain_threads::choose;
use super::moves::Move;
use super::options::SamplerOptions;
use super::proposal_context::ProposalContext;
use super::reference::{Coordinates, Learner};
use super::seen_splits::SeenSplits;
use super::step::Target;
use super::tuning::Tuned;
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::rng::{Purpose, stream};
use serde::{Deserialize, Serialize};

/// The powers are quantiles of the distribution Beta(0.4, 1), as in MrBayes.
const BETA_SHAPE: f64 = 0.4;

/// Share of each step in which proposals are adapted and no state counts.
const BURNIN: f64 = 0.25;

/// Proposals of parameters and of the tree length weigh so many times as much as in a sample.
const MORE_OF_PARAMETERS: f64 = 5.0;

/// Number of times per step at which what is changed together is seen.
const NUM_SEEN: u64 = 500;

/// Streams of random numbers of the runs of stones, apart from those of the chains of the sample.
const FIRST_STREAM: u64 = 1 << 40;

/// One run of stepping stones.
pub struct SteppingStones<'a> {
    options: &'a SamplerOptions,
    target: Target,
    coordinates: Vec<Coordinates>,
    moves: Vec<(Move, f64)>,
    chain: Chain,
    progress: Progress,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Progress {
    /// Number of the step, from 0 (the posterior, for burn-in alone), and of generations in it.
    step: u64,
    generation: u64,
    tuning: Vec<Tuned>,
    learners: Vec<Learner>,
    mean: LnMean,
    /// Of the steps so far: logarithms of their factors of the marginal likelihood.
    ln_factors: Vec<f64>,
}

/// The logarithm of the mean of numbers whose logarithms become known one after the other.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct LnMean {
    most: f64,
    /// Of the numbers by the largest.
    sum: f64,
    count: f64,
}

/// The state of a run between two generations, as a plain value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StonesState {
    chain: ChainState,
    progress: Progress,
}

impl<'a> SteppingStones<'a> {
    /// A run that begins with this evaluator and these models.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn begin(
        evaluator: Evaluator,
        models: &[Model],
        options: &'a SamplerOptions,
    ) -> Result<Self> {
        let target = options.target();
        let rng = stream(options.seed, Purpose::Sampling, FIRST_STREAM + options.run);
        let num_tips = evaluator.tree().num_tips();
        let chain = Chain::begin(evaluator, models.to_vec(), rng, &target)?;
        let coordinates = options.coordinates(models);
        let moves = moves_of_stones(options, &coordinates, num_tips);
        let progress = Progress {
            step: 0,
            generation: 0,
            tuning: moves.iter().map(|(kind, _)| Tuned::new(kind.first_step_size())).collect(),
            learners: vec![Learner::default(); coordinates.len()],
            mean: LnMean::default(),
            ln_factors: Vec::new(),
        };
        Ok(SteppingStones { options, target, coordinates, moves, chain, progress })
    }

    /// The run that was in this state, in an evaluator of the same data.
    pub fn resume(
        evaluator: Evaluator,
        models: &[Model],
        options: &'a SamplerOptions,
        state: StonesState,
    ) -> Self {
        let num_tips = evaluator.tree().num_tips();
        let coordinates = options.coordinates(models);
        let moves = moves_of_stones(options, &coordinates, num_tips);
        let chain = Chain::resume(evaluator, models, state.chain);
        let (target, progress) = (options.target(), state.progress);
        SteppingStones { options, target, coordinates, moves, chain, progress }
    }

    /// Its state.
    pub fn state(&self) -> StonesState {
        StonesState { chain: self.chain.state(), progress: self.progress.clone() }
    }

    /// Number of steps that are complete, of one more than the number of stones: the first is burn-in alone.
    pub fn steps_done(&self) -> u64 {
        self.progress.step
    }

    /// Natural logarithm of the marginal likelihood, after the last step.
    pub fn ln_marginal(&self) -> f64 {
        self.progress.ln_factors.iter().sum()
    }

    /// One generation on the way over `stones` stones, of `length` generations each.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn step(&mut self, stones: u64, length: u64) -> Result<()> {
        let Progress { step, generation, tuning, learners, mean, ln_factors } = &mut self.progress;
        let [power, above] = powers(*step, stones);
        self.target.data_power = power;
        let number = choose(&self.moves, learners, &mut self.chain);
        let tuned = &mut tuning[number];
        let context = ProposalContext {
            step_size: tuned.step_size,
            heat: 1.0,
            data_heat: power,
            coordinates: &self.coordinates,
            learners,
            seen: &SeenSplits::default(),
            parsimony: Some(&self.options.parsimony),
            prior_only: false,
            brlens: &self.target.priors.brlens,
        };
        let is_accepted = self.chain.step(self.moves[number].0, &context, &self.target)?;
        let adapts = *step == 0 || (*generation as f64) < BURNIN * length as f64;
        tuned.count(is_accepted, adapts);
        if !adapts {
            mean.add((above - power) * self.chain.lnl());
        }
        if generation.is_multiple_of((length / NUM_SEEN).max(1)) {
            for (coordinates, learner) in self.coordinates.iter().zip(learners.iter_mut()) {
                if let Some((vector, _)) = coordinates.of(&self.chain) {
                    learner.see(&vector);
                }
            }
        }
        *generation += 1;
        if *generation == length {
            for learner in learners {
                learner.learn();
                learner.forget();
            }
            if *step > 0 {
                ln_factors.push(mean.value());
            }
            for tuned in tuning {
                tuned.adapt_again();
            }
            (*step, *generation, *mean) = (*step + 1, 0, LnMean::default());
            self.chain.block = Block::None;
        }
        Ok(())
    }
}

/// The kinds of proposals, with more of parameters and of the tree length: the less the data count, the farther these go.
fn moves_of_stones(
    options: &SamplerOptions,
    coordinates: &[Coordinates],
    num_tips: usize,
) -> Vec<(Move, f64)> {
    let mut moves = options.moves(coordinates, num_tips);
    for (kind, weight) in &mut moves {
        if kind.is_of_parameters() || *kind == Move::TreeLength {
            *weight *= MORE_OF_PARAMETERS;
        }
    }
    moves
}

/// The power of the likelihood on a step, and that on the step before.
fn powers(step: u64, stones: u64) -> [f64; 2] {
    let power = |left: u64| libm::pow(left as f64 / stones as f64, 1.0 / BETA_SHAPE);
    match step {
        0 => [1.0, 1.0],
        _ => [power(stones - step), power(stones - step + 1)],
    }
}

impl Default for LnMean {
    fn default() -> Self {
        LnMean { most: f64::NEG_INFINITY, sum: 0.0, count: 0.0 }
    }
}

impl LnMean {
    fn add(&mut self, ln: f64) {
        if ln > self.most {
            self.sum *= libm::exp(self.most - ln);
            self.most = ln;
        }
        self.sum += libm::exp(ln - self.most);
        self.count += 1.0;
    }

    fn value(&self) -> f64 {
        self.most + libm::log(self.sum / self.count)
    }
}

impl StonesState {
    /// True if a run with this evaluator, models and options may have been in this state.
    pub fn fits(&self, evaluator: &Evaluator, models: &[Model], options: &SamplerOptions) -> bool {
        let coordinates = options.coordinates(models);
        let num_tips = evaluator.tree().num_tips();
        let learners = &self.progress.learners;
        self.chain.fits(evaluator, models)
            && self.progress.tuning.len() == options.moves(&coordinates, num_tips).len()
            && learners.len() == coordinates.len()
            && learners.iter().zip(&coordinates).all(|(learner, of)| learner.fits(of.size(models)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_any_size_are_found_and_powers_go_from_one_to_zero() {
        let mut mean = LnMean::default();
        [-5000.0, -4999.0, -5002.0, -4998.5].into_iter().for_each(|ln| mean.add(ln));
        let expected: f64 = [-1.5, -0.5, -3.5, 0.0].into_iter().map(libm::exp).sum();
        assert!((mean.value() - (libm::log(expected / 4.0) - 4998.5)).abs() < 1e-9);
        assert_eq!((powers(0, 20), powers(1, 20)[1], powers(20, 20)[0]), ([1.0; 2], 1.0, 0.0));
        assert!((1..20).all(|step| powers(step, 20)[0] == powers(step + 1, 20)[1]));
    }
}
