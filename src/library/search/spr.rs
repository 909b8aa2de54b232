//! Rounds of subtree pruning and regrafting (SPR) over the whole tree.

use super::changed::Changed;
use super::crew::Crew;
use super::scan::{RoundResult, Scanner};
use super::schedule::RoundOptions;
use crate::likelihood::{Evaluator, Result};
use crate::parsimony::ParsimonyData;
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

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

    /// Scans the subtrees at the next changed nodes of the scanner's tree, at most so many.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn scan_next(
        &mut self,
        scanner: &mut dyn Scanner,
        options: &RoundOptions,
        changed: &mut Changed,
        most_nodes: usize,
    ) -> Result<()> {
        let [least_ahead, most_ahead] = [*scanner.ahead().start(), *scanner.ahead().end()];
        let mut queue: VecDeque<Queued> = VecDeque::new();
        let (mut next, mut nodes_left) = (self.done, most_nodes);
        loop {
            self.ahead = self.ahead.clamp(least_ahead, most_ahead);
            while queue.len() < self.ahead && nodes_left > 0 {
                let left = &self.order[next..];
                let Some(skipped) = left.iter().position(|&node| changed.contains(node)) else {
                    next = self.order.len();
                    break;
                };
                let attach = left[skipped];
                next += skipped + 1;
                nodes_left -= 1;
                let links = scanner.tree().links(attach);
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
            let moved = scanner.first_move(&batch, options, &mut self.result)?;
            let scanned = moved.as_ref().map_or(batch.len(), |moved| moved.number + 1);
            for begun in queue.drain(..scanned).filter_map(|subtree| subtree.begins) {
                changed.take(self.order[begun - 1]);
                self.done = begun;
            }
            let Some(moved) = moved else {
                self.ahead = self.ahead.saturating_mul(2);
                continue;
            };
            scanner.adopt(&moved, &batch, changed);
            // The other subtrees of the node are next; what was found out about those of further nodes is of no use now.
            self.ahead = scanned;
            let further = queue.iter().filter(|subtree| subtree.begins.is_some()).count();
            nodes_left += further;
            next = self.done;
            let same_node = queue.iter().position(|subtree| subtree.begins.is_some());
            queue.truncate(same_node.unwrap_or(queue.len()));
            let tree = scanner.tree();
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
    Crew::alone(evaluator).scan(&mut Vec::new(), data, |scanner| {
        round.scan_next(scanner, options, changed, usize::MAX)
    })?;
    Ok(round.result)
}

fn inner_nodes_depth_first(tree: &Tree) -> Vec<NodeId> {
    let (first, edge) = tree.links(NodeId(0)).next().expect("the tree has edges");
    let order = tree.preorder(first, edge);
    order.into_iter().map(|(node, _)| node).filter(|&node| !tree.is_tip(node)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scan;
    use super::super::schedule::{FAST, WIDE};
    use super::*;
    use crate::alignment::read_alignment;
    use crate::alphabet::DataType;
    use crate::likelihood::{BranchOptions, BrlenLinkage, EngineOptions, make_evaluator};
    use crate::model::Model;
    use crate::parallel::Pool;
    use crate::parsimony::ParsimonyViews;
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

    /// How the subtrees of a round are scanned.
    #[derive(Debug, Clone, Copy)]
    enum By {
        /// On one evaluator, so many at a time.
        Ahead(usize),
        /// By a leader and so many others, with or without the leader.
        Crew(usize, bool),
    }

    /// The tree, its lengths and its log-likelihood after a round.
    fn after_round(linkage: BrlenLinkage, options: RoundOptions, by: By) -> (Tree, RoundResult) {
        let (num_taxa, partitions) = gappy_partitions();
        let data = ParsimonyData::of_partitions(num_taxa, &partitions);
        let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
        let models: Vec<Model> =
            partitions.iter().map(|partition| partition.model.clone()).collect();
        let engine = EngineOptions::default();
        let make = || make_evaluator(&partitions, &models, tree.clone(), linkage, &engine).unwrap();
        let mut evaluator = make();
        let sweeps = BranchOptions { max_sweeps: 2, lnl_epsilon: 1.0, gain_tolerance: 1e-3 };
        evaluator.optimize_branches(&sweeps).unwrap();
        let mut changed = Changed::all(evaluator.tree());
        let mut round = Round::begin(&mut evaluator).unwrap();
        let options = RoundOptions { near_miss: 10.0, ..options };
        let (mut others, mut views) = (Vec::new(), Vec::new());
        let mut pool = Pool::new(1);
        if let By::Crew(num_others, leader_scans) = by {
            others.extend((0..num_others).map(|_| make()));
            pool = Pool::new(num_others + usize::from(leader_scans));
        }
        while !round.is_over() {
            let mut scan =
                |scanner: &mut dyn Scanner| round.scan_next(scanner, &options, &mut changed, 16);
            match by {
                By::Ahead(most_ahead) => {
                    let tree = evaluator.tree();
                    if views.is_empty() {
                        views.push(ParsimonyViews::new(tree, &data));
                    }
                    let (evaluator, views) = (&mut evaluator, &mut views[0]);
                    scan(&mut Scan { evaluator, views, most_ahead, is_in_vain: &|| false })
                        .unwrap();
                }
                By::Crew(..) => {
                    let mut crew = Crew::new(&mut evaluator, &mut others, &mut pool);
                    crew.scan(&mut views, &data, scan).unwrap();
                }
            }
        }
        evaluator.assert_integrity();
        evaluator.assert_clvs();
        let lnl = evaluator.log_likelihood().unwrap();
        assert_eq!(lnl.to_bits(), round.result.lnl.to_bits());
        (evaluator.tree().clone(), round.result)
    }

    #[test]
    fn positions_that_cost_many_changes_are_not_scored() {
        let scored = |changes| {
            let options = RoundOptions { changes, ..FAST };
            after_round(BrlenLinkage::Linked, options, By::Ahead(1)).1.scored
        };
        let [none_worse, few_worse, all] = [0, 5, u64::MAX].map(scored);
        assert!(none_worse < few_worse && few_worse < all, "{none_worse}, {few_worse}, {all}");
    }

    #[test]
    fn looking_ahead_and_scanning_side_by_side_change_no_bit() {
        let linked_and_not = [(BrlenLinkage::Linked, FAST), (BrlenLinkage::Unlinked, FAST)];
        // Of many subtrees, more positions are tried than go into one batch.
        for (linkage, options) in linked_and_not.into_iter().chain([(BrlenLinkage::Linked, WIDE)]) {
            let one_at_a_time = after_round(linkage, options, By::Ahead(1));
            let RoundResult { accepted, verified, .. } = one_at_a_time.1;
            assert!(accepted > 0 && verified > accepted, "moves are made, and undone");
            let ahead = [2, 7, 16, 1000].map(By::Ahead);
            let crews = [(1, false), (1, true), (2, false), (4, true)];
            let crews = crews.map(|(others, leader)| By::Crew(others, leader));
            for by in ahead.into_iter().chain(crews) {
                let found = after_round(linkage, options, by);
                assert!(found == one_at_a_time, "{linkage:?}, {options:?}, {by:?}");
            }
        }
    }
}
