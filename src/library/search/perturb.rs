//! Perturbations, to escape from local optima: random SPR moves all over the best tree, or what parsimony prefers to it on some of the
//! columns. From there, the search climbs again; where the result differs from the best tree, the better resolution of each region is kept
//! (`fuse`).
//!
//! This is iterated local search, as in IQ-TREE, which keeps or rejects the tree that a perturbation led to as a whole. Here
//! each region of it is kept or rejected on its own, so that one perturbation tries many places at the same time.

use super::changed::Changed;
use super::schedule as at;
use crate::likelihood::Evaluator;
use crate::parsimony::{ParsimonyData, parsimony_brlens, parsimony_spr};
use crate::rng::Rng;
use crate::tree::{Constraint, ConstraintView, EdgeId, NodeId, Tree, adopt_shared_brlens};
use rand::RngExt;

/// Regrafts random subtrees at random positions near their own. Returns the subtrees that have to be scanned.
pub(super) fn perturb(
    evaluator: &mut Evaluator,
    constraint: Option<&Constraint>,
    rng: &mut Rng,
) -> Changed {
    let num_taxa = evaluator.tree().num_tips();
    let moves = (num_taxa / at::TAXA_PER_MOVE).max(at::LEAST_MOVES);
    let mut changed = Changed::none(evaluator.tree());
    for _ in 0..moves {
        let tree = evaluator.tree();
        let attach = NodeId(rng.random_range(num_taxa as u32..tree.num_nodes() as u32));
        let links: Vec<EdgeId> = tree.links(attach).map(|(_, edge)| edge).collect();
        let pendant = links[rng.random_range(0..links.len())];
        let view = constraint.map(|constraint| ConstraintView::new(constraint, tree));
        let targets = places_within(tree, view.as_ref(), attach, pendant, at::MOVE_RADIUS);
        if targets.is_empty() {
            continue;
        }
        let target = targets[rng.random_range(0..targets.len())];
        let moved = evaluator.move_subtree(attach, pendant, target);
        for place in moved.places() {
            changed.mark_within(evaluator.tree(), place, at::MOVED_SCAN_RADIUS);
        }
    }
    changed
}

/// Improves the tree by parsimony, with some columns left out: a step of the parsimony ratchet (Nixon 1999, Cladistics 15:407-414).
/// Where it changes the tree, at least some columns contradict it. Returns the subtrees that have to be scanned.
pub(super) fn ratchet(evaluator: &mut Evaluator, data: &ParsimonyData, rng: &mut Rng) -> Changed {
    let best = evaluator.tree().clone();
    let mut tree = best.clone();
    parsimony_spr(&mut tree, &data.thinned(at::LEFT_OUT, rng), at::RATCHET_RADIUS, rng);
    parsimony_brlens(&mut tree, data);
    adopt_shared_brlens(&mut tree, &best);
    let mut changed = Changed::none(&tree);
    changed.mark_differences(&tree, &best, at::MOVED_SCAN_RADIUS);
    evaluator.set_tree(tree);
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
