//! The heuristic constants of the search, each with the reason for its value.
//!
//! "Measured" means: medians of the final log-likelihood and of the time over 3 to 8 seeds on 59, 101, 150,
//! 218 and 354 taxa.
//!
//! | constant | value | why |
//! |---|---|---|
//! | [`START_EPSILON`] | 10 | the same order as in RAxML 8 and RAxML-NG |
//! | [`FAST`] | places 6 | of the moves accepted when 38 to 97 positions per subtree were scored (means on 218, 101, 354 taxa), 93 to 99 % were among the 6 positions with the lowest parsimony cost |
//! | [`WIDE`], [`THOROUGH`] | places 12, 16, tried 5, 10 | measured: 10, 12 and 3, 5 end 2.8 log units lower on 140 proteins |
//! | [`FAST`], [`WIDE`], [`THOROUGH`] | changes 20, 30, 30 | of the moves accepted on 59, 101, 218 taxa and 140 proteins, 98 to 100 % were to positions with at most 20 changes more, and 26 to 56 % of the six scored positions had more; measured on 42 alignments: 0.89 of the time in sum, on 41 the same likelihood, on one a higher one; 15 and 20 take 0.98 of the time of no limit on 17 alignments on which searches disagree, and end lower on 2, 20 and 30 take 0.96 and end lower on none |
//! | [`FAST`] | tried 2 | of the accepted moves, 97 % were the first or second of the ranking |
//! | [`FAST`], [`WIDE`], [`THOROUGH`] | floor 10, 30, 30 | measured on 101 taxa: 15 and 20 in wide and thorough rounds end 0.5 log units lower |
//! | [`FAST`], [`WIDE`], [`THOROUGH`] | near_miss 1 | after optimising the three branches, 34 of 44 moves that needed further branches optimised were this close |
//! | [`FAST`], [`WIDE`], [`THOROUGH`] | radius 60, 80, 80 | measured on 16 alignments on which searches disagree: 15 and 20 end 0.7 log units lower in the mean, in the same time |
//! | [`RoundOptions::within`] | 40 | measured: 100 finds no further moves; 5 and 10 take 0.82 and 0.93 of the time, and end 0.3 and 0.2 log units lower in the mean of 35 and 37 alignments, 5 on the worst |
//! | [`FAST_EPSILON`] | 1 | a round that gains less ends its phase |
//! | [`NEAR_MISS_RADIUS`] | 2 | measured: with a radius of 0, moves of large subtrees are missed |
//! | [`MOVED_RADIUS`] | 1 | measured on 101 taxa: 2 takes longer, with the same likelihood |
//! | [`ACCEPT_GAIN`] | 0.01 | the threshold of RAxML 8 for continuing a cycle; ties are never accepted |
//! | [`SAME`] | 0.05 | on 354 taxa, 15 000 of 16 000 verified positions were ties across branches of length 0; of 16 alignments with 24 to 316 taxa, 6 have starts that tie, and take 0.60 to 0.89 of the time |
//! | [`CHANGE_RADIUS`] | 4 | measured: later rounds take half the time, with the same likelihood |
//! | [`SearchEffort::num_starts`] | 3 parsimony trees | measured: with the tree of balanced minimum evolution in place of one of them, searches end higher on 6 and lower on 9 of 37 alignments |
//! | the same, where the data are small ([`SMALL_DATA`]) | 6 | measured on 110 genes of at most 37 000 characters: with 3, 62 of 660 searches end more than 0.1 log units below full searches of IQ-TREE, with 6, 44; 9 add nothing on half of them. On 16 larger alignments on which searches disagree, 6 end 1 log unit lower in the mean |
//! | [`SearchEffort::schedule`] | | measured: fast searches take about a third of the time and end up to 68 log units below the default |
//! | [`FURTHER_START_SWEEPS`] | 1 | measured on 218 taxa: 4 sweeps, from lengths of parsimony, make a start take 1.14 times as long |
//! | [`TAXA_PER_MOVE`], [`MOVE_RADIUS`] | 7, 4 | measured on 16 alignments on which searches disagree, 3 seeds: with half as many moves per perturbation, searches end 1.1 log units lower in the mean, with twice as many they take 1.1 times as long for the same; radius 10 takes 1.2 times as long for the same |
//! | [`PERTURBATIONS_PER_WAVE`] | 4 | on the same: 3 end 0.6 log units lower in the mean, for 0.8 of the time; a first wave of 2 ends 1.1 lower, for 0.7 |
//! | [`RATCHETS_PER_WAVE`], [`LEFT_OUT`], [`RATCHET_RADIUS`] | 2, 30, 6 | on 16 alignments on which searches disagree, 3 seeds: random moves alone take 1.17 times as long for the same; steps of the ratchet alone end 0.7 log units lower in the mean, steps that leave out nothing 1.3; 50 % is no better |
//! | [`DISAGREEMENT`], [`DISAGREED_IN_VAIN`] | 0.2, 8 | on the same: 4 everywhere end 0.8 log units lower in the mean, for 0.9 of the time; with 0.12, ordinary alignments take 1.1 times as long |
//! | [`PERTURBATIONS_GAIN`] | 1 | on the same, 0.1 is as good; on 217 taxa it takes 1.17 times as long for the same |
//! | [`DIFFERENT_RADIUS`] | 1 | on the same: 0.89 of the time of all changed subtrees, with the same likelihood |
//! | [`LENGTHS_RADIUS`] | 2 | on 158 and 199 taxa: 0.3 of the time of sweeps over all branches |
//! | [`CONTRADICTED_IN_VAIN`] | 5 | measured on 4 contradicted constraints: 10 in vain find nothing more |
//! | [`FINAL_EPSILON`] | 0.1 | RAxML-NG's final epsilon |
//! | [`LAST_EPSILON`] | 0.001 | measured: 0.1 leaves 0.08, 0.01 leaves 0.03 log units on the 12 primates |

use crate::partition::Partition;
use serde::{Deserialize, Serialize};

/// Range and thoroughness of an SPR round. Differences of log-likelihoods are relative to the present tree (log
/// units).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundOptions {
    /// Maximum number of edges between pruning and regraft position.
    pub radius: usize,
    /// Maximum number of scored positions per pruned subtree: those with the lowest parsimony cost.
    pub places: usize,
    /// Only positions are scored where the subtree costs at most so many changes of parsimony more than at its present one.
    pub changes: u64,
    /// Maximum number of tried positions per pruned subtree.
    pub tried: usize,
    /// Only positions with scores (without optimisation) at most this far below the tree's log-likelihood are
    /// tried.
    pub within: f64,
    /// A trial ends if the log-likelihood is this far below the tree's after the pendant branch was optimised.
    pub floor: f64,
    /// A tried position that is this far below the tree's log-likelihood is rejected; for closer ones, branches
    /// around the old and new position are optimised as well.
    pub near_miss: f64,
}

/// Epsilon (log units) of the initial optimisation of branch lengths and parameters.
pub const START_EPSILON: f64 = 10.0;
/// First rounds, from each starting tree.
pub const FAST: RoundOptions = RoundOptions {
    radius: 60,
    places: 6,
    changes: 20,
    tried: 2,
    within: 40.0,
    floor: 10.0,
    near_miss: 1.0,
};
/// Rounds from the best tree of a fast search.
pub const WIDE: RoundOptions = RoundOptions {
    radius: 80,
    places: 12,
    changes: 30,
    tried: 5,
    within: 40.0,
    floor: 30.0,
    near_miss: 1.0,
};
/// Rounds from the best tree, and last rounds.
pub const THOROUGH: RoundOptions = RoundOptions {
    radius: 80,
    places: 16,
    changes: 30,
    tried: 10,
    within: 40.0,
    floor: 30.0,
    near_miss: 1.0,
};
/// Fast and wide rounds end after one that gains less than this (log units).
pub const FAST_EPSILON: f64 = 1.0;
/// Radius (edges) around the new and the old position within which branches are optimised after a near miss.
pub const NEAR_MISS_RADIUS: usize = 2;
/// The same for a move that improves the likelihood with the branches at its position alone.
pub const MOVED_RADIUS: usize = 1;
/// Minimum gain (log units) of a move after optimisation of the branches around it.
pub const ACCEPT_GAIN: f64 = 0.01;
/// Maximum number of sweeps over the branches of a region after its resolution was replaced.
pub const FUSE_SWEEPS: usize = 3;
/// Usual number of starting trees after the first perturbations, for the display of progress.
pub const USUALLY_EXPLORED: usize = 7;
/// Number of starting trees after the first from which the search climbs side by side.
pub const STARTS_PER_WAVE: usize = 2;
/// Number of further starting trees, after the first perturbations, from which the search climbs side by side.
pub const EXPLORED_PER_WAVE: usize = 4;
/// Under a constraint that the data contradict: number of further starting trees in succession that add nothing after
/// which no further ones are made.
pub const CONTRADICTED_IN_VAIN: usize = 5;
/// Maximum number of these starting trees.
pub const CONTRADICTED_STARTS: usize = 40;
/// Maximum number of sweeps over all branches of a further starting tree.
pub const FURTHER_START_SWEEPS: usize = 1;
/// A tried position at most this far (log units) below the present tree is regarded as the same tree up to
/// branches of length 0, and so is the tree from another start.
pub const SAME: f64 = 0.05;
/// After a move, subtrees at nodes within this number of edges of its two positions are scanned again.
pub const CHANGE_RADIUS: usize = 4;
/// Number of taxa divided by this is the number of random moves of a perturbation.
pub const TAXA_PER_MOVE: usize = 7;
/// Least number of these moves.
pub const LEAST_MOVES: usize = 3;
/// Maximum number of edges between the old and the new position of such a move.
pub const MOVE_RADIUS: usize = 4;
/// After a perturbation, subtrees at nodes within this number of edges of the positions of its moves are scanned.
pub const MOVED_SCAN_RADIUS: usize = 1;
/// In the rounds from a tree that will be recombined with the best one, subtrees at nodes within this number of edges of
/// one that the best tree does not have are scanned: everywhere else, the best tree was.
pub const DIFFERENT_RADIUS: usize = 1;
/// Lengths of branches within this number of edges of one that the best tree does not have are optimised with it.
pub const LENGTHS_RADIUS: usize = 2;
/// Number of perturbations of the best tree from which the search climbs side by side.
pub const PERTURBATIONS_PER_WAVE: usize = 4;
/// So many of these are steps of the parsimony ratchet; the others are random moves.
pub const RATCHETS_PER_WAVE: usize = 2;
/// Probability (percent) that such a step leaves out a column.
pub const LEFT_OUT: u32 = 30;
/// Maximum number of edges between the old and the new position of a move of such a step.
pub const RATCHET_RADIUS: usize = 6;
/// Starting trees disagree if any two of them, after one round each, differ in at least this share of their inner branches.
pub const DISAGREEMENT: f64 = 0.2;
/// Where starting trees disagree: number of unsuccessful perturbations in succession that ends the perturbations.
pub const DISAGREED_IN_VAIN: usize = 2 * PERTURBATIONS_PER_WAVE;
/// Data are small if their CLVs have at most so many entries (see [`are_small`]).
pub const SMALL_DATA: usize = 800_000;
/// A wave of perturbations that gains less than this (log units) was in vain.
pub const PERTURBATIONS_GAIN: f64 = 1.0;
/// The last rounds end after one that gains less than this (log units).
pub const FINAL_EPSILON: f64 = 0.1;
/// The final optimisation of branch lengths and parameters ends after a round that gains less than this (log
/// units).
pub const LAST_EPSILON: f64 = 0.001;
/// Minimum gain (log units) of a swap of subtrees across a branch without length. Such gains are up to 0.001; with a
/// larger minimum (1e-5), 1 of 10 data sets had resolutions that depended on the seed.
pub const SWAP_GAIN: f64 = 1e-7;
/// The resolution of polytomies that the search has found is kept if its log-likelihood is higher by more than this
/// (log units): the swaps of subtrees may end in a local optimum (1 of 28 searches on data with polytomies).
pub const RESOLUTION_LOSS: f64 = 1e-4;
/// Newton tolerance (log units per branch) of the last branch lengths.
pub const LAST_TOLERANCE: f64 = 1e-6;
/// Newton tolerance (log units per branch) during verification.
pub const VERIFY_TOLERANCE: f64 = 1e-2;
/// Newton tolerance (log units per branch) between rounds.
pub const ROUND_TOLERANCE: f64 = 1e-3;

/// True if a search can afford more starting trees than usual: the entries of a CLV of each taxon (patterns, times states, times rates and
/// classes of a mixture) are at most [`SMALL_DATA`] in all partitions together.
pub fn are_small(partitions: &[Partition]) -> bool {
    let entries = |partition: &Partition| {
        let (patterns, model) = (&partition.patterns, &partition.model);
        let row = model.num_states() * model.rate_cats().rates.len();
        patterns.num_tips() * patterns.num_patterns() * row
    };
    partitions.iter().map(entries).sum::<usize>() <= SMALL_DATA
}

/// Trade-off between computing time and thoroughness of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchEffort {
    /// One starting tree, and no perturbations.
    Fast,
    /// Several starting trees, and some perturbations.
    #[default]
    Normal,
    /// More starting trees and perturbations.
    Thorough,
}

/// Numbers of starting trees and perturbations of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// After the first perturbations, further starting trees are searched from until this number of them in
    /// succession has added nothing.
    pub explored_in_vain: usize,
    /// Maximum number of these; 0 if there are none.
    pub explored: usize,
    /// Number of unsuccessful perturbations in succession that ends the perturbations, which come in waves.
    pub perturbed_in_vain: usize,
    /// Maximum number of perturbations.
    pub perturbed: usize,
    /// True if wide rounds are thorough, and rounds follow the perturbations.
    pub thorough: bool,
}

impl SearchEffort {
    /// The next lower effort, if there is one.
    pub fn lower(self) -> SearchEffort {
        match self {
            SearchEffort::Thorough => SearchEffort::Normal,
            SearchEffort::Normal | SearchEffort::Fast => SearchEffort::Fast,
        }
    }

    /// Number of parsimony starting trees of a run for data that are [small](are_small) or not, unless the user gives starting
    /// trees.
    pub fn num_starts(self, small: bool) -> u64 {
        match (self, small) {
            (SearchEffort::Fast, _) => 1,
            (_, false) => 3,
            (_, true) => 6,
        }
    }

    /// The schedule of a search with this effort.
    pub fn schedule(self) -> Schedule {
        let normal = Schedule {
            explored_in_vain: 0,
            explored: 0,
            perturbed_in_vain: 1,
            perturbed: 40,
            thorough: true,
        };
        match self {
            SearchEffort::Fast => {
                Schedule { perturbed_in_vain: 0, perturbed: 0, thorough: false, ..normal }
            }
            SearchEffort::Normal => normal,
            SearchEffort::Thorough => Schedule {
                explored_in_vain: 5,
                explored: 40,
                perturbed_in_vain: 10,
                perturbed: 100,
                ..normal
            },
        }
    }
}

/// The phases of a search, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPhase {
    /// Initial optimisation of branch lengths and model.
    Start,
    /// One fast round from each starting tree.
    Screen,
    /// Further fast rounds from the best tree.
    Fast,
    /// Optimisation of branch lengths and model on the best tree.
    Model,
    /// Wide rounds from the best tree.
    Wide,
    /// Perturbations.
    Perturb,
    /// Further starting trees.
    Explore,
    /// Perturbations after these.
    PerturbMore,
    /// Last rounds, and the optimisation before them.
    Last,
    /// Final optimisation of branch lengths and model.
    End,
}

/// Usual share (percent) of each [`SearchPhase`] in the time of a search, for the display of
/// progress. Those of the default are rounded from eleven alignments of 59 to 500 taxa, in four of which a second wave of perturbations
/// followed; those of `--thorough` follow from them, as its first part is such a search and takes a third to a quarter of its time. A wave
/// of perturbations takes twice the time of wide rounds, and most of the share of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares(pub [f64; 10]);

impl Shares {
    /// The share of a phase.
    pub fn of(&self, phase: SearchPhase) -> f64 {
        self.0[phase as usize]
    }

    /// The sum of all shares.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

impl SearchEffort {
    /// The shares of the phases of a search with this effort.
    pub fn shares(self) -> Shares {
        match self {
            SearchEffort::Fast => Shares([17.0, 16.0, 12.0, 5.0, 35.0, 0.0, 0.0, 0.0, 0.0, 15.0]),
            SearchEffort::Normal => Shares([4.0, 19.0, 6.0, 1.0, 16.0, 49.0, 0.0, 0.0, 1.0, 4.0]),
            SearchEffort::Thorough => Shares([1.0, 5.0, 1.5, 0.5, 4.0, 12.0, 30.0, 44.0, 1.0, 1.0]),
        }
    }
}

impl Schedule {
    /// The schedule for a constraint that the data contradict: with further starting trees, at least this many in
    /// succession in vain.
    pub(super) fn under_contradicted_constraint(self) -> Self {
        Schedule {
            explored_in_vain: self.explored_in_vain.max(CONTRADICTED_IN_VAIN),
            explored: self.explored.max(CONTRADICTED_STARTS),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment;
    use std::path::Path;

    #[test]
    fn small_data_have_few_entries_in_all_partitions_together() {
        let alignment = read_alignment(Path::new("../../datasets/anolis.phy")).unwrap();
        let one = |model: &str| Partition::whole(&alignment, model).unwrap();
        let anolis = one("HKY");
        let row = anolis.patterns.num_tips() * anolis.patterns.num_patterns() * 4;
        assert!(are_small(&[one("HKY+G4")]) && 4 * row < SMALL_DATA);
        let categories = SMALL_DATA / row;
        assert!(are_small(&[one(&format!("HKY+R{categories}"))]));
        assert!(!are_small(&[one(&format!("HKY+R{categories}")), one("HKY")]));
        assert!(!are_small(&[one(&format!("HKY+G{}", categories + 1))]));
    }
}
