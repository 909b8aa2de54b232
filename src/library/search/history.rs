//! [`SearchHistory`]: what a search met on its way to the best tree.

use crate::tree::Tree;
use serde::{Deserialize, Serialize};

/// What a search met on its way: how far its starting trees led, and its perturbations. The more these differ, the
/// less the data determine the tree, or the harder it is to find.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchHistory {
    /// Starting trees that the search made in addition to those that it was given.
    pub more_starts: Vec<Tree>,
    /// Log-likelihoods and trees after one round from each starting tree, before they were recombined.
    pub reached: Vec<(f64, Tree)>,
    /// True if the last perturbation still led to a better tree.
    pub still_adding: bool,
    /// Number of perturbations.
    pub perturbations: usize,
    /// Number of perturbations that led to a better tree.
    pub improvements: usize,
}
