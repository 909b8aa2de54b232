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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment;
    use crate::likelihood::{BrlenLinkage, EngineOptions, make_evaluator};
    use crate::partition::Partition;
    use crate::rng::{Purpose, stream};
    use crate::search::parsimony_start;
    use crate::tree::edges_not_in;
    use std::path::Path;

    #[test]
    fn a_step_of_the_ratchet_changes_a_part_of_the_tree_and_says_which() {
        let alignment = read_alignment(Path::new("../../datasets/anolis.phy")).unwrap();
        let partitions = [Partition::whole(&alignment, "JC").unwrap()];
        let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
        let start = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
        let models = [partitions[0].model.clone()];
        let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
        let mut evaluator =
            make_evaluator(&partitions, &models, start.clone(), linked, &engine).unwrap();
        let mut found = Vec::new();
        for index in 0..4 {
            evaluator.set_tree(start.clone());
            let mut rng = stream(1, Purpose::Test, index);
            let changed = ratchet(&mut evaluator, &data, &mut rng);
            let tree = evaluator.tree();
            tree.assert_integrity();
            let different = edges_not_in(tree, &start);
            // A step may find nothing better.
            assert!(different.len() < tree.num_tips() / 2, "{}", different.len());
            let ends = different.iter().flat_map(|&edge| tree.ends(edge));
            assert!(ends.into_iter().all(|end| changed.contains(end)));
            let nodes = (0..tree.num_nodes() as u32).map(NodeId);
            assert!(nodes.into_iter().any(|node| !changed.contains(node)), "some is as it was");
            // What both trees have keeps its length.
            let mut kept = start.clone();
            adopt_shared_brlens(&mut kept, tree);
            assert!(kept == start);
            found.push(tree.clone());
        }
        assert!(found[1..].iter().any(|tree| *tree != found[0]), "steps leave out other columns");
    }
}
