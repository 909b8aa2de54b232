//! All heuristic constants of the search in one table, each with its source.
//!
//! "Measured" means: medians of the final log-likelihood and of the time over 3 to 8 seeds on 59, 101, 150,
//! 218 and 354 taxa.
//!
//! | constant | value | why |
//! |---|---|---|
//! | [`START_EPSILON`] | 10 | RAxML 8 and RAxML-NG start as loosely |
//! | [`FAST`] | places 6 | of the moves accepted with 38 to 97 places scored per subtree (means on 218, 101, 354 taxa), 93 to 99 % were among the 6 places that cost the fewest changes |
//! | [`WIDE`], [`THOROUGH`] | places 12, 16, tried 5, 10 | measured: 10, 12 and 3, 5 end 2.8 log units lower on 140 proteins |
//! | [`FAST`] | tried 2 | of the moves accepted, 97 % were the first or second of the ranking |
//! | [`FAST`], [`WIDE`], [`THOROUGH`] | floor 10, 30, 30 | measured on 101 taxa: 15 and 20 in wide and thorough rounds end 0.5 log units lower |
//! | [`FAST`], [`WIDE`], [`THOROUGH`] | near_miss 1 | 34 of 44 moves that needed more than the three branches were this near |
//! | [`WIDE`] | radius 20 | measured: radius 10 alone misses optima 10 to 20 log units better |
//! | [`RoundOptions::within`] | 40 | measured: 100 finds nothing more |
//! | [`FAST_EPSILON`] | 1 | a round that gains less ends its phase |
//! | [`NEAR_MISS_RADIUS`] | 2 | measured: without, moves of large subtrees are missed |
//! | [`MOVED_RADIUS`] | 1 | measured on 101 taxa: 2 takes longer, to the same likelihood |
//! | [`ACCEPT_GAIN`] | 0.01 | RAxML 8's threshold for going on with a cycle; ties are never accepted |
//! | [`SAME`] | 0.05 | on 354 taxa 15 000 of 16 000 verified positions were ties across branches of no length |
//! | [`CHANGE_RADIUS`] | 4 | measured: later rounds take half the time, to the same likelihood |
//! | [`SearchEffort::schedule`] | | measured: fast searches end 0.6 to 22 log units below those of the default |
//! | [`PERTURBATION_MOVES`], [`SHAKE_RADIUS`] | 3, 4 | measured: perturbations bring up to 0.6 log units in the median, for 8 to 30 % of the time |
//! | [`FINAL_EPSILON`] | 0.1 | RAxML-NG's final epsilon |
//! | [`LAST_EPSILON`] | 0.001 | measured: 0.1 leaves 0.08, 0.01 leaves 0.03 log units on the 12 primates |

/// How far a round looks and how carefully.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundOptions {
    /// Most edges between pruning and regrafting place.
    pub radius: usize,
    /// Most positions per pruned subtree that are scored: those that cost the fewest changes.
    pub places: usize,
    /// Most positions per pruned subtree that are tried.
    pub tried: usize,
    /// Only positions whose lazy score is at most this far below the present likelihood are.
    pub within: f64,
    /// A position that is this far below when its pendant branch was optimised is given up.
    pub floor: f64,
    /// A tried position further below than this is given up, too; nearer ones get the branches around both
    /// places optimised.
    pub near_miss: f64,
}

/// Log-likelihood epsilon of the first optimisation of lengths and parameters.
pub const START_EPSILON: f64 = 10.0;
/// First rounds of every starting tree.
pub const FAST: RoundOptions =
    RoundOptions { radius: 15, places: 6, tried: 2, within: 40.0, floor: 10.0, near_miss: 1.0 };
/// Rounds of the best trees, farther out.
pub const WIDE: RoundOptions =
    RoundOptions { radius: 20, places: 12, tried: 5, within: 40.0, floor: 30.0, near_miss: 1.0 };
/// Rounds after a perturbation.
pub const NEARBY: RoundOptions =
    RoundOptions { radius: 5, places: 6, tried: 2, within: 40.0, floor: 10.0, near_miss: 0.0 };
/// Last rounds.
pub const THOROUGH: RoundOptions =
    RoundOptions { radius: 15, places: 16, tried: 10, within: 40.0, floor: 30.0, near_miss: 1.0 };
/// Fast and wide rounds end when one gains less.
pub const FAST_EPSILON: f64 = 1.0;
/// Edges within so many edges of the new and the old place get optimised after a near miss.
pub const NEAR_MISS_RADIUS: usize = 2;
/// The same after a move that gains something with the branches of its own place alone.
pub const MOVED_RADIUS: usize = 1;
/// A move must gain more than this, after the branches around it were optimised.
pub const ACCEPT_GAIN: f64 = 0.01;
/// A tried position that is no further below than this is taken for the same tree, up to branches of no
/// length.
pub const SAME: f64 = 0.05;
/// After a move, subtrees at nodes within so many edges of its two places are scanned again.
pub const CHANGE_RADIUS: usize = 4;
/// Random moves per perturbation, all near one place.
pub const PERTURBATION_MOVES: usize = 3;
/// Most edges from the place of a perturbation to a subtree it moves, and by which it moves it.
pub const SHAKE_RADIUS: usize = 4;
/// Thorough rounds end when one gains less.
pub const FINAL_EPSILON: f64 = 0.1;
/// The last optimisation of lengths and parameters ends when a round of it gains less.
pub const LAST_EPSILON: f64 = 0.001;
/// Newton tolerance (log units per branch) during verification.
pub const VERIFY_TOLERANCE: f64 = 1e-2;
/// Newton tolerance (log units per branch) between rounds.
pub const ROUND_TOLERANCE: f64 = 1e-3;

/// How much time a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchEffort {
    /// One starting tree, no perturbations.
    Fast,
    /// The best of a few starting trees, some perturbations.
    #[default]
    Normal,
    /// More of both.
    Thorough,
}

/// How a search goes on from its starting trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Parsimony trees that a run makes where its user names no starting trees.
    pub starts: usize,
    /// Of all starting trees, so many go on after one fast round.
    pub kept: usize,
    /// One perturbation in vain for so many taxa ends them: each covers a neighbourhood.
    pub taxa_per_perturbation: usize,
    /// Fewest and most such perturbations.
    pub perturbations: [usize; 2],
    /// Thorough rounds at the end.
    pub thorough: bool,
}

impl SearchEffort {
    /// What it means.
    pub fn schedule(self) -> Schedule {
        let normal = Schedule {
            starts: 4,
            kept: 2,
            taxa_per_perturbation: 25,
            perturbations: [2, 8],
            thorough: true,
        };
        match self {
            SearchEffort::Fast => {
                Schedule { starts: 1, kept: 1, perturbations: [0, 0], thorough: false, ..normal }
            }
            SearchEffort::Normal => normal,
            SearchEffort::Thorough => Schedule {
                starts: 10,
                kept: 5,
                taxa_per_perturbation: 2,
                perturbations: [20, 200],
                ..normal
            },
        }
    }
}

/// The phases of a search, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPhase {
    /// First optimisation of lengths and model.
    Start,
    /// One fast round from every starting tree.
    Screen,
    /// Fast rounds from the best of them.
    Fast,
    /// Lengths and model of the best.
    Model,
    /// Wide rounds from the best trees.
    Wide,
    /// Perturbations.
    Perturb,
    /// Last rounds, with the optimisation before them.
    Last,
    /// Last optimisation of lengths and model.
    End,
}

/// Share of a search's time (percent) that each [`SearchPhase`] usually takes, for the display of
/// progress: means over 13 alignments of 12 to 500 taxa, which hardly differ in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares(pub [f64; 8]);

impl Shares {
    /// That of a phase.
    pub fn of(&self, phase: SearchPhase) -> f64 {
        self.0[phase as usize]
    }

    /// All of them.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

impl SearchEffort {
    /// How its time is spent.
    pub fn shares(self) -> Shares {
        match self {
            SearchEffort::Fast => Shares([17.0, 16.0, 12.0, 5.0, 35.0, 0.0, 0.0, 15.0]),
            SearchEffort::Normal => Shares([7.0, 26.0, 9.0, 2.0, 21.0, 15.0, 14.0, 6.0]),
            SearchEffort::Thorough => Shares([2.0, 16.0, 5.0, 1.0, 13.0, 57.0, 4.0, 2.0]),
        }
    }
}

impl Schedule {
    /// Perturbations without success after which a search of so many taxa goes on.
    pub fn perturbations_in_vain(&self, num_taxa: usize) -> usize {
        let [least, most] = self.perturbations;
        (num_taxa / self.taxa_per_perturbation).clamp(least, most)
    }
}
