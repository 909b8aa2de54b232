//! Steps of all chains of a run between two barriers, on one thread or several. Every chain has a random
//! stream of its own, and what they read in common does not change in between: the threads make no difference.

use super::chain::{Block, Chain};
use super::moves::Move;
use super::options::SamplerOptions;
use super::plan::{HEATED_EVERY, HEATED_EVERY_ADAPTING};
use super::proposal_context::ProposalContext;
use super::reference::{Coordinates, Learner};
use super::seen_splits::SeenSplits;
use super::step::Target;
use super::tuning::Tuned;
use crate::likelihood::Result;
use crate::parallel::{Pool, UnitCost, deal, loads_of};
use rand::RngExt;
use std::sync::{Mutex, PoisonError};

/// What chains read in common on their way to the next barrier.
pub(super) struct ChainSteps<'a> {
    pub(super) options: &'a SamplerOptions,
    pub(super) target: &'a Target,
    pub(super) coordinates: &'a [Coordinates],
    pub(super) moves: &'a [(Move, f64)],
    pub(super) learners: &'a [Learner],
    pub(super) seen: &'a SeenSplits,
    /// Proposals are adapted.
    pub(super) adapts: bool,
    /// Generation before the first step.
    pub(super) begin: u64,
    /// Generations.
    pub(super) steps: u64,
}

/// The temperature of a chain.
pub(super) struct Tempered<'a> {
    /// Its samples count.
    pub(super) is_cold: bool,
    /// The power to which its posterior is raised.
    pub(super) heat: f64,
    /// Of each kind of proposal at this temperature.
    pub(super) tuning: &'a mut [Tuned],
}

impl ChainSteps<'_> {
    /// Number of steps of a chain: one for each generation, or fewer of a heated chain.
    fn num_steps(&self, tempered: &Tempered) -> u64 {
        let every = match (tempered.is_cold, self.adapts) {
            (true, _) => 1,
            (false, true) => HEATED_EVERY_ADAPTING,
            (false, false) => HEATED_EVERY,
        };
        (self.begin + self.steps) / every - self.begin / every
    }

    /// All steps of a chain.
    fn go(&self, chain: &mut Chain, tempered: &mut Tempered) -> Result<()> {
        for _ in 0..self.num_steps(tempered) {
            let number = choose(self.moves, self.learners, chain);
            let tuned = &mut tempered.tuning[number];
            let context = ProposalContext {
                step_size: tuned.step_size,
                heat: tempered.heat,
                data_heat: tempered.heat,
                coordinates: self.coordinates,
                learners: self.learners,
                seen: self.seen,
                parsimony: Some(&self.options.parsimony),
                prior_only: self.options.prior_only,
                brlens: &self.target.priors.brlens,
            };
            let is_accepted = chain.step(self.moves[number].0, &context, self.target)?;
            tuned.count(is_accepted, self.adapts);
        }
        Ok(())
    }
}

/// A chain with its temperature, and whether it came through.
type Dealt<'a, 'b> = Mutex<(&'a mut Chain, Tempered<'b>, Result<()>)>;

/// The threads of a run.
pub(super) struct ChainThreads(Pool);

impl ChainThreads {
    /// So many threads, but no more than chains.
    pub(super) fn new(number: usize, num_chains: usize) -> Self {
        ChainThreads(Pool::new(number.clamp(1, num_chains)))
    }

    /// All steps of all chains.
    ///
    /// # Errors
    /// That of the first chain whose engine has failed.
    pub(super) fn go(
        &mut self,
        run: &ChainSteps,
        chains: Vec<(&mut Chain, Tempered)>,
    ) -> Result<()> {
        let costs: Vec<UnitCost> =
            chains.iter().map(|(_, tempered)| run.num_steps(tempered)).collect();
        let hands = deal(&costs, self.0.num_workers());
        let lock = |(chain, tempered)| Mutex::new((chain, tempered, Ok(())));
        let dealt: Vec<Dealt> = chains.into_iter().map(lock).collect();
        self.0.run(&loads_of(&hands, &costs), &|worker| {
            for &chain in &hands[worker] {
                let mut dealt = dealt[chain].lock().unwrap_or_else(PoisonError::into_inner);
                let (chain, tempered, result) = &mut *dealt;
                *result = run.go(chain, tempered);
            }
        });
        let mut dealt = dealt.into_iter();
        dealt.try_for_each(|dealt| dealt.into_inner().unwrap_or_else(PoisonError::into_inner).2)
    }
}

/// The number of the next kind of proposal, drawn by their weights if no block goes on.
pub(super) fn choose(moves: &[(Move, f64)], learners: &[Learner], chain: &mut Chain) -> usize {
    let mut only_parameters = false;
    let find = |kind| moves.iter().position(|one| one.0 == kind).expect("one of the kinds");
    match chain.block {
        Block::Branches(_, _, 1..) => return find(Move::of_a_length(&mut chain.rng)),
        Block::Around(_, 1..) => {
            let changes_tree = chain.rng.random_range(0..2) == 0;
            return find(match changes_tree {
                true => Move::Nni,
                false => Move::of_a_length(&mut chain.rng),
            });
        }
        Block::Subtree(_, _, 1..) => return find(Move::ParsimonySpr),
        Block::Parameters(left @ 1..) => {
            chain.block = Block::Parameters(left - 1);
            only_parameters = true;
        }
        _ => {}
    }
    let weight = |(kind, weight): &(Move, f64)| {
        let may_be = kind.is_ready(learners) && (!only_parameters || kind.is_of_parameters());
        if may_be { weight / f64::from(kind.in_a_row()) } else { 0.0 }
    };
    let mut at = moves.iter().map(weight).sum::<f64>() * chain.rng.random::<f64>();
    let found = moves.iter().position(|one| {
        at -= weight(one);
        at < 0.0
    });
    let number = found.unwrap_or_else(|| {
        let last = moves.iter().rposition(|one| weight(one) > 0.0);
        last.expect("lengths can always be proposed")
    });
    if !only_parameters {
        let kind = moves[number].0;
        let left = kind.in_a_row() - 1;
        chain.block = if kind.is_of_parameters() { Block::Parameters(left) } else { Block::None };
    }
    number
}
