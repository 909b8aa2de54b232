//! Perturbations, to escape from local optima: a few random SPR moves near one edge, then hill climbing around
//! it; the result is kept if its likelihood is higher, otherwise the tree is restored.
//!
//! This is iterated local search, as in IQ-TREE, which makes random NNI moves all over the tree; with moves
//! close to each other, fewer subtrees have to be scanned again.

use super::changed::Changed;
use super::schedule::{self as at, RoundOptions};
use super::spr::spr_round;
use crate::likelihood::{BranchOptions, Evaluator, Result};
use crate::parsimony::ParsimonyData;
use crate::rng::Rng;
use crate::tree::{Constraint, ConstraintView, EdgeId, NodeId, Tree};
use rand::RngExt;

/// Perturbs the evaluator's tree, whose log-likelihood is `best`, and climbs from there. Returns the
/// log-likelihood if it is higher than `best`, and marks the subtrees near the changes; otherwise restores the tree and
/// returns `None`.
///
/// # Errors
/// The engine has failed.
pub(super) fn perturb(
    evaluator: &mut Evaluator,
    data: &ParsimonyData,
    options: &RoundOptions,
    best: f64,
    rng: &mut Rng,
    changed: &mut Changed,
) -> Result<Option<f64>> {
    let snapshot = evaluator.snapshot();
    let centre = EdgeId(rng.random_range(0..evaluator.tree().num_edges() as u32));
    let mut near = shake(evaluator, data.constraint(), centre, rng);
    let mut lnl = settle(evaluator, data, options, centre, &mut near)?;
    if lnl > best - at::NEARLY_AS_GOOD {
        let branches = BranchOptions { max_sweeps: 1, lnl_epsilon: 1.0, gain_tolerance: 1e-2 };
        lnl = evaluator.optimize_branches(&branches)?;
    }
    if lnl > best + at::FINAL_EPSILON {
        for edge in around(evaluator.tree(), centre) {
            changed.mark_around(evaluator.tree(), edge);
        }
        return Ok(Some(lnl));
    }
    evaluator.restore(&snapshot);
    Ok(None)
}

/// The branches that are optimised after a perturbation.
fn around(tree: &Tree, centre: EdgeId) -> Vec<EdgeId> {
    let near = tree.edges_within(centre, at::SETTLE_RADIUS);
    std::iter::once(centre).chain(near.into_iter().map(|(edge, _)| edge)).collect()
}

/// Regrafts a few random subtrees near an edge at random positions near them. Returns the subtrees that
/// have to be scanned.
fn shake(
    evaluator: &mut Evaluator,
    constraint: Option<&Constraint>,
    centre: EdgeId,
    rng: &mut Rng,
) -> Changed {
    let mut changed = Changed::none(evaluator.tree());
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
        let view = constraint.map(|constraint| ConstraintView::new(constraint, tree));
        let targets = places_within(tree, view.as_ref(), attach, pendant, at::SHAKE_RADIUS);
        if targets.is_empty() {
            continue;
        }
        let target = targets[rng.random_range(0..targets.len())];
        let moved = evaluator.move_subtree(attach, pendant, target);
        for place in moved.places() {
            changed.mark_within(evaluator.tree(), place, at::SHAKEN_RADIUS);
        }
    }
    changed
}

/// Edges of the rest of the tree within `radius` of a subtree's attachment node, without the two edges that
/// meet there and those that the constraint forbids.
fn places_within(
    tree: &Tree,
    view: Option<&ConstraintView>,
    attach: NodeId,
    pendant: EdgeId,
    radius: usize,
) -> Vec<EdgeId> {
    let mut edges = Vec::new();
    let home = view.and_then(|view| view.home(tree, attach, pendant));
    let may_pass = |node, by| match (view, home) {
        (Some(view), Some(home)) => view.may_pass(tree, home, node, by),
        _ => true,
    };
    for (node, edge) in tree.other_links(attach, pendant) {
        let mut stack = vec![(node, edge, 0)];
        while let Some((node, edge, depth)) = stack.pop() {
            if depth > 0 {
                edges.push(edge);
            }
            if depth < radius && !tree.is_tip(node) && may_pass(node, edge) {
                stack.extend(tree.other_links(node, edge).map(|(n, e)| (n, e, depth + 1)));
            }
        }
    }
    edges
}

/// Hill climbing from a perturbed tree, restricted to subtrees near its changes. Returns the log-likelihood.
fn settle(
    evaluator: &mut Evaluator,
    data: &ParsimonyData,
    options: &RoundOptions,
    centre: EdgeId,
    changed: &mut Changed,
) -> Result<f64> {
    let optimize_around = |evaluator: &mut Evaluator| -> Result<f64> {
        let edges = around(evaluator.tree(), centre);
        evaluator.optimize_edges(&edges, at::VERIFY_TOLERANCE)?;
        evaluator.log_likelihood()
    };
    let mut lnl = optimize_around(evaluator)?;
    while !changed.is_empty() {
        let result = spr_round(evaluator, data, options, changed)?;
        lnl = optimize_around(evaluator)?;
        if result.accepted == 0 {
            break;
        }
    }
    Ok(lnl)
}
