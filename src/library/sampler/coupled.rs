//! Metropolis coupling: several chains, all but one heated, that swap their temperatures.

use super::chain::{Chain, ChainState};
use super::chain_threads::{ChainSteps, ChainThreads, Tempered};
use super::lengths::LengthSet;
use super::moves::Move;
use super::options::SamplerOptions;
use super::plan::FIRST_TEMPERATURE;
use super::reference::{Coordinates, Learner};
use super::seen_splits::SeenSplits;
use super::step::Target;
use super::tuning::{Heating, Tuned};
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::Tree;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Number of times per temperature at which states are seen while proposals are adapted.
const NUM_SEEN: u64 = 1000;

/// Generations between two swaps of temperatures. A proposal changes so little that nothing is gained by more, and chains on
/// several threads wait for each other only then.
const SWAP_EVERY: u64 = 10;

/// A visited state of the cold chain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sample {
    /// Number of proposals of the cold chain so far.
    pub generation: u64,
    /// Log-likelihood.
    pub lnl: f64,
    /// Natural logarithm of the prior density.
    pub ln_prior: f64,
    /// The tree lengths and the parameters, in the order of [`super::columns`].
    pub values: Vec<f64>,
    /// The tree, under unlinked lengths with their averages over partitions.
    pub tree: Tree,
}

/// A run: coupled chains.
pub struct CoupledRun<'a> {
    options: &'a SamplerOptions,
    target: Target,
    coordinates: Vec<Coordinates>,
    moves: Vec<(Move, f64)>,
    chains: Vec<Chain>,
    progress: Progress,
    threads: ChainThreads,
}

/// What belongs to the run and not to a chain.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Progress {
    generation: u64,
    /// Of each temperature, from cold to hot: the chain that has it.
    chain_of: Vec<u32>,
    /// `[temperature][move]`.
    tuning: Vec<Vec<Tuned>>,
    heating: Heating,
    /// Of what is changed together, in the order of [`Coordinates::list`].
    learners: Vec<Learner>,
    /// Splits that the chains have, and those that are used.
    watched: SeenSplits,
    seen: SeenSplits,
    /// Of each pair of neighbouring temperatures, the colder one first: swaps that were proposed and accepted since the end
    /// of the adaptation.
    swaps: Vec<[u64; 2]>,
    rng: Rng,
}

/// The state of a run between two generations, as a plain value: with data and options it determines all that follows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunState {
    chains: Vec<ChainState>,
    progress: Progress,
}

impl<'a> CoupledRun<'a> {
    /// A run that begins with these evaluators, one per chain, and these models.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn begin(
        evaluators: Vec<Evaluator>,
        models: &[Model],
        options: &'a SamplerOptions,
    ) -> Result<Self> {
        let num_chains = options.num_chains as u64;
        let rng = |index: u64| {
            stream(options.seed, Purpose::Sampling, options.run * (num_chains + 1) + index)
        };
        let target = options.target();
        let num_tips = evaluators[0].tree().num_tips();
        let mut chains = Vec::new();
        for (index, evaluator) in evaluators.into_iter().enumerate() {
            let rng = rng(index as u64 + 1);
            chains.push(Chain::begin(evaluator, models.to_vec(), rng, &target)?);
        }
        let coordinates = options.coordinates(models);
        let moves = options.moves(&coordinates, num_tips);
        let tuned = moves.iter().map(|(kind, _)| Tuned::new(kind.first_step_size())).collect();
        let progress = Progress {
            generation: 0,
            chain_of: (0..chains.len() as u32).collect(),
            tuning: vec![tuned; chains.len()],
            heating: Heating::new(options.temperature.unwrap_or(FIRST_TEMPERATURE)),
            learners: vec![Learner::default(); coordinates.len()],
            watched: SeenSplits::default(),
            seen: SeenSplits::default(),
            swaps: vec![[0; 2]; chains.len() - 1],
            rng: rng(0),
        };
        let threads = ChainThreads::new(1, chains.len());
        Ok(CoupledRun { options, target, coordinates, moves, chains, progress, threads })
    }

    /// The run that was in this state, in evaluators of the same data. `models` are those with which it began.
    pub fn resume(
        evaluators: Vec<Evaluator>,
        models: &[Model],
        options: &'a SamplerOptions,
        state: RunState,
    ) -> Self {
        let num_tips = evaluators[0].tree().num_tips();
        let coordinates = options.coordinates(models);
        let moves = options.moves(&coordinates, num_tips);
        let chains = evaluators.into_iter().zip(state.chains);
        let chains = chains.map(|(evaluator, state)| Chain::resume(evaluator, models, state));
        let (chains, target): (Vec<Chain>, _) = (chains.collect(), options.target());
        let (progress, threads) = (state.progress, ChainThreads::new(1, chains.len()));
        CoupledRun { options, target, coordinates, moves, chains, progress, threads }
    }

    /// The same run on so many threads: nothing but its speed depends on them.
    pub fn on_threads(self, number: usize) -> Self {
        CoupledRun { threads: ChainThreads::new(number, self.chains.len()), ..self }
    }

    /// Its state.
    pub fn state(&self) -> RunState {
        let chains = self.chains.iter().map(Chain::state).collect();
        RunState { chains, progress: self.progress.clone() }
    }

    /// Number of generations so far: each is one proposal in the cold chain.
    pub fn generation(&self) -> u64 {
        self.progress.generation
    }

    /// The present state of the cold chain.
    pub fn sample(&self) -> Sample {
        let chain = &self.chains[self.progress.chain_of[0] as usize];
        let sets: Vec<LengthSet> = match self.options.has_own_lengths {
            true => (0..chain.models.len())
                .map(|partition| LengthSet::of_partition(&chain.evaluator, partition))
                .collect(),
            false => vec![LengthSet::Shared],
        };
        let lengths = sets.iter().map(|set| set.tree(&chain.evaluator).total_length());
        let parameters = self.options.parameters.iter();
        let written = parameters.flat_map(|one| one.written(&chain.models, &chain.evaluator));
        Sample {
            generation: self.progress.generation,
            lnl: chain.lnl(),
            ln_prior: chain.ln_prior,
            values: lengths.chain(written).collect(),
            tree: match self.options.has_own_lengths {
                true => chain.evaluator.averages().0,
                false => chain.evaluator.tree().clone(),
            },
        }
    }

    /// Goes on until something is to be done with all chains, at most to a generation. Returns a sample if it is time for one.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn go_on(&mut self, end: u64) -> Result<Option<Sample>> {
        let begin = self.progress.generation;
        let adapts = begin < self.options.num_adapting;
        let next = self.next_barrier().min(end);
        let run = ChainSteps {
            options: self.options,
            target: &self.target,
            coordinates: &self.coordinates,
            moves: &self.moves,
            learners: &self.progress.learners,
            seen: &self.progress.seen,
            adapts,
            begin,
            steps: next - begin,
        };
        let mut by_chain: Vec<Option<Tempered>> = self.chains.iter().map(|_| None).collect();
        let tuning = self.progress.tuning.iter_mut();
        for (temperature, (tuning, chain)) in tuning.zip(&self.progress.chain_of).enumerate() {
            let heat = self.progress.heating.power(temperature);
            by_chain[*chain as usize] = Some(Tempered { is_cold: temperature == 0, heat, tuning });
        }
        let chains = self.chains.iter_mut().zip(by_chain);
        let chains =
            chains.map(|(chain, tempered)| (chain, tempered.expect("a temperature of its own")));
        self.threads.go(&run, chains.collect())?;
        self.progress.generation = next;
        if adapts {
            self.learn();
        }
        if next.is_multiple_of(SWAP_EVERY) {
            self.swap(adapts);
        }
        Ok(next.is_multiple_of(self.options.sample_every).then(|| self.sample()))
    }

    /// The next generation after which something is done with all chains.
    fn next_barrier(&self) -> u64 {
        let now = self.progress.generation;
        let multiple = |step: u64| now / step * step + step;
        let first = multiple(SWAP_EVERY).min(multiple(self.options.sample_every));
        let all = self.options.num_adapting;
        if now >= all {
            return first;
        }
        let parts = learning_times(all).into_iter().chain([all]).filter(|part| *part > now);
        parts.fold(first.min(multiple(seeing_step(all))), u64::min)
    }

    /// Sees the states of all chains from time to time, and uses what was seen at [`learning_times`]. What was seen before the
    /// last but one of these times is forgotten: each part of the adaptation mixes better than the one before.
    fn learn(&mut self) {
        let (all, now) = (self.options.num_adapting, self.progress.generation);
        if now.is_multiple_of(seeing_step(all)) {
            self.chains.iter().for_each(|chain| self.progress.watched.see(chain.evaluator.tree()));
            for (coordinates, learner) in self.coordinates.iter().zip(&mut self.progress.learners) {
                for chain in &self.chains {
                    if let Some((vector, _)) = coordinates.of(chain) {
                        learner.see(&vector);
                    }
                }
            }
        }
        if let Some(part) = learning_times(all).iter().position(|part| *part == now) {
            let forgets = part != 3;
            for learner in &mut self.progress.learners {
                learner.learn();
                if forgets {
                    learner.forget();
                }
            }
            self.progress.seen = self.progress.watched.clone();
            if forgets {
                self.progress.watched.forget();
            }
            self.chains.iter_mut().for_each(|chain| chain.conflicts.forget());
        }
    }

    /// Chains of neighbouring temperatures swap them, or not: in turn those of the temperatures 0 and 1, 2 and 3, ..., and
    /// those of 1 and 2, 3 and 4, ..., which takes states from end to end in fewer swaps than pairs that are drawn (Syed et
    /// al. 2022, J. R. Stat. Soc. B 84:321).
    fn swap(&mut self, adapts: bool) {
        let num_chains = self.chains.len();
        let progress = &mut self.progress;
        let is_odd = num_chains > 2 && (progress.generation / SWAP_EVERY).is_multiple_of(2);
        for cold in (usize::from(is_odd)..num_chains.saturating_sub(1)).step_by(2) {
            let chance = progress.rng.random::<f64>();
            let [colder, hotter] = [cold, cold + 1]
                .map(|number| self.chains[progress.chain_of[number] as usize].ln_posterior());
            let [heat, less] = [cold, cold + 1].map(|number| progress.heating.power(number));
            let is_accepted = libm::log(chance) < (heat - less) * (hotter - colder);
            if is_accepted {
                progress.chain_of.swap(cold, cold + 1);
            }
            if !adapts {
                progress.swaps[cold][0] += 1;
                progress.swaps[cold][1] += u64::from(is_accepted);
            } else if self.options.temperature.is_none() {
                progress.heating.count(is_accepted);
            }
        }
    }
}

/// While so many generations are adapted, states are seen at multiples of this number.
fn seeing_step(num_adapting: u64) -> u64 {
    (num_adapting / NUM_SEEN).max(1)
}

/// When what was seen is used, in an adaptation of so many generations.
fn learning_times(all: u64) -> [u64; 5] {
    [all / 16, all / 8, all / 4, all / 2, all * 3 / 4]
}

impl RunState {
    /// True if a run with these evaluators, models and options may have been in this state.
    pub fn fits(
        &self,
        evaluators: &[Evaluator],
        models: &[Model],
        options: &SamplerOptions,
    ) -> bool {
        let Some(first) = evaluators.first() else { return false };
        let coordinates = options.coordinates(models);
        let num_tips = first.tree().num_tips();
        let num_moves = options.moves(&coordinates, num_tips).len();
        let Progress { chain_of, tuning, swaps, learners, .. } = &self.progress;
        let mut sorted = chain_of.clone();
        sorted.sort_unstable();
        self.chains.len() == evaluators.len()
            && self.chains.iter().zip(evaluators).all(|(chain, one)| chain.fits(one, models))
            && sorted.iter().copied().eq(0..evaluators.len() as u32)
            && tuning.len() == evaluators.len()
            && tuning.iter().all(|tuned| tuned.len() == num_moves)
            && swaps.len() + 1 == evaluators.len()
            && learners.len() == coordinates.len()
            && learners.iter().zip(&coordinates).all(|(learner, of)| learner.fits(of.size(models)))
    }

    /// Number of generations so far.
    pub fn generation(&self) -> u64 {
        self.progress.generation
    }

    /// Of each kind of proposal in the cold chain: its name, and how many were proposed and accepted since the end of the
    /// adaptation.
    pub fn acceptance(
        &self,
        options: &SamplerOptions,
        models: &[Model],
        num_tips: usize,
    ) -> Vec<(String, [u64; 2])> {
        let coordinates = options.coordinates(models);
        let moves = options.moves(&coordinates, num_tips);
        let mut all: Vec<(Move, [u64; 2])> =
            moves.iter().map(|one| one.0).zip(self.accepted()).collect();
        all.sort_by_key(|(kind, _)| kind.place(&options.numbers));
        all.into_iter().map(|(kind, counts)| (kind.name(&options.numbers), counts)).collect()
    }

    /// The numbers of [`RunState::acceptance`].
    pub fn accepted(&self) -> impl Iterator<Item = [u64; 2]> {
        self.progress.tuning[0].iter().map(|tuned| tuned.counts)
    }

    /// The temperature of the heating.
    pub fn temperature(&self) -> f64 {
        self.progress.heating.temperature
    }

    /// Of each pair of neighbouring temperatures, the colder one first: swaps that were proposed and accepted since the end
    /// of the adaptation.
    pub fn swaps(&self) -> &[[u64; 2]] {
        &self.progress.swaps
    }
}
