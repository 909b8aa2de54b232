//! Likelihood of each pattern at an edge or at an insertion point, and its logarithm summed.
//!
//! L = Σ_r Σ_i z_ri·a_ri·b_ri, where z is the weighted frequencies (root edge) or a pruned subtree's
//! vector times them (insertion), and a and b are the vectors at the two ends, seen from one point.

use super::super::super::layout::{BLOCK, Dims, LANES};
use super::super::super::scaling::{LN_FACTOR, factor};
use super::operand::{End, Operand, Plain, Tile, with_ends, with_tiles};
use super::pmatrix::ModelBlock;
use crate::numeric::elementary::{Lanes, ln};

/// What a sum over a block's patterns needs beside the likelihoods.
#[derive(Clone, Copy, Debug)]
pub struct PatternData<'a> {
    /// Weight of each pattern; 0 for padding.
    pub weights: &'a [f64],
    /// pinv · Σ of the frequencies of the states that all tips share; 0 for variable patterns.
    pub invariant: &'a [f64],
}

/// Likelihoods of a block before the logarithm: `likelihood · 2^(-256·scaler)` is the true value.
#[derive(Debug, Clone)]
pub struct BlockLikelihoods {
    /// Scaled likelihoods.
    pub likelihood: [f64; BLOCK],
    /// Scaler counts.
    pub scaler: [u32; BLOCK],
}

impl Default for BlockLikelihoods {
    fn default() -> Self {
        BlockLikelihoods { likelihood: [1.0; BLOCK], scaler: [0; BLOCK] }
    }
}

/// z = weighted frequencies · (matrix · CLV of a pruned subtree), rows to be kept for many scores.
#[inline(always)]
pub fn update_pendant<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    subtree: End<'_>,
    out: &mut [f64],
    out_scaler: &mut [u32],
) {
    let dims = model.dims;
    let freqs: &[[f64; S]] = model.weighted_freqs.as_chunks().0;
    let out: &mut [[f64; S]] = &mut out.as_chunks_mut().0[..num_patterns * dims.num_rates];
    match subtree.tip(dims) {
        Some(tip) => with_tiles!(S, weigh::<S, W>(tip, freqs, out)),
        None => {
            let inner = subtree.inner().expect("an end is a tip or inner");
            with_tiles!(S, weigh::<S, W>(inner, freqs, out));
        }
    }
    super::partials::add_scalers(
        subtree.scaler(),
        None,
        &mut out_scaler[..num_patterns * dims.scalers()],
    );
}

#[inline(always)]
fn weigh<const S: usize, const W: usize, const T: usize>(
    a: impl Operand<S>,
    freqs: &[[f64; S]],
    out: &mut [[f64; S]],
) {
    let num_rates = freqs.len();
    for (rate, freqs) in freqs.iter().enumerate() {
        let at_rate = a.at_rate(rate);
        for first in (0..out.len() / num_rates).step_by(T) {
            let x = a.tile::<W, T>(&at_rate, first, [num_rates, rate]);
            for t in 0..T {
                let out = &mut out[(first + t) * num_rates + rate];
                for i in 0..S {
                    out[i] = freqs[i] * x[t][i];
                }
            }
        }
    }
}

/// Likelihoods at the root edge between `first` (seen through no matrix) and `second`.
#[inline(always)]
pub fn edge_likelihoods<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    first: End<'_>,
    second: End<'_>,
    out: &mut BlockLikelihoods,
) {
    let dims = model.dims;
    let freqs: &[[f64; S]] = model.weighted_freqs.as_chunks().0;
    let z = Frequencies::<S> { freqs };
    let mut factors = RateFactors::new(dims, num_patterns, &[first.scaler(), second.scaler()], out);
    match first {
        // A tip's table holds 0/1 rows here; a CLV's matrix is not looked at.
        End::Tip { .. } => {
            with_second::<S, W>(dims, first.tip(dims).expect("a tip"), z, second, &mut factors, out)
        }
        End::Inner { clv, .. } => {
            with_second::<S, W>(
                dims,
                Plain { clv: clv.as_chunks().0 },
                z,
                second,
                &mut factors,
                out,
            );
        }
    }
}

#[inline(always)]
fn with_second<const S: usize, const W: usize>(
    dims: Dims,
    a: impl Operand<S>,
    z: impl Operand<S>,
    second: End<'_>,
    factors: &mut RateFactors,
    out: &mut BlockLikelihoods,
) {
    match second.tip(dims) {
        Some(tip) => with_tiles!(S, sum_products::<S, W>(dims, z, a, tip, factors, out)),
        None => {
            let inner = second.inner().expect("an end is a tip or inner");
            with_tiles!(S, sum_products::<S, W>(dims, z, a, inner, factors, out));
        }
    }
}

/// Likelihoods of putting a pruned subtree (`pendant`, made by [`update_pendant`]) between two ends.
#[inline(always)]
pub fn insertion_likelihoods<const S: usize, const W: usize>(
    dims: Dims,
    num_patterns: usize,
    (pendant, pendant_scaler): (&[f64], &[u32]),
    first: End<'_>,
    second: End<'_>,
    out: &mut BlockLikelihoods,
) {
    let z = Plain::<S> { clv: pendant.as_chunks().0 };
    let scalers = [Some(pendant_scaler), first.scaler(), second.scaler()];
    let mut factors = RateFactors::new(dims, num_patterns, &scalers, out);
    with_ends!(dims, first, second, |a, b| with_tiles!(
        S,
        sum_products::<S, W>(dims, z, a, b, &mut factors, out)
    ));
}

#[derive(Clone, Copy)]
struct Frequencies<'a, const S: usize> {
    freqs: &'a [[f64; S]],
}

impl<const S: usize> Operand<S> for Frequencies<'_, S> {
    type AtRate = [f64; S];
    #[inline(always)]
    fn at_rate(self, rate: usize) -> [f64; S] {
        self.freqs[rate]
    }
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        at_rate: &[f64; S],
        _first: usize,
        _rows: [usize; 2],
    ) -> Tile<S, T> {
        [*at_rate; T]
    }
}

/// With scaler counts per rate, a pattern's count is the least of its rates' counts, and every other
/// rate is weighted by the power of two between them.
pub struct RateFactors {
    num_patterns: usize,
    /// `[rate][pattern]`, empty when there is one count per pattern.
    per_rate: Vec<f64>,
}

impl RateFactors {
    #[inline(always)]
    fn new(
        dims: Dims,
        num_patterns: usize,
        scalers: &[Option<&[u32]>],
        out: &mut BlockLikelihoods,
    ) -> Self {
        let mut per_rate = Vec::new();
        if dims.rate_scalers {
            per_rate.resize(num_patterns * dims.num_rates, 1.0);
        }
        combine_scalers(dims, num_patterns, scalers, &mut out.scaler, &mut per_rate);
        RateFactors { num_patterns, per_rate }
    }
}

/// Sums the counts of several factors into one count per pattern, and, with counts per rate, into
/// factors `[rate][pattern]`.
#[inline(always)]
pub fn combine_scalers(
    dims: Dims,
    num_patterns: usize,
    scalers: &[Option<&[u32]>],
    counts: &mut [u32; BLOCK],
    factors: &mut [f64],
) {
    counts.fill(0);
    if !dims.rate_scalers {
        for scaler in scalers.iter().flatten() {
            for (count, s) in counts[..num_patterns].iter_mut().zip(*scaler) {
                *count += s;
            }
        }
        return;
    }
    for pattern in 0..num_patterns {
        let at = |rate: usize| -> u32 {
            scalers.iter().flatten().map(|s| s[pattern * dims.num_rates + rate]).sum()
        };
        let least = (0..dims.num_rates).map(at).min().unwrap_or(0);
        counts[pattern] = least;
        for rate in 0..dims.num_rates {
            factors[rate * num_patterns + pattern] = factor(at(rate) - least);
        }
    }
}

#[inline(always)]
fn sum_products<const S: usize, const W: usize, const T: usize>(
    dims: Dims,
    z: impl Operand<S>,
    a: impl Operand<S>,
    b: impl Operand<S>,
    factors: &mut RateFactors,
    out: &mut BlockLikelihoods,
) {
    let num_patterns = factors.num_patterns;
    let mut sums = [[0.0; S]; BLOCK];
    for rate in 0..dims.num_rates {
        let (at_z, at_a, at_b) = (z.at_rate(rate), a.at_rate(rate), b.at_rate(rate));
        for first in (0..num_patterns).step_by(T) {
            let rows = [dims.num_rates, rate];
            let z = z.tile::<W, T>(&at_z, first, rows);
            let x = a.tile::<W, T>(&at_a, first, rows);
            let y = b.tile::<W, T>(&at_b, first, rows);
            for t in 0..T {
                let weight = if dims.rate_scalers {
                    factors.per_rate[rate * num_patterns + first + t]
                } else {
                    1.0
                };
                let sum = &mut sums[first + t];
                for i in 0..S {
                    sum[i] = (z[t][i] * weight * x[t][i]).mul_add(y[t][i], sum[i]);
                }
            }
        }
    }
    for (likelihood, sum) in out.likelihood.iter_mut().zip(&sums[..num_patterns]) {
        *likelihood = add_states(sum);
    }
}

/// Σ over states in four partial sums, state modulo 4, combined as (0+2)+(1+3).
#[inline(always)]
fn add_states<const S: usize>(x: &[f64; S]) -> f64 {
    let mut sums = [0.0; 4];
    for (i, x) in x.iter().enumerate() {
        sums[i % 4] += x;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Σ weight·ln L over the block, in eight lanes combined by a fixed tree. Per-pattern values
/// (unweighted) go to `per_pattern` if asked for.
#[inline(always)]
pub fn sum_logs(
    num_patterns: usize,
    data: PatternData<'_>,
    likelihoods: &BlockLikelihoods,
    mut per_pattern: Option<&mut [f64]>,
) -> f64 {
    let mut sums = [0.0; LANES];
    for first in (0..num_patterns).step_by(LANES) {
        let mut value: Lanes = [0.0; LANES];
        let mut count: Lanes = [0.0; LANES];
        for i in 0..LANES {
            let invariant = data.invariant[first + i];
            let scaler = likelihoods.scaler[first + i];
            // Under +I the scaling is undone first: the invariant part was never scaled.
            (value[i], count[i]) = if invariant > 0.0 {
                (likelihoods.likelihood[first + i].mul_add(factor(scaler), invariant), 0.0)
            } else {
                (likelihoods.likelihood[first + i], f64::from(scaler))
            };
        }
        let logs = ln(&value);
        for i in 0..LANES {
            let lnl = count[i].mul_add(-LN_FACTOR, logs[i]);
            if let Some(out) = per_pattern.as_deref_mut() {
                out[first + i] = lnl;
            }
            let weight = data.weights[first + i];
            // Padding has weight 0 and any value, even an infinite one.
            sums[i] += if weight > 0.0 { weight * lnl } else { 0.0 };
        }
    }
    add_lanes(&sums)
}

/// The fixed tree that combines the eight lanes of a sum over patterns.
#[inline(always)]
pub fn add_lanes(x: &Lanes) -> f64 {
    ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}
