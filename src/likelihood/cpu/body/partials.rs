//! CLV update: `x_p[i] = (Σ_j P1[i][j]·x_1[j]) · (Σ_j P2[i][j]·x_2[j])`, per pattern and rate.

use super::super::super::layout::Dims;
use super::super::super::scaling::{FACTOR, THRESHOLD};
use super::operand::{End, Operand, end_tile, with_ends, with_tiles};
use super::pmatrix::ModelBlock;

/// Updates one CLV block of `num_patterns` patterns and its scaler counts from two children.
#[inline(always)]
pub fn update_partials<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    [first, second]: [End<'_>; 2],
    out: &mut [f64],
    out_scaler: &mut [u32],
) {
    let dims = model.dims;
    let out = &mut out[..num_patterns * dims.row()];
    match (first, second) {
        // Without matrices, registers of four have room for a whole row, too.
        (End::Tip { .. }, End::Tip { .. }) if S == 4 && dims.num_rates == 4 => {
            multiply::<S, W, 16, 1>(
                Dims { num_rates: 4, ..dims },
                num_patterns,
                first,
                second,
                out,
            );
        }
        _ => with_tiles!(dims, multiply::<S, W>(|dims| dims, num_patterns, first, second, out)),
    }
    add_scalers(first.scaler(), second.scaler(), &mut out_scaler[..num_patterns * dims.scalers()]);
    let rows_per_scaler = if dims.rate_scalers { 1 } else { dims.num_rates };
    if any_starts_small::<S>(out.as_chunks().0, rows_per_scaler) {
        rescale::<S>(rows_per_scaler, out.as_chunks_mut().0, out_scaler);
    }
}

#[inline(always)]
fn multiply<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    first: End<'_>,
    second: End<'_>,
    out: &mut [f64],
) {
    let out = out.as_chunks_mut().0;
    with_ends!(S, V, first, second, |a, b| multiply_ends::<W, V, T>(
        dims.row() / V,
        num_patterns,
        a,
        b,
        out
    ))
}

/// One vector of rates after the other, so that both matrices stay in registers.
#[inline(always)]
fn multiply_ends<const W: usize, const V: usize, const T: usize>(
    stride: usize,
    num_patterns: usize,
    a: impl Operand<V>,
    b: impl Operand<V>,
    out: &mut [[f64; V]],
) {
    let out = &mut out[..num_patterns * stride];
    for at in 0..stride {
        let (at_a, at_b) = (a.at_rates(at), b.at_rates(at));
        let mut first = 0;
        while first < num_patterns {
            let x = a.tile::<W, T>(&at_a, first, [stride, at]);
            let y = b.tile::<W, T>(&at_b, first, [stride, at]);
            for t in 0..T {
                let out = &mut out[(first + t) * stride + at];
                for i in 0..V {
                    out[i] = x[t][i] * y[t][i];
                }
            }
            end_tile();
            first += T;
        }
    }
}

/// Whether what belongs to any count starts with a number below the threshold: nearly always none does,
/// and nothing is to be done.
#[inline(always)]
fn any_starts_small<const S: usize>(rows: &[[f64; S]], rows_per_scaler: usize) -> bool {
    let mut num_small = 0;
    let mut at = 0;
    while at < rows.len() {
        num_small += usize::from(rows[at][0] < THRESHOLD);
        at += rows_per_scaler;
    }
    num_small > 0
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
fn rescale<const S: usize>(rows_per_scaler: usize, out: &mut [[f64; S]], scaler: &mut [u32]) {
    for (rows, count) in out.chunks_exact_mut(rows_per_scaler).zip(scaler) {
        while rows.as_flattened().iter().all(|&x| x < THRESHOLD) {
            if rows.as_flattened().iter().all(|&x| x == 0.0) {
                break;
            }
            rows.as_flattened_mut().iter_mut().for_each(|x| *x *= FACTOR);
            *count += 1;
        }
    }
}
