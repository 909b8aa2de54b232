//! Information criteria.
//!
//! With lnL the maximised log-likelihood, k the number of parameters and n the number of sites:
//!
//! ```text
//! AIC  = 2 k - 2 lnL                              (Akaike 1974, IEEE Trans. Autom. Control 19:716)
//! AICc = AIC + 2 k (k + 1) / (n - k - 1)          (Hurvich & Tsai 1989, Biometrika 76:297)
//! BIC  = k ln n - 2 lnL                           (Schwarz 1978, Ann. Stat. 6:461)
//! ```
//!
//! The model with the lowest value is the best. Weights are exp(-d/2) divided by their sum, where d is the
//! difference from the lowest value.

/// The criterion by which a model is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Criterion {
    /// The Bayesian information criterion.
    #[default]
    Bic,
    /// Akaike's information criterion.
    Aic,
    /// Akaike's information criterion, corrected for small samples.
    Aicc,
}

impl Criterion {
    /// Its usual abbreviation.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Bic => "BIC",
            Criterion::Aic => "AIC",
            Criterion::Aicc => "AICc",
        }
    }

    /// The same criterion, or AIC instead of AICc if this is not defined for any model of at least so many parameters.
    pub fn where_defined(self, least_parameters: usize, num_sites: usize) -> Self {
        match self {
            Criterion::Aicc if num_sites <= least_parameters + 1 => Criterion::Aic,
            _ => self,
        }
    }
}

/// The criteria of one fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// AIC.
    pub aic: f64,
    /// AICc; infinite if there are at most k + 1 sites, for which it is not defined.
    pub aicc: f64,
    /// BIC.
    pub bic: f64,
}

impl Scores {
    /// The criteria of a log-likelihood with `num_parameters` free parameters, including branch lengths, and
    /// `num_sites` sites.
    pub fn new(lnl: f64, num_parameters: usize, num_sites: usize) -> Self {
        let (k, n) = (num_parameters as f64, num_sites as f64);
        let aic = 2.0 * k - 2.0 * lnl;
        let aicc = match num_sites > num_parameters + 1 {
            true => aic + 2.0 * k * (k + 1.0) / (n - k - 1.0),
            false => f64::INFINITY,
        };
        Scores { aic, aicc, bic: k * libm::log(n.max(1.0)) - 2.0 * lnl }
    }

    /// The value of one criterion.
    pub fn by(&self, criterion: Criterion) -> f64 {
        match criterion {
            Criterion::Bic => self.bic,
            Criterion::Aic => self.aic,
            Criterion::Aicc => self.aicc,
        }
    }
}

/// Weights of models with these values of a criterion. They sum to 1, or are all 0 if no value is finite.
pub(super) fn criterion_weights(values: &[f64]) -> Vec<f64> {
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let raw =
        |value: &f64| if value.is_finite() { libm::exp(-0.5 * (value - lowest)) } else { 0.0 };
    let sum: f64 = values.iter().map(raw).sum();
    values.iter().map(|value| if sum > 0.0 { raw(value) / sum } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_by_hand() {
        // k = 10, n = 100: AIC = 20 + 2000, AICc = AIC + 220/89, BIC = 10 * 4.605170186 + 2000.
        let scores = Scores::new(-1000.0, 10, 100);
        assert_eq!(scores.aic, 2020.0);
        assert!((scores.aicc - 2022.471910112).abs() < 1e-9);
        assert!((scores.bic - 2046.051701860).abs() < 1e-9);
        assert_eq!(scores.by(Criterion::Aicc), scores.aicc);
        assert_eq!(Scores::new(-5.0, 9, 11).aicc, 28.0 + 180.0);
        assert_eq!(Scores::new(-5.0, 9, 10).aicc, f64::INFINITY);
        assert_eq!(Scores::new(0.0, 0, 0), Scores { aic: 0.0, aicc: f64::INFINITY, bic: 0.0 });
    }

    #[test]
    fn where_aicc_is_not_defined_it_is_aic() {
        for (criterion, num_sites, used) in [
            (Criterion::Aicc, 10, Criterion::Aic),
            (Criterion::Aicc, 11, Criterion::Aicc),
            (Criterion::Bic, 10, Criterion::Bic),
        ] {
            assert_eq!(criterion.where_defined(9, num_sites), used);
        }
        assert!(Scores::new(-5.0, 9, 11).aicc.is_finite());
    }

    #[test]
    fn weights_sum_to_1() {
        let found = criterion_weights(&[100.0, 102.0, f64::INFINITY, 104.0]);
        // 1 : e^-1 : 0 : e^-2
        for (weight, expected) in found.iter().zip([0.665240956, 0.244728471, 0.0, 0.090030573]) {
            assert!((weight - expected).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(criterion_weights(&[f64::INFINITY]), [0.0]);
    }
}
