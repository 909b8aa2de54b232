//! All heuristic constants of the search in one table, each with its source.
//!
//! "Measured" means: medians of the final log-likelihood over 3 to 8 seeds on 101 and 354 taxa.
//!
//! | constant | value | why |
//! |---|---|---|
//! | [`START_EPSILON`] | 10 | RAxML 8 and RAxML-NG start as loosely |
//! | [`FAST_RADIUS`], [`FAST_VERIFIED`] | 10, 3 | RAxML-NG's simplified search uses radius 10 |
//! | [`FAST_EPSILON`] | 1 | a round that gains less ends its phase |
//! | [`WIDE_RADIUS`], [`WIDE_VERIFIED`] | 20, 5 | measured: radius 10 alone misses optima 10 to 20 log units better |
//! | [`WIDE_STARTS`] | 2 | successive halving of four starts |
//! | [`THOROUGH_RADIUS`], [`THOROUGH_VERIFIED`] | 15, 10 | measured: more finds nothing more |
//! | [`VERIFY_WITHIN`] | 40 | measured: 100 finds nothing more |
//! | [`SCAN_STEP`] | 5 | measured: half the time, to the same likelihood |
//! | [`NEAR_MISS`], [`NEAR_MISS_RADIUS`] | 5, 2 | measured: without, moves of large subtrees are missed |
//! | [`ACCEPT_GAIN`] | 0.01 | RAxML 8's threshold for going on with a cycle; ties are never accepted |
//! | [`CHANGE_RADIUS`] | 4 | measured: later rounds take half the time, to the same likelihood |
//! | [`perturbations`] and following | 5 to 10, 4, 4, 5, 2 | measured: 2 to 7 log units for about the time of the search before |
//! | [`FINAL_EPSILON`] | 0.1 | RAxML-NG's final epsilon |
//! | [`LAST_EPSILON`] | 0.001 | measured: 0.1 leaves 0.08, 0.01 leaves 0.03 log units on the 12 primates |

/// Log-likelihood epsilon of the first optimisation of lengths and parameters.
pub const START_EPSILON: f64 = 10.0;
/// Edges between pruning and regrafting place in fast rounds.
pub const FAST_RADIUS: usize = 10;
/// Positions per pruned subtree that fast rounds verify.
pub const FAST_VERIFIED: usize = 3;
/// Fast and wide rounds end when one gains less.
pub const FAST_EPSILON: f64 = 1.0;
/// Edges between pruning and regrafting place in wide rounds.
pub const WIDE_RADIUS: usize = 20;
/// Positions per pruned subtree that wide rounds verify.
pub const WIDE_VERIFIED: usize = 5;
/// Of all starting trees, so many go from fast to wide rounds.
pub const WIDE_STARTS: usize = 2;
/// Edges between pruning and regrafting place in thorough rounds.
pub const THOROUGH_RADIUS: usize = 15;
/// Positions per pruned subtree that thorough rounds verify.
pub const THOROUGH_VERIFIED: usize = 10;
/// Only positions whose lazy score is at most this far below the tree's likelihood are verified.
pub const VERIFY_WITHIN: f64 = 40.0;
/// Places are scored so many edges farther out at a time.
pub const SCAN_STEP: usize = 5;
/// A verified position at most this far below gets its neighbourhood's branches optimised, too.
pub const NEAR_MISS: f64 = 5.0;
/// That neighbourhood: edges within so many edges of the new and the old place.
pub const NEAR_MISS_RADIUS: usize = 2;
/// A move must gain more than this, after the branches around it were optimised.
pub const ACCEPT_GAIN: f64 = 0.01;
/// After a move, subtrees at nodes within so many edges of its two places are scanned again.
pub const CHANGE_RADIUS: usize = 4;
/// Perturbations without success after which a search goes on to its thorough rounds: each covers a
/// neighbourhood of some ten taxa.
pub fn perturbations(num_taxa: usize) -> usize {
    (num_taxa / 10).clamp(5, 10)
}
/// Random moves per perturbation, all near one place.
pub const PERTURBATION_MOVES: usize = 4;
/// Most edges from the place of a perturbation to a subtree it moves, and by which it moves it.
pub const SHAKE_RADIUS: usize = 4;
/// Edges between pruning and regrafting place in the rounds after a perturbation.
pub const PERTURBATION_RADIUS: usize = 5;
/// Positions per pruned subtree that those rounds verify.
pub const PERTURBATION_VERIFIED: usize = 2;
/// Thorough rounds end when one gains less.
pub const FINAL_EPSILON: f64 = 0.1;
/// The last optimisation of lengths and parameters ends when a round of it gains less.
pub const LAST_EPSILON: f64 = 0.001;
/// Newton tolerance (log units per branch) during verification.
pub const VERIFY_TOLERANCE: f64 = 1e-2;
/// Newton tolerance (log units per branch) between rounds.
pub const ROUND_TOLERANCE: f64 = 1e-3;
