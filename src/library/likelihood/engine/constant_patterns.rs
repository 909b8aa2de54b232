//! The sum S of the likelihoods of a block of constant patterns, and its derivatives along an edge, as
//! [`Correction`](super::ascertainment::Correction) takes them.
//!
//! There are only a few of these patterns per partition, so this is plain code instead of a kernel. Patterns
//! differ in their scaler counts, so all are brought to the smallest count. S itself may underflow, so it is returned as
//! these numbers are: with a scaler count.

use mlsearch_kernels::layout::{BLOCK, sumtable_group};
use mlsearch_kernels::scaling::factor;

/// S of the patterns with positive weight, from their scaled likelihoods and scaler counts: a number and its scaler
/// count.
pub fn likelihood_sum(
    weights: &[f64],
    likelihood: &[f64; BLOCK],
    scaler: &[u32; BLOCK],
) -> (f64, u32) {
    let least = least_count(weights, likelihood, scaler);
    let mut sum = 0.0;
    for (pattern, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            sum += likelihood[pattern] * factor(scaler[pattern] - least.min(scaler[pattern]));
        }
    }
    (sum, least)
}

/// S, S′ and S″ of the patterns with positive weight, from the edge's sumtable and the factors at a branch length (see
/// `kernels/body/derivatives.rs`): numbers and their scaler count.
pub fn derivative_sums(
    weights: &[f64],
    sumtable: &[f64],
    scaler: &[u32; BLOCK],
    factors: &[[f64; 3]],
) -> ([f64; 3], u32) {
    let mut values = [[0.0; BLOCK]; 3];
    let group = sumtable_group(factors.len());
    for pattern in 0..weights.len() {
        let numbers = &sumtable[pattern / group * group * factors.len()..];
        for (column, factors) in numbers.chunks_exact(group).zip(factors) {
            for (values, factor) in values.iter_mut().zip(factors) {
                values[pattern] += column[pattern % group] * factor;
            }
        }
    }
    let least = least_count(weights, &values[0], scaler);
    let mut sums = [0.0; 3];
    for (pattern, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            let scale = factor(scaler[pattern] - least.min(scaler[pattern]));
            for (sum, values) in sums.iter_mut().zip(&values) {
                *sum += values[pattern] * scale;
            }
        }
    }
    (sums, least)
}

/// The smallest scaler count among patterns with positive weight and likelihood.
fn least_count(weights: &[f64], likelihood: &[f64; BLOCK], scaler: &[u32; BLOCK]) -> u32 {
    let used = (0..weights.len()).filter(|&i| weights[i] > 0.0 && likelihood[i] > 0.0);
    used.map(|i| scaler[i]).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::scaling::THRESHOLD;

    /// Two patterns, the second with a scaler count higher by 1, and a third that is padding, on a sumtable of
    /// two rows. The likelihoods are 0.3·e^(−t) + 0.1 and 0.2·e^(−t) + 0.4, times 2^(-256·shift).
    fn sums(shift: u32, t: f64) -> (([f64; 3], u32), (f64, u32)) {
        let decay = libm::exp(-t);
        let mut sumtable = vec![0.0; 2 * BLOCK];
        let mut scaler = [0; BLOCK];
        for (at, x) in [0.3, 0.2 / THRESHOLD, 7.0].into_iter().enumerate() {
            sumtable[at] = x;
        }
        for (at, x) in [0.1, 0.4 / THRESHOLD, 7.0].into_iter().enumerate() {
            sumtable[BLOCK + at] = x;
        }
        scaler[..3].copy_from_slice(&[shift, shift + 1, 0]);
        let weights = [1.0, 1.0, 0.0];
        let factors = [[decay, -decay, decay], [1.0, 0.0, 0.0]];
        let found = derivative_sums(&weights, &sumtable, &scaler, &factors);
        let mut likelihood = [1.0; BLOCK];
        for at in 0..3 {
            likelihood[at] = sumtable[at] * decay + sumtable[BLOCK + at];
        }
        (found, likelihood_sum(&weights, &likelihood, &scaler))
    }

    #[test]
    fn sums_of_differently_scaled_patterns_are_those_of_plain_arithmetic() {
        for shift in [0, 3, 100_000] {
            let t = 0.4;
            let (([sum, first, second], least), (same, same_least)) = sums(shift, t);
            let decay = libm::exp(-t);
            assert_eq!([least, same_least], [shift; 2]);
            let pairs = [(sum, 0.5 * decay + 0.5), (first, -0.5 * decay), (second, 0.5 * decay)];
            for (found, want) in pairs.into_iter().chain([(same, sum)]) {
                assert!((found - want).abs() < 1e-14, "{found} not {want}");
            }
        }
    }
}
