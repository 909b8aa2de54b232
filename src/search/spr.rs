//! One round of subtree pruning and regrafting over the whole tree.

use super::schedule::{ACCEPT_GAIN, CHANGE_RADIUS, NEAR_MISS_RADIUS, SCAN_STEP, VERIFY_TOLERANCE};
use crate::likelihood::Evaluator;
use crate::tree::{EdgeId, NodeId, Tree};

/// How far a round looks and how carefully.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundOptions {
    /// Most edges between pruning and regrafting place.
    pub radius: usize,
    /// Most positions per pruned subtree that are verified.
    pub verified: usize,
    /// Only positions whose lazy score is at most this far below the present likelihood are.
    pub within: f64,
    /// A verified position at most this far below gets its neighbourhood's branches optimised, too.
    pub near_miss: f64,
}

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoundResult {
    /// Log-likelihood after it.
    pub lnl: f64,
    /// Moves made.
    pub accepted: usize,
    /// Positions scored.
    pub scored: usize,
    /// Positions verified.
    pub verified: usize,
}

/// Nodes near which something has changed since the subtrees at them were last scanned. A subtree far
/// from any change would only be found to be in its best place again.
#[derive(Debug, Clone)]
pub struct Changed {
    nodes: Vec<bool>,
}

impl Changed {
    /// Everything is to be scanned.
    pub fn all(tree: &Tree) -> Self {
        Changed { nodes: vec![true; tree.num_nodes()] }
    }

    /// Nothing is to be scanned.
    pub fn none(tree: &Tree) -> Self {
        Changed { nodes: vec![false; tree.num_nodes()] }
    }

    /// True if nothing is left to be scanned.
    pub fn is_empty(&self) -> bool {
        !self.nodes.contains(&true)
    }

    /// Marks the nodes within [`CHANGE_RADIUS`] edges of a place.
    pub fn mark_around(&mut self, tree: &Tree, place: EdgeId) {
        for end in tree.ends(place) {
            let mut stack = vec![(end, place, 0)];
            while let Some((node, edge, depth)) = stack.pop() {
                self.nodes[node.index()] = true;
                if depth < CHANGE_RADIUS && !tree.is_tip(node) {
                    stack.extend(tree.other_links(node, edge).map(|(n, e)| (n, e, depth + 1)));
                }
            }
        }
    }

    fn take(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.nodes[node.index()], false)
    }
}

/// Prunes every subtree at a changed node once (both sides of every edge), scores all places within
/// the radius as one batch, verifies the best of them by optimising the branches around both places, and
/// makes the first move of the ranking that gains enough. What it moves counts as changed again.
pub fn spr_round(
    evaluator: &mut Evaluator,
    options: &RoundOptions,
    changed: &mut Changed,
) -> RoundResult {
    let mut result = RoundResult { lnl: evaluator.log_likelihood(), ..RoundResult::default() };
    // Neighbouring subtrees follow each other, so that few CLVs turn between two prunes.
    let order: Vec<NodeId> = inner_nodes_depth_first(evaluator.tree());
    for attach in order {
        if !changed.take(attach) {
            continue;
        }
        let mut pendants = [EdgeId::NONE; 3];
        for (slot, (_, edge)) in pendants.iter_mut().zip(evaluator.tree().links(attach)) {
            *slot = edge;
        }
        for pendant in pendants {
            // An accepted move may have taken this edge away from the node.
            if evaluator.tree().links(attach).any(|(_, edge)| edge == pendant) {
                prune(evaluator, attach, pendant, options, changed, &mut result);
            }
        }
    }
    result
}

fn prune(
    evaluator: &mut Evaluator,
    attach: NodeId,
    pendant: EdgeId,
    options: &RoundOptions,
    changed: &mut Changed,
    result: &mut RoundResult,
) {
    let (candidates, scores) = scan(evaluator, attach, pendant, options, result.lnl);
    if candidates.is_empty() {
        return;
    }
    result.scored += scores.len();
    let mut ranking: Vec<usize> =
        (0..scores.len()).filter(|&i| scores[i] > result.lnl - options.within).collect();
    // Equal scores are one place as far as the genes can tell: one of them is enough.
    ranking.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    ranking.dedup_by(|a, b| scores[*a] == scores[*b]);
    for &best in ranking.iter().take(options.verified) {
        let moved = evaluator.move_subtree(attach, pendant, candidates[best]);
        evaluator.optimize_around(&moved, 0, VERIFY_TOLERANCE);
        let mut lnl = evaluator.log_likelihood();
        if lnl <= result.lnl + ACCEPT_GAIN && lnl > result.lnl - options.near_miss {
            evaluator.optimize_around(&moved, NEAR_MISS_RADIUS, VERIFY_TOLERANCE);
            lnl = evaluator.log_likelihood();
        }
        result.verified += 1;
        if lnl > result.lnl + ACCEPT_GAIN {
            result.lnl = lnl;
            result.accepted += 1;
            for place in moved.places() {
                changed.mark_around(evaluator.tree(), place);
            }
            return;
        }
        evaluator.undo_move(moved);
    }
}

/// Scores the places within the radius, some edges farther out at a time: beyond an edge whose score
/// would not be verified nothing is looked at (RAxML's cutoff, applied to a whole front at once).
fn scan(
    evaluator: &mut Evaluator,
    attach: NodeId,
    pendant: EdgeId,
    options: &RoundOptions,
    lnl: f64,
) -> (Vec<EdgeId>, Vec<f64>) {
    let (mut edges, mut scores) = (Vec::new(), Vec::new());
    let mut front: Vec<(NodeId, EdgeId)> = evaluator.tree().other_links(attach, pendant).to_vec();
    let mut depth = 0;
    while depth < options.radius && !front.is_empty() {
        let reach = SCAN_STEP.min(options.radius - depth);
        let (found, ends) = edges_beyond(evaluator.tree(), &front, reach);
        let found_scores = evaluator.score_prune(attach, pendant, &found).lnls;
        front = ends
            .into_iter()
            .filter(|&(_, i)| found_scores[i] > lnl - options.within)
            .map(|(node, i)| (node, found[i]))
            .collect();
        edges.extend(found);
        scores.extend(found_scores);
        depth += reach;
    }
    (edges, scores)
}

/// Edges at most `reach` beyond the given ones (each with the node to go on from), and those exactly
/// so far out, as (node to go on from, index).
fn edges_beyond(
    tree: &Tree,
    front: &[(NodeId, EdgeId)],
    reach: usize,
) -> (Vec<EdgeId>, Vec<(NodeId, usize)>) {
    let (mut edges, mut ends) = (Vec::new(), Vec::new());
    for &(node, edge) in front {
        let mut stack = vec![(node, edge, 0)];
        while let Some((node, edge, depth)) = stack.pop() {
            if depth > 0 {
                edges.push(edge);
            }
            if depth == reach {
                ends.push((node, edges.len() - 1));
            } else if !tree.is_tip(node) {
                stack.extend(tree.other_links(node, edge).map(|(n, e)| (n, e, depth + 1)));
            }
        }
    }
    (edges, ends)
}

/// Edges of the rest of the tree within `radius` of the place a subtree hangs at, the two edges that
/// meet there excluded.
pub(super) fn edges_within(
    tree: &Tree,
    attach: NodeId,
    pendant: EdgeId,
    radius: usize,
) -> Vec<EdgeId> {
    edges_beyond(tree, &tree.other_links(attach, pendant), radius).0
}

fn inner_nodes_depth_first(tree: &Tree) -> Vec<NodeId> {
    let (first, edge) = tree.links(NodeId(0)).next().expect("a tree that is searched has edges");
    let order = tree.preorder(first, edge);
    order.into_iter().map(|(node, _)| node).filter(|&node| !tree.is_tip(node)).collect()
}
