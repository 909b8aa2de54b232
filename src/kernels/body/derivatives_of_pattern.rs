//! Derivatives along an edge of patterns that have a rate matrix each; `operand_of_pattern` has the notation.
//!
//! ```text
//! update_products:    s[r, k] = weight_r · wa[r]_k · wb[r]_k
//! values_of_patterns: for each pattern  L, L', L'' = Σ_rk s[r, k] · (1, λ_k·r, (λ_k·r)²) · exp(λ_k·r·t)
//! ```
//!
//! The values are then summed over patterns by the kernel `derivatives`, as columns of a sumtable whose factors are 1 and 0.

use super::likelihood_of_pattern::{least_count, scaled_weights};
use super::operand_of_pattern::{FOUR_RATES, PatternEnd, PatternMatrix, RATES, STATES};
use crate::elementary::exp_minus_one;
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
    const TWO: usize = 2 * RATES;
    let row = rates.len() * STATES;
    let eigenvals: &[[f64; STATES]] = eigenvals.as_chunks().0;
    for pattern in 0..num_patterns {
        let mut sums = [[0.0; TWO]; 3];
        let products: &[[f64; TWO]] = products[pattern * row..][..row].as_chunks().0;
        let of_pattern = &eigenvals[pattern];
        for (four, of_four) in rates.as_chunks::<RATES>().0.iter().enumerate() {
            // Two eigenvalues at a time.
            for pair in 0..STATES / 2 {
                let s = &products[four * STATES / 2 + pair];
                let (mut slope, mut x) = ([0.0; TWO], [0.0; TWO]);
                for l in 0..RATES {
                    slope[l] = of_pattern[2 * pair] * of_four[l];
                    slope[RATES + l] = of_pattern[2 * pair + 1] * of_four[l];
                }
                for l in 0..TWO {
                    x[l] = slope[l] * t;
                }
                let e = exp_minus_one(&x);
                for l in 0..TWO {
                    let value = s[l].mul_add(e[l], s[l]);
                    let first = value * slope[l];
                    sums[0][l] += value;
                    sums[1][l] += first;
                    sums[2][l] = first.mul_add(slope[l], sums[2][l]);
                }
            }
        }
        for (column, x) in sums.iter().enumerate() {
            out[column * BLOCK + pattern] =
                ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
        }
    }
}
