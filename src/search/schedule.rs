//! All heuristic constants of the search in one table, each with its source.
//!
//! | constant | value | why |
//! |---|---|---|
//! | [`START_EPSILON`] | 10 | RAxML 8 and RAxML-NG start as loosely |
//! | [`FAST_RADIUS`] | 10 | RAxML-NG's adaptive and simplified searches use 5 to 25, 10 for middling data |
//! | [`FAST_VERIFIED`] | 3 | measured on d101 and d150: the best move is among the three best lazy scores |
//! | [`FAST_EPSILON`] | 1 | a fast round that gains less is followed by thorough ones |
//! | [`THOROUGH_RADIUS`] | 15 | |
//! | [`THOROUGH_VERIFIED`] | 10 | |
//! | [`VERIFY_WITHIN`] | 40 | lazy scores further below the tree's own are not verified |
//! | [`ACCEPT_GAIN`] | 0.01 | RAxML 8's threshold for going on with a cycle; ties are never accepted |
//! | [`FINAL_EPSILON`] | 0.1 | RAxML-NG's final epsilon |

/// Log-likelihood epsilon of the first optimisation of lengths and parameters.
pub const START_EPSILON: f64 = 10.0;
/// Edges between pruning and regrafting place in fast rounds.
pub const FAST_RADIUS: usize = 10;
/// Positions per pruned subtree that fast rounds verify by optimising three branches.
pub const FAST_VERIFIED: usize = 3;
/// Fast rounds end when one gains less.
pub const FAST_EPSILON: f64 = 1.0;
/// Edges between pruning and regrafting place in thorough rounds.
pub const THOROUGH_RADIUS: usize = 15;
/// Positions per pruned subtree that thorough rounds verify.
pub const THOROUGH_VERIFIED: usize = 10;
/// Only positions whose lazy score is at most this far below the tree's likelihood are verified.
pub const VERIFY_WITHIN: f64 = 40.0;
/// A move must gain more than this, after its three branches were optimised.
pub const ACCEPT_GAIN: f64 = 0.01;
/// Thorough rounds and the last optimisation end when one gains less.
pub const FINAL_EPSILON: f64 = 0.1;
/// Newton tolerance (log units per branch) during verification.
pub const VERIFY_TOLERANCE: f64 = 1e-2;
