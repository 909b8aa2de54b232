//! SPR rounds over a tree, until one gains little.

use super::changed::Changed;
use super::schedule::{self as at, RoundOptions};
use super::spr::Round;
use crate::likelihood::{BranchOptions, Evaluator, Result};
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};

/// Number of nodes whose subtrees are scanned in one step of a round.
const NODES_PER_STEP: usize = 16;

/// Rounds in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// Name of the phase, as shown to users.
    pub(super) name: String,
    pub(super) options: RoundOptions,
    /// The rounds end after one that gains less than this (log units).
    pub(super) epsilon: f64,
    /// True if there is only one round.
    pub(super) only_one: bool,
    /// Number of the present round, from 1.
    pub(super) number: usize,
    /// Log-likelihood before the present round.
    pub(super) before: f64,
    /// The subtrees that have to be scanned.
    pub(super) changed: Changed,
    pub(super) round: Option<Round>,
}

/// What has ended with a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ended {
    /// Nothing: the round goes on.
    Nothing,
    /// A round of this number, after which the tree has this log-likelihood.
    Round {
        /// Counted from 1.
        number: usize,
        lnl: f64,
    },
    /// The last round.
    All { number: usize, lnl: f64 },
}

impl Rounds {
    /// Rounds that begin with these subtrees.
    pub(super) fn new(
        name: String,
        options: RoundOptions,
        epsilon: f64,
        changed: Changed,
    ) -> Self {
        let (only_one, number, before, round) = (false, 1, f64::NEG_INFINITY, None);
        Rounds { name, options, epsilon, only_one, number, before, changed, round }
    }

    /// Continues by one step. `views` are those of the evaluator's tree, during a round; they are computed if missing. With
    /// a tree with which the result will be recombined, subtrees are scanned only near what that does not have.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn step<'d>(
        &mut self,
        evaluator: &mut Evaluator,
        views: &mut Option<ParsimonyViews<'d>>,
        data: &'d ParsimonyData,
        recombined: Option<&Tree>,
    ) -> Result<Ended> {
        let mut round = match self.round.take() {
            Some(round) => round,
            None => {
                *views = None;
                if let Some(other) = recombined {
                    let tree = evaluator.tree();
                    self.changed.keep_near_differences(tree, other, at::DIFFERENT_RADIUS);
                }
                self.before = evaluator.log_likelihood()?;
                Round::begin(evaluator)?
            }
        };
        let present = views.get_or_insert_with(|| ParsimonyViews::new(evaluator.tree(), data));
        let accepted = round.result.accepted;
        let nodes = if recombined.is_some() && self.name.starts_with("pert") { at::x("NS", 1) } else { NODES_PER_STEP };
        let slot = if self.name.starts_with("perturbation") { 8 } else if self.name.starts_with("fast SPR") {4} else if self.name.starts_with("rounds") {12} else {0};
        let slot = slot + if self.number > 1 { 2 } else { 0 };
        at::timed(slot, || round.scan_next(evaluator, present, &self.options, &mut self.changed, nodes))?;
        let trims = at::x("TR", 1) == 1 && self.name.starts_with("pert") || at::x("TS", 0) == 1;
        if let Some(other) = recombined.filter(|_| trims && round.result.accepted > accepted) {
            self.changed.keep_near_differences(evaluator.tree(), other, at::DIFFERENT_RADIUS);
        }
        if !round.is_over() {
            self.round = Some(round);
            return Ok(Ended::Nothing);
        }
        *views = None;
        let near = recombined.filter(|_| at::x("LO", 1) == 1 && self.name.starts_with("pert"));
        let lnl = at::timed(slot + 1, || match near {
            Some(other) => optimize_near_differences(evaluator, other),
            None => evaluator.optimize_branches(&BranchOptions {
                max_sweeps: 2,
                lnl_epsilon: self.epsilon,
                gain_tolerance: at::ROUND_TOLERANCE,
            }),
        })?;
        log::debug!("{} {}: {:?}", self.name, self.number, round.result);
        let gained = evaluator.log_likelihood()? - self.before;
        if self.only_one || round.result.accepted == 0 || gained < self.epsilon {
            return Ok(Ended::All { number: self.number, lnl });
        }
        let number = self.number;
        self.number += 1;
        Ok(Ended::Round { number, lnl })
    }

    /// The completed part of the present round, from 0 to 1.
    pub(super) fn part_of_round(&self) -> f64 {
        self.round.as_ref().map_or(0.0, Round::part)
    }
}

/// Optimises the lengths near the branches that `other` does not have. Returns the log-likelihood.
pub(super) fn optimize_near_differences(evaluator: &mut Evaluator, other: &Tree) -> Result<f64> {
    let tree = evaluator.tree();
    let mut near = Changed::none(tree);
    near.mark_differences(tree, other, at::x("LR", 2));
    let (first, edge) = tree.links(crate::tree::NodeId(0)).next().expect("the tree has edges");
    let edges: Vec<_> = tree
        .preorder(first, edge)
        .into_iter()
        .filter(|&(_, edge)| tree.ends(edge).iter().any(|&end| near.contains(end)))
        .map(|(_, edge)| edge)
        .collect();
    for _ in 0..at::x("LS", 1) {
        evaluator.optimize_edges(&edges, at::ROUND_TOLERANCE)?;
    }
    evaluator.log_likelihood()
}
