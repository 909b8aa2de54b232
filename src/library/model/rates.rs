//! Rates over sites: the discretised gamma distribution (+G), free rates (+R), invariant sites (+I).

use super::bounds::ALPHA_START;
use super::modes::ParamMode;
use crate::numeric::{GammaMode, discrete_gamma};

/// How rates differ between variable sites.
#[derive(Debug, Clone, PartialEq)]
pub enum Heterogeneity {
    /// They are equal.
    Uniform,
    /// Gamma-distributed, in categories of equal weight (Yang 1994, J. Mol. Evol. 39:306).
    Gamma(Gamma),
    /// Categories with any rates and weights (Yang 1995, Genetics 139:993; Soubrier et al. 2012,
    /// Mol. Biol. Evol. 29:3345).
    Free(FreeRates),
}

/// Gamma-distributed rates over sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    /// Number of categories.
    pub num_cats: usize,
    /// What represents a category.
    pub mode: GammaMode,
    /// Shape.
    pub alpha: f64,
    /// Whether the shape is estimated.
    pub alpha_mode: ParamMode,
}

impl Gamma {
    /// This number of categories, with their means and a shape that is estimated.
    pub(super) fn of_cats(num_cats: usize) -> Self {
        let (alpha, alpha_mode) = (ALPHA_START, ParamMode::Optimized);
        Gamma { num_cats, mode: GammaMode::Mean, alpha, alpha_mode }
    }
}

/// Rates and weights of categories, free of any distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct FreeRates {
    /// Rates; their weighted mean is 1.
    pub rates: Vec<f64>,
    /// Weights; they sum to 1.
    pub weights: Vec<f64>,
    /// Whether rates and weights are estimated.
    pub mode: ParamMode,
}

impl FreeRates {
    /// Categories to begin with: those of a gamma distribution.
    pub(super) fn start(num_cats: usize, alpha: f64) -> Self {
        FreeRates {
            rates: discrete_gamma(alpha, num_cats, GammaMode::Mean),
            weights: vec![1.0 / num_cats as f64; num_cats],
            mode: ParamMode::Optimized,
        }
    }

    /// Makes the weights sum to 1 and the weighted mean of the rates 1. Values that already do keep their
    /// bits.
    pub(super) fn normalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        if (sum - 1.0).abs() > 1e-12 {
            self.weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        let mean: f64 = self.rates.iter().zip(&self.weights).map(|(r, w)| r * w).sum();
        if (mean - 1.0).abs() > 1e-12 {
            self.rates.iter_mut().for_each(|rate| *rate /= mean);
        }
    }
}

/// Invariant sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Invariant {
    /// Proportion of sites that cannot vary.
    pub pinv: f64,
    /// Whether it is estimated.
    pub pinv_mode: ParamMode,
}

/// The rate categories of variable sites, and the proportion of invariant ones. A model with classes of sites has the
/// categories of each class, one class after the other.
///
/// The mean over all sites, invariant ones included, is 1: `sum(weights * rates) == 1` and
/// `sum(weights) + pinv == 1`. The likelihood of a site is
/// `sum over c of weights[c] * L(rates[c])`, plus `pinv * (frequency of the states that all its
/// characters allow)`.
#[derive(Debug, Clone, PartialEq)]
pub struct RateCats {
    /// Rate of each category.
    pub rates: Vec<f64>,
    /// Probability of each category.
    pub weights: Vec<f64>,
    /// Index of each category's rate matrix.
    pub matrices: Vec<usize>,
    /// Probability that a site cannot vary.
    pub pinv: f64,
}

impl RateCats {
    /// The categories of these rates over variable sites, beside these invariant ones.
    pub(super) fn new(heterogeneity: &Heterogeneity, invariant: Option<Invariant>) -> Self {
        let pinv = invariant.map_or(0.0, |invariant| invariant.pinv);
        let equal = |rates: Vec<f64>| (vec![1.0 / rates.len() as f64; rates.len()], rates);
        let (mut weights, mut rates) = match heterogeneity {
            Heterogeneity::Uniform => equal(vec![1.0]),
            Heterogeneity::Gamma(g) => equal(discrete_gamma(g.alpha, g.num_cats, g.mode)),
            Heterogeneity::Free(free) => (free.weights.clone(), free.rates.clone()),
        };
        rates.iter_mut().for_each(|rate| *rate /= 1.0 - pinv);
        weights.iter_mut().for_each(|weight| *weight *= 1.0 - pinv);
        RateCats { matrices: vec![0; rates.len()], rates, weights, pinv }
    }

    /// The same for each class of a mixture with these weights and rates, or with one class for each category.
    pub(super) fn of_classes(self, class_weights: Option<&[f64]>, class_rates: &[f64]) -> Self {
        let Some(class_weights) = class_weights else {
            return RateCats { matrices: (0..self.rates.len()).collect(), ..self };
        };
        let (num_cats, num_classes) = (self.rates.len(), class_weights.len());
        RateCats {
            weights: class_weights
                .iter()
                .flat_map(|&class| self.weights.iter().map(move |weight| class * weight))
                .collect(),
            rates: class_rates
                .iter()
                .flat_map(|&class| self.rates.iter().map(move |rate| class * rate))
                .collect(),
            matrices: (0..num_classes * num_cats).map(|cat| cat / num_cats).collect(),
            pinv: self.pinv,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Model;

    #[test]
    fn mean_rate_over_all_sites_is_1() {
        for text in [
            "JC",
            "JC+G{0.3}",
            "GTR+I{0.4}",
            "HKY+I{0.25}+G8a{2}",
            "JC+I{0}+G4",
            "GTR+R3+I{0.2}",
            "LG4X",
            "LG+C20+R3+I",
            "LG+C10+F+G4",
            "EX3+WU{1/2/7}+G4+I",
            "JC+R2{1/3}{0.2/0.8}",
        ] {
            let cats = Model::parse(text).unwrap().rate_cats();
            let mean: f64 = cats.rates.iter().zip(&cats.weights).map(|(r, w)| r * w).sum();
            let total: f64 = cats.weights.iter().sum::<f64>() + cats.pinv;
            assert!((mean - 1.0).abs() < 1e-14 && (total - 1.0).abs() < 1e-14, "{text}");
        }
        let cats = Model::parse("JC+I{0.2}").unwrap().rate_cats();
        assert_eq!((cats.rates, cats.weights, cats.pinv), (vec![1.25], vec![0.8], 0.2));
        assert_eq!(Model::parse("JC+G8").unwrap().rate_cats().rates.len(), 8);
    }
}
