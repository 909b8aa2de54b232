//! What the log-likelihoods of the trees say, with which replicates are compared.

use super::sites::{SiteLikelihoods, first_highest};
use rayon::prelude::*;

/// Trees whose log-likelihoods differ by less than this count as equally good: a branch without length can be resolved
/// in several ways, whose likelihoods differ by what their optimisation left over. Differences between other trees
/// vary by far more.
pub(super) const EQUAL: f64 = 0.01;

/// The observed differences between trees.
#[derive(Debug)]
pub(super) struct Observed {
    /// `[tree]`: log-likelihood minus that of the best tree.
    pub(super) totals: Vec<f64>,
    /// `[tree]`: the best of the other trees.
    pub(super) rivals: Vec<usize>,
    /// What weighted tests need.
    pub(super) weighted: Option<Weighted>,
}

/// Differences in their standard deviations.
#[derive(Debug)]
pub(super) struct Weighted {
    /// `[tree][other]`: one over the standard deviation of their difference; 0 if they hardly differ at any site.
    pub(super) inverse_deviations: Vec<Vec<f64>>,
    /// `[tree]`: the other tree with the greatest difference.
    pub(super) rivals: Vec<usize>,
    /// `[tree]`: that difference.
    pub(super) greatest: Vec<f64>,
}

impl Observed {
    /// Of these trees, at least two.
    pub(super) fn new(data: &SiteLikelihoods, needs_weights: bool) -> Self {
        let totals = data.totals().to_vec();
        let rivals = (0..totals.len()).map(|tree| first_highest(others(&totals, tree))).collect();
        let weighted = needs_weights.then(|| Weighted::new(data));
        Observed { totals, rivals, weighted }
    }
}

impl Weighted {
    fn new(data: &SiteLikelihoods) -> Self {
        let totals = data.totals();
        let inverse = |deviation: f64| if deviation < EQUAL { 0.0 } else { 1.0 / deviation };
        let row = |tree: usize| -> Vec<f64> {
            (0..totals.len()).map(|other| inverse(data.deviation(tree, other))).collect()
        };
        let inverse_deviations: Vec<Vec<f64>> =
            (0..totals.len()).into_par_iter().map(row).collect();
        let differences = |tree: usize| -> Vec<f64> {
            let inverse = inverse_deviations[tree].iter();
            totals.iter().zip(inverse).map(|(other, i)| (other - totals[tree]) * i).collect()
        };
        let (mut rivals, mut greatest) = (Vec::new(), Vec::new());
        for tree in 0..totals.len() {
            let differences = differences(tree);
            rivals.push(first_highest(others(&differences, tree)));
            greatest.push(differences[rivals[tree]]);
        }
        Weighted { inverse_deviations, rivals, greatest }
    }
}

/// The values, with that of one tree as minus infinity.
fn others(values: &[f64], tree: usize) -> impl Iterator<Item = f64> {
    let value = move |(i, &value): (usize, &f64)| if i == tree { f64::NEG_INFINITY } else { value };
    values.iter().enumerate().map(value)
}
