//! Branch lengths of a single tree, independent of partitions.

use crate::likelihood::BRLEN_BOUNDS;
use crate::tree::{Tree, to_length_grid};

/// Branch length (substitutions per site) above which the data contain little information on the length.
const SATURATED: f64 = 1.0;

/// Two halves of a length, both on the length grid, whose sum is exactly the length.
pub(super) fn halve(length: f64) -> [f64; 2] {
    let first = to_length_grid(length / 2.0);
    [first, length - first]
}

/// All branch lengths, by edge.
pub(super) fn all_brlens(tree: &Tree) -> Vec<f64> {
    tree.edges().map(|edge| tree.brlen(edge)).collect()
}

/// New lengths of all branches, within [`BRLEN_BOUNDS`]: `length` of the present length and of whether the
/// branch leads to a tip.
pub(super) fn changed_brlens(tree: &Tree, length: impl Fn(f64, bool) -> f64) -> Vec<f64> {
    let [min, max] = BRLEN_BOUNDS.map(to_length_grid);
    let change = |edge| length(tree.brlen(edge), tree.is_terminal(edge)).clamp(min, max);
    tree.edges().map(change).collect()
}

/// Mean branch length, in which branches longer than [`SATURATED`] count as [`SATURATED`].
pub(super) fn mean_brlen(tree: &Tree) -> f64 {
    let sum: f64 = tree.edges().map(|edge| tree.brlen(edge).min(SATURATED)).sum();
    sum / tree.num_edges().max(1) as f64
}
