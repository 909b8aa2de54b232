//! CLV update: `x_p[i] = (Σ_j P1[i][j]·x_1[j]) · (Σ_j P2[i][j]·x_2[j])`, per pattern and rate.

use super::super::super::layout::Dims;
use super::super::super::scaling::{FACTOR, THRESHOLD};
use super::operand::{End, Operand, with_ends, with_tiles};

/// Updates one CLV block of `num_patterns` patterns and its scaler counts from two children.
#[inline(always)]
pub fn update_partials<const S: usize, const W: usize>(
    dims: Dims,
    num_patterns: usize,
    first: End<'_>,
    second: End<'_>,
    out: &mut [f64],
    out_scaler: &mut [u32],
) {
    let rows = num_patterns * dims.num_rates;
    let out: &mut [[f64; S]] = &mut out.as_chunks_mut().0[..rows];
    with_ends!(dims, first, second, |a, b| with_tiles!(
        S,
        multiply::<S, W>(a, b, dims.num_rates, out)
    ));
    add_scalers(first.scaler(), second.scaler(), &mut out_scaler[..num_patterns * dims.scalers()]);
    rescale(dims, out, out_scaler);
}

/// One rate after the other, so that both matrices stay in registers.
#[inline(always)]
fn multiply<const S: usize, const W: usize, const T: usize>(
    a: impl Operand<S>,
    b: impl Operand<S>,
    num_rates: usize,
    out: &mut [[f64; S]],
) {
    for rate in 0..num_rates {
        let (at_a, at_b) = (a.at_rate(rate), b.at_rate(rate));
        for first in (0..out.len() / num_rates).step_by(T) {
            let rows = [num_rates, rate];
            let (x, y) = (a.tile::<W, T>(&at_a, first, rows), b.tile::<W, T>(&at_b, first, rows));
            for t in 0..T {
                let out = &mut out[(first + t) * num_rates + rate];
                for i in 0..S {
                    out[i] = x[t][i] * y[t][i];
                }
            }
        }
    }
}

/// Counts of a product are the sums of its factors' counts.
#[inline(always)]
pub fn add_scalers(first: Option<&[u32]>, second: Option<&[u32]>, out: &mut [u32]) {
    match (first, second) {
        (None, None) => out.fill(0),
        (Some(only), None) | (None, Some(only)) => out.copy_from_slice(&only[..out.len()]),
        (Some(a), Some(b)) => {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = a + b;
            }
        }
    }
}

/// Multiplies what has become too small by 2^256, as often as needed. Rows of zeros stay.
#[inline(always)]
pub fn rescale<const S: usize>(dims: Dims, out: &mut [[f64; S]], scaler: &mut [u32]) {
    let rows_per_scaler = if dims.rate_scalers { 1 } else { dims.num_rates };
    for (rows, count) in out.chunks_exact_mut(rows_per_scaler).zip(scaler) {
        // Nearly always the very first entry shows that nothing is to be done.
        while rows.as_flattened().iter().all(|&x| x < THRESHOLD) {
            if rows.as_flattened().iter().all(|&x| x == 0.0) {
                break;
            }
            rows.as_flattened_mut().iter_mut().for_each(|x| *x *= FACTOR);
            *count += 1;
        }
    }
}
