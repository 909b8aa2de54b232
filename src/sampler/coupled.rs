//! Metropolis coupling: several chains, all but one heated, that swap their temperatures.

use super::chain::{Block, Chain, ChainState};
use super::moves::Move;
use super::parameters::Parameter;
use super::priors::BrlenPrior;
use super::step::Target;
use super::tuning::Tuned;
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::Tree;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How a run samples.
#[derive(Debug, Clone)]
pub(crate) struct SamplerOptions {
    /// What is sampled besides the tree.
    pub parameters: Vec<Parameter>,
    /// Prior of the branch lengths.
    pub brlen_prior: BrlenPrior,
    /// Without the data.
    pub prior_only: bool,
    /// Number of chains.
    pub num_chains: usize,
    /// Incremental heating: the posterior of chain i, from 0, is raised to the power 1 / (1 + i * temperature).
    pub temperature: f64,
    /// Generations between two samples.
    pub sample_every: u64,
    /// Generations in which proposals are adapted.
    pub num_adapting: u64,
    /// Seed of all runs.
    pub seed: u64,
    /// Number of the run, from 0.
    pub run: u64,
}

/// A visited state of the cold chain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Number of proposals of each chain so far.
    pub generation: u64,
    /// Log-likelihood.
    pub lnl: f64,
    /// Natural logarithm of the prior density.
    pub ln_prior: f64,
    /// The tree length and the parameters, in the order of [`super::column_names`].
    pub values: Vec<f64>,
    /// The tree.
    pub tree: Tree,
}

/// A run: coupled chains.
pub(crate) struct CoupledRun<'a> {
    options: &'a SamplerOptions,
    target: Target,
    moves: Vec<(Move, f64)>,
    chains: Vec<Chain>,
    progress: Progress,
}

/// What belongs to the run and not to a chain.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Progress {
    generation: u64,
    /// Of each temperature, from cold to hot: the chain that has it.
    chain_of: Vec<u32>,
    /// `[temperature][move]`.
    tuning: Vec<Vec<Tuned>>,
    /// Of each pair of neighbouring temperatures, the colder one first: swaps that were proposed and accepted since the end
    /// of the adaptation.
    swaps: Vec<[u64; 2]>,
    rng: Rng,
}

/// The state of a run between two generations, as a plain value: with data and options it determines all that follows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunState {
    chains: Vec<ChainState>,
    progress: Progress,
}

impl<'a> CoupledRun<'a> {
    /// A run that begins with these evaluators, one per chain, and these models.
    ///
    /// # Errors
    /// The engine has failed.
    pub(crate) fn begin(
        evaluators: Vec<Evaluator>,
        models: &[Model],
        options: &'a SamplerOptions,
    ) -> Result<Self> {
        let num_chains = options.num_chains as u64;
        let rng = |index: u64| {
            stream(options.seed, Purpose::Sampling, options.run * (num_chains + 1) + index)
        };
        let target = target_of(options);
        let num_tips = evaluators[0].tree().num_tips();
        let mut chains = Vec::new();
        for (index, evaluator) in evaluators.into_iter().enumerate() {
            let rng = rng(index as u64 + 1);
            chains.push(Chain::begin(evaluator, models.to_vec(), rng, &target)?);
        }
        let moves = Move::list(&options.parameters, num_tips);
        let tuned = moves.iter().map(|(kind, _)| Tuned::new(kind.first_boldness())).collect();
        let progress = Progress {
            generation: 0,
            chain_of: (0..chains.len() as u32).collect(),
            tuning: vec![tuned; chains.len()],
            swaps: vec![[0; 2]; chains.len() - 1],
            rng: rng(0),
        };
        Ok(CoupledRun { options, target, moves, chains, progress })
    }

    /// The run that was in this state, in evaluators of the same data. `models` are those with which it began.
    pub(crate) fn resume(
        evaluators: Vec<Evaluator>,
        models: &[Model],
        options: &'a SamplerOptions,
        state: RunState,
    ) -> Self {
        let moves = Move::list(&options.parameters, evaluators[0].tree().num_tips());
        let chains = evaluators.into_iter().zip(state.chains);
        let chains = chains.map(|(evaluator, state)| Chain::resume(evaluator, models, state));
        let (chains, target) = (chains.collect(), target_of(options));
        CoupledRun { options, target, moves, chains, progress: state.progress }
    }

    /// Its state.
    pub(crate) fn state(&self) -> RunState {
        let chains = self.chains.iter().map(Chain::state).collect();
        RunState { chains, progress: self.progress.clone() }
    }

    /// Number of generations so far: each is one proposal in every chain, and one swap.
    pub(crate) fn generation(&self) -> u64 {
        self.progress.generation
    }

    /// The present state of the cold chain.
    pub(crate) fn sample(&self) -> Sample {
        let chain = &self.chains[self.progress.chain_of[0] as usize];
        let tree = chain.evaluator.tree();
        let parameters = self.options.parameters.iter();
        let written = parameters.flat_map(|one| one.written(&chain.models, &chain.evaluator));
        Sample {
            generation: self.progress.generation,
            lnl: chain.lnl(),
            ln_prior: chain.ln_prior,
            values: std::iter::once(tree.total_length()).chain(written).collect(),
            tree: tree.clone(),
        }
    }

    /// One generation. Returns a sample if it is time for one.
    ///
    /// # Errors
    /// The engine has failed.
    pub(crate) fn step(&mut self) -> Result<Option<Sample>> {
        let adapts = self.progress.generation < self.options.num_adapting;
        for temperature in 0..self.chains.len() {
            let chain = &mut self.chains[self.progress.chain_of[temperature] as usize];
            let number = choose(&self.moves, chain);
            let tuned = &mut self.progress.tuning[temperature][number];
            let heat = heat_of(temperature, self.options.temperature);
            let kind = self.moves[number].0;
            let is_accepted = chain.step(kind, tuned.boldness, heat, &self.target)?;
            tuned.count(is_accepted, adapts);
        }
        self.swap(adapts);
        self.progress.generation += 1;
        let is_time = self.progress.generation.is_multiple_of(self.options.sample_every);
        Ok(is_time.then(|| self.sample()))
    }

    /// Two chains of neighbouring temperatures swap them, or not.
    fn swap(&mut self, adapts: bool) {
        if self.chains.len() < 2 {
            return;
        }
        let progress = &mut self.progress;
        let cold = progress.rng.random_range(0..self.chains.len() - 1);
        let chance = progress.rng.random::<f64>();
        let [colder, hotter] = [cold, cold + 1]
            .map(|temperature| self.chains[progress.chain_of[temperature] as usize].ln_posterior());
        let [heat, less] = [cold, cold + 1].map(|t| heat_of(t, self.options.temperature));
        let is_accepted = libm::log(chance) < (heat - less) * (hotter - colder);
        if is_accepted {
            progress.chain_of.swap(cold, cold + 1);
        }
        if !adapts {
            progress.swaps[cold][0] += 1;
            progress.swaps[cold][1] += u64::from(is_accepted);
        }
    }
}

impl RunState {
    /// True if a run with these evaluators, models and options may have been in this state.
    pub(crate) fn fits(
        &self,
        evaluators: &[Evaluator],
        models: &[Model],
        options: &SamplerOptions,
    ) -> bool {
        let Some(first) = evaluators.first() else { return false };
        let num_moves = Move::list(&options.parameters, first.tree().num_tips()).len();
        let Progress { chain_of, tuning, swaps, .. } = &self.progress;
        let mut sorted = chain_of.clone();
        sorted.sort_unstable();
        self.chains.len() == evaluators.len()
            && self.chains.iter().zip(evaluators).all(|(chain, one)| chain.fits(one, models))
            && sorted.iter().copied().eq(0..evaluators.len() as u32)
            && tuning.len() == evaluators.len()
            && tuning.iter().all(|tuned| tuned.len() == num_moves)
            && swaps.len() + 1 == evaluators.len()
    }

    /// Number of generations so far.
    pub(crate) fn generation(&self) -> u64 {
        self.progress.generation
    }

    /// Of each kind of proposal in the cold chain: its name, and how many were proposed and accepted since the end of the
    /// adaptation.
    pub(crate) fn acceptance(
        &self,
        options: &SamplerOptions,
        num_tips: usize,
    ) -> Vec<(String, [u64; 2])> {
        let moves = Move::list(&options.parameters, num_tips);
        let cold = self.progress.tuning[0].iter();
        moves.iter().zip(cold).map(|((kind, _), tuned)| (kind.name(), tuned.counts)).collect()
    }

    /// Of each pair of neighbouring temperatures, the colder one first: swaps that were proposed and accepted since the end
    /// of the adaptation.
    pub(crate) fn swaps(&self) -> &[[u64; 2]] {
        &self.progress.swaps
    }
}

fn target_of(options: &SamplerOptions) -> Target {
    let SamplerOptions { parameters, brlen_prior, prior_only, .. } = options;
    let (parameters, brlen_prior) = (parameters.clone(), *brlen_prior);
    Target { parameters, brlen_prior, prior_only: *prior_only }
}

/// The power to which the posterior of a chain is raised.
fn heat_of(number: usize, temperature: f64) -> f64 {
    1.0 / (1.0 + number as f64 * temperature)
}

/// The number of the next kind of proposal, drawn by their weights if no block goes on.
fn choose(moves: &[(Move, f64)], chain: &mut Chain) -> usize {
    let is_parameter = |(kind, _): &(Move, f64)| matches!(kind, Move::Parameter(_));
    match chain.block {
        Block::Branches(_, 1..) => {
            return moves.iter().position(|one| one.0 == Move::Branch).expect("one of the kinds");
        }
        Block::Parameters(left @ 1..) => {
            chain.block = Block::Parameters(left - 1);
            let first = moves.iter().position(is_parameter).expect("the block began with one");
            return chain.rng.random_range(first..moves.len());
        }
        _ => {}
    }
    let weight = |(kind, weight): &(Move, f64)| weight / f64::from(kind.in_a_row());
    let mut at = moves.iter().map(weight).sum::<f64>() * chain.rng.random::<f64>();
    let found = moves.iter().position(|one| {
        at -= weight(one);
        at < 0.0
    });
    let number = found.unwrap_or(moves.len() - 1);
    let left = moves[number].0.in_a_row() - 1;
    chain.block = if is_parameter(&moves[number]) { Block::Parameters(left) } else { Block::None };
    number
}
