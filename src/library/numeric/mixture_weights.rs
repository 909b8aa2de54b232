//! Weights of the components of a finite mixture by maximum likelihood, where the likelihood of each observation under each
//! component is known and does not change.
//!
//! ```text
//! f(w) = sum over observations p of  n[p] ln(sum over components k of w[k] l[k][p])
//! EM:  w'[k] = w[k] g[k] / N,   g[k] = df/dw[k] = sum over p of  n[p] l[k][p] / l[p],   N = sum over p of n[p]
//! ```
//!
//! f is concave, so that there is one maximum, and at any w its height is at most f(w) + max g - N: this is how the end is
//! recognised. EM (Dempster, Laird & Rubin 1977, J. R. Stat. Soc. B 39:1) converges slowly where components are alike; two of
//! its steps together tell where it leads (SQUAREM, Varadhan & Roland 2008, Scand. J. Stat. 35:335), and what is gained by
//! going there is kept.

/// Most steps of EM.
const MAX_STEPS: usize = 3000;

/// The likelihood of each observation under each component, with which weights are estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureLikelihoods {
    /// `[component][observation]`, each observation relative to its largest one.
    of_components: Vec<Vec<f64>>,
    /// How often each observation was made.
    counts: Vec<f64>,
}

impl MixtureLikelihoods {
    /// From log-likelihoods, `[component][observation]`. Observations that were not made, or are impossible under every
    /// component, have no influence.
    pub fn new(log_likelihoods: &[Vec<f64>], counts: &[f64]) -> Self {
        let is_known = |p: &usize| {
            counts[*p] > 0.0 && log_likelihoods.iter().any(|lnls| lnls[*p] > f64::NEG_INFINITY)
        };
        let used: Vec<usize> = (0..counts.len()).filter(is_known).collect();
        let largest = |&p: &usize| {
            log_likelihoods.iter().map(|lnls| lnls[p]).fold(f64::NEG_INFINITY, f64::max)
        };
        let largest: Vec<f64> = used.iter().map(largest).collect();
        let relative = |lnls: &Vec<f64>| {
            used.iter().zip(&largest).map(|(&p, most)| libm::exp(lnls[p] - most)).collect()
        };
        MixtureLikelihoods {
            of_components: log_likelihoods.iter().map(relative).collect(),
            counts: used.iter().map(|&p| counts[p]).collect(),
        }
    }

    /// The log-likelihood with these weights, but for a constant, and its derivative by each weight.
    pub fn log_likelihood(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let mut totals = vec![0.0; self.counts.len()];
        for (component, weight) in self.of_components.iter().zip(weights) {
            for (total, likelihood) in totals.iter_mut().zip(component) {
                *total += weight * likelihood;
            }
        }
        let logs = totals.iter().zip(&self.counts);
        let lnl = logs.map(|(total, count)| count * libm::log(*total)).sum();
        for (total, count) in totals.iter_mut().zip(&self.counts) {
            *total = count / *total;
        }
        let slope =
            |component: &Vec<f64>| component.iter().zip(&totals).map(|(l, n)| l * n).sum::<f64>();
        (lnl, self.of_components.iter().map(slope).collect())
    }

    /// The weights with the highest likelihood, none below `least`, found from others: less than `epsilon` (log units) is
    /// missing, unless that takes very many steps. They are not less likely than those at the start.
    pub fn estimate(&self, start: &[f64], least: f64, epsilon: f64) -> Vec<f64> {
        let total: f64 = self.counts.iter().sum();
        let raised = |weights: &[f64]| {
            let raised: Vec<f64> = weights.iter().map(|weight| weight.max(least)).collect();
            let sum: f64 = raised.iter().sum();
            raised.iter().map(|weight| weight / sum).collect::<Vec<f64>>()
        };
        if total <= 0.0 {
            return start.to_vec();
        }
        let step = |weights: &[f64], slopes: &[f64]| -> Vec<f64> {
            let moved: Vec<f64> = weights.iter().zip(slopes).map(|(w, g)| w * g / total).collect();
            raised(&moved)
        };
        // A weight of 0 would remain 0.
        let mut weights = raised(start);
        let (mut lnl, mut slopes) = self.log_likelihood(&weights);
        for _ in 0..MAX_STEPS / 3 {
            let steepest = slopes.iter().copied().fold(0.0, f64::max);
            if steepest - total < epsilon {
                break;
            }
            let first = step(&weights, &slopes);
            let (_, first_slopes) = self.log_likelihood(&first);
            let second = step(&first, &first_slopes);
            let further = extrapolate(&weights, &first, &second);
            let by_em = self.log_likelihood(&second);
            (weights, (lnl, slopes)) = (second, by_em);
            if let Some(further) = further {
                let further = raised(&further);
                let there = self.log_likelihood(&further);
                if there.0 > lnl {
                    (weights, (lnl, slopes)) = (further, there);
                }
            }
        }
        if self.log_likelihood(start).0 >= lnl { start.to_vec() } else { weights }
    }
}

/// Where two steps lead; `None` if to nothing new, or to negative weights only.
fn extrapolate(from: &[f64], first: &[f64], second: &[f64]) -> Option<Vec<f64>> {
    let (mut change, mut bend) = (0.0, 0.0);
    for ((a, b), c) in from.iter().zip(first).zip(second) {
        change += (b - a) * (b - a);
        bend += (c - 2.0 * b + a) * (c - 2.0 * b + a);
    }
    let factor = (change / bend).sqrt();
    if !factor.is_finite() || factor <= 1.0 {
        return None;
    }
    let points = from.iter().zip(first).zip(second);
    let there = points.map(|((a, b), c)| {
        (a + 2.0 * factor * (b - a) + factor * factor * (c - 2.0 * b + a)).max(0.0)
    });
    let there: Vec<f64> = there.collect();
    there.iter().any(|&weight| weight > 0.0).then_some(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two coins, and tosses that tell of one of them with certainty: the weights are the shares.
    #[test]
    fn certain_observations_give_shares() {
        let never = f64::NEG_INFINITY;
        let lnls = [vec![-3.0, never, never], vec![never, -700.0, never]];
        let mixture = MixtureLikelihoods::new(&lnls, &[3.0, 1.0, 9.0]);
        let found = mixture.estimate(&[0.01, 0.99], 1e-12, 1e-9);
        assert!((found[0] - 0.75).abs() < 1e-9 && (found[1] - 0.25).abs() < 1e-9, "{found:?}");
        assert_eq!(mixture.estimate(&found, 1e-12, 1e-9), found, "the start is kept");
        let none = MixtureLikelihoods::new(&lnls, &[0.0; 3]);
        assert_eq!(none.estimate(&[0.5, 0.5], 1e-12, 1e-9), [0.5, 0.5]);
    }

    /// Forty observations of six components, two of which are almost alike, and one that is always the worst.
    #[test]
    fn the_end_is_the_maximum_from_any_start() {
        let lnl = |k: usize, p: usize| match k {
            5 => -50.0,
            _ => -0.3 * (p as f64 - [3.0, 9.0, 9.5, 20.0, 38.0][k]).abs(),
        };
        let lnls: Vec<Vec<f64>> = (0..6).map(|k| (0..40).map(|p| lnl(k, p)).collect()).collect();
        let counts: Vec<f64> = (0..40).map(|p| (1 + p % 3) as f64).collect();
        let mixture = MixtureLikelihoods::new(&lnls, &counts);
        let total: f64 = counts.iter().sum();
        let mut ends = Vec::new();
        for start in [[1.0 / 6.0; 6], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]] {
            let found = mixture.estimate(&start, 1e-12, 1e-6);
            let (end, slopes) = mixture.log_likelihood(&found);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(slopes.iter().all(|&slope| slope < total + 1e-5), "{slopes:?} {total}");
            assert!(found[5] < 1e-9, "{found:?}");
            ends.push(end);
        }
        assert!((ends[0] - ends[1]).abs() < 1e-5, "{ends:?}");
    }
}
