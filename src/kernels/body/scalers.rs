//! Scaler counts of products of CLVs, and scaling of CLVs against underflow.
//!
//! ```text
//! count of a product = sum of its factors' counts; a tip has none
//! while all numbers that share a count are below 2^-256, and not all are 0:
//!     multiply them by 2^256; count += 1
//!
//! in a sum over the rates of a pattern, if each rate has a count:
//!     count of the pattern = smallest count of its rates
//!     weight of a rate     = 2^(-256·(count of the rate − count of the pattern))
//! ```
//!
//! Trick 1: first, only four states of the last rate are tested, for four patterns at a time without branches. In most blocks they are
//! nowhere all small, and no scaling is necessary. Of others, some often are: one state where many taxa have another one, and
//! the first rate, which is the slowest, where patterns vary.

use crate::layout::{BLOCK, Dims};
use crate::scaling::{FACTOR, THRESHOLD, factor};

/// Counts of a product of one or two factors, in the layout of the factors' counts.
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

/// Scales the rows of a CLV block whose entries are all below the threshold. Rows of zeros are not changed. False if there
/// was certainly none.
#[inline(always)]
pub fn rescale<const S: usize>(dims: Dims, out: &mut [f64], scaler: &mut [u32]) -> bool {
    let rows_per_scaler = if dims.rate_scalers { 1 } else { dims.num_rates };
    let may_be_small = any_starts_small::<S>(out.as_chunks().0, rows_per_scaler);
    if may_be_small {
        rescale_small::<S>(rows_per_scaler, out.as_chunks_mut().0, scaler);
    }
    may_be_small
}

/// True if some count is not 0.
#[inline(always)]
pub fn any_scaled(counts: &[u32]) -> bool {
    counts.iter().fold(0, |all, count| all | count) > 0
}

/// Trick 1.
#[inline(always)]
fn any_starts_small<const S: usize>(rows: &[[f64; S]], rows_per_scaler: usize) -> bool {
    let mut least = [f64::INFINITY; 4];
    let fours = rows.chunks_exact(4 * rows_per_scaler);
    let rest = fours.remainder();
    for rows in fours {
        let (mut a, mut b, mut c, mut d) = ([0.0; 4], [0.0; 4], [0.0; 4], [0.0; 4]);
        for i in 0..4 {
            let row = &rows[(i + 1) * rows_per_scaler - 1];
            (a[i], b[i], c[i], d[i]) = (row[0], row[1], row[2], row[3]);
        }
        for i in 0..4 {
            let first = if a[i] > b[i] { a[i] } else { b[i] };
            let second = if c[i] > d[i] { c[i] } else { d[i] };
            let most = if first > second { first } else { second };
            least[i] = if most < least[i] { most } else { least[i] };
        }
    }
    let mut any = least.iter().any(|least| *least < THRESHOLD);
    for rows in rest.chunks_exact(rows_per_scaler) {
        any |= rows[rows_per_scaler - 1][..4].iter().all(|x| *x < THRESHOLD);
    }
    any
}

#[inline(always)]
fn rescale_small<const S: usize>(rows_per_scaler: usize, out: &mut [[f64; S]], scaler: &mut [u32]) {
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

/// Scaler counts of a product that is summed over rates.
#[derive(Clone, Copy, Debug)]
pub struct ProductScalers<'a> {
    num_rates: usize,
    of_factors: &'a [Option<&'a [u32]>],
    of_patterns: &'a [u32; BLOCK],
}

impl<'a> ProductScalers<'a> {
    /// Writes the count of each pattern to `counts`. With counts per rate, the weights of all rates are written
    /// to `weights`, `[rate][pattern]`, unless it is empty.
    #[inline(always)]
    pub fn new(
        dims: Dims,
        num_patterns: usize,
        of_factors: &'a [Option<&'a [u32]>],
        counts: &'a mut [u32; BLOCK],
        weights: &mut [f64],
    ) -> Self {
        counts.fill(0);
        if dims.rate_scalers {
            let num_weighted = weights.len() / num_patterns;
            for pattern in 0..num_patterns {
                let row = pattern * dims.num_rates;
                let mut least = u32::MAX;
                for rate in 0..dims.num_rates {
                    least = sum_at(of_factors, row + rate).min(least);
                }
                counts[pattern] = least;
                for rate in 0..num_weighted {
                    let count = sum_at(of_factors, row + rate);
                    weights[rate * num_patterns + pattern] = factor(count - least);
                }
            }
        } else {
            for scaler in of_factors.iter().flatten() {
                for (count, s) in counts[..num_patterns].iter_mut().zip(*scaler) {
                    *count += s;
                }
            }
        }
        ProductScalers { num_rates: dims.num_rates, of_factors, of_patterns: counts }
    }

    /// Writes the weight of one rate for each pattern. Requires counts per rate.
    #[inline(always)]
    pub fn fill_weights(&self, rate: usize, out: &mut [f64]) {
        for (pattern, weight) in out.iter_mut().enumerate() {
            let count = sum_at(self.of_factors, pattern * self.num_rates + rate);
            *weight = factor(count - self.of_patterns[pattern]);
        }
    }
}

#[inline(always)]
fn sum_at(scalers: &[Option<&[u32]>], at: usize) -> u32 {
    scalers.iter().flatten().map(|scaler| scaler[at]).sum()
}
