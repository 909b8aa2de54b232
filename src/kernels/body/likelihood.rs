//! Likelihood of each pattern at an edge or with an inserted subtree, and the sum of logarithms.
//!
//! L = Σ_r Σ_i z_ri·a_ri·b_ri, where z is the weighted frequencies (virtual root) or a pendant vector
//! (insertion), and a and b are the vectors of the two ends of the edge at one point on it.
//!
//! ```text
//! update_pendant: for each pattern p, rate r
//!     z[p, r] = weighted_freqs[r] * (P_r · subtree[p, r])                    * is by element
//!
//! edge_likelihoods, insertion_likelihoods: for each pattern p
//!     sums[p] = Σ_r weight of the rate (scalers) * z[p, r] * a[p, r] * b[p, r]      by state
//!     likelihood[p] = Σ_i sums[p][i];   count[p] = sum of the factors' counts
//!
//! sum_logs: for each pattern p
//!     Σ_p weight[p] · (ln likelihood[p] − count[p]·ln 2^256)
//! ```
//!
//! Tricks:
//!
//! 1. Sums over rates are kept per state in registers, and summed over states at the end for all patterns
//!    together, so that no loop over rates contains a horizontal sum.
//! 2. For four states, even and odd rates have separate sums: eight numbers, a whole register. Instruction sets
//!    with smaller registers do the same, to give the same bits.
//! 3. Insertions are scored with the pendant vector in place of the frequencies: it is computed once for
//!    all regraft positions of a subtree.
//! 4. Logarithms of sixteen patterns are computed together, to hide their latency.
//! 5. Under +I the scaling is undone, because the invariant part is not scaled; and padding has weight
//!    0 and an arbitrary, possibly infinite value. Both are done by selection for a whole register.
//! 6. Weights of rates, which only large trees need (`scalers`), are multiplied into one of the factors before the products
//!    are summed, and only in blocks where some are not 1. They are powers of 2, so that no other number is rounded.

use super::operand::{
    End, Operand, Plain, end_tile, first_rows_mut, for_each_tile, put_aside, vector_mut, with_ends,
    with_tiles,
};
use super::scalers::{ProductScalers, add_scalers};
use crate::ModelBlock;
use crate::elementary::{Lanes, ln};
use crate::layout::{BLOCK, Dims, LANES};
use crate::scaling::{LN_FACTOR, factor};
use std::borrow::Borrow;

/// Data of a block's patterns that a sum over them needs in addition to their likelihoods.
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
    /// Scratch buffer of the kernels, `[rate][pattern]`; empty unless counts are kept per rate.
    pub rate_weights: Vec<f64>,
    /// Scratch buffer of the kernels: a factor times the weights of the rates (trick 6).
    weighted: Vec<f64>,
    /// Scratch buffers of the kernels: for four states, sums over rates, `[pattern][state]` (trick 1); and four sums of
    /// each pattern. New ones would have to be filled with zeros in each call.
    sums: Vec<f64>,
    fours: [[f64; 4]; BLOCK],
}

impl Default for BlockLikelihoods {
    fn default() -> Self {
        BlockLikelihoods {
            likelihood: [1.0; BLOCK],
            scaler: [0; BLOCK],
            rate_weights: Vec::new(),
            weighted: Vec::new(),
            sums: Vec::new(),
            fours: [[0.0; 4]; BLOCK],
        }
    }
}

/// Pendant vector: weighted frequencies · (P-matrix · CLV of a pruned subtree), for many scores (trick 3).
#[inline(always)]
pub fn update_pendant<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    subtree: End<'_>,
    out: &mut [f64],
    out_scaler: &mut [u32],
) {
    let (dims, freqs) = (model.dims, &model.weighted_freqs[..]);
    let table = subtree.has_table();
    with_tiles!(
        dims,
        table,
        pendant_of_end::<S, W>(|dims| dims, num_patterns, freqs, subtree, out)
    );
    let counts = &mut out_scaler[..num_patterns * dims.scalers()];
    add_scalers(subtree.scaler(), None, counts);
}

#[inline(always)]
fn pendant_of_end<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    freqs: &[f64],
    subtree: End<'_>,
    out: &mut [f64],
) {
    let (stride, freqs, out) = (dims.row() / V, freqs.as_chunks().0, out.as_chunks_mut().0);
    match subtree.tip::<V>() {
        Some(tip) => pendant_of_operand::<W, V, T>(stride, num_patterns, freqs, tip, out),
        None => {
            let inner = subtree.inner::<S, V>().expect("an end has a table or is inner");
            pendant_of_operand::<W, V, T>(stride, num_patterns, freqs, inner, out);
        }
    }
}

#[inline(always)]
fn pendant_of_operand<const W: usize, const V: usize, const T: usize>(
    stride: usize,
    num_patterns: usize,
    freqs: &[[f64; V]],
    a: impl Operand<V>,
    out: &mut [[f64; V]],
) {
    let (a, out) = (a.of_first(num_patterns, stride), first_rows_mut(out, num_patterns, stride));
    for_each_tile!(V, T, stride, num_patterns, |at, first| (freqs = &freqs[at], at_a = a.at_rates(at)) {
        let x = a.tile::<W, T>(&at_a, first, [stride, at]);
        for t in 0..T {
            let (out, x) = (vector_mut(out, first + t, [stride, at]), x[t].borrow());
            for i in 0..V {
                out[i] = freqs[i] * x[i];
            }
        }
        end_tile();
    });
}

/// Number of sums of a pattern's products (tricks 1 and 2).
const fn sum_row(num_states: usize) -> usize {
    if num_states == 4 { 8 } else { num_states }
}

/// Calls a function that sums the products over all rates, then sums over the states.
macro_rules! sum_products {
    ($states:ident, $name:ident :: <$s:ident, $width:ident>
        ($dims:expr, $tables:expr, $num_patterns:expr, $z:expr, $ends:expr), $out:expr) => {{
        let (n, Sums { likelihood, flat, fours }) = ($num_patterns, $out);
        if $states == 4 {
            with_tiles!($dims, $tables, $name::<$s, $width>(|dims| dims, n, $z, $ends, flat));
            add_states::<{ sum_row(4) }>(&flat.as_chunks().0[..n], fours, likelihood);
        } else {
            // That this buffer is on the stack is worth more than that it need not be cleared.
            let mut sums = [[0.0; $states]; BLOCK];
            let flat = sums.as_flattened_mut();
            with_tiles!($dims, $tables, $name::<$s, $width>(|dims| dims, n, $z, $ends, flat));
            add_states::<$states>(&sums[..n], fours, likelihood);
        }
    }};
}

/// Likelihood of each pattern at the virtual root. No P-matrix is applied to the first end, and that of the whole
/// edge to the second.
#[inline(always)]
pub fn edge_likelihoods<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    [first, second]: [End<'_>; 2],
    out: &mut BlockLikelihoods,
) {
    let (dims, scalers) = (model.dims, [first.scaler(), second.scaler()]);
    let (weights, weighted, out) = combine_scalers(dims, num_patterns, &scalers, out);
    let first = if weights.is_empty() {
        first
    } else {
        match first.tip::<S>() {
            Some(tip) => weigh_rates::<S, W>(dims.num_rates, tip, weights, weighted),
            None => {
                let clv = first.plain::<S>().expect("an end has a table or is inner");
                weigh_rates::<S, W>(dims.num_rates, clv, weights, weighted);
            }
        }
        // Its scaler counts are in the weights.
        End::Inner { clv: weighted, scaler: None, pmatrix: &[] }
    };
    let (freqs, ends) = (&model.weighted_freqs[..], [first, second]);
    let tables = second.has_table();
    sum_products!(S, add_edge_products::<S, W>(dims, tables, num_patterns, freqs, ends), out);
}

/// Likelihood of each pattern with a pruned subtree (`pendant`, computed by [`update_pendant`]) inserted between
/// two ends.
#[inline(always)]
pub fn insertion_likelihoods<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    (pendant, pendant_scaler): (&[f64], &[u32]),
    ends: [End<'_>; 2],
    out: &mut BlockLikelihoods,
) {
    let scalers = [Some(pendant_scaler), ends[0].scaler(), ends[1].scaler()];
    let (weights, weighted, out) = combine_scalers(model.dims, num_patterns, &scalers, out);
    let pendant = if weights.is_empty() {
        pendant
    } else {
        let pendant: Plain<'_, S> = Plain { clv: pendant.as_chunks().0 };
        weigh_rates::<S, W>(model.dims.num_rates, pendant, weights, weighted);
        weighted
    };
    let (dims, tables) = (model.dims, ends[0].has_table() && ends[1].has_table());
    sum_products!(
        S,
        add_insertion_products::<S, W>(dims, tables, num_patterns, pendant, ends),
        out
    );
}

/// Where likelihoods are computed: the output, and buffers.
struct Sums<'a> {
    likelihood: &'a mut [f64; BLOCK],
    /// `[pattern][state]`, for four states.
    flat: &'a mut [f64],
    fours: &'a mut [[f64; 4]; BLOCK],
}

/// Writes the scaler count of each pattern; returns the weights of its rates, `[rate][pattern]`, a buffer for a weighted
/// factor, and what likelihoods are written to. Without weights that are not 1, both are empty.
#[inline(always)]
fn combine_scalers<'a>(
    dims: Dims,
    num_patterns: usize,
    of_factors: &[Option<&[u32]>],
    out: &'a mut BlockLikelihoods,
) -> (&'a [f64], &'a mut [f64], Sums<'a>) {
    let BlockLikelihoods { likelihood, scaler, rate_weights, weighted, sums, fours } = out;
    let num_sums = if dims.num_states == 4 { BLOCK * sum_row(4) } else { 0 };
    if sums.len() < num_sums {
        sums.resize(num_sums, 0.0);
    }
    let len = if dims.rate_scalers { num_patterns * dims.num_rates } else { 0 };
    if rate_weights.len() < len {
        rate_weights.resize(len, 1.0);
    }
    let mut weights = &mut rate_weights[..len];
    ProductScalers::new(dims, num_patterns, of_factors, scaler, weights);
    if weights.iter().all(|&weight| weight == 1.0) {
        weights = &mut [];
    }
    let len = if weights.is_empty() { 0 } else { num_patterns * dims.row() };
    if weighted.len() < len {
        weighted.resize(len, 0.0);
    }
    // The first rates set the sums, but one rate alone only half of them (trick 2).
    if dims.num_rates == 1 {
        sums[..num_sums].fill(0.0);
    }
    let sums = Sums { likelihood, flat: &mut sums[..num_sums], fours };
    (weights, &mut weighted[..len], sums)
}

/// Writes the vectors of an operand times the weights of the rates (trick 6).
#[inline(always)]
fn weigh_rates<const S: usize, const W: usize>(
    num_rates: usize,
    a: impl Operand<S>,
    weights: &[f64],
    out: &mut [f64],
) {
    let (num_patterns, out) = (weights.len() / num_rates, out.as_chunks_mut::<S>().0);
    for (rate, weights) in weights.chunks_exact(num_patterns).enumerate() {
        let at_rate = a.at_rates(rate);
        for (pattern, weight) in weights.iter().enumerate() {
            let [x] = a.tile::<W, 1>(&at_rate, pattern, [num_rates, rate]);
            out[pattern * num_rates + rate] = x.borrow().map(|x| x * weight);
            end_tile();
        }
    }
}

/// The same vectors for every pattern.
#[derive(Clone, Copy)]
struct Frequencies<'a, const V: usize> {
    /// `[rate][state]` in vectors.
    freqs: &'a [[f64; V]],
}

impl<const V: usize> Operand<V> for Frequencies<'_, V> {
    type Vector = [f64; V];
    type AtRates = [f64; V];
    #[inline(always)]
    fn of_first(self, _num_patterns: usize, _stride: usize) -> Self {
        self
    }
    #[inline(always)]
    fn at_rates(self, at: usize) -> [f64; V] {
        self.freqs[at]
    }
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        at_rates: &[f64; V],
        _first: usize,
        _vectors: [usize; 2],
    ) -> [[f64; V]; T] {
        [*at_rates; T]
    }
}

#[inline(always)]
fn add_edge_products<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    freqs: &[f64],
    [first, second]: [End<'_>; 2],
    sums: &mut [f64],
) {
    let z = Frequencies::<V> { freqs: freqs.as_chunks().0 };
    // The table of a first end that is a tip has rows of 0 and 1, and that with classes has the rows of the CLV.
    match (first.tip::<V>(), second.tip::<V>()) {
        (Some(a), Some(b)) => add_products::<S, W, V, T>(dims, num_patterns, z, a, b, sums),
        (Some(a), None) => {
            let b = second.inner::<S, V>().expect("an end has a table or is inner");
            add_products::<S, W, V, T>(dims, num_patterns, z, a, b, sums);
        }
        (None, Some(b)) => {
            let a = first.plain().expect("an end has a table or is inner");
            add_products::<S, W, V, T>(dims, num_patterns, z, a, b, sums);
        }
        (None, None) => {
            let a = first.plain().expect("an end has a table or is inner");
            let b = second.inner::<S, V>().expect("an end has a table or is inner");
            add_products::<S, W, V, T>(dims, num_patterns, z, a, b, sums);
        }
    }
}

#[inline(always)]
fn add_insertion_products<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    pendant: &[f64],
    ends: [End<'_>; 2],
    sums: &mut [f64],
) {
    let z = Plain { clv: pendant.as_chunks().0 };
    with_ends!(S, V, ends, |a, b| add_products::<S, W, V, T>(dims, num_patterns, z, a, b, sums));
}

/// Writes the sums of the products of all rates to `sums` (trick 1).
#[inline(always)]
fn add_products<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    z: impl Operand<V>,
    a: impl Operand<V>,
    b: impl Operand<V>,
    sums: &mut [f64],
) {
    let row = sum_row(S);
    let stride = dims.row() / V;
    let num_patterns = num_patterns.min(BLOCK);
    let z = z.of_first(num_patterns, stride);
    let (a, b) = (a.of_first(num_patterns, stride), b.of_first(num_patterns, stride));
    let sums = &mut sums[..BLOCK * row];
    for_each_tile!(
        V, T, stride, num_patterns, |at, first|
        (at_z = z.at_rates(at), at_a = a.at_rates(at), at_b = b.at_rates(at)) {
            let vectors = [stride, at];
            let z = z.tile::<W, T>(&at_z, first, vectors);
            let x = a.tile::<W, T>(&at_a, first, vectors);
            put_aside::<_, _, W, V, T>(&x, a, b);
            let y = b.tile::<W, T>(&at_b, first, vectors);
            for t in 0..T {
                let sums = &mut sums[(first + t) * row..][..row];
                let (z, x, y) = (*z[t].borrow(), *x[t].borrow(), *y[t].borrow());
                for part in (0..V).step_by(row) {
                    // Trick 2. A vector of one rate is added to half of the row.
                    let half = if V < row { at % (row / V) * V } else { 0 };
                    let starts = S == 4 && at * V + part < row;
                    let mut zx = [0.0; V];
                    for i in 0..row.min(V) {
                        zx[i] = z[part + i] * x[part + i];
                    }
                    for i in 0..row.min(V) {
                        let before = if starts { 0.0 } else { sums[half + i] };
                        sums[half + i] = zx[i].mul_add(y[part + i], before);
                    }
                }
            }
            end_tile();
        }
    );
}

/// Σ over states in four partial sums, state modulo 4, combined as (0+2)+(1+3) (trick 1).
#[inline(always)]
fn add_states<const P: usize>(
    sums: &[[f64; P]],
    fours: &mut [[f64; 4]; BLOCK],
    likelihood: &mut [f64; BLOCK],
) {
    for (four, sum) in fours.iter_mut().zip(sums) {
        let mut of_four = [sum[0], sum[1], sum[2], sum[3]];
        for part in 1..P / 4 {
            for i in 0..4 {
                of_four[i] += sum[4 * part + i];
            }
        }
        *four = of_four;
    }
    for (likelihood, four) in likelihood[..sums.len()].iter_mut().zip(&*fours) {
        *likelihood = (four[0] + four[2]) + (four[1] + four[3]);
    }
}

/// Σ weight·ln L over the block, in eight partial sums that are combined in a fixed order. Unweighted values
/// of the patterns go to `per_pattern` if given.
#[inline(always)]
pub fn sum_logs<const W: usize>(
    num_patterns: usize,
    data: PatternData<'_>,
    likelihoods: &BlockLikelihoods,
    mut per_pattern: Option<&mut [f64]>,
) -> f64 {
    // Trick 4.
    const TOGETHER: usize = 2 * LANES;
    let mut sums = [0.0; LANES];
    let mut at = 0;
    while at + TOGETHER <= num_patterns {
        let logs = add_logs::<TOGETHER>(at, data, likelihoods, &mut sums);
        if let Some(out) = per_pattern.as_deref_mut() {
            out[at..at + TOGETHER].copy_from_slice(&logs);
        }
        at += TOGETHER;
    }
    if at < num_patterns {
        let logs = add_logs::<LANES>(at, data, likelihoods, &mut sums);
        if let Some(out) = per_pattern {
            out[at..at + LANES].copy_from_slice(&logs);
        }
    }
    add_lanes(&sums)
}

/// Adds the weighted logarithms of the `N` patterns from `at` on; returns them unweighted.
#[inline(always)]
fn add_logs<const N: usize>(
    at: usize,
    data: PatternData<'_>,
    likelihoods: &BlockLikelihoods,
    sums: &mut Lanes,
) -> [f64; N] {
    let likelihood = lanes_at::<N, _>(&likelihoods.likelihood, at);
    let scaler = lanes_at::<N, _>(&likelihoods.scaler, at);
    let (weights, invariant) =
        (lanes_at::<N, _>(data.weights, at), lanes_at::<N, _>(data.invariant, at));
    let (mut values, mut counts) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        // Trick 5.
        let undone = likelihood[i].mul_add(factor(scaler[i]), invariant[i]);
        values[i] = if invariant[i] > 0.0 { undone } else { likelihood[i] };
        counts[i] = if invariant[i] > 0.0 { 0.0 } else { f64::from(scaler[i]) };
    }
    let mut logs = ln(&values);
    let mut weighted = [0.0; N];
    for i in 0..N {
        logs[i] = counts[i].mul_add(-LN_FACTOR, logs[i]);
        // Trick 5.
        weighted[i] = if weights[i] > 0.0 { weights[i] * logs[i] } else { 0.0 };
    }
    for lanes in weighted.as_chunks::<LANES>().0 {
        for i in 0..LANES {
            sums[i] += lanes[i];
        }
    }
    logs
}

/// The values of the `N` patterns from `at` on.
#[inline(always)]
pub fn lanes_at<const N: usize, X>(of_patterns: &[X], at: usize) -> &[X; N] {
    of_patterns[at..at + N].first_chunk().expect("a slice of N values")
}

/// Combines the eight partial sums of a sum over patterns in a fixed order.
#[inline(always)]
pub fn add_lanes(x: &Lanes) -> f64 {
    ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}
