//! The sumtable of an edge, and value, first and second derivative of the log-likelihood along it.
//!
//! With V, Λ the eigensystem: L(t) = Σ_r Σ_k s_rk·exp(λ_k·r·t), where
//! s_rk = w_r·(Σ_i π_i·x_i·V_ik)·(Σ_j V⁻¹_kj·y_j) does not depend on t.

use super::super::super::layout::{BLOCK, LANES};
use super::super::super::scaling::{LN_FACTOR, factor};
use super::likelihood::{PatternData, add_lanes, combine_scalers};
use super::operand::{End, Operand, with_ends, with_tiles};
use super::pmatrix::ModelBlock;
use crate::numeric::elementary::{Lanes, ln};

/// Fills one sumtable block `[rate][eigen][pattern]` (stride [`BLOCK`]) and its scaler counts.
/// The ends' matrices are the model's `sumtable_left` and `sumtable_right` (or their tip tables).
#[inline(always)]
pub fn update_sumtable<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    invariant: &[f64],
    first: End<'_>,
    second: End<'_>,
    out: &mut [f64],
    out_scaler: &mut [u32; BLOCK],
) {
    let dims = model.dims;
    with_ends!(dims, first, second, |a, b| with_tiles!(
        S,
        multiply::<S, W>(a, b, dims.num_rates, num_patterns, out)
    ));
    let mut factors = Vec::new();
    if dims.rate_scalers {
        factors.resize(num_patterns * dims.num_rates, 1.0);
    }
    let scalers = [first.scaler(), second.scaler()];
    combine_scalers(dims, num_patterns, &scalers, out_scaler, &mut factors);
    for rate in 0..dims.num_rates {
        for k in 0..S {
            let column = &mut out[(rate * S + k) * BLOCK..][..num_patterns];
            if dims.rate_scalers {
                for (x, f) in column.iter_mut().zip(&factors[rate * num_patterns..]) {
                    *x *= f;
                }
            }
        }
    }
    // Under +I the scaling is undone here: the invariant part was never scaled.
    for pattern in 0..num_patterns {
        if out_scaler[pattern] > 0 && invariant[pattern] > 0.0 {
            let f = factor(out_scaler[pattern]);
            for k in 0..dims.row() {
                out[k * BLOCK + pattern] *= f;
            }
            out_scaler[pattern] = 0;
        }
    }
}

#[inline(always)]
fn multiply<const S: usize, const W: usize, const T: usize>(
    a: impl Operand<S>,
    b: impl Operand<S>,
    num_rates: usize,
    num_patterns: usize,
    out: &mut [f64],
) {
    for rate in 0..num_rates {
        let (at_a, at_b) = (a.at_rate(rate), b.at_rate(rate));
        let columns = &mut out[rate * S * BLOCK..(rate + 1) * S * BLOCK];
        for first in (0..num_patterns).step_by(T) {
            let rows = [num_rates, rate];
            let (x, y) = (a.tile::<W, T>(&at_a, first, rows), b.tile::<W, T>(&at_b, first, rows));
            for k in 0..S {
                for t in 0..T {
                    columns[k * BLOCK + first + t] = x[t][k] * y[t][k];
                }
            }
        }
    }
}

/// Block sums of weight·ln L, weight·L'/L and weight·(L''/L − (L'/L)²) at the length whose factors
/// (see `update_derivative_factors`) are given.
#[inline(always)]
pub fn derivatives(
    num_patterns: usize,
    data: PatternData<'_>,
    sumtable: &[f64],
    scaler: &[u32; BLOCK],
    factors: &[[f64; 3]],
) -> [f64; 3] {
    let mut sums = [[0.0; LANES]; 3];
    for at in (0..num_patterns).step_by(LANES) {
        let mut l: Lanes = [0.0; LANES];
        let mut l1: Lanes = [0.0; LANES];
        let mut l2: Lanes = [0.0; LANES];
        l.copy_from_slice(&data.invariant[at..at + LANES]);
        for (k, [f0, f1, f2]) in factors.iter().enumerate() {
            let s = &sumtable[k * BLOCK + at..][..LANES];
            for i in 0..LANES {
                l[i] = s[i].mul_add(*f0, l[i]);
                l1[i] = s[i].mul_add(*f1, l1[i]);
                l2[i] = s[i].mul_add(*f2, l2[i]);
            }
        }
        let logs = ln(&l);
        for i in 0..LANES {
            let weight = data.weights[at + i];
            let lnl = f64::from(scaler[at + i]).mul_add(-LN_FACTOR, logs[i]);
            let ratio = l1[i] / l[i];
            let curvature = (-ratio).mul_add(ratio, l2[i] / l[i]);
            let used = weight > 0.0;
            sums[0][i] += if used { weight * lnl } else { 0.0 };
            sums[1][i] += if used { weight * ratio } else { 0.0 };
            sums[2][i] += if used { weight * curvature } else { 0.0 };
        }
    }
    [add_lanes(&sums[0]), add_lanes(&sums[1]), add_lanes(&sums[2])]
}
