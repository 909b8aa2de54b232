//! Vectors of one partition, with one row per pattern.

use super::felsenstein::through;
use crate::alphabet::Code;
use crate::likelihood::engine::{PartitionData, PartitionModel, new_block};

/// One pattern of a vector: `values · e^log_scale`, `[rate][state]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) values: Vec<f64>,
    pub(super) log_scale: f64,
}

/// A tip, a CLV or a temporary: a row per pattern.
pub(super) type Rows = Vec<Row>;

/// Likelihood of a pattern at an edge as a function of its length t: Σ c·e^(λt), times e^log_scale, plus the
/// invariant part.
pub(super) struct EdgeFunction {
    /// Pairs of c and λ.
    terms: Vec<(f64, f64)>,
    log_scale: f64,
    invariant: f64,
}

/// The rows of a tip: 1 for each state that is compatible with its code, otherwise 0.
pub(super) fn tip_rows(data: &PartitionData, tip: usize) -> Rows {
    let bit = |mask: u64, state: usize| f64::from(u8::from(mask >> state & 1 == 1));
    let row = |code: &Code| {
        let mask = data.code_masks[*code as usize];
        let of_rate = |_| (0..data.num_states).map(|state| bit(mask, state));
        Row { values: (0..data.num_rates).flat_map(of_rate).collect(), log_scale: 0.0 }
    };
    data.tip_codes[tip].iter().map(row).collect()
}

/// P(t)·x for each row x, with the rate of each category.
pub(super) fn through_branch(model: &PartitionModel, t: f64, rows: &Rows) -> Rows {
    let states = model.freqs.len();
    let row = |row: &Row| {
        let of_rate = |(r, x): (usize, &[f64])| through(model.matrix(r), model.rates[r] * t, x);
        let values = row.values.chunks(states).enumerate().flat_map(of_rate).collect();
        Row { values, log_scale: row.log_scale }
    };
    rows.iter().map(row).collect()
}

/// Elementwise products of two vectors, scaled so that the largest number of each row is 1.
pub(super) fn product(a: &Rows, b: &Rows) -> Rows {
    let row = |(a, b): (&Row, &Row)| {
        let values: Vec<f64> = a.values.iter().zip(&b.values).map(|(a, b)| a * b).collect();
        let largest = values.iter().copied().fold(0.0, f64::max);
        let log_scale = a.log_scale + b.log_scale;
        match largest > 0.0 {
            true => Row {
                values: values.iter().map(|value| value / largest).collect(),
                log_scale: log_scale + libm::log(largest),
            },
            false => Row { values, log_scale },
        }
    };
    a.iter().zip(b).map(row).collect()
}

/// The likelihood of each pattern at an edge between two vectors, as a function of the edge's length.
pub(super) fn edge_functions(
    model: &PartitionModel,
    data: &PartitionData,
    a: &Rows,
    b: &Rows,
) -> Vec<EdgeFunction> {
    let n = model.freqs.len();
    let function = |(pattern, (a, b)): (usize, (&Row, &Row))| {
        let mut terms = Vec::new();
        for (r, weight) in model.rate_weights.iter().enumerate() {
            let matrix = model.matrix(r);
            let (x, y) = (&a.values[r * n..(r + 1) * n], &b.values[r * n..(r + 1) * n]);
            for k in 0..n {
                let of_x = |i: usize| matrix.freqs[i] * x[i] * matrix.eigenvecs[i * n + k];
                let of_y = |j: usize| matrix.inv_eigenvecs[k * n + j] * y[j];
                let left: f64 = (0..n).map(of_x).sum();
                let right: f64 = (0..n).map(of_y).sum();
                terms.push((weight * left * right, matrix.eigenvals[k] * model.rates[r]));
            }
        }
        let shared = data.shared_states(pattern);
        let freqs = model.freqs.iter().enumerate();
        let sum: f64 = freqs.filter(|(i, _)| shared >> i & 1 == 1).map(|(_, freq)| freq).sum();
        EdgeFunction { terms, log_scale: a.log_scale + b.log_scale, invariant: model.pinv * sum }
    };
    a.iter().zip(b).enumerate().map(function).collect()
}

/// Probability of each state, `[pattern][state]`, at the point where these are the likelihoods of all data given
/// the state: Σ over the rates r of w_r·π_i·x_ri, plus the invariant part of state i, divided by the sum over all states.
pub(super) fn state_probabilities(
    model: &PartitionModel,
    data: &PartitionData,
    rows: &Rows,
) -> Vec<f64> {
    let n = model.freqs.len();
    let of_pattern = |(pattern, row): (usize, &Row)| -> Vec<f64> {
        let shared = data.shared_states(pattern);
        let of_state = |i: usize| -> f64 {
            let of_rate =
                |(r, w): (usize, &f64)| w * model.matrix(r).freqs[i] * row.values[r * n + i];
            let sum: f64 = model.rate_weights.iter().enumerate().map(of_rate).sum();
            match shared >> i & 1 == 1 && model.pinv > 0.0 {
                true => sum + model.pinv * model.freqs[i] / libm::exp(row.log_scale),
                false => sum,
            }
        };
        let likelihoods: Vec<f64> = (0..n).map(of_state).collect();
        let sum: f64 = likelihoods.iter().sum();
        likelihoods.into_iter().map(|likelihood| likelihood / sum).collect()
    };
    rows.iter().enumerate().flat_map(of_pattern).collect()
}

/// Derivatives of the log-likelihood in the entries of the P-matrices of an edge of length t, `[rate][row][column]` with padding: Σ over
/// the patterns of weight·w_r·π_i·x_ri·y_rj/L.
pub(super) fn pmatrix_gradient(
    model: &PartitionModel,
    data: &PartitionData,
    [a, b]: [&Rows; 2],
    t: f64,
) -> Vec<f64> {
    let (n, padded) = (model.freqs.len(), new_block(data).dims.num_states);
    let mut sums = vec![0.0; model.rates.len() * padded * padded];
    let functions = edge_functions(model, data, a, b);
    for (pattern, (a, b)) in a.iter().zip(b).enumerate() {
        let lnl = functions[pattern].at(t)[0];
        let ratio = data.weights[pattern] * libm::exp(a.log_scale + b.log_scale - lnl);
        for (r, weight) in model.rate_weights.iter().enumerate() {
            for i in 0..n {
                let x = weight * model.matrix(r).freqs[i] * a.values[r * n + i];
                for j in 0..n {
                    let at = (r * padded + i) * padded + j;
                    sums[at] += ratio * x * b.values[r * n + j];
                }
            }
        }
    }
    sums
}

impl EdgeFunction {
    /// ln L, L′/L and L″/L at length t.
    pub(super) fn at(&self, t: f64) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for &(factor, lambda) in &self.terms {
            let value = factor * libm::exp(lambda * t);
            sums[0] += value;
            sums[1] += lambda * value;
            sums[2] += lambda * lambda * value;
        }
        if self.invariant == 0.0 {
            return [libm::log(sums[0]) + self.log_scale, sums[1] / sums[0], sums[2] / sums[0]];
        }
        let scale = libm::exp(self.log_scale);
        let value = sums[0] * scale + self.invariant;
        [libm::log(value), sums[1] * scale / value, sums[2] * scale / value]
    }
}
