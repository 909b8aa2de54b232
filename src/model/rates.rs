//! Rates over sites: the discretised gamma distribution (+G) and invariant sites (+I).

use super::parameters::Model;
use crate::numeric::discrete_gamma;

/// The rate categories of variable sites, and the proportion of invariant ones.
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
    /// Probability that a site cannot vary.
    pub pinv: f64,
}

impl RateCats {
    pub(super) fn of(model: &Model) -> Self {
        let pinv = model.invariant.map_or(0.0, |invariant| invariant.pinv);
        let mut rates = match model.gamma {
            Some(gamma) => discrete_gamma(gamma.alpha, gamma.num_cats, gamma.mode),
            None => vec![1.0],
        };
        for rate in &mut rates {
            *rate /= 1.0 - pinv;
        }
        let weights = vec![(1.0 - pinv) / rates.len() as f64; rates.len()];
        RateCats { rates, weights, pinv }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_rate_over_all_sites_is_1() {
        for text in ["JC", "JC+G{0.3}", "GTR+I{0.4}", "HKY+I{0.25}+G8a{2}", "JC+I{0}+G4"] {
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
