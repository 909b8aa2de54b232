//! The gamma distribution nearest to the density of a positive number, as an ask/tell machine.
//!
//! The density of x is proportional to exp(power f(x)) times that of a gamma distribution, where f is known by its
//! derivatives alone. Near a point, f is about k ln x - c x with k = -x² f'' and c = k / x - f', so that the density is about
//! that of another gamma distribution. The next point is the one at which ln x has its highest density by this; the
//! distribution found there is the result. If f has this form, the second point is the last. (Log-likelihoods of a branch
//! length have nearly this form: Aberer, Stamatakis & Ronquist 2016, Syst. Biol. 65:161.)

use serde::{Deserialize, Serialize};

/// A gamma distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gamma {
    /// Its shape, above 0.
    pub shape: f64,
    /// Its rate, above 0.
    pub rate: f64,
}

/// The density to which a distribution is fitted, but for f.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GammaPrior {
    /// Power to which exp(f) is raised.
    pub power: f64,
    /// The gamma density by which it is multiplied: this need not have an integral, so any numbers may be its shape and rate.
    pub gamma: Gamma,
}

impl GammaPrior {
    /// The distribution without f; `None` if it has no integral.
    pub fn alone(&self) -> Option<Gamma> {
        let Gamma { shape, rate } = self.gamma;
        (shape > 0.0 && rate > 0.0).then_some(self.gamma)
    }
}

/// The state of one fit.
#[derive(Debug, Clone)]
pub(crate) struct GammaFit {
    prior: GammaPrior,
    x: f64,
    lo: f64,
    hi: f64,
    evaluations: u32,
    round: fn(f64) -> f64,
    found: Option<Gamma>,
    finished: bool,
}

/// Two or three evaluations are enough for almost all branches.
const MAX_EVALUATIONS: u32 = 8;

/// The fit ends when the next point is nearer than this, in standard deviations of ln x.
const NEAR: f64 = 0.5;

/// The smallest shape of a distribution: those with less are nearly all at 0.
const LEAST_SHAPE: f64 = 0.5;

impl GammaFit {
    /// Starts at `start`, inside `[lo, hi]`. Points are passed through `round` before they are asked.
    pub(crate) fn new(
        prior: GammaPrior,
        start: f64,
        [lo, hi]: [f64; 2],
        round: fn(f64) -> f64,
    ) -> Self {
        let x = round(start.clamp(lo, hi));
        GammaFit { prior, x, lo, hi, evaluations: 0, round, found: None, finished: false }
    }

    /// The next point; `None` when finished.
    pub(crate) fn ask(&self) -> Option<f64> {
        if self.finished { None } else { Some(self.x) }
    }

    /// Takes the first and the second derivative of f at the point last asked.
    pub(crate) fn tell(&mut self, first: f64, second: f64) {
        self.evaluations += 1;
        let GammaPrior { power, gamma } = self.prior;
        let x = self.x;
        if !(first.is_finite() && second.is_finite()) {
            (self.found, self.finished) = (None, true);
            return;
        }
        let k = -second * x * x;
        let shape = power * k + gamma.shape;
        let rate = power * (k / x - first) + gamma.rate;
        let mut next = x;
        if shape >= LEAST_SHAPE && rate > 0.0 {
            self.found = Some(Gamma { shape, rate });
            next = shape / rate;
            self.finished = libm::log(next / x).abs() * libm::sqrt(shape) < NEAR;
        } else {
            // Convex or rising here: the density is higher on this side.
            next *= if power * first + gamma.shape / x > gamma.rate { 8.0 } else { 0.125 };
        }
        let next = (self.round)(next.clamp(0.02 * x, 50.0 * x)).clamp(self.lo, self.hi);
        self.finished |= next == x || self.evaluations == MAX_EVALUATIONS;
        self.x = next;
    }

    /// The distribution of the last point that has one.
    pub(crate) fn found(&self) -> Option<Gamma> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(prior: GammaPrior, start: f64, f: impl Fn(f64) -> [f64; 2]) -> (Option<Gamma>, u32) {
        let mut fit = GammaFit::new(prior, start, [1e-8, 100.0], |x| x);
        while let Some(x) = fit.ask() {
            let [first, second] = f(x);
            fit.tell(first, second);
        }
        (fit.found(), fit.evaluations)
    }

    const EXPONENTIAL: GammaPrior =
        GammaPrior { power: 1.0, gamma: Gamma { shape: 1.0, rate: 10.0 } };

    #[test]
    fn a_gamma_density_is_found_exactly_from_anywhere() {
        for (power, start) in [(1.0, 1e-4), (1.0, 0.02), (0.3, 0.02), (0.3, 30.0)] {
            let prior = GammaPrior { power, ..EXPONENTIAL };
            let (found, evaluations) = fit(prior, start, |x| [30.0 / x - 900.0, -30.0 / (x * x)]);
            let Gamma { shape, rate } = found.unwrap();
            assert!((shape - (power * 30.0 + 1.0)).abs() < 1e-9, "{shape}");
            assert!((rate - (power * 900.0 + 10.0)).abs() < 1e-6, "{rate}");
            assert!(evaluations <= 5, "{evaluations}");
        }
        // Without data it is the prior.
        assert_eq!(fit(EXPONENTIAL, 0.1, |_| [0.0, 0.0]).0, Some(EXPONENTIAL.gamma));
    }

    /// Jukes-Cantor: a of n sites differ.
    fn jukes_cantor(a: f64, n: f64) -> impl Fn(f64) -> [f64; 2] {
        move |t| {
            let e = libm::exp(-4.0 * t / 3.0);
            let (p, q) = (0.75 * (1.0 - e), 0.25 + 0.75 * e);
            let first = a * e / p - (n - a) * e / q;
            [first, -4.0 / 3.0 * first - a * e * e / (p * p) - (n - a) * e * e / (q * q)]
        }
    }

    #[test]
    fn the_fit_is_near_the_mode_and_does_not_take_long() {
        for (a, n) in [(0.0, 500.0), (1.0, 500.0), (20.0, 500.0), (300.0, 1000.0)] {
            for start in [1e-3, 0.03, 0.3, 3.0] {
                let (found, evaluations) = fit(EXPONENTIAL, start, jukes_cantor(a, n));
                let Gamma { shape, rate } = found.unwrap();
                // The density of ln x is highest where this is 0.
                let slope = |x: f64| x * (jukes_cantor(a, n)(x)[0] - 10.0) + 1.0;
                let mode = shape / rate;
                assert!(slope(mode).abs() < 0.6 * libm::sqrt(shape), "{a} from {start}: {mode}");
                assert!(evaluations <= 6, "{a} from {start}: {evaluations}");
            }
        }
    }

    /// More differences than saturated sequences have: the likelihood rises for ever, and only the prior ends it.
    #[test]
    fn a_saturated_branch_has_a_fit() {
        let found = fit(EXPONENTIAL, 0.1, jukes_cantor(800.0, 1000.0)).0.unwrap();
        assert!(found.shape / found.rate > 0.5, "{found:?}");
    }
}
