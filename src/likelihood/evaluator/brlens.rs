//! Lengths of a single tree: what does not depend on genes.

use crate::likelihood::BRLEN_BOUNDS;
use crate::tree::{Tree, to_length_grid};

/// How much longer a branch is, the data hardly tell.
const SATURATED: f64 = 1.0;

/// Two halves of a length that sum to it exactly, both on the length grid.
pub(super) fn halve(length: f64) -> [f64; 2] {
    let first = to_length_grid(length / 2.0);
    [first, length - first]
}

/// All lengths, by edge.
pub(super) fn all_brlens(tree: &Tree) -> Vec<f64> {
    tree.edges().map(|edge| tree.brlen(edge)).collect()
}

/// Every length from what it is and whether its branch leads to a tip, within [`BRLEN_BOUNDS`].
pub(super) fn changed_brlens(tree: &Tree, length: impl Fn(f64, bool) -> f64) -> Vec<f64> {
    let [min, max] = BRLEN_BOUNDS.map(to_length_grid);
    let change = |edge| {
        let is_tip = tree.ends(edge).iter().any(|&end| tree.is_tip(end));
        length(tree.brlen(edge), is_tip).clamp(min, max)
    };
    tree.edges().map(change).collect()
}

/// Mean length; a saturated branch counts as one of [`SATURATED`].
pub(super) fn mean_brlen(tree: &Tree) -> f64 {
    let sum: f64 = tree.edges().map(|edge| tree.brlen(edge).min(SATURATED)).sum();
    sum / tree.num_edges().max(1) as f64
}
