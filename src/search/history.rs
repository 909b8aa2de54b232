//! [`SearchHistory`]: what a search met on its way to the best tree.

use crate::tree::Tree;

/// What a search met on its way: the local optima that were reached from its best starting trees, and its
/// perturbations. The more these differ, the less the data determine the tree, or the harder it is to find.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchHistory {
    /// Number of starting trees.
    pub starts: usize,
    /// Log-likelihoods and trees at the end of the wide rounds, before the perturbations of the best of them.
    pub optima: Vec<(f64, Tree)>,
    /// Number of perturbations.
    pub perturbations: usize,
    /// Number of perturbations that led to a better tree.
    pub improvements: usize,
}
