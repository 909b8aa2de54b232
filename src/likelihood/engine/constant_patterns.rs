//! The sum S of the likelihoods of a block of constant patterns, and its derivatives along an edge, as
//! [`Correction`](super::ascertainment::Correction) takes them.
//!
//! There are only a few of these patterns per gene, so this is plain code instead of a kernel. Patterns
//! differ in their scaler counts, so all are brought to the smallest count. S itself may underflow; only
//! its logarithm is returned.

use super::layout::BLOCK;
use super::scaling::{LN_FACTOR, factor};

/// ln S of the patterns with positive weight, from their scaled likelihoods and scaler counts.
pub fn log_sum(weights: &[f64], likelihood: &[f64; BLOCK], scaler: &[u32; BLOCK]) -> f64 {
    let least = least_count(weights, likelihood, scaler);
    let mut sum = 0.0;
    for (pattern, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            sum += likelihood[pattern] * factor(scaler[pattern] - least.min(scaler[pattern]));
        }
    }
    log_of_sum(sum, f64::from(least))
}

/// ln S from the sum of likelihoods that all have the scaler count `least`.
pub fn log_of_sum(sum: f64, least: f64) -> f64 {
    libm::log(sum) - least * LN_FACTOR
}

/// ln S, S′/S and S″/S from the sums of likelihoods and of their derivatives, likewise.
pub fn derivatives_of_sum([sum, first, second]: [f64; 3], least: f64) -> [f64; 3] {
    [log_of_sum(sum, least), first / sum, second / sum]
}

/// ln S, S′/S and S″/S of the patterns with positive weight, from the edge's sumtable and the factors
/// at a branch length (see `cpu/body/derivatives.rs`).
pub fn log_sum_derivatives(
    weights: &[f64],
    sumtable: &[f64],
    scaler: &[u32; BLOCK],
    factors: &[[f64; 3]],
) -> [f64; 3] {
    let mut values = [[0.0; BLOCK]; 3];
    for (row, factors) in sumtable.chunks_exact(BLOCK).zip(factors) {
        for (values, factor) in values.iter_mut().zip(factors) {
            for (value, x) in values[..weights.len()].iter_mut().zip(row) {
                *value += x * factor;
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
    derivatives_of_sum(sums, f64::from(least))
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
    fn sums(shift: u32, t: f64) -> ([f64; 3], f64) {
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
        let found = log_sum_derivatives(&weights, &sumtable, &scaler, &factors);
        let mut likelihood = [1.0; BLOCK];
        for at in 0..3 {
            likelihood[at] = sumtable[at] * decay + sumtable[BLOCK + at];
        }
        (found, log_sum(&weights, &likelihood, &scaler))
    }

    #[test]
    fn sums_of_differently_scaled_patterns_are_those_of_plain_arithmetic() {
        for shift in [0, 3, 100_000] {
            let t = 0.4;
            let ([log, first, second], same_log) = sums(shift, t);
            let decay = libm::exp(-t);
            let sum = 0.5 * decay + 0.5;
            let want = libm::log(sum) - f64::from(shift) * LN_FACTOR;
            assert!((log - want).abs() < 1e-12 * want.abs().max(1.0), "{log} not {want}");
            assert!((log - same_log).abs() < 1e-12 * want.abs().max(1.0));
            assert!((first + 0.5 * decay / sum).abs() < 1e-14);
            assert!((second - 0.5 * decay / sum).abs() < 1e-14);
        }
    }
}
