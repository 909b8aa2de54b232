//! Likelihoods of a pattern that has a rate matrix of its own; `operand_of_pattern` has the notation and the tricks.
//!
//! ```text
//! edge_likelihood:      Σ_r weight_r · Σ_k wa[r]_k · exp(λ_k·r·t) · wb[r]_k
//! insertion_likelihood: Σ_r weight_r · Σ_i y[r]_i · pendant[r]_i / sqrt(frequency_i)      y: the point of both ends
//! ```
//!
//! Both return a number and its scaler count, the smallest one of the rates with a weight.

use super::operand_of_pattern::{
    FOUR_RATES, PatternEnd, PatternMatrix, RATES, STATES, exponentials, through_branches,
};
use crate::scaling::factor;

/// The smallest sum of counts among the rates with a weight.
#[inline(always)]
pub fn least_count(rate_weights: &[f64], count: impl Fn(usize) -> u32) -> u32 {
    let mut least = u32::MAX;
    for (rate, weight) in rate_weights.iter().enumerate() {
        let count = count(rate);
        least = if *weight > 0.0 && count < least { count } else { least };
    }
    if least == u32::MAX { 0 } else { least }
}

/// Weights of four rates, with 2^(-256) for each count above the smallest one.
#[inline(always)]
pub fn scaled_weights(
    rate_weights: &[f64],
    four: usize,
    least: u32,
    count: impl Fn(usize) -> u32,
) -> [f64; RATES] {
    let mut weights = [0.0; RATES];
    for (weight, rate) in weights.iter_mut().zip(four * RATES..) {
        *weight = rate_weights[rate] * factor(count(rate).saturating_sub(least));
    }
    weights
}

/// A sum of four, in a fixed order.
#[inline(always)]
fn add_four(x: [f64; RATES]) -> f64 {
    (x[0] + x[2]) + (x[1] + x[3])
}

/// Likelihood at an edge.
#[inline(always)]
pub fn edge_likelihood<const W: usize>(
    matrix: PatternMatrix<'_>,
    rates: &[f64],
    rate_weights: &[f64],
    ends: [PatternEnd<'_>; 2],
    brlen: f64,
) -> (f64, u32) {
    let count = |rate: usize| ends[0].count(rate) + ends[1].count(rate);
    let least = least_count(rate_weights, count);
    let mut sum = 0.0;
    for (four, of_four) in rates.as_chunks::<RATES>().0.iter().enumerate() {
        let weights = scaled_weights(rate_weights, four, least, count);
        let (a, b) = (ends[0].four(matrix, four), ends[1].four(matrix, four));
        let mut lengths = [0.0; RATES];
        for l in 0..RATES {
            lengths[l] = of_four[l] * brlen;
        }
        let e = exponentials(matrix.eigenvals, &lengths);
        let mut sums = [0.0; RATES];
        for k in 0..STATES {
            for l in 0..RATES {
                let x = a[k][l] * b[k][l];
                sums[l] += x.mul_add(e[k][l], x);
            }
        }
        for l in 0..RATES {
            sums[l] *= weights[l];
        }
        sum += add_four(sums);
    }
    (sum, least)
}

/// Likelihood with a pruned subtree inserted into an edge.
#[inline(always)]
pub fn insertion_likelihood<const W: usize>(
    matrix: PatternMatrix<'_>,
    rates: &[f64],
    rate_weights: &[f64],
    pendant: (&[f64], &[u32]),
    ends: [PatternEnd<'_>; 2],
    brlens: [f64; 2],
) -> (f64, u32) {
    let count = |rate: usize| ends[0].count(rate) + ends[1].count(rate) + pendant.1[rate];
    let least = least_count(rate_weights, count);
    let mut sum = 0.0;
    for (four, of_four) in rates.as_chunks::<RATES>().0.iter().enumerate() {
        let weights = scaled_weights(rate_weights, four, least, count);
        let seen = through_branches(matrix, of_four, ends, brlens, four);
        let pendant: &[[f64; RATES]] = pendant.0[four * FOUR_RATES..][..FOUR_RATES].as_chunks().0;
        let mut sums = [0.0; RATES];
        for i in 0..STATES {
            // Of three vectors, each has a root of the frequency, of which the likelihood has two.
            for l in 0..RATES {
                let both = seen[0][i][l] * seen[1][i][l] * matrix.inverse_roots[i];
                sums[l] = both.mul_add(pendant[i][l], sums[l]);
            }
        }
        for l in 0..RATES {
            sums[l] *= weights[l];
        }
        sum += add_four(sums);
    }
    (sum, least)
}
