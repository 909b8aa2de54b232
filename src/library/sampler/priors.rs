//! Prior densities. All topologies have the same probability; the densities here are those of branch lengths and
//! parameters. Their defaults and names are those of MrBayes.

use super::brlen_prior::BrlenPrior;
use crate::model::bounds::{ALPHA_MAX, ALPHA_MIN, PINV_MAX};

/// Smallest share of an exchange rate or a frequency: the likelihood needs them to be positive.
const LEAST_SHARE: f64 = 1e-6;

/// The prior of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberPrior {
    /// Exponential, with this rate.
    Exponential {
        /// The rate, the inverse of the mean.
        rate: f64,
    },
    /// Uniform between these numbers.
    Uniform {
        /// The smallest one.
        from: f64,
        /// The largest one.
        to: f64,
    },
}

impl NumberPrior {
    fn describe(&self) -> String {
        match self {
            NumberPrior::Exponential { rate } => format!("exp{{{rate}}}"),
            NumberPrior::Uniform { from, to } => format!("uni{{{from}/{to}}}"),
        }
    }

    /// Natural logarithm of the density; minus infinity outside the limits of the parameter.
    fn ln_density(&self, value: f64, [least, most]: [f64; 2]) -> f64 {
        if !(least..=most).contains(&value) {
            return f64::NEG_INFINITY;
        }
        match *self {
            NumberPrior::Exponential { rate } => libm::log(rate) - rate * value,
            NumberPrior::Uniform { from, to } if (from..=to).contains(&value) => {
                -libm::log(to - from)
            }
            NumberPrior::Uniform { .. } => f64::NEG_INFINITY,
        }
    }

    /// The number, or the middle of those that are possible.
    fn admit(&self, value: f64, [least, most]: [f64; 2]) -> f64 {
        match *self {
            NumberPrior::Uniform { from, to } if !(from..=to).contains(&value) => {
                0.5 * (from.max(least) + to.min(most))
            }
            _ => value,
        }
    }
}

/// Limits of the shape of the gamma distribution.
pub(super) const SHAPE_LIMITS: [f64; 2] = [ALPHA_MIN, ALPHA_MAX];
/// Limits of the proportion of invariant sites.
pub(super) const PINV_LIMITS: [f64; 2] = [0.0, PINV_MAX];

/// A Dirichlet distribution of shares: its parameters, or one for all.
#[derive(Debug, Clone, PartialEq)]
pub struct SharesPrior(Vec<f64>);

impl Default for SharesPrior {
    /// Uniform.
    fn default() -> Self {
        SharesPrior(vec![1.0])
    }
}

impl SharesPrior {
    /// With these parameters, which are positive.
    pub fn new(parameters: Vec<f64>) -> Self {
        SharesPrior(parameters)
    }

    /// Number of shares; `None` if any number of them may have it.
    pub(super) fn size(&self) -> Option<usize> {
        (self.0.len() > 1).then_some(self.0.len())
    }

    fn describe(&self, name: &str) -> String {
        let numbers: Vec<String> = self.0.iter().map(f64::to_string).collect();
        format!("{name}{{{}}}", numbers.join("/"))
    }

    /// Natural logarithm of the density.
    pub(super) fn ln_density(&self, shares: &[f64]) -> f64 {
        if shares.iter().any(|&share| share < LEAST_SHARE) {
            return f64::NEG_INFINITY;
        }
        let own = |number: usize| self.0[if self.0.len() == 1 { 0 } else { number }];
        let (mut sum, mut ln) = (0.0, 0.0);
        for (number, &share) in shares.iter().enumerate() {
            let own = own(number);
            sum += own;
            if own != 1.0 {
                ln += (own - 1.0) * libm::log(share) - libm::lgamma(own);
            }
        }
        ln + libm::lgamma(sum)
    }
}

/// All priors but that of the topologies.
#[derive(Debug, Clone, PartialEq)]
pub struct Priors {
    /// Branch lengths.
    pub brlens: BrlenPrior,
    /// Shares of the classes of exchange rates.
    pub exchange: SharesPrior,
    /// Frequencies.
    pub freqs: SharesPrior,
    /// kappa / (1 + kappa), and the rest.
    pub kappa: SharesPrior,
    /// omega / (1 + omega), and the rest.
    pub omega: SharesPrior,
    /// Shape of the gamma distribution.
    pub shape: NumberPrior,
    /// Proportion of invariant sites.
    pub pinv: NumberPrior,
    /// Shares of the partitions in all substitutions.
    pub multipliers: SharesPrior,
    /// Shares of free rates in their sum.
    pub free_rates: SharesPrior,
    /// Weights of free rates.
    pub free_weights: SharesPrior,
}

impl Default for Priors {
    /// Those of MrBayes 3.2, which has no free rates.
    fn default() -> Self {
        Priors {
            brlens: BrlenPrior::default(),
            exchange: SharesPrior::default(),
            freqs: SharesPrior::default(),
            kappa: SharesPrior::default(),
            omega: SharesPrior::default(),
            shape: NumberPrior::Exponential { rate: 1.0 },
            pinv: NumberPrior::Uniform { from: 0.0, to: 1.0 },
            multipliers: SharesPrior::default(),
            free_rates: SharesPrior::default(),
            free_weights: SharesPrior::default(),
        }
    }
}

impl Priors {
    /// The defaults, but with this prior of the branch lengths.
    #[cfg(test)]
    pub fn with_brlens(brlens: BrlenPrior) -> Self {
        Priors { brlens, ..Priors::default() }
    }

    /// All of them as they are typed, by MrBayes' names.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        vec![
            ("brlenspr", self.brlens.describe()),
            ("revmatpr", self.exchange.describe("dir")),
            ("statefreqpr", self.freqs.describe("dir")),
            ("tratiopr", self.kappa.describe("beta")),
            ("omegapr", self.omega.describe("dir")),
            ("shapepr", self.shape.describe()),
            ("pinvarpr", self.pinv.describe()),
            ("ratepr", self.multipliers.describe("dir")),
            ("freeratepr", self.free_rates.describe("dir")),
            ("freeweightpr", self.free_weights.describe("dir")),
        ]
    }

    pub(super) fn ln_shape(&self, alpha: f64) -> f64 {
        self.shape.ln_density(alpha, SHAPE_LIMITS)
    }

    pub(super) fn ln_pinv(&self, pinv: f64) -> f64 {
        self.pinv.ln_density(pinv, PINV_LIMITS)
    }

    /// A shape with a density.
    pub(super) fn admit_shape(&self, alpha: f64) -> f64 {
        self.shape.admit(alpha, SHAPE_LIMITS)
    }

    /// A proportion with a density.
    pub(super) fn admit_pinv(&self, pinv: f64) -> f64 {
        self.pinv.admit(pinv, PINV_LIMITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_are_those_of_the_textbooks() {
        // Beta(2, 3) at 0.4: 12 * 0.4 * 0.36; R 4.5: dbeta(0.4, 2, 3) = 1.728.
        let beta = SharesPrior::new(vec![2.0, 3.0]);
        assert!((beta.ln_density(&[0.4, 0.6]) - libm::log(1.728)).abs() < 1e-12);
        // Dirichlet(2, 2, 2): 120 times the product of the shares.
        let dirichlet = SharesPrior::new(vec![2.0]);
        let found = dirichlet.ln_density(&[0.2, 0.3, 0.5]);
        assert!((found - libm::log(120.0 * 0.03)).abs() < 1e-12);
        assert_eq!(SharesPrior::default().ln_density(&[0.2, 0.3, 0.5]), libm::lgamma(3.0));
        let uniform = NumberPrior::Uniform { from: 0.0, to: 5.02 };
        assert_eq!(uniform.ln_density(1.0, SHAPE_LIMITS), -libm::log(5.02));
        assert_eq!(uniform.ln_density(5.1, SHAPE_LIMITS), f64::NEG_INFINITY);
        assert!((uniform.admit(9.0, SHAPE_LIMITS) - 2.52).abs() < 1e-12);
    }
}
