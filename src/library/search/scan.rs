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
use crate::tree::{EdgeId, NodeId};
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

/// What a scan works with.
pub(super) struct Scan<'a, 'd> {
    pub evaluator: &'a mut Evaluator,
    pub views: &'a mut ParsimonyViews<'d>,
    pub options: &'a RoundOptions,
    pub result: &'a mut RoundResult,
    /// Most positions that are tried at a time.
    pub most_ahead: usize,
}

/// A move that was made.
pub(super) struct Moved {
    /// The number of the subtree in its batch.
    pub number: usize,
    target: EdgeId,
    subtree_move: SubtreeMove,
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

impl Scan<'_, '_> {
    /// Scans subtrees in their order until one is moved: scores the regraft positions of each with the lowest parsimony
    /// cost, tries the best of them by optimising the three branches that meet there, and makes the first move of the
    /// ranking that gains enough after optimisation of the branches around its old and new position.
    pub(super) fn first_move(&mut self, batch: &[(NodeId, EdgeId)]) -> Result<Option<Moved>> {
        let before = self.result.lnl;
        let options = self.options;
        let mut subtrees = self.score(batch)?;
        for i in 0..subtrees.len() {
            self.result.scored += subtrees[i].scored;
            for rank in 0..subtrees[i].ranking.len() {
                if subtrees[i].trials.len() == rank {
                    self.try_next(&mut subtrees[i..], rank)?;
                }
                let Subtree { number, candidates, prune, ranking, trials, .. } = &subtrees[i];
                let trial = &trials[rank];
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
                    let (number, target) = (*number, candidates[ranking[rank]]);
                    return Ok(Some(Moved { number, target, subtree_move: moved }));
                }
                self.evaluator.undo_move(moved);
            }
        }
        Ok(None)
    }

    /// Scores and ranks the regraft positions of subtrees; those without any are left out.
    fn score(&mut self, batch: &[(NodeId, EdgeId)]) -> Result<Vec<Subtree>> {
        let RoundOptions { radius, places, within, tried, .. } = *self.options;
        let tree = self.evaluator.tree();
        let mut found: Vec<(usize, Vec<EdgeId>)> = Vec::with_capacity(batch.len());
        for (number, &(attach, pendant)) in batch.iter().enumerate() {
            let cheapest = self.views.cheapest_insertions(tree, attach, pendant, radius, places);
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
        let floor = self.result.lnl - within;
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
    /// those of the same rank of the other subtrees, then those of the following ranks.
    fn try_next(&mut self, subtrees: &mut [Subtree], rank: usize) -> Result<()> {
        let last = subtrees.iter().map(|subtree| subtree.ranking.len()).max().unwrap_or(0);
        let next: Vec<(usize, usize)> = (rank..last)
            .flat_map(|rank| (0..subtrees.len()).map(move |number| (number, rank)))
            .filter(|&(number, rank)| {
                let Subtree { trials, ranking, .. } = &subtrees[number];
                (trials.len()..ranking.len()).contains(&rank)
            })
            .take(self.most_ahead)
            .collect();
        let request = |&(number, rank): &(usize, usize)| {
            let Subtree { prune, candidates, ranking, .. } = &subtrees[number];
            (prune, candidates[ranking[rank]])
        };
        let requests: Vec<(&Prune, EdgeId)> = next.iter().map(request).collect();
        let floor = self.result.lnl - self.options.floor;
        let trials = self.evaluator.try_insertions(&requests, VERIFY_TOLERANCE, floor)?;
        for ((number, _), trial) in next.into_iter().zip(trials) {
            subtrees[number].trials.push(trial);
        }
        Ok(())
    }

    /// Marks the nodes near a move, and updates the parsimony views.
    pub(super) fn adopt(
        &mut self,
        moved: &Moved,
        batch: &[(NodeId, EdgeId)],
        changed: &mut Changed,
    ) {
        let Moved { number, target, subtree_move } = moved;
        let tree = self.evaluator.tree();
        for place in subtree_move.places() {
            changed.mark_around(tree, place);
        }
        // Only the views that change by the move are made again.
        let mut before = subtree_move.tree_before(tree);
        let (attach, pendant) = batch[*number];
        self.views.spr(&mut before, attach, pendant, *target);
    }
}
