//! The scan of subtrees: whether one of the best regraft positions of a subtree leads to a higher likelihood.
//!
//! Several subtrees are scanned at a time, all on the present tree, because batches use many threads and GPUs better than
//! one subtree after the other. They are *taken* in their order: when one is moved, what was computed for those after it is
//! thrown away. The result is therefore that of one subtree at a time, in every bit.

use super::changed::Changed;
use super::schedule::{
    ACCEPT_GAIN, MOVED_RADIUS, NEAR_MISS_RADIUS, RoundOptions, SAME, VERIFY_TOLERANCE,
};
use crate::likelihood::{Evaluator, Prune, Result, SubtreeMove, Trial};
use crate::parsimony::ParsimonyViews;
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

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

impl RoundResult {
    /// Adds what a part of the round has led to.
    pub(super) fn add(&mut self, part: &RoundResult) {
        self.lnl = part.lnl;
        self.accepted += part.accepted;
        self.scored += part.scored;
        self.tried += part.tried;
        self.verified += part.verified;
    }
}

/// What scans the subtrees of a tree.
pub(super) trait Scanner {
    /// The least and the largest number of subtrees that are best scanned at a time.
    fn ahead(&self) -> RangeInclusive<usize>;

    /// The tree.
    fn tree(&mut self) -> &Tree;

    /// Scans subtrees in their order until one is moved: scores the regraft positions of each with the lowest parsimony
    /// cost, tries the best of them by optimising the three branches that meet there, and makes the first move of the
    /// ranking that gains enough after optimisation of the branches around its old and new position. `result` has the
    /// log-likelihood of the tree, and gets what the scan led to.
    fn first_move(
        &mut self,
        batch: &[(NodeId, EdgeId)],
        options: &RoundOptions,
        result: &mut RoundResult,
    ) -> Result<Option<Moved>>;

    /// Marks the nodes near the move that this has made, and updates the parsimony views. To be called before the next scan.
    fn adopt(&mut self, moved: &Moved, batch: &[(NodeId, EdgeId)], changed: &mut Changed);
}

/// The scan on one evaluator.
pub(super) struct Scan<'a, 'd> {
    pub evaluator: &'a mut Evaluator,
    pub views: &'a mut ParsimonyViews<'d>,
    /// Most subtrees that are scored, and positions that are tried, at a time.
    pub most_ahead: usize,
    /// Says if nobody waits for the result any more, which then does not matter.
    pub is_in_vain: &'a dyn Fn() -> bool,
}

/// At least this part of the subtrees that the engine takes at a time is scored and tried together, however frequent moves
/// are: that takes hardly longer than fewer.
const LEAST_SHARE: usize = 16;

/// A move that was made.
pub(super) struct Moved {
    /// The number of the subtree in its batch.
    pub number: usize,
    pub target: EdgeId,
    subtree_move: SubtreeMove,
}

impl Moved {
    /// Marks the nodes near the move; `tree` is that after it.
    pub(super) fn mark(&self, tree: &Tree, changed: &mut Changed) {
        for place in self.subtree_move.places() {
            changed.mark_around(tree, place);
        }
    }

    /// The tree before the move, from that after it; see [`SubtreeMove::tree_before`].
    pub(super) fn tree_before(&self, after: &Tree) -> Tree {
        self.subtree_move.tree_before(after)
    }
}

/// A subtree with at least one regraft position.
struct Subtree {
    number: usize,
    /// The positions with the lowest parsimony cost.
    candidates: Vec<EdgeId>,
    prune: Prune,
    /// Number of scored positions.
    scored: usize,
    /// Numbers of the positions that are worth a trial, the best first.
    ranking: Vec<usize>,
    /// The trials made so far, in the order of the ranking.
    trials: Vec<Trial>,
}

impl Scanner for Scan<'_, '_> {
    fn ahead(&self) -> RangeInclusive<usize> {
        self.most_ahead.div_ceil(LEAST_SHARE)..=self.most_ahead
    }

    fn tree(&mut self) -> &Tree {
        self.evaluator.tree()
    }

    fn first_move(
        &mut self,
        batch: &[(NodeId, EdgeId)],
        options: &RoundOptions,
        result: &mut RoundResult,
    ) -> Result<Option<Moved>> {
        let before = result.lnl;
        let mut subtrees = self.score(batch, options, before - options.within)?;
        for i in 0..subtrees.len() {
            result.scored += subtrees[i].scored;
            for rank in 0..subtrees[i].ranking.len() {
                if (self.is_in_vain)() {
                    return Ok(None);
                }
                if subtrees[i].trials.len() == rank {
                    self.try_next(&mut subtrees[i..], rank, before - options.floor)?;
                }
                let Subtree { number, candidates, prune, ranking, trials, .. } = &subtrees[i];
                let trial = &trials[rank];
                debug_assert_eq!(trial.candidate, candidates[ranking[rank]], "of this rank");
                result.tried += 1;
                let gain = trial.lnl - before;
                if gain <= -options.near_miss || (-SAME..=ACCEPT_GAIN).contains(&gain) {
                    continue;
                }
                let mut moved = self.evaluator.insert(prune, trial);
                let around = if gain > 0.0 { MOVED_RADIUS } else { NEAR_MISS_RADIUS };
                self.evaluator.optimize_around(&mut moved, around, VERIFY_TOLERANCE)?;
                let lnl = self.evaluator.log_likelihood()?;
                result.verified += 1;
                if lnl > before + ACCEPT_GAIN {
                    result.lnl = lnl;
                    result.accepted += 1;
                    let (number, target) = (*number, candidates[ranking[rank]]);
                    return Ok(Some(Moved { number, target, subtree_move: moved }));
                }
                self.evaluator.undo_move(moved);
            }
        }
        Ok(None)
    }

    fn adopt(&mut self, moved: &Moved, batch: &[(NodeId, EdgeId)], changed: &mut Changed) {
        let tree = self.evaluator.tree();
        moved.mark(tree, changed);
        // Only the views that change by the move are made again.
        let (attach, pendant) = batch[moved.number];
        self.views.spr(&mut moved.tree_before(tree), attach, pendant, moved.target);
    }
}

impl Scan<'_, '_> {
    /// Scores and ranks the regraft positions of subtrees, those that are above `floor`; subtrees without any position are
    /// left out.
    fn score(
        &mut self,
        batch: &[(NodeId, EdgeId)],
        options: &RoundOptions,
        floor: f64,
    ) -> Result<Vec<Subtree>> {
        let RoundOptions { radius, places, tried, changes, .. } = *options;
        let tree = self.evaluator.tree();
        let mut found: Vec<(usize, Vec<EdgeId>)> = Vec::with_capacity(batch.len());
        for (number, &(attach, pendant)) in batch.iter().enumerate() {
            let cheapest =
                self.views.cheapest_insertions(tree, attach, pendant, radius, places, changes);
            if !cheapest.is_empty() {
                found.push((number, cheapest.into_iter().map(|(edge, _)| edge).collect()));
            }
        }
        let ends: Vec<(NodeId, EdgeId)> = found.iter().map(|(number, _)| batch[*number]).collect();
        let prunes = self.evaluator.prune(&ends, Some(VERIFY_TOLERANCE))?;
        let requests: Vec<(&Prune, &[EdgeId])> = prunes
            .iter()
            .zip(&found)
            .map(|(prune, (_, candidates))| (prune, &candidates[..]))
            .collect();
        let scores = self.evaluator.score(&requests)?;
        let subtree = |(((number, candidates), prune), scores): ((_, _), Vec<f64>)| {
            let mut ranking: Vec<usize> =
                (0..scores.len()).filter(|&i| scores[i] > floor).collect();
            ranking.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
            // Positions with equal scores are equivalent for all partitions; one of them suffices.
            ranking.dedup_by(|a, b| scores[*a] == scores[*b]);
            ranking.truncate(tried);
            let scored = scores.len();
            Subtree { number, candidates, prune, scored, ranking, trials: Vec::new() }
        };
        Ok(found.into_iter().zip(prunes).zip(scores).map(subtree).collect())
    }

    /// Tries the next position of the first subtree, which has this rank, and as many further positions as make a batch:
    /// of each subtree those that follow the ones which were tried, the lowest ranks first. A trial below `floor` ends early.
    fn try_next(&mut self, subtrees: &mut [Subtree], rank: usize, floor: f64) -> Result<()> {
        let last = subtrees.iter().map(|subtree| subtree.ranking.len()).max().unwrap_or(0);
        let asked = (0, rank);
        let further = (0..last)
            .flat_map(|rank| (0..subtrees.len()).map(move |number| (number, rank)))
            .filter(|&(number, rank)| {
                let Subtree { trials, ranking, .. } = &subtrees[number];
                (number, rank) != asked && (trials.len()..ranking.len()).contains(&rank)
            });
        let next: Vec<(usize, usize)> =
            std::iter::once(asked).chain(further).take(self.most_ahead).collect();
        let request = |&(number, rank): &(usize, usize)| {
            let Subtree { prune, candidates, ranking, .. } = &subtrees[number];
            (prune, candidates[ranking[rank]])
        };
        let requests: Vec<(&Prune, EdgeId)> = next.iter().map(request).collect();
        let trials = self.evaluator.try_insertions(&requests, VERIFY_TOLERANCE, floor)?;
        for ((number, _), trial) in next.into_iter().zip(trials) {
            subtrees[number].trials.push(trial);
        }
        Ok(())
    }
}
