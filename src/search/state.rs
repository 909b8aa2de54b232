//! [`SearchState`]: what a search knows between two steps, as one plain value.
//!
//! Together with the data and the [`SearchOptions`](super::SearchOptions) it decides all that follows: a
//! search that goes on from it, in whatever evaluator, ends with the same bits.

use super::meter::Meter;
use super::schedule::RoundOptions;
use super::spr::{Changed, Round};
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::model::Model;
use crate::rng::Rng;
use std::sync::Arc;

/// A search between two steps.
#[derive(Debug, Clone)]
pub struct SearchState {
    /// The evaluator's tree with its lengths.
    pub(super) snapshot: Arc<Snapshot>,
    /// Models with their parameters.
    pub(super) models: Vec<Model>,
    /// How it goes on.
    pub(super) plan: Plan,
}

/// How a search goes on from the tree and models that it has.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) stage: Stage,
    /// The rounds of the stage, while they last.
    pub(super) rounds: Option<Rounds>,
    /// Where the search from each starting tree that is still considered stands.
    pub(super) ends: Vec<End>,
    pub(super) perturbing: Option<Perturbing>,
    /// The models that the search began with.
    pub(super) initial: Vec<Model>,
    pub(super) meter: Meter,
}

/// What a search does next, in this order. Numbers are those of starting trees, or of what is left of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// First optimisation of lengths and model.
    Start,
    /// One fast round from a starting tree.
    Screen(usize),
    /// Fast rounds from one of the best.
    Fast(usize),
    /// Lengths and model of the best.
    Model,
    /// Wide rounds from one of the best.
    Wide(usize),
    /// Perturbations, one by one.
    Perturb,
    /// Lengths of their own for all genes.
    Unlink,
    /// Lengths and model before the last rounds.
    BeforeLast,
    /// Last rounds.
    Last,
    /// Last optimisation of lengths and model.
    End,
    /// Nothing.
    Done,
}

/// Rounds on their way.
#[derive(Debug, Clone)]
pub(super) struct Rounds {
    /// As the user reads it.
    pub(super) name: String,
    pub(super) options: RoundOptions,
    /// They end when one gains less.
    pub(super) epsilon: f64,
    /// True if there is only one.
    pub(super) only_one: bool,
    /// Number of the present one, from 1.
    pub(super) number: usize,
    /// Log-likelihood before it.
    pub(super) before: f64,
    pub(super) changed: Changed,
    pub(super) round: Option<Round>,
}

/// Perturbations on their way.
#[derive(Debug, Clone)]
pub(super) struct Perturbing {
    pub(super) rng: Rng,
    /// Attempts so far.
    pub(super) number: usize,
    /// Attempts in vain since the last success.
    pub(super) failures: usize,
    /// Log-likelihood of the tree.
    pub(super) best: f64,
}

/// Where the search from one starting tree stands.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) lnl: f64,
    pub(super) snapshot: Arc<Snapshot>,
    /// Where the next round has something to look at.
    pub(super) changed: Changed,
}

impl End {
    pub(super) fn of(evaluator: &mut Evaluator, changed: Changed) -> Result<Self> {
        let (lnl, snapshot) = (evaluator.log_likelihood()?, Arc::new(evaluator.snapshot()));
        Ok(End { lnl, snapshot, changed })
    }
}

/// The best `count`, best first; of equal ones those that come first.
pub(super) fn keep_best(ends: &mut Vec<End>, count: usize) {
    ends.sort_by(|a, b| b.lnl.total_cmp(&a.lnl));
    ends.truncate(count);
}

impl SearchState {
    /// The tree with its lengths that the search has reached, to go on from in another evaluator.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The models that go with it.
    pub fn models(&self) -> &[Model] {
        &self.models
    }
}
