//! The fit of the approximately unbiased test (Shimodaira 2002, Syst. Biol. 51:492).
//!
//! In resamples of r times as many sites as the data have, a tree is the best one with a probability of about
//! 1 − Φ(d·√r + c/√r): d is the signed distance of the data from the boundary of the region where it is the best, c the
//! curvature of this boundary. The p-value is 1 − Φ(d − c).
//!
//! d and c are estimated by maximum likelihood from the counts at all scales. The logarithm of their binomial
//! likelihood is concave, so Fisher's scoring with shorter steps where one overshoots finds the only maximum; counts
//! of none or all are no exception, as they would be in a regression on z-values.

use crate::numeric::{normal_density, normal_tail};

/// Resampled sites over sites of the data: those of the publication.
pub(super) const SCALES: [f64; 10] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4];

/// Number of the scale with as many sites as the data.
pub(super) const WHOLE: usize = 5;

/// Beyond this z-value, tails are 0 in double precision.
const MAX_Z: f64 = 37.0;

/// Scoring takes 5 to 10 steps.
const MAX_STEPS: usize = 100;

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
    let mut at = [0.0; 2];
    let mut height = log_likelihood(scales, at);
    for _ in 0..MAX_STEPS {
        let (gradient, information) = derivatives(scales, at);
        let Some(step) = solve(information, gradient) else { break };
        let gain = step[0] * gradient[0] + step[1] * gradient[1];
        let mut length = 1.0;
        let mut improved = None;
        while length > 1e-6 && improved.is_none() {
            let tried = [at[0] + length * step[0], at[1] + length * step[1]];
            improved = Some((tried, log_likelihood(scales, tried))).filter(|new| new.1 > height);
            length *= 0.5;
        }
        let Some(better) = improved else { break };
        (at, height) = better;
        if gain < 1e-12 {
            break;
        }
    }
    let [d, c] = at;
    let (_, information) = derivatives(scales, at);
    // The variance of d − c.
    let variance = solve(information, [1.0, -1.0]).map_or(0.0, |row| row[0] - row[1]);
    let standard_error = normal_density(d - c) * variance.max(0.0).sqrt();
    Fit { p: normal_tail(d - c), standard_error }
}

fn z_value(scale: &Scale, [d, c]: [f64; 2]) -> f64 {
    let root = scale.ratio.sqrt();
    (d * root + c / root).clamp(-MAX_Z, MAX_Z)
}

fn log_likelihood(scales: &[Scale], at: [f64; 2]) -> f64 {
    let term = |count: u64, z: f64| match count {
        0 => 0.0,
        _ => count as f64 * libm::log(normal_tail(z)),
    };
    let of_scale = |scale: &Scale| {
        let z = z_value(scale, at);
        term(scale.best, z) + term(scale.replicates - scale.best, -z)
    };
    scales.iter().map(of_scale).sum()
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
        // On a grid nothing is higher than the maximum, which has the p-value.
        let (mut best, mut p) = (f64::NEG_INFINITY, 0.0);
        for d in 0..300 {
            for c in -100..100 {
                let at = [f64::from(d) * 0.01, f64::from(c) * 0.01];
                if log_likelihood(&scales, at) > best {
                    (best, p) = (log_likelihood(&scales, at), normal_tail(at[0] - at[1]));
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
