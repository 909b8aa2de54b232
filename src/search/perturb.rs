//! Escape from a local optimum: a few random moves near one place, then hill climbing around it; the
//! result is kept if it is better, else everything is as before.
//!
//! Iterated local search, as IQ-TREE does it with random NNIs all over the tree; keeping the moves
//! together keeps what has to be scanned again small.

use super::schedule::{self as at, RoundOptions};
use super::spr::{Changed, spr_round};
use crate::likelihood::{BranchOptions, Evaluator};
use crate::parsimony::ParsimonyData;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// An attempt is over.
pub struct Attempt {
    /// Its number, counted from 1.
    pub number: usize,
    /// Attempts in vain since the last success.
    pub failures: usize,
    /// The log-likelihood that it reached, if that is better than what was before.
    pub better: Option<f64>,
}

/// Perturbs until `limit` attempts in a row have failed, and reports each. Returns the log-likelihood.
pub fn perturb(
    evaluator: &mut Evaluator,
    data: &ParsimonyData,
    options: &RoundOptions,
    limit: usize,
    rng: &mut Rng,
    mut report: impl FnMut(Attempt),
) -> f64 {
    let mut best = evaluator.log_likelihood();
    let mut failures = 0;
    for number in 1.. {
        if failures >= limit {
            break;
        }
        let snapshot = evaluator.snapshot();
        let mut changed = shake(evaluator, rng);
        let lnl = settle(evaluator, data, options, &mut changed);
        let is_better = lnl > best + at::FINAL_EPSILON;
        if is_better {
            best = lnl;
            failures = 0;
        } else {
            failures += 1;
            evaluator.restore(&snapshot);
        }
        report(Attempt { number, failures, better: is_better.then_some(lnl) });
    }
    evaluator.log_likelihood()
}

/// Moves a few subtrees near a random place to random places near them.
fn shake(evaluator: &mut Evaluator, rng: &mut Rng) -> Changed {
    let mut changed = Changed::none(evaluator.tree());
    let centre = EdgeId(rng.random_range(0..evaluator.tree().num_edges() as u32));
    for _ in 0..at::PERTURBATION_MOVES {
        let tree = evaluator.tree();
        let near: Vec<NodeId> = tree
            .edges_within(centre, at::SHAKE_RADIUS)
            .into_iter()
            .flat_map(|(edge, _)| tree.ends(edge))
            .filter(|&node| !tree.is_tip(node))
            .collect();
        let attach = near[rng.random_range(0..near.len())];
        let links: Vec<EdgeId> = tree.links(attach).map(|(_, edge)| edge).collect();
        let pendant = links[rng.random_range(0..links.len())];
        let targets = places_within(tree, attach, pendant, at::SHAKE_RADIUS);
        if targets.is_empty() {
            continue;
        }
        let target = targets[rng.random_range(0..targets.len())];
        let moved = evaluator.move_subtree(attach, pendant, target);
        for place in moved.places() {
            changed.mark_around(evaluator.tree(), place);
        }
    }
    changed
}

/// Edges of the rest of the tree within `radius` of the place a subtree hangs at, the two edges that
/// meet there excluded.
fn places_within(tree: &Tree, attach: NodeId, pendant: EdgeId, radius: usize) -> Vec<EdgeId> {
    let mut edges = Vec::new();
    for (node, edge) in tree.other_links(attach, pendant) {
        let mut stack = vec![(node, edge, 0)];
        while let Some((node, edge, depth)) = stack.pop() {
            if depth > 0 {
                edges.push(edge);
            }
            if depth < radius && !tree.is_tip(node) {
                stack.extend(tree.other_links(node, edge).map(|(n, e)| (n, e, depth + 1)));
            }
        }
    }
    edges
}

/// Hill climbing from a perturbed tree, only where it has changed.
fn settle(
    evaluator: &mut Evaluator,
    data: &ParsimonyData,
    options: &RoundOptions,
    changed: &mut Changed,
) -> f64 {
    let branches = BranchOptions { max_sweeps: 1, lnl_epsilon: 1.0, gain_tolerance: 1e-2 };
    let mut lnl = evaluator.optimize_branches(&branches);
    while !changed.is_empty() {
        let result = spr_round(evaluator, data, options, changed, |_| {});
        lnl = evaluator.optimize_branches(&branches);
        if result.accepted == 0 {
            break;
        }
    }
    lnl
}
