//! P(t) = V·exp(Λ·r·t)·V⁻¹ for each rate category r, tip tables, and the factors of sumtables.
//!
//! ```text
//! update_pmatrix: for each rate r
//!     P_r = max(0, V · diag(exp(Λrt) − 1) · V⁻¹ + I)
//!
//! update_tip_table: for each rate r, tip code c
//!     table[c, r] = Σ columns of P_r of the states compatible with c
//!
//! update_derivative_factors: for each rate r, eigenvalue k
//!     factors[r, k] = (1, λ_k·r, (λ_k·r)²) · exp(λ_k·r·t)
//! ```
//!
//! Tricks:
//!
//! 1. exp(Λrt) − 1 and + I instead of exp(Λrt) keep small off-diagonal entries exact for short branches
//!    (Redelings 2021). Entries that are negative after rounding are set to 0.
//! 2. Exponentials are computed 64 at a time, for several rates together, which fills whole registers for four
//!    states, too.
//! 3. The product (V · diag) · V⁻¹ is computed like that of a P-matrix with CLVs (`operand`), with the columns of
//!    V⁻¹ as vectors: with the same registers, tiles and order of sums.

use super::operand::{Columns, Inner, Operand};
use crate::ModelBlock;
use crate::elementary::exp_minus_one;

/// Number of exponentials computed at a time (trick 2): one category of 64 states, three of 20, sixteen of 4.
const GROUP: usize = 64;

/// Rows of e_k = exp(λ_k·r·t) − 1 for at most `GROUP / S` categories from `first` on. (The rows are not passed to
/// closures, which would be compiled without the caller's instruction set.)
#[inline(always)]
fn exponentials<const S: usize>(model: &ModelBlock, t: f64, first: usize, out: &mut [f64; GROUP]) {
    let rates = first..model.dims.num_rates.min(first + GROUP / S);
    let used = (rates.len() * S).next_multiple_of(8);
    let rows: &mut [[f64; S]] = out.as_chunks_mut().0;
    for (row, r) in rows.iter_mut().zip(rates) {
        let eigenvals = &model.eigenvals[model.matrix_of_rate[r] * S..][..S];
        for k in 0..S {
            row[k] = eigenvals[k] * (model.rates[r] * t);
        }
    }
    for chunk in out[..used].as_chunks_mut::<8>().0 {
        *chunk = exp_minus_one(chunk);
    }
}

/// P(t) for all rate categories, `[rate][column][row]`.
#[inline(always)]
pub fn update_pmatrix<const S: usize, const W: usize>(model: &ModelBlock, t: f64, out: &mut [f64]) {
    if S == 4 {
        fill_pmatrix::<S, W, 1>(model, t, out);
    } else {
        fill_pmatrix::<S, W, 4>(model, t, out);
    }
}

/// The same, with T columns computed at a time.
#[inline(always)]
fn fill_pmatrix<const S: usize, const W: usize, const T: usize>(
    model: &ModelBlock,
    t: f64,
    out: &mut [f64],
) {
    let out: &mut [[f64; S]] = out.as_chunks_mut().0;
    let mut group = [0.0; GROUP];
    for r in 0..model.dims.num_rates {
        let in_group = r % (GROUP / S);
        if in_group == 0 {
            exponentials::<S>(model, t, r, &mut group);
        }
        let exponential = &group.as_chunks::<S>().0[in_group];
        let matrix = model.matrix_of_rate[r] * S * S;
        let left: &[[f64; S]] = model.eigenvec_columns[matrix..][..S * S].as_chunks().0;
        let right: &[[f64; S]] = model.inv_eigenvec_columns[matrix..][..S * S].as_chunks().0;
        let mut scaled = [[0.0; S]; S];
        for k in 0..S {
            for i in 0..S {
                scaled[k][i] = left[k][i] * exponential[k];
            }
        }
        // Trick 3.
        let product = Inner { clv: right, pmatrix: &scaled };
        let at_rate: Columns<'_, S, S> = product.at_rates(0);
        for first in (0..S).step_by(T) {
            let columns: [[f64; S]; T] = product.tile::<W, T>(&at_rate, first, [1, 0]);
            for (j, mut column) in (first..).zip(columns) {
                // Trick 1.
                column[j] += 1.0;
                for i in 0..S {
                    out[r * S + j][i] = if column[i] > 0.0 { column[i] } else { 0.0 };
                }
            }
        }
    }
}

/// Tip table of a matrix, `[code][rate][state]`: for each code and rate, the sum of the columns of the states
/// compatible with the code.
#[inline(always)]
pub fn update_tip_table<const S: usize, const W: usize>(
    model: &ModelBlock,
    pmatrix: &[f64],
    out: &mut [f64],
) {
    let columns: &[[f64; S]] = pmatrix.as_chunks().0;
    let out: &mut [[f64; S]] = out.as_chunks_mut().0;
    let num_rates = model.dims.num_rates;
    for r in 0..num_rates {
        for (code, states) in model.code_states.iter().enumerate() {
            let mut sum = [0.0; S];
            for &state in states {
                let column = &columns[r * S + state as usize];
                for i in 0..S {
                    sum[i] += column[i];
                }
            }
            out[code * num_rates + r] = sum;
        }
    }
}

/// Factors of the sumtable for the likelihood and its first and second derivative at length `t`:
/// e^{λrt}, λr·e^{λrt}, (λr)²·e^{λrt}, `[rate][eigen]`.
#[inline(always)]
pub fn update_derivative_factors<const S: usize, const W: usize>(
    model: &ModelBlock,
    t: f64,
    out: &mut [[f64; 3]],
) {
    let mut group = [0.0; GROUP];
    for r in 0..model.dims.num_rates {
        let in_group = r % (GROUP / S);
        if in_group == 0 {
            exponentials::<S>(model, t, r, &mut group);
        }
        let exponential = &group.as_chunks::<S>().0[in_group];
        for k in 0..S {
            let lambda = model.eigenvals[model.matrix_of_rate[r] * S + k] * model.rates[r];
            let value = exponential[k] + 1.0;
            out[r * S + k] = [value, lambda * value, lambda * lambda * value];
        }
    }
}
