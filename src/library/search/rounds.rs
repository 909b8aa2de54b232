//! SPR rounds over a tree, until one gains little.

use super::changed::Changed;
use super::crew::Crew;
use super::schedule::{self as at, RoundOptions};
use super::spr::Round;
use crate::likelihood::{BranchOptions, Evaluator, Result};
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};

/// Number of nodes whose subtrees are scanned in one step of a round, for each evaluator that scans.
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
    /// True if the tree differs from the best one in a few places only: lengths are optimised near these, and what moves have
    /// made equal to the best tree is not scanned any more.
    pub(super) near_differences: bool,
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
    pub(super) fn new(name: String, options: RoundOptions, epsilon: f64, changed: Changed) -> Self {
        Rounds {
            name,
            options,
            epsilon,
            only_one: false,
            near_differences: false,
            number: 1,
            before: f64::NEG_INFINITY,
            changed,
            round: None,
        }
    }

    /// Continues by one step. `views` are those of the leader's tree, during a round; they are computed if missing. If the
    /// result will be recombined with the `best` tree, each round scans subtrees only near what that does not have.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn step<'d>(
        &mut self,
        crew: &mut Crew,
        views: &mut Vec<ParsimonyViews<'d>>,
        data: &'d ParsimonyData,
        best: Option<&Tree>,
    ) -> Result<Ended> {
        let evaluator = &mut *crew.leader;
        let mut round = match self.round.take() {
            Some(round) => round,
            None => {
                views.clear();
                if let Some(best) = best {
                    let tree = evaluator.tree();
                    self.changed.keep_near_differences(tree, best, at::DIFFERENT_RADIUS);
                }
                self.before = evaluator.log_likelihood()?;
                Round::begin(evaluator)?
            }
        };
        let (accepted, changed) = (round.result.accepted, &mut self.changed);
        let most_nodes = match self.near_differences {
            // What is scanned next depends on where a step ends.
            true => NODES_PER_STEP,
            false => NODES_PER_STEP * crew.num_scanning(),
        };
        crew.scan(views, data, |scanner| {
            round.scan_next(scanner, &self.options, changed, most_nodes)
        })?;
        let evaluator = &mut *crew.leader;
        // Where moves have taken a perturbation back, nothing is left to be found.
        if let Some(best) =
            best.filter(|_| self.near_differences && round.result.accepted > accepted)
        {
            self.changed.keep_near_differences(evaluator.tree(), best, at::DIFFERENT_RADIUS);
        }
        if !round.is_over() {
            self.round = Some(round);
            return Ok(Ended::Nothing);
        }
        views.clear();
        let lnl = match best.filter(|_| self.near_differences) {
            Some(best) => optimize_near_differences(evaluator, best)?,
            None => evaluator.optimize_branches(&BranchOptions {
                max_sweeps: 2,
                lnl_epsilon: self.epsilon,
                gain_tolerance: at::ROUND_TOLERANCE,
            })?,
        };
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

/// Optimises the lengths near the branches that the best tree does not have. Returns the log-likelihood.
///
/// # Errors
/// The engine has failed.
pub(super) fn optimize_near_differences(evaluator: &mut Evaluator, best: &Tree) -> Result<f64> {
    let tree = evaluator.tree();
    let mut near = Changed::none(tree);
    near.mark_differences(tree, best, at::LENGTHS_RADIUS);
    let (first, edge) = tree.links(NodeId(0)).next().expect("the tree has edges");
    let is_near = |edge: &EdgeId| tree.ends(*edge).iter().any(|&end| near.contains(end));
    let edges = tree.preorder(first, edge).into_iter().map(|(_, edge)| edge).filter(is_near);
    evaluator.optimize_edges(&edges.collect::<Vec<_>>(), at::ROUND_TOLERANCE)?;
    evaluator.log_likelihood()
}
