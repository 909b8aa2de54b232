//! [`SearchState`]: the state of a search between two steps, as a plain value.
//!
//! Together with the data and the [`SearchOptions`](super::SearchOptions) it determines all further steps: a
//! search that is resumed from it, in any evaluator, gives the same bits.

use super::changed::Changed;
use super::climb::{Climb, End, Wave};
use super::history::SearchHistory;
use super::meter::Meter;
use super::rounds::Rounds;
use crate::likelihood::{Evaluator, Snapshot};
use crate::model::{Model, ModelValues};
use crate::optimize::OptimizePlan;
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// State of a search between two steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchState {
    /// The evaluator's tree with its branch lengths.
    pub(super) snapshot: Arc<Snapshot>,
    /// The values of the models' parameters.
    pub(super) models: Vec<ModelValues>,
    /// The current stage, and what its further steps need.
    pub(super) plan: Plan,
}

impl SearchState {
    /// The best tree so far and its log-likelihood, where that is known; branch lengths are not final.
    pub fn best(&self) -> (&Tree, Option<f64>) {
        let present = (self.snapshot.tree(), self.snapshot.log_likelihood());
        match &self.plan.best {
            Some(best) if present.1.is_none_or(|lnl| lnl < best.lnl) => {
                (best.snapshot.tree(), Some(best.lnl))
            }
            _ => present,
        }
    }

    /// True if a search of the evaluator's data, under these models, may have been in this state: trees, partitions and
    /// parameters are as many. To be asked of a state that was read, before a search is resumed from it.
    pub fn fits(&self, evaluator: &Evaluator, models: &[Model]) -> bool {
        let Plan { rounds, optimising, best, wave, changed, initial, history, starts, .. } =
            &self.plan;
        let tree = evaluator.tree();
        let fit = |values: &[ModelValues]| {
            values.len() == models.len() && models.iter().zip(values).all(|(m, v)| m.fits(v))
        };
        let fitting = |changed: &Changed| changed.fits(tree);
        let best_fits = |end: &End| end.snapshot.fits(evaluator) && fitting(&end.changed);
        let mut met = history.more_starts.iter().chain(history.reached.iter().map(|end| &end.1));
        let rounds_fit = |rounds: &Rounds| {
            fitting(&rounds.changed) && rounds.round.as_ref().is_none_or(|round| round.fits(tree))
        };
        let wave_fits = |wave: &Wave| {
            let starts = wave.climbs.iter().all(|climb| match climb {
                Climb::Screen(_, start) | Climb::Explore(_, start) => {
                    start.num_tips() == tree.num_tips()
                }
                Climb::First | Climb::Perturb(_) => true,
            });
            let is_going_on = wave.ends.len() < wave.climbs.len();
            starts && is_going_on && wave.ends.iter().all(&best_fits)
        };
        self.snapshot.fits(evaluator)
            && wave.as_ref().is_none_or(wave_fits)
            && fit(&self.models)
            && fit(initial)
            && fitting(changed)
            && !starts.is_empty()
            && starts.iter().enumerate().all(|(number, &first)| first <= number)
            && rounds.as_ref().is_none_or(rounds_fit)
            && optimising.as_ref().is_none_or(|plan| plan.fits(models))
            && best.as_ref().is_none_or(&best_fits)
            && met.all(|met| met.num_tips() == tree.num_tips())
    }
}

/// The state of a search apart from the present tree and models.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) stage: SearchStage,
    /// The rounds of the stage, until they end.
    pub(super) rounds: Option<Rounds>,
    /// The stage's optimisation of branch lengths and model, until it ends.
    pub(super) optimising: Option<OptimizePlan>,
    /// The best tree so far, between stages that begin with it.
    pub(super) best: Option<End>,
    /// For each starting tree, the number of the first one that is the same: rounds from a tree that was there before are
    /// left out.
    pub(super) starts: Vec<usize>,
    /// Number of starting trees in succession that added nothing to the best tree.
    pub(super) in_vain: usize,
    /// The subtrees that the next rounds have to scan: those that have changed since they were last scanned.
    pub(super) changed: Changed,
    /// The climbs of the stage that do not depend on each other, until all have ended.
    pub(super) wave: Option<Wave>,
    pub(super) perturbing: Option<Perturbing>,
    /// How much the trees are alike that the starting trees led to.
    pub(super) agreement: Agreement,
    /// True when all further starting trees have been explored.
    pub(super) explored: bool,
    /// The values of the models' parameters with which the search began.
    pub(super) initial: Vec<ModelValues>,
    pub(super) meter: Meter,
    pub(super) history: SearchHistory,
}

/// How much trees are alike. Branches without length do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Agreement {
    /// All are the same tree.
    Full,
    /// Some are alike, or there is only one.
    Partial,
    /// Any two differ in much.
    Little,
}

/// The stages of a search, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SearchStage {
    /// Initial optimisation of branch lengths and model.
    Start,
    /// One fast round from starting trees, and recombination with the best one so far; so many that differ are done.
    Screen(usize),
    /// Further fast rounds from the best tree.
    Fast,
    /// Optimisation of branch lengths and model on the best tree.
    Model,
    /// Wide rounds from the best tree.
    Wide,
    /// Perturbations, one after the other: fast rounds from the perturbed tree, and recombination with the best tree.
    Perturb,
    /// Wide rounds where a perturbation has changed the best tree.
    Improve,
    /// Fast rounds from a further starting tree of this number, and recombination with the best tree.
    Explore(usize),
    /// Wide rounds where the recombination has changed the best tree, before the further starting tree of this number.
    Renew(usize),
    /// Change to unlinked branch lengths, if requested.
    Unlink,
    /// Optimisation of branch lengths and model before the last rounds.
    BeforeLast,
    /// Last rounds.
    Last,
    /// Final optimisation of branch lengths and model.
    End,
    /// Canonical resolution of polytomies.
    Resolve,
    /// The search has ended.
    Done,
}

impl SearchStage {
    /// True of stages whose climbs do not depend on each other.
    pub(super) fn is_of_waves(self) -> bool {
        matches!(self, SearchStage::Screen(_) | SearchStage::Explore(_) | SearchStage::Perturb)
    }
}

/// Perturbations in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Perturbing {
    /// True if the phase has been announced to the observer.
    pub(super) is_announced: bool,
    /// Number of perturbations so far.
    pub(super) number: usize,
    /// Number of unsuccessful perturbations since the last successful one.
    pub(super) failures: usize,
}
