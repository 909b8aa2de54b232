//! The fit of the approximately unbiased test (Shimodaira 2002, Syst. Biol. 51:492).
//!
//! In resamples of r times as many sites as the data have, a tree is the best one with a probability of about
//! 1 − Φ(d·√r + c/√r): d is the signed distance of the data from the boundary of the region where it is the best, c the
//! curvature of this boundary. The p-value is 1 − Φ(d − c).
//!
//! d and c are estimated by maximum likelihood from the counts at all scales: argmin's trust region minimises the
//! deviance, with Fisher's information in place of the Hessian. The binomial likelihood is log-concave, so its maximum is the
//! only one; counts of none or all are no exception, as they would be in a regression on z-values.

use crate::numeric::{normal_density, normal_tail};
use argmin::core::{CostFunction, Error, Executor, Gradient, Hessian};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use argmin_math::{ArgminAdd, ArgminDot, ArgminL2Norm, ArgminMul, ArgminZeroLike};

/// Resampled sites over sites of the data: those of the publication.
pub(super) const SCALES: [f64; 10] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4];

/// Number of the scale with as many sites as the data.
pub(super) const WHOLE: usize = 5;

/// Beyond this z-value, tails are 0 in double precision.
const MAX_Z: f64 = 37.0;

/// Steps of the trust region: 20 end within 5e-6 standard errors of the maximum.
const STEPS: u64 = 30;

/// Most steps of a quadratic problem, which is solved after two, one for each coefficient.
const STEPS_OF_QUADRATIC: u64 = 4;

/// Resamples of one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Resampled sites over sites of the data.
    pub(super) ratio: f64,
    /// Number of replicates.
    pub(super) replicates: u64,
    /// Those in which the tree is the best.
    pub(super) best: u64,
}

/// The p-value of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// The p-value.
    pub(super) p: f64,
    /// Its standard error, from the number of replicates.
    pub(super) standard_error: f64,
}

/// Fits d and c to the counts. With counts between none and all at fewer than two scales, the p-value is 0 or 1.
pub(super) fn fit(scales: &[Scale]) -> Fit {
    let is_inner = |scale: &&Scale| scale.best > 0 && scale.best < scale.replicates;
    if scales.iter().filter(is_inner).count() < 2 {
        let (best, all) =
            scales.iter().fold((0, 0), |sum, s| (sum.0 + s.best, sum.1 + s.replicates));
        return Fit { p: if 2 * best < all { 0.0 } else { 1.0 }, standard_error: 0.0 };
    }
    let Pair([d, c]) = maximum(scales);
    let (_, information) = derivatives(scales, [d, c]);
    // The variance of d − c.
    let variance = solve(information, [1.0, -1.0]).map_or(0.0, |row| row[0] - row[1]);
    let standard_error = normal_density(d - c) * variance.max(0.0).sqrt();
    Fit { p: normal_tail(d - c), standard_error }
}

fn z_value(scale: &Scale, [d, c]: [f64; 2]) -> f64 {
    let root = scale.ratio.sqrt();
    (d * root + c / root).clamp(-MAX_Z, MAX_Z)
}

/// How far the logarithm of the likelihood is below that of the shares themselves. (In a difference of two small numbers
/// less is lost to rounding.)
fn deviance(scales: &[Scale], at: [f64; 2]) -> f64 {
    let term = |count: u64, all: u64, z: f64| match count {
        0 => 0.0,
        _ => count as f64 * libm::log(count as f64 / (all as f64 * normal_tail(z))),
    };
    let of_scale = |&scale: &Scale| {
        let Scale { replicates, best, .. } = scale;
        let z = z_value(&scale, at);
        term(best, replicates, z) + term(replicates - best, replicates, -z)
    };
    scales.iter().map(of_scale).sum()
}

/// d and c of the highest likelihood.
fn maximum(scales: &[Scale]) -> Pair {
    let solver = TrustRegion::new(Steihaug::new().with_max_iters(STEPS_OF_QUADRATIC));
    let fitted = Executor::new(Counts(scales), solver)
        .configure(|state| state.param(Pair([0.0; 2])).max_iters(STEPS))
        .timer(false)
        .run();
    let best = fitted.ok().and_then(|mut fitted| fitted.state.take_best_param());
    best.expect("the trust region has a start, and its derivatives do not fail")
}

/// The counts as a problem of argmin's.
#[derive(Clone, Copy)]
struct Counts<'a>(&'a [Scale]);

impl CostFunction for Counts<'_> {
    type Param = Pair;
    type Output = f64;

    fn cost(&self, &Pair(at): &Pair) -> Result<f64, Error> {
        Ok(deviance(self.0, at))
    }
}

impl Gradient for Counts<'_> {
    type Param = Pair;
    type Gradient = Pair;

    fn gradient(&self, &Pair(at): &Pair) -> Result<Pair, Error> {
        Ok(Pair(derivatives(self.0, at).0.map(|slope| -slope)))
    }
}

impl Hessian for Counts<'_> {
    type Param = Pair;
    type Hessian = Information;

    fn hessian(&self, &Pair(at): &Pair) -> Result<Information, Error> {
        Ok(Information(derivatives(self.0, at).1))
    }
}

/// Two numbers for d and c. (argmin has vectors, too, but with them come random numbers.)
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair([f64; 2]);

impl ArgminAdd<Pair, Pair> for Pair {
    fn add(&self, other: &Pair) -> Pair {
        Pair([self.0[0] + other.0[0], self.0[1] + other.0[1]])
    }
}

impl ArgminMul<f64, Pair> for Pair {
    fn mul(&self, factor: &f64) -> Pair {
        Pair(self.0.map(|x| x * factor))
    }
}

impl ArgminDot<Pair, f64> for Pair {
    fn dot(&self, other: &Pair) -> f64 {
        self.0[0] * other.0[0] + self.0[1] * other.0[1]
    }
}

impl ArgminL2Norm<f64> for Pair {
    fn l2_norm(&self) -> f64 {
        self.dot(self).sqrt()
    }
}

impl ArgminZeroLike for Pair {
    fn zero_like(&self) -> Pair {
        Pair([0.0; 2])
    }
}

/// A symmetric matrix, as its elements dd, dc, cc.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Information([f64; 3]);

impl ArgminDot<Pair, Pair> for Information {
    fn dot(&self, &Pair([d, c]): &Pair) -> Pair {
        let Information([dd, dc, cc]) = *self;
        Pair([dd * d + dc * c, dc * d + cc * c])
    }
}

/// The gradient in (d, c), and Fisher's information as its elements dd, dc, cc.
fn derivatives(scales: &[Scale], at: [f64; 2]) -> ([f64; 2], [f64; 3]) {
    let (mut gradient, mut information) = ([0.0; 2], [0.0; 3]);
    for scale in scales {
        let root = scale.ratio.sqrt();
        let (by_d, by_c) = (root, 1.0 / root);
        let z = z_value(scale, at);
        let (p, q, density) = (normal_tail(z), normal_tail(-z), normal_density(z));
        let replicates = scale.replicates as f64;
        let slope = density * (replicates * p - scale.best as f64) / (p * q);
        let weight = replicates * density * density / (p * q);
        gradient[0] += slope * by_d;
        gradient[1] += slope * by_c;
        information[0] += weight * by_d * by_d;
        information[1] += weight * by_d * by_c;
        information[2] += weight * by_c * by_c;
    }
    (gradient, information)
}

/// Solves a symmetric system of two equations; `None` if it is singular.
fn solve([dd, dc, cc]: [f64; 3], [d, c]: [f64; 2]) -> Option<[f64; 2]> {
    let determinant = dd * cc - dc * dc;
    let solution = [(cc * d - dc * c) / determinant, (dd * c - dc * d) / determinant];
    (determinant > 0.0 && solution.iter().all(|x| x.is_finite())).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(d: f64, c: f64, replicates: u64) -> Vec<Scale> {
        let scale = |ratio: f64| {
            let p = normal_tail(d * ratio.sqrt() + c / ratio.sqrt());
            Scale { ratio, replicates, best: (p * replicates as f64).round() as u64 }
        };
        SCALES.map(scale).to_vec()
    }

    #[test]
    fn the_coefficients_of_exact_counts_are_found() {
        assert_eq!(SCALES[WHOLE], 1.0);
        for (d, c) in [(0.0, 0.0), (1.5, 0.3), (-1.0, 0.5), (3.0, -0.4), (-2.5, -0.2), (4.0, 0.6)] {
            let fitted = fit(&exact(d, c, 1_000_000_000));
            let p = normal_tail(d - c);
            assert!((fitted.p - p).abs() < 1e-6, "{d} {c}: {fitted:?}, not {p}");
        }
    }

    #[test]
    fn the_maximum_is_one() {
        let scales: Vec<Scale> = [31, 24, 25, 17, 11, 12, 9, 4, 5, 0]
            .iter()
            .zip(SCALES)
            .map(|(&best, ratio)| Scale { ratio, replicates: 1000, best })
            .collect();
        let fitted = fit(&scales);
        assert!(fitted.p > 0.005 && fitted.p < 0.2 && fitted.standard_error > 0.0, "{fitted:?}");
        // On a grid nothing is better than the maximum, which has the p-value.
        let (mut best, mut p) = (f64::INFINITY, 0.0);
        for d in 0..300 {
            for c in -100..100 {
                let at = [f64::from(d) * 0.01, f64::from(c) * 0.01];
                if deviance(&scales, at) < best {
                    (best, p) = (deviance(&scales, at), normal_tail(at[0] - at[1]));
                }
            }
        }
        assert!((fitted.p - p).abs() < 2e-3, "{} {p}", fitted.p);
    }

    #[test]
    fn without_a_trend_the_p_value_is_all_or_nothing() {
        let counts = |best: [u64; 10]| -> Vec<Scale> {
            let scales = best.iter().zip(SCALES);
            scales.map(|(&best, ratio)| Scale { ratio, replicates: 100, best }).collect()
        };
        assert_eq!(fit(&counts([0; 10])).p, 0.0);
        assert_eq!(fit(&counts([100; 10])).p, 1.0);
        assert_eq!(fit(&counts([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])).p, 0.0);
        assert_eq!(fit(&counts([98, 100, 100, 100, 100, 100, 100, 100, 100, 100])).p, 1.0);
        let steep = fit(&counts([100, 100, 100, 100, 50, 1, 0, 0, 0, 0]));
        assert!(steep.p.is_finite() && (0.0..=1.0).contains(&steep.p), "{steep:?}");
    }

    #[test]
    fn the_standard_error_is_that_of_repeated_counts() {
        use crate::rng::{Purpose, stream};
        use rand::RngExt;
        let mut rng = stream(1, Purpose::Test, 0);
        let (d, c, replicates) = (1.6, 0.2, 1000_u64);
        let fits: Vec<Fit> = (0..200)
            .map(|_| {
                let scale = |ratio: f64| {
                    let p = normal_tail(d * ratio.sqrt() + c / ratio.sqrt());
                    let best = (0..replicates).filter(|_| rng.random::<f64>() < p).count() as u64;
                    Scale { ratio, replicates, best }
                };
                fit(&SCALES.map(scale))
            })
            .collect();
        let mean = fits.iter().map(|fit| fit.p).sum::<f64>() / 200.0;
        let deviation = fits.iter().map(|fit| (fit.p - mean) * (fit.p - mean)).sum::<f64>() / 199.0;
        let expected = fits.iter().map(|fit| fit.standard_error).sum::<f64>() / 200.0;
        assert!((mean - normal_tail(d - c)).abs() < 4.0 * deviation.sqrt() / 200_f64.sqrt());
        assert!((expected / deviation.sqrt() - 1.0).abs() < 0.2, "{expected} {}", deviation.sqrt());
    }
}
