//! Rounds of subtree pruning and regrafting (SPR) over the whole tree.

use super::changed::Changed;
use super::scan::{RoundResult, Scan};
use super::schedule::RoundOptions;
use crate::likelihood::{Evaluator, Result};
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// At least this part of the subtrees that the engine takes at a time is scored and tried together, however frequent moves
/// are: that takes hardly longer than fewer.
const LEAST_SHARE: usize = 16;

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
    /// Number of subtrees that are scored and tried at a time: few where moves are frequent. The result does not depend
    /// on it.
    #[serde(skip)]
    ahead: usize,
}

impl Round {
    /// A round over the evaluator's tree.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn begin(evaluator: &mut Evaluator) -> Result<Self> {
        let lnl = evaluator.log_likelihood()?;
        let order = inner_nodes_depth_first(evaluator.tree());
        Ok(Round {
            order,
            done: 0,
            result: RoundResult { lnl, ..RoundResult::default() },
            ahead: 1,
        })
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

    /// Scans the subtrees at the next changed nodes, at most so many. `views` must be those of the evaluator's current
    /// tree and are updated together with it.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn scan_next(
        &mut self,
        evaluator: &mut Evaluator,
        views: &mut ParsimonyViews<'_>,
        options: &RoundOptions,
        changed: &mut Changed,
        most_nodes: usize,
    ) -> Result<()> {
        let most_ahead = evaluator.capabilities().best_batch;
        self.scan_ahead(evaluator, views, options, changed, most_nodes, most_ahead)
    }

    /// [`Round::scan_next`] that scores and tries at most so many subtrees and positions at a time.
    fn scan_ahead(
        &mut self,
        evaluator: &mut Evaluator,
        views: &mut ParsimonyViews<'_>,
        options: &RoundOptions,
        changed: &mut Changed,
        most_nodes: usize,
        most_ahead: usize,
    ) -> Result<()> {
        let mut queue: VecDeque<Queued> = VecDeque::new();
        let (mut next, mut nodes_left) = (self.done, most_nodes);
        loop {
            self.ahead = self.ahead.clamp(most_ahead.div_ceil(LEAST_SHARE), most_ahead);
            while queue.len() < self.ahead && nodes_left > 0 {
                let left = &self.order[next..];
                let Some(skipped) = left.iter().position(|&node| changed.contains(node)) else {
                    next = self.order.len();
                    break;
                };
                let attach = left[skipped];
                next += skipped + 1;
                nodes_left -= 1;
                let links = evaluator.tree().links(attach);
                let subtree = |(i, (_, pendant))| Queued {
                    attach,
                    pendant,
                    begins: (i == 0).then_some(next),
                };
                queue.extend(links.enumerate().map(subtree));
            }
            if queue.is_empty() {
                self.done = next;
                return Ok(());
            }
            let batch: Vec<(NodeId, EdgeId)> = queue
                .iter()
                .take(self.ahead)
                .map(|subtree| (subtree.attach, subtree.pendant))
                .collect();
            let result = &mut self.result;
            let mut scan = Scan { evaluator, views, options, result, most_ahead };
            let moved = scan.first_move(&batch)?;
            let scanned = moved.as_ref().map_or(batch.len(), |moved| moved.number + 1);
            for begun in queue.drain(..scanned).filter_map(|subtree| subtree.begins) {
                changed.take(self.order[begun - 1]);
                self.done = begun;
            }
            let Some(moved) = moved else {
                self.ahead *= 2;
                continue;
            };
            scan.adopt(&moved, &batch, changed);
            // The other subtrees of the node are next; what was found out about those of further nodes is of no use now.
            self.ahead = scanned;
            let further = queue.iter().filter(|subtree| subtree.begins.is_some()).count();
            nodes_left += further;
            next = self.done;
            let same_node = queue.iter().position(|subtree| subtree.begins.is_some());
            queue.truncate(same_node.unwrap_or(queue.len()));
            let tree = evaluator.tree();
            // The move may have detached them from the node.
            queue.retain(|subtree| {
                tree.links(subtree.attach).any(|(_, edge)| edge == subtree.pendant)
            });
        }
    }
}

/// A subtree that is to be scanned.
struct Queued {
    attach: NodeId,
    pendant: EdgeId,
    /// If it is the first of its node: the number of nodes in the order of the round up to this one.
    begins: Option<usize>,
}

/// A whole round: each subtree at a changed node is pruned once. `data` has the parsimony data of the evaluator's
/// partitions.
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
        round.scan_next(evaluator, &mut views, options, changed, usize::MAX)?;
    }
    Ok(round.result)
}

fn inner_nodes_depth_first(tree: &Tree) -> Vec<NodeId> {
    let (first, edge) = tree.links(NodeId(0)).next().expect("the tree has edges");
    let order = tree.preorder(first, edge);
    order.into_iter().map(|(node, _)| node).filter(|&node| !tree.is_tip(node)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::schedule::FAST;
    use super::*;
    use crate::alignment::read_alignment;
    use crate::alphabet::DataType;
    use crate::likelihood::{BranchOptions, BrlenLinkage, EngineOptions, make_evaluator};
    use crate::model::Model;
    use crate::partition::{Partition, build_patterns, parse_partitions};
    use crate::rng::Purpose;
    use crate::search::parsimony_start;
    use std::path::Path;

    /// The partitions of `datasets/gappy.phy`, under K80, and the number of its taxa.
    fn gappy_partitions() -> (usize, Vec<Partition>) {
        let alignment = read_alignment(Path::new("../../datasets/gappy.phy")).unwrap();
        let text = std::fs::read_to_string("../../partitions/gappy.part").unwrap();
        let defs = parse_partitions(&text, "gappy.part", alignment.num_sites(), false).unwrap();
        let model = Model::parse("K80{4}").unwrap();
        let partition = |def| {
            let patterns = build_patterns(&alignment, &def, DataType::Dna).unwrap();
            Partition { name: def.name, model: model.clone(), patterns, sites: def.sites }
        };
        (alignment.num_taxa(), defs.into_iter().map(partition).collect())
    }

    /// The tree, its lengths and its log-likelihood after a round that looks so many subtrees ahead.
    fn after_round(linkage: BrlenLinkage, most_ahead: usize) -> (Tree, RoundResult) {
        let (num_taxa, partitions) = gappy_partitions();
        let data = ParsimonyData::of_partitions(num_taxa, &partitions);
        let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
        let models: Vec<Model> =
            partitions.iter().map(|partition| partition.model.clone()).collect();
        let engine = EngineOptions::default();
        let mut evaluator = make_evaluator(&partitions, &models, tree, linkage, &engine).unwrap();
        let sweeps = BranchOptions { max_sweeps: 2, lnl_epsilon: 1.0, gain_tolerance: 1e-3 };
        evaluator.optimize_branches(&sweeps).unwrap();
        let mut views = ParsimonyViews::new(evaluator.tree(), &data);
        let mut changed = Changed::all(evaluator.tree());
        let mut round = Round::begin(&mut evaluator).unwrap();
        let options = RoundOptions { near_miss: 10.0, ..FAST };
        while !round.is_over() {
            let (evaluator, views, changed) = (&mut evaluator, &mut views, &mut changed);
            round.scan_ahead(evaluator, views, &options, changed, 16, most_ahead).unwrap();
        }
        evaluator.assert_integrity();
        (evaluator.tree().clone(), round.result)
    }

    #[test]
    fn looking_ahead_changes_no_bit() {
        for linkage in [BrlenLinkage::Linked, BrlenLinkage::Unlinked] {
            let one_at_a_time = after_round(linkage, 1);
            let RoundResult { accepted, verified, .. } = one_at_a_time.1;
            assert!(accepted > 0 && verified > accepted, "moves are made, and undone");
            for most_ahead in [2, 7, 1000] {
                assert!(
                    after_round(linkage, most_ahead) == one_at_a_time,
                    "{linkage:?}, {most_ahead}"
                );
            }
        }
    }
}
