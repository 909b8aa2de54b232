//! The normalised rate matrix Q of a reversible model and its eigensystem, for any number of states.
//!
//! ```text
//! Q[i][j] = s[i][j] * pi[j] / mu   (i != j),   rows sum to 0,
//! mu such that one substitution is expected per site and unit of length,
//! Q = V diag(eigenvals) V^-1,      P(t) = V diag(exp(eigenvals * t)) V^-1
//! ```

use super::bounds::FREQ_FLOOR;
use crate::numeric::symmetric_eigen;
use serde::{Deserialize, Serialize};

/// Eigensystem of a reversible model's normalised rate matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EigenModel {
    /// Number of states.
    pub num_states: usize,
    /// Eigenvalues, ascending in magnitude: the first is exactly 0.0, the others are at most 0.
    pub eigenvals: Vec<f64>,
    /// V, row-major: state `i`, eigenvalue `k` at `i * num_states + k`.
    pub eigenvecs: Vec<f64>,
    /// V^-1, row-major: eigenvalue `k`, state `j` at `k * num_states + j`.
    pub inv_eigenvecs: Vec<f64>,
    /// Stationary frequencies of the states; they sum to 1.
    pub freqs: Vec<f64>,
}

impl EigenModel {
    /// The eigensystem for exchange rates `subst_rates` (upper triangle, row by row: for DNA AC AG AT
    /// CG CT GT) and state frequencies `freqs`.
    ///
    /// Frequencies are normalised and raised to `FREQ_FLOOR` (a state with frequency 0 would divide
    /// by 0). Q is made symmetric with the square roots of the frequencies; the eigenvector of
    /// eigenvalue 0, these square roots, is known beforehand and split off by a reflection, so that 0
    /// is exact and the rows of P(t) sum to 1 however small the other eigenvalues are.
    ///
    /// # Panics
    ///
    /// If the numbers of rates and frequencies do not fit, or a rate is negative, or all are 0: the
    /// parser does not let such models through.
    pub fn new(subst_rates: &[f64], freqs: &[f64]) -> Self {
        let n = freqs.len();
        assert!(n >= 2, "a model of {n} states");
        assert_eq!(subst_rates.len(), n * (n - 1) / 2, "rates for {n} states");
        assert!(subst_rates.iter().all(|&r| r >= 0.0 && r.is_finite()), "rates {subst_rates:?}");
        let mut freqs = freqs.to_vec();
        normalise_freqs(&mut freqs);
        let roots: Vec<f64> = freqs.iter().map(|f| f.sqrt()).collect();

        // S = diag(roots) Q diag(1 / roots), symmetric.
        let mut s = vec![0.0; n * n];
        let mut upper = subst_rates.iter();
        let mut expected = 0.0;
        for i in 0..n {
            for j in i + 1..n {
                let rate = upper.next().expect("as many rates as pairs of states");
                s[i * n + j] = rate * roots[i] * roots[j];
                s[j * n + i] = s[i * n + j];
                s[i * n + i] -= rate * freqs[j];
                s[j * n + j] -= rate * freqs[i];
                expected += 2.0 * rate * freqs[i] * freqs[j];
            }
        }
        for value in &mut s {
            *value /= expected;
        }

        let (eigenvals, u) = split_off_known_vector(n, &s, &roots);
        let mut eigenvecs = vec![0.0; n * n];
        let mut inv_eigenvecs = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..n {
                eigenvecs[i * n + k] = if k == 0 { 1.0 } else { u[i * n + k] / roots[i] };
                inv_eigenvecs[k * n + i] = if k == 0 { freqs[i] } else { u[i * n + k] * roots[i] };
            }
        }
        EigenModel { num_states: n, eigenvals, eigenvecs, inv_eigenvecs, freqs }
    }

    /// P(t), row-major: probability of state `j` after a branch of `length` (times the rate of the
    /// category) that begins in state `i`. The plain, slow way; likelihood kernels have their own.
    pub fn transition_probabilities(&self, length: f64) -> Vec<f64> {
        let n = self.num_states;
        let mut p = vec![0.0; n * n];
        // exp(x) - 1 keeps full precision on short branches.
        let grown: Vec<f64> = self.eigenvals.iter().map(|l| libm::expm1(l * length)).collect();
        for i in 0..n {
            for j in 0..n {
                let change: f64 = (1..n)
                    .map(|k| self.eigenvecs[i * n + k] * grown[k] * self.inv_eigenvecs[k * n + j])
                    .sum();
                p[i * n + j] = (f64::from(u8::from(i == j)) + change).max(0.0);
            }
        }
        p
    }
}

/// Eigensystem (values ascending in magnitude, vectors as columns) of a symmetric matrix `s` of which
/// the unit vector `known` is an eigenvector of eigenvalue 0, and all other values are at most 0.
fn split_off_known_vector(n: usize, s: &[f64], known: &[f64]) -> (Vec<f64>, Vec<f64>) {
    // H = I - scale * w w^T with w = known + e0 reflects e0 to -known; no cancellation: known >= 0.
    let mut w = known.to_vec();
    w[0] += 1.0;
    let scale = 2.0 / w.iter().map(|x| x * x).sum::<f64>();
    let sw: Vec<f64> =
        (0..n).map(|i| (0..n).map(|j| s[i * n + j] * w[j]).sum::<f64>() * scale).collect();
    let wsw = w.iter().zip(&sw).map(|(a, b)| a * b).sum::<f64>() * scale;
    // The rest of H S H, without its first row and column, which are 0.
    let m = n - 1;
    let mut rest = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            let (a, b) = (i + 1, j + 1);
            rest[i * m + j] = s[a * n + b] - (w[a] * sw[b] + sw[a] * w[b]) + wsw * w[a] * w[b];
        }
    }
    let (values, y) = symmetric_eigen(m, &rest);
    let mut all_values = vec![0.0];
    // Ascending in magnitude: the values are negative, so from the last to the first.
    all_values.extend(values.iter().rev().map(|v| v.min(0.0)));
    let mut vectors = vec![0.0; n * n];
    for i in 0..n {
        vectors[i * n] = known[i];
    }
    for k in 0..m {
        let column = |i: usize| {
            if i == 0 { 0.0 } else { y[(i - 1) * m + (m - 1 - k)] }
        };
        let along: f64 = (1..n).map(|i| w[i] * column(i)).sum::<f64>() * scale;
        for i in 0..n {
            vectors[i * n + k + 1] = column(i) - along * w[i];
        }
    }
    (all_values, vectors)
}

/// Makes frequencies sum to 1 and raises those below `FREQ_FLOOR` to it, at the cost of the largest.
/// Frequencies that need no change keep their bits, so that doing it twice has no effect.
pub(super) fn normalise_freqs(freqs: &mut [f64]) {
    assert!(freqs.iter().all(|f| *f >= 0.0 && f.is_finite()), "frequencies {freqs:?}");
    let sum: f64 = freqs.iter().sum();
    assert!(sum > 0.0, "frequencies that are all 0");
    if (sum - 1.0).abs() > 1e-12 {
        for freq in freqs.iter_mut() {
            *freq /= sum;
        }
    }
    let mut surplus = 0.0;
    for freq in freqs.iter_mut() {
        if *freq < FREQ_FLOOR {
            surplus += FREQ_FLOOR - *freq;
            *freq = FREQ_FLOOR;
        }
    }
    if surplus > 0.0 {
        let mut largest = 0;
        for i in 1..freqs.len() {
            if freqs[i] > freqs[largest] {
                largest = i;
            }
        }
        freqs[largest] -= surplus;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_close(got: &[f64], expected: &[f64], tolerance: f64) {
        for (g, e) in got.iter().zip(expected) {
            assert!((g - e).abs() < tolerance, "{got:?}\n{expected:?}");
        }
    }

    #[test]
    fn jc_closed_form() {
        let jc = EigenModel::new(&[1.0; 6], &[0.25; 4]);
        assert_eq!(jc.eigenvals[0], 0.0);
        for t in [0.0, 1e-6, 0.1, 2.0, 100.0] {
            let e = libm::exp(-4.0 * t / 3.0);
            let expected: Vec<f64> = (0..16)
                .map(|k| if k % 5 == 0 { 0.25 + 0.75 * e } else { 0.25 - 0.25 * e })
                .collect();
            assert_close(&jc.transition_probabilities(t), &expected, 1e-14);
        }
        // Short branches keep their relative precision.
        let p = jc.transition_probabilities(1e-12)[1];
        assert!((p / (1e-12 / 3.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn k80_closed_form() {
        let kappa = 4.2;
        let k80 = EigenModel::new(&[1.0, kappa, 1.0, 1.0, kappa, 1.0], &[0.25; 4]);
        let t = 0.37;
        let e1 = libm::exp(-4.0 * t / (kappa + 2.0));
        let e2 = libm::exp(-2.0 * t * (kappa + 1.0) / (kappa + 2.0));
        let same = 0.25 + 0.25 * e1 + 0.5 * e2;
        let transition = 0.25 + 0.25 * e1 - 0.5 * e2;
        let transversion = 0.25 - 0.25 * e1;
        let row = [same, transversion, transition, transversion];
        assert_close(&k80.transition_probabilities(t)[..4], &row, 1e-14);
    }

    #[test]
    fn hky_eigenvalues() {
        let (kappa, f) = (5.0, [0.4, 0.3, 0.2, 0.1]);
        let hky = EigenModel::new(&[1.0, kappa, 1.0, 1.0, kappa, 1.0], &f);
        let (r, y) = (f[0] + f[2], f[1] + f[3]);
        let beta = 0.5 / (r * y + kappa * (f[0] * f[2] + f[1] * f[3]));
        let mut expected = [-beta, -beta * (y + kappa * r), -beta * (r + kappa * y), 0.0];
        expected.sort_by(|a, b| b.total_cmp(a));
        assert_close(&hky.eigenvals, &expected, 1e-14);
        // P for infinite time is the stationary distribution.
        assert_close(&hky.transition_probabilities(1e4)[8..12], &f, 1e-14);
    }

    #[test]
    fn two_states_and_vanishing_frequencies() {
        let two = EigenModel::new(&[3.0], &[0.2, 0.8]);
        assert_close(&two.eigenvals, &[0.0, -1.0 / (2.0 * 0.2 * 0.8)], 1e-14);
        for freqs in [[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.3, 0.3, 0.4]] {
            let gtr = EigenModel::new(&[1e-4, 1e6, 3.0, 0.2, 9.0, 1.0], &freqs);
            assert!((gtr.freqs.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            let p = gtr.transition_probabilities(0.1);
            assert!(p.iter().all(|p| p.is_finite()), "{p:?}");
            for row in p.chunks(4) {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{row:?}");
            }
        }
    }

    #[test]
    fn normalising_twice_changes_nothing() {
        for mut freqs in [vec![1.0, 2.0, 3.0, 0.7], vec![0.0, 0.0, 1e-12, 5.0], vec![0.25; 4]] {
            normalise_freqs(&mut freqs);
            let once = freqs.clone();
            normalise_freqs(&mut freqs);
            assert_eq!(freqs, once);
        }
    }

    /// Random reversible models of 2 to 64 states, rates over six orders of magnitude.
    fn models() -> impl Strategy<Value = EigenModel> {
        (2usize..=64).prop_flat_map(|n| {
            let rates = prop::collection::vec(-7.0..7.0, n * (n - 1) / 2);
            let freqs = prop::collection::vec(0.01..1.0, n);
            (rates, freqs).prop_map(|(rates, freqs): (Vec<f64>, Vec<f64>)| {
                let rates: Vec<f64> = rates.into_iter().map(libm::exp).collect();
                EigenModel::new(&rates, &freqs)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn probabilities_are_right(model in models(), s in 0.0..2.0, t in 0.0..2.0) {
            let n = model.num_states;
            let (ps, pt) = (model.transition_probabilities(s), model.transition_probabilities(t));
            let both = model.transition_probabilities(s + t);
            prop_assert_eq!(model.eigenvals[0], 0.0);
            prop_assert!(model.eigenvals.windows(2).all(|w| w[0] >= w[1]));
            // One substitution per unit: -sum pi_i Q_ii = 1.
            let mut flow = 0.0;
            for i in 0..n {
                let mut row = 0.0;
                for j in 0..n {
                    row += pt[i * n + j];
                    let (there, back) =
                        (model.freqs[i] * pt[i * n + j], model.freqs[j] * pt[j * n + i]);
                    prop_assert!((there - back).abs() < 1e-12);
                    let chained: f64 = (0..n).map(|k| ps[i * n + k] * pt[k * n + j]).sum();
                    prop_assert!((chained - both[i * n + j]).abs() < 1e-11);
                }
                prop_assert!((row - 1.0).abs() < 1e-11, "row sum {}", row);
                let q: f64 = (0..n)
                    .map(|k| {
                        model.eigenvecs[i * n + k]
                            * model.eigenvals[k]
                            * model.inv_eigenvecs[k * n + i]
                    })
                    .sum();
                flow -= model.freqs[i] * q;
            }
            prop_assert!((flow - 1.0).abs() < 1e-10, "flow {}", flow);
        }

        #[test]
        fn the_inverse_is_the_inverse(model in models()) {
            let n = model.num_states;
            for i in 0..n {
                for j in 0..n {
                    let value: f64 = (0..n)
                        .map(|k| model.eigenvecs[i * n + k] * model.inv_eigenvecs[k * n + j])
                        .sum();
                    prop_assert!((value - f64::from(u8::from(i == j))).abs() < 1e-11);
                }
            }
        }
    }
}
