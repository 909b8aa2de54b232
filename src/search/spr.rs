//! Rounds of subtree pruning and regrafting (SPR) over the whole tree.

use super::schedule::{
    ACCEPT_GAIN, CHANGE_RADIUS, MOVED_RADIUS, NEAR_MISS_RADIUS, RoundOptions, SAME,
    VERIFY_TOLERANCE,
};
use crate::likelihood::{Evaluator, Result};
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};

/// Result and statistics of a round.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RoundResult {
    /// Log-likelihood of the tree.
    pub lnl: f64,
    /// Number of accepted moves.
    pub accepted: usize,
    /// Number of scored positions.
    pub scored: usize,
    /// Number of positions whose three branches were optimised.
    pub tried: usize,
    /// Number of positions for which surrounding branches were optimised as well.
    pub verified: usize,
}

/// Inner nodes whose subtrees have to be scanned, because the tree has changed near them since their last scan.
/// For subtrees far from any change, the present position would be found to be the best again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Changed {
    nodes: Vec<bool>,
}

impl Changed {
    /// All subtrees have to be scanned.
    pub fn all(tree: &Tree) -> Self {
        Changed { nodes: vec![true; tree.num_nodes()] }
    }

    /// No subtrees have to be scanned.
    pub fn none(tree: &Tree) -> Self {
        Changed { nodes: vec![false; tree.num_nodes()] }
    }

    /// True if no subtree has to be scanned.
    pub fn is_empty(&self) -> bool {
        !self.nodes.contains(&true)
    }

    /// Marks the nodes within [`CHANGE_RADIUS`] edges of the edge `place`.
    pub fn mark_around(&mut self, tree: &Tree, place: EdgeId) {
        self.mark_within(tree, place, CHANGE_RADIUS);
    }

    /// Marks the nodes within `radius` edges of the edge `place`.
    pub fn mark_within(&mut self, tree: &Tree, place: EdgeId, radius: usize) {
        for end in tree.ends(place) {
            let mut stack = vec![(end, place, 0)];
            while let Some((node, edge, depth)) = stack.pop() {
                self.nodes[node.index()] = true;
                if depth < radius && !tree.is_tip(node) {
                    stack.extend(tree.other_links(node, edge).map(|(n, e)| (n, e, depth + 1)));
                }
            }
        }
    }

    /// True if there is an entry for each node of the tree.
    pub(super) fn fits(&self, tree: &Tree) -> bool {
        self.nodes.len() == tree.num_nodes()
    }

    fn take(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.nodes[node.index()], false)
    }
}

/// A round in progress. Each subtree at a changed node is pruned once (both sides of each edge), and moved if
/// the likelihood at one of the tried positions is higher; nodes near a move are marked as changed again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Round {
    /// Inner nodes of the tree at the beginning of the round, in depth-first order, so that few CLVs change
    /// direction between successive prunes.
    order: Vec<NodeId>,
    /// Number of completed nodes.
    done: usize,
    /// Result so far.
    pub result: RoundResult,
}

impl Round {
    /// A round over the evaluator's tree.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn begin(evaluator: &mut Evaluator) -> Result<Self> {
        let lnl = evaluator.log_likelihood()?;
        let order = inner_nodes_depth_first(evaluator.tree());
        Ok(Round { order, done: 0, result: RoundResult { lnl, ..RoundResult::default() } })
    }

    /// True if the round is completed.
    pub(super) fn is_over(&self) -> bool {
        self.done == self.order.len()
    }

    /// True if its nodes are inner nodes of the tree.
    pub(super) fn fits(&self, tree: &Tree) -> bool {
        let inner = tree.num_tips()..tree.num_nodes();
        self.order.iter().all(|node| inner.contains(&node.index())) && self.done <= self.order.len()
    }

    /// The completed part of the round, from 0 to 1.
    pub(super) fn part(&self) -> f64 {
        self.done as f64 / self.order.len() as f64
    }

    /// Scans the subtrees at the next changed node, if there is one. `views` must be those of the evaluator's
    /// current tree and are updated together with it.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn scan_next(
        &mut self,
        evaluator: &mut Evaluator,
        views: &mut ParsimonyViews<'_>,
        options: &RoundOptions,
        changed: &mut Changed,
    ) -> Result<()> {
        let left = &self.order[self.done..];
        let Some(next) = left.iter().position(|&node| changed.take(node)) else {
            self.done = self.order.len();
            return Ok(());
        };
        let attach = left[next];
        self.done += next + 1;
        let mut scan = Scan { evaluator, views, options, changed, result: &mut self.result };
        let mut pendants = [EdgeId::NONE; 3];
        for (slot, (_, edge)) in pendants.iter_mut().zip(scan.evaluator.tree().links(attach)) {
            *slot = edge;
        }
        for pendant in pendants {
            // An accepted move may have detached this edge from the node.
            if scan.evaluator.tree().links(attach).any(|(_, edge)| edge == pendant) {
                scan.prune(attach, pendant)?;
            }
        }
        Ok(())
    }
}

/// A whole round: each subtree at a changed node is pruned once. `data` has the parsimony data of the evaluator's
/// genes.
///
/// # Errors
/// The engine has failed.
pub fn spr_round(
    evaluator: &mut Evaluator,
    data: &ParsimonyData,
    options: &RoundOptions,
    changed: &mut Changed,
) -> Result<RoundResult> {
    let mut round = Round::begin(evaluator)?;
    let mut views = ParsimonyViews::new(evaluator.tree(), data);
    while !round.is_over() {
        round.scan_next(evaluator, &mut views, options, changed)?;
    }
    Ok(round.result)
}

/// The scan of the subtrees at one node.
struct Scan<'a, 'd> {
    evaluator: &'a mut Evaluator,
    views: &'a mut ParsimonyViews<'d>,
    options: &'a RoundOptions,
    changed: &'a mut Changed,
    result: &'a mut RoundResult,
}

impl Scan<'_, '_> {
    /// Scores the regraft positions of a subtree with the lowest parsimony cost as one batch, tries the best of
    /// them by optimising the three branches that meet there, and makes the first move of the ranking that gains
    /// enough after optimisation of the branches around its old and new position.
    fn prune(&mut self, attach: NodeId, pendant: EdgeId) -> Result<()> {
        let options = self.options;
        let tree = self.evaluator.tree();
        let cheapest =
            self.views.cheapest_insertions(tree, attach, pendant, options.radius, options.places);
        let candidates: Vec<EdgeId> = cheapest.into_iter().map(|(edge, _)| edge).collect();
        if candidates.is_empty() {
            return Ok(());
        }
        let before = self.result.lnl;
        let prunes = self.evaluator.prune(&[(attach, pendant)], Some(VERIFY_TOLERANCE))?;
        let prune = &prunes[0];
        let scores = self.evaluator.score(&[(prune, &candidates)])?.swap_remove(0);
        self.result.scored += scores.len();
        let mut ranking: Vec<usize> =
            (0..scores.len()).filter(|&i| scores[i] > before - options.within).collect();
        // Positions with equal scores are equivalent for all genes; one of them suffices.
        ranking.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        ranking.dedup_by(|a, b| scores[*a] == scores[*b]);
        for best in ranking.into_iter().take(options.tried) {
            let floor = before - options.floor;
            let request = [(prune, candidates[best])];
            let trials = self.evaluator.try_insertions(&request, VERIFY_TOLERANCE, floor)?;
            let trial = &trials[0];
            self.result.tried += 1;
            let gain = trial.lnl - before;
            if gain <= -options.near_miss || (-SAME..=ACCEPT_GAIN).contains(&gain) {
                continue;
            }
            let mut moved = self.evaluator.insert(prune, trial);
            let around = if gain > 0.0 { MOVED_RADIUS } else { NEAR_MISS_RADIUS };
            self.evaluator.optimize_around(&mut moved, around, VERIFY_TOLERANCE)?;
            let lnl = self.evaluator.log_likelihood()?;
            self.result.verified += 1;
            if lnl > before + ACCEPT_GAIN {
                self.result.lnl = lnl;
                self.result.accepted += 1;
                for place in moved.places() {
                    self.changed.mark_around(self.evaluator.tree(), place);
                }
                // Only the views that change by the move are made again.
                let mut tree = moved.tree_before(self.evaluator.tree());
                self.views.spr(&mut tree, attach, pendant, candidates[best]);
                return Ok(());
            }
            self.evaluator.undo_move(moved);
        }
        Ok(())
    }
}

fn inner_nodes_depth_first(tree: &Tree) -> Vec<NodeId> {
    let (first, edge) = tree.links(NodeId(0)).next().expect("the tree has edges");
    let order = tree.preorder(first, edge);
    order.into_iter().map(|(node, _)| node).filter(|&node| !tree.is_tip(node)).collect()
}
