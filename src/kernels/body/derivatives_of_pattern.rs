//! Derivatives along an edge of patterns that have a rate matrix each; `operand_of_pattern` has the notation.
//!
//! ```text
//! update_products:    s[r, k] = weight_r · wa[r]_k · wb[r]_k
//! values_of_patterns: for each pattern  L, L', L'' = Σ_rk s[r, k] · (1, λ_k·r, (λ_k·r)²) · exp(λ_k·r·t)
//! ```
//!
//! The values are then summed over patterns by the kernel `derivatives`, as columns of a sumtable whose factors are 1 and 0.

use super::likelihood::add_lanes;
use super::likelihood_of_pattern::{least_count, scaled_weights};
use super::operand_of_pattern::{
    FOUR_RATES, PatternEnd, PatternMatrix, RATES, STATES, exponentials,
};
use crate::layout::BLOCK;

/// Factors with which the columns of `values_of_patterns` are themselves.
pub const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// The row of a sumtable; returns its scaler count.
#[inline(always)]
pub fn update_products<const W: usize>(
    matrix: PatternMatrix<'_>,
    rate_weights: &[f64],
    ends: [PatternEnd<'_>; 2],
    out: &mut [f64],
) -> u32 {
    let count = |rate: usize| ends[0].count(rate) + ends[1].count(rate);
    let least = least_count(rate_weights, count);
    for (four, out) in out.as_chunks_mut::<FOUR_RATES>().0.iter_mut().enumerate() {
        let weights = scaled_weights(rate_weights, four, least, count);
        let (a, b) = (ends[0].four(matrix, four), ends[1].four(matrix, four));
        let out: &mut [[f64; RATES]] = out.as_chunks_mut().0;
        for k in 0..STATES {
            for l in 0..RATES {
                out[k][l] = weights[l] * (a[k][l] * b[k][l]);
            }
        }
    }
    least
}

/// L, L' and L'' of each pattern at length `t`, as three columns.
#[inline(always)]
pub fn values_of_patterns<const W: usize>(
    num_patterns: usize,
    eigenvals: &[f64],
    rates: &[f64],
    products: &[f64],
    t: f64,
    out: &mut [f64],
) {
    let row = rates.len() * STATES;
    let eigenvals: &[[f64; STATES]] = eigenvals.as_chunks().0;
    for pattern in 0..num_patterns {
        // Of even and of odd eigenvalues.
        let mut sums = [[0.0; 2 * RATES]; 3];
        let products: &[[f64; RATES]] = products[pattern * row..][..row].as_chunks().0;
        let of_pattern = &eigenvals[pattern];
        for (four, of_four) in rates.as_chunks::<RATES>().0.iter().enumerate() {
            let s = &products[four * STATES..][..STATES];
            let (mut lengths, mut values) = ([0.0; RATES], [[0.0; RATES]; STATES]);
            for l in 0..RATES {
                lengths[l] = of_four[l] * t;
            }
            let e = exponentials(of_pattern, &lengths);
            for k in 0..STATES {
                for l in 0..RATES {
                    values[k][l] = s[k][l].mul_add(e[k][l], s[k][l]);
                }
            }
            for k in 0..STATES {
                let odd = k % 2 * RATES;
                for l in 0..RATES {
                    let slope = of_pattern[k] * of_four[l];
                    let first = values[k][l] * slope;
                    sums[0][odd + l] += values[k][l];
                    sums[1][odd + l] += first;
                    sums[2][odd + l] = first.mul_add(slope, sums[2][odd + l]);
                }
            }
        }
        for (column, x) in sums.iter().enumerate() {
            out[column * BLOCK + pattern] = add_lanes(x);
        }
    }
}
