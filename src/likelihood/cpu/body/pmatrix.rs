//! P(t) = V·exp(Λ·r·t)·V⁻¹ for every rate category r, and tip tables made from it.

use super::super::super::layout::Dims;
use crate::numeric::elementary::exp_minus_one;

/// Model of one partition as the kernels read it.
#[derive(Debug, Clone)]
pub struct ModelBlock {
    /// Sizes.
    pub dims: Dims,
    /// Eigenvalues of the normalised rate matrix.
    pub eigenvals: Vec<f64>,
    /// Right eigenvectors V, `[eigen][state]` (that is, columns of V).
    pub eigenvec_columns: Vec<f64>,
    /// V⁻¹ as `[eigen][state]`.
    pub inv_eigenvecs: Vec<f64>,
    /// Equilibrium frequencies.
    pub freqs: Vec<f64>,
    /// Rate of each category.
    pub rates: Vec<f64>,
    /// Weight of each category.
    pub rate_weights: Vec<f64>,
    /// rate_weight · freq, `[rate][state]`.
    pub weighted_freqs: Vec<f64>,
    /// States compatible with each tip code, as lists.
    pub code_states: Vec<Vec<u8>>,
    /// Tables of the sumtable's two ends: P-matrix shaped and tip-table shaped, the same for each
    /// rate but for the rate weight, which is in the first.
    pub sumtable_left: Vec<f64>,
    /// See `sumtable_left`.
    pub sumtable_right: Vec<f64>,
    /// Tip tables of the same two.
    pub sumtable_left_tip: Vec<f64>,
    /// See `sumtable_left_tip`.
    pub sumtable_right_tip: Vec<f64>,
    /// 0/1 rows of each tip code, `[rate][code][state]`: a tip seen through no matrix.
    pub indicator: Vec<f64>,
}

/// Most rates × states of any model: 64 states in up to 16 categories.
const MAX_ROW: usize = 1024;

/// exp(λ_k·r·t) − 1 for all rates and eigenvalues, `[rate][k]`.
#[inline(always)]
fn exponentials(model: &ModelBlock, t: f64, out: &mut [f64]) {
    let num_states = model.dims.num_states;
    for (r, rate) in model.rates.iter().enumerate() {
        for k in 0..num_states {
            out[r * num_states + k] = model.eigenvals[k] * (rate * t);
        }
    }
    let padded = model.dims.row().next_multiple_of(8);
    out[model.dims.row()..padded].fill(0.0);
    for chunk in out[..padded].as_chunks_mut::<8>().0 {
        *chunk = exp_minus_one(chunk);
    }
}

/// P(t) for all rate categories, `[rate][column][row]`.
///
/// P = I + V·(exp(Λrt) − 1)·V⁻¹, which keeps small off-diagonal entries exact for short branches
/// (Redelings 2021); rounding below zero is cut off.
#[inline(always)]
pub fn update_pmatrix<const S: usize>(model: &ModelBlock, t: f64, out: &mut [f64]) {
    let mut exponential = [0.0; MAX_ROW];
    exponentials(model, t, &mut exponential);
    let left: &[[f64; S]] = model.eigenvec_columns.as_chunks().0;
    let right: &[[f64; S]] = model.inv_eigenvecs.as_chunks().0;
    let out: &mut [[f64; S]] = out.as_chunks_mut().0;
    for r in 0..model.dims.num_rates {
        let mut scaled = [[0.0; S]; S];
        for k in 0..S {
            for i in 0..S {
                scaled[k][i] = left[k][i] * exponential[r * S + k];
            }
        }
        for j in 0..S {
            let mut column = [0.0; S];
            column[j] = 1.0;
            for k in 0..S {
                for i in 0..S {
                    column[i] = scaled[k][i].mul_add(right[k][j], column[i]);
                }
            }
            for i in 0..S {
                out[r * S + j][i] = if column[i] > 0.0 { column[i] } else { 0.0 };
            }
        }
    }
}

/// Tip table of a matrix: for every rate and code the sum of the columns of the code's states.
#[inline(always)]
pub fn update_tip_table<const S: usize>(model: &ModelBlock, pmatrix: &[f64], out: &mut [f64]) {
    let columns: &[[f64; S]] = pmatrix.as_chunks().0;
    let out: &mut [[f64; S]] = out.as_chunks_mut().0;
    let num_codes = model.dims.num_codes;
    for r in 0..model.dims.num_rates {
        for (code, states) in model.code_states.iter().enumerate() {
            let mut sum = [0.0; S];
            for &state in states {
                let column = &columns[r * S + state as usize];
                for i in 0..S {
                    sum[i] += column[i];
                }
            }
            out[r * num_codes + code] = sum;
        }
    }
}

/// Factors of the sumtable for the value, first and second derivative at length `t`:
/// e^{λrt}, λr·e^{λrt}, (λr)²·e^{λrt}, each `[rate][eigen]`.
#[inline(always)]
pub fn update_derivative_factors(model: &ModelBlock, t: f64, out: &mut [[f64; 3]]) {
    let mut exponential = [0.0; MAX_ROW];
    exponentials(model, t, &mut exponential);
    let num_states = model.dims.num_states;
    for (r, rate) in model.rates.iter().enumerate() {
        for k in 0..num_states {
            let lambda = model.eigenvals[k] * rate;
            let value = exponential[r * num_states + k] + 1.0;
            out[r * num_states + k] = [value, lambda * value, lambda * lambda * value];
        }
    }
}
