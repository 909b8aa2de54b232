//! Derivatives of the log-likelihood in the entries of an edge's P-matrices.
//!
//! With the vectors x and y of both ends, and all patterns together:
//!
//! ```text
//! L = Σ_r w_r Σ_ij π_i·x_i·P_r[i][j]·y_j
//! ∂lnL/∂P_r[i][j] = w_r·π_i · Σ_p (weight/L)[p]·x[p, r][i]·y[p, r][j]
//! ```
//!
//! (Times P_r, it is the expected number of sites with state i at one end and j at the other.)
//!
//! ```text
//! add_pair_sums: for each pattern p, rate r, states i and j
//!     sums[r][i][j] += (ratio[p, r] * x[p, r][i]) * y[p, r][j]
//! ```
//!
//! Trick 1: a row of sums is loaded once for eight patterns, and each number is a single chain in the order of the patterns, so that
//! all instruction sets give the same bits.

use super::operand::{End, Operand, end_tile, for_each_tile};
use crate::ModelBlock;
use crate::layout::LANES;
use std::borrow::Borrow;

/// Adds a block's sums over its patterns to `sums`, `[rate][state of the first end][state of the second]`. No matrix is applied to either
/// end. `ratios` are weights divided by likelihoods, `[pattern]`, or `[rate][pattern]` if scaler counts are kept per rate.
#[inline(always)]
pub fn add_pair_sums<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    ratios: &[f64],
    [first, second]: [End<'_>; 2],
    sums: &mut [f64],
) {
    let (dims, sums) = (model.dims, sums.as_chunks_mut().0);
    let ratios = Ratios { num_patterns, ratios, of_rates: dims.rate_scalers };
    let inner = "an end has a table or is inner";
    match (first.tip::<S>(), second.tip::<S>()) {
        (Some(a), Some(b)) => add_products::<S, W>(dims.num_rates, ratios, a, b, sums),
        (Some(a), None) => {
            add_products::<S, W>(dims.num_rates, ratios, a, second.plain().expect(inner), sums);
        }
        (None, Some(b)) => {
            add_products::<S, W>(dims.num_rates, ratios, first.plain().expect(inner), b, sums);
        }
        (None, None) => {
            let [a, b] = [first, second].map(|end| end.plain().expect(inner));
            add_products::<S, W>(dims.num_rates, ratios, a, b, sums);
        }
    }
}

/// Weights of patterns divided by their likelihoods.
#[derive(Clone, Copy)]
struct Ratios<'a> {
    num_patterns: usize,
    ratios: &'a [f64],
    of_rates: bool,
}

#[inline(always)]
fn add_products<const S: usize, const W: usize>(
    num_rates: usize,
    Ratios { num_patterns, ratios, of_rates }: Ratios<'_>,
    a: impl Operand<S>,
    b: impl Operand<S>,
    sums: &mut [[f64; S]],
) {
    for_each_tile!(
        S, LANES, num_rates, num_patterns, |rate, first| (at_a = a.at_rates(rate), at_b = b.at_rates(rate)) {
            let x = a.tile::<W, LANES>(&at_a, first, [num_rates, rate]);
            let y = b.tile::<W, LANES>(&at_b, first, [num_rates, rate]);
            let own = if of_rates { rate * num_patterns } else { 0 };
            let ratios = &ratios[own + first..][..LANES];
            for (i, row) in sums[rate * S..][..S].iter_mut().enumerate() {
                // Trick 1.
                let mut row_sums = *row;
                for t in 0..LANES {
                    let z = ratios[t] * x[t].borrow()[i];
                    let y = y[t].borrow();
                    for j in 0..S {
                        row_sums[j] = z.mul_add(y[j], row_sums[j]);
                    }
                }
                *row = row_sums;
            }
            end_tile();
        }
    );
}
