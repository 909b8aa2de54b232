//! Partials (CLVs) of a pattern that has a rate matrix of its own; `operand_of_pattern` has the notation and the tricks.
//!
//! ```text
//! update_point: y[r] = D^(1/2) · ((P_r(t1)·x1[r]) * (P_r(t2)·x2[r])),    scaled for each rate
//! update_row:   w[r] = Uᵀ·y[r]
//! ```
//!
//! Scaler counts are kept per rate, as in `scalers` for large trees: nothing is lost by that, because rates have a row of numbers in a
//! register each.

use super::operand_of_pattern::{
    FOUR_RATES, Four, PatternEnd, PatternMatrix, RATES, STATES, through_branches, to_eigen,
};
use crate::scaling::{FACTOR, THRESHOLD};

/// One row of a CLV from two children.
#[inline(always)]
pub fn update_row<const W: usize>(
    matrix: PatternMatrix<'_>,
    rates: &[f64],
    ends: [PatternEnd<'_>; 2],
    brlens: [f64; 2],
    out: &mut [f64],
    out_scaler: &mut [u32],
) {
    for (four, of_four) in rates.as_chunks::<RATES>().0.iter().enumerate() {
        let y = point(matrix, of_four, ends, brlens, four, out_scaler);
        let w = to_eigen(matrix.vectors, &y);
        out[four * FOUR_RATES..][..FOUR_RATES].copy_from_slice(w.as_flattened());
    }
}

/// The same without the last product: numbers of states at a point, times the square roots of the frequencies.
#[inline(always)]
pub fn update_point<const W: usize>(
    matrix: PatternMatrix<'_>,
    rates: &[f64],
    ends: [PatternEnd<'_>; 2],
    brlens: [f64; 2],
    out: &mut [f64],
    out_scaler: &mut [u32],
) {
    for (four, of_four) in rates.as_chunks::<RATES>().0.iter().enumerate() {
        let y = point(matrix, of_four, ends, brlens, four, out_scaler);
        out[four * FOUR_RATES..][..FOUR_RATES].copy_from_slice(y.as_flattened());
    }
}

#[inline(always)]
fn point(
    matrix: PatternMatrix<'_>,
    rates: &[f64; RATES],
    ends: [PatternEnd<'_>; 2],
    brlens: [f64; 2],
    four: usize,
    out_scaler: &mut [u32],
) -> Four {
    let seen = through_branches(matrix, rates, ends, brlens, four);
    let mut y = [[0.0; RATES]; STATES];
    let mut largest = [0.0; RATES];
    for i in 0..STATES {
        for l in 0..RATES {
            y[i][l] = seen[0][i][l] * seen[1][i][l] * matrix.inverse_roots[i];
            largest[l] = if y[i][l] > largest[l] { y[i][l] } else { largest[l] };
        }
    }
    let counts = &mut out_scaler[four * RATES..][..RATES];
    let mut num_small = 0;
    for l in 0..RATES {
        counts[l] = ends[0].count(four * RATES + l) + ends[1].count(four * RATES + l);
        num_small += u32::from(largest[l] < THRESHOLD);
    }
    if num_small > 0 {
        rescale(&mut y, largest, counts);
    }
    y
}

/// Scales the rates whose numbers are all below the threshold. Zeros are not changed.
#[inline(always)]
fn rescale(y: &mut Four, largest: [f64; RATES], counts: &mut [u32]) {
    for l in 0..RATES {
        let (mut most, mut by) = (largest[l], 1.0);
        while most < THRESHOLD && most > 0.0 {
            most *= FACTOR;
            by *= FACTOR;
            counts[l] += 1;
        }
        if by > 1.0 {
            y.iter_mut().for_each(|rates| rates[l] *= by);
        }
    }
}
