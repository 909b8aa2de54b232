//! The sumtable of an edge, and the log-likelihood and its first and second derivative with respect to the
//! length of the edge.
//!
//! With the eigenvectors V and eigenvalues λ_k of the rate matrix, L(t) = Σ_r Σ_k s_rk·exp(λ_k·r·t), where
//! s_rk = w_r·(Σ_i π_i·x_i·V_ik)·(Σ_j V⁻¹_kj·y_j) does not depend on t (the sumtable of RAxML, Stamatakis 2006,
//! Bioinformatics 22:2688).
//!
//! ```text
//! update_sumtable: for each pattern p, rate r, eigenvalue k
//!     s[r, k, p] = (left · x[p, r])_k * (right · y[p, r])_k       left: w_r·π_i·V_ik, right: V⁻¹
//!
//! derivatives: for each pattern p
//!     L, L', L'' = Σ_rk s[r, k, p] · (1, λ_k·r, (λ_k·r)²) · exp(λ_k·r·t);   L += invariant[p]
//!     sums += weight[p] · (ln L − count[p]·ln 2^256, L'/L, L''/L − (L'/L)²)
//! ```
//!
//! Tricks:
//!
//! 1. The sumtable is computed once per edge; each trial length then costs three sums of products.
//! 2. Patterns are contiguous in it, so that `derivatives` works on registers of patterns: those of a block, or of long rows
//!    (`sumtable_group`) eight patterns. Long rows come from memory, and in columns of a block, far from each other, each number
//!    arrived late (LG+C20+G4: the sumtable took 1.9 times as long, its derivatives 2.4 times). Short ones stay in the cache.
//! 3. For four states, the products are first stored as rows, by rate, and then transposed rate by rate, so that
//!    all loops consist of whole registers. The caller lends the buffer: filling a new one with zeros took a
//!    twelfth of the time of the kernel.
//! 4. `derivatives` processes four registers of patterns at a time, whose twelve sums hide the latency; what is computed from the
//!    sums, each register alone: for all at a time, compilers find branches and single numbers rather than registers.
//! 5. Under +I the scaling is undone, because the invariant part is not scaled. This is rarely needed; one test
//!    without branches determines whether any pattern of the block needs it.
//! 6. With scaler counts per rate, a rate may be so unlikely at a pattern that its numbers would be subnormal, with
//!    which many processors compute slowly. They are set to 0 before that: they would not change any sum.
//! 7. Padding has weight 0 and arbitrary, possibly infinite sums. Before anything is computed from them, they are replaced by those of
//!    a likelihood of 1 that does not change: selections afterwards are compiled to branches.

use super::likelihood::{PatternData, add_lanes, lanes_at};
use super::operand::{End, Operand, end_tile, for_each_tile, put_aside, with_ends, with_tiles};
use super::scalers::ProductScalers;
use crate::ModelBlock;
use crate::elementary::{Lanes, ln};
use crate::layout::{BLOCK, Dims, LANES, sumtable_group};
use crate::scaling::{LN_FACTOR, NEGLIGIBLE, factor};
use std::borrow::Borrow;

/// Buffer of `update_sumtable` for products of four states, `[rate of a vector][pattern]` (trick 3).
pub type RateRows = [[[f64; 4]; BLOCK]; 4];

/// Fills one sumtable block (trick 1), `[group][rate][eigen][pattern of the group]` (trick 2), and its scaler counts.
/// The ends' matrices are the model's `sumtable_left` and `sumtable_right` (or their tip tables).
/// `rows` is a buffer, see [`RateRows`].
#[inline(always)]
pub fn update_sumtable<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    invariant: &[f64],
    ends: [End<'_>; 2],
    rows: &mut RateRows,
    (out, out_scaler): (&mut [f64], &mut [u32; BLOCK]),
) {
    let dims = model.dims;
    let tables = ends[0].has_table() && ends[1].has_table();
    with_tiles!(dims, tables, sumtable_of_ends::<S, W>(|dims| dims, num_patterns, ends, rows, out));
    let scalers = [ends[0].scaler(), ends[1].scaler()];
    let scalers = ProductScalers::new(dims, num_patterns, &scalers, out_scaler, &mut []);
    if dims.rate_scalers {
        weigh_rates::<S>(dims, num_patterns, &scalers, out);
    }
    undo_scaling_of_invariant(dims, num_patterns, invariant, out, out_scaler);
}

/// Multiplies the sumtable by the weights of the rates, which are 1 if they have equal scaler counts.
#[inline(always)]
fn weigh_rates<const S: usize>(
    dims: Dims,
    num_patterns: usize,
    scalers: &ProductScalers,
    out: &mut [f64],
) {
    for rate in 0..dims.num_rates {
        let (mut weights, mut limits) = ([1.0; BLOCK], [0.0; BLOCK]);
        scalers.fill_weights(rate, &mut weights[..num_patterns]);
        let mut num_below_one = 0;
        for (weight, limit) in weights.iter().zip(&mut limits) {
            num_below_one += u32::from(*weight < 1.0);
            *limit = NEGLIGIBLE / weight;
        }
        if num_below_one == 0 {
            continue;
        }
        let group = sumtable_group(dims.row());
        let patterns = (0..num_patterns).step_by(group);
        for (first, numbers) in patterns.zip(out.chunks_exact_mut(group * dims.row())) {
            let end = num_patterns.min(first + group);
            let (weights, limits) = (&weights[first..end], &limits[first..end]);
            for column in numbers[rate * S * group..][..S * group].chunks_exact_mut(group) {
                for ((x, weight), limit) in column.iter_mut().zip(weights).zip(limits) {
                    // Trick 6.
                    let kept = if x.abs() < *limit { 0.0 } else { *x };
                    *x = kept * weight;
                }
            }
        }
    }
}

/// Trick 5.
#[inline(always)]
fn undo_scaling_of_invariant(
    dims: Dims,
    num_patterns: usize,
    invariant: &[f64],
    out: &mut [f64],
    out_scaler: &mut [u32; BLOCK],
) {
    let (counts, invariant) = (&mut out_scaler[..num_patterns], &invariant[..num_patterns]);
    let mut num_undone = 0;
    for (count, invariant) in counts.iter().zip(invariant) {
        num_undone += u32::from((*count > 0) & (*invariant > 0.0));
    }
    if num_undone == 0 {
        return;
    }
    for (pattern, (count, invariant)) in counts.iter_mut().zip(invariant).enumerate() {
        if *count > 0 && *invariant > 0.0 {
            let f = factor(*count);
            let group = sumtable_group(dims.row());
            let numbers = &mut out[pattern / group * group * dims.row()..];
            for k in 0..dims.row() {
                numbers[k * group + pattern % group] *= f;
            }
            *count = 0;
        }
    }
}

#[inline(always)]
fn sumtable_of_ends<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    ends: [End<'_>; 2],
    rows: &mut RateRows,
    out: &mut [f64],
) {
    let stride = dims.row() / V;
    if S == 4 {
        with_ends!(S, V, ends, |a, b| {
            sumtable_of_operands_4::<W, V, T>(stride, num_patterns, a, b, rows, out)
        });
    } else if sumtable_group(dims.row()) == BLOCK {
        with_ends!(S, V, ends, |a, b| {
            sumtable_of_operands::<W, V, T, BLOCK>(stride, num_patterns, a, b, out)
        });
    } else {
        with_ends!(S, V, ends, |a, b| {
            sumtable_of_operands::<W, V, T, LANES>(stride, num_patterns, a, b, out)
        });
    }
}

#[inline(always)]
fn sumtable_of_operands<const W: usize, const V: usize, const T: usize, const G: usize>(
    stride: usize,
    num_patterns: usize,
    a: impl Operand<V>,
    b: impl Operand<V>,
    out: &mut [f64],
) {
    for_each_tile!(
        V, T, stride, num_patterns, |at, first| (at_a = a.at_rates(at), at_b = b.at_rates(at)) {
            let x = a.tile::<W, T>(&at_a, first, [stride, at]);
            put_aside::<_, _, W, V, T>(&x, a, b);
            let y = b.tile::<W, T>(&at_b, first, [stride, at]);
            // From here on, rows of tables are read by column: from copies, this is faster.
            let (x, y) = (x.map(|x| *x.borrow()), y.map(|y| *y.borrow()));
            let group = &mut out[first / G * G * stride * V..];
            for (k, column) in group[at * V * G..][..V * G].chunks_exact_mut(G).enumerate() {
                let column = &mut column[first % G..][..T];
                for t in 0..T {
                    column[t] = x[t][k] * y[t][k];
                }
            }
        }
    );
}

/// The same for four states (trick 3).
#[inline(always)]
fn sumtable_of_operands_4<const W: usize, const V: usize, const T: usize>(
    stride: usize,
    num_patterns: usize,
    a: impl Operand<V>,
    b: impl Operand<V>,
    rows: &mut RateRows,
    out: &mut [f64],
) {
    let num_patterns = num_patterns.min(BLOCK);
    let (a, b) = (a.of_first(num_patterns, stride), b.of_first(num_patterns, stride));
    for at in 0..stride {
        let (at_a, at_b) = (a.at_rates(at), b.at_rates(at));
        let mut first = 0;
        while first < num_patterns {
            let x = a.tile::<W, T>(&at_a, first, [stride, at]);
            let y = b.tile::<W, T>(&at_b, first, [stride, at]);
            for t in 0..T {
                let (x, y) = (*x[t].borrow(), *y[t].borrow());
                for rate in 0..V / 4 {
                    let row = &mut rows[rate][first + t];
                    for i in 0..4 {
                        row[i] = x[4 * rate + i] * y[4 * rate + i];
                    }
                }
            }
            end_tile();
            first += T;
        }
        if sumtable_group(stride * V) == BLOCK {
            let columns = out[at * V * BLOCK..][..V * BLOCK].chunks_exact_mut(4 * BLOCK);
            for (rows, columns) in rows.iter().zip(columns) {
                transpose::<BLOCK>(&rows[..num_patterns], columns);
            }
        } else {
            for (rate, rows) in rows.iter().take(V / 4).enumerate() {
                let groups = out.chunks_exact_mut(LANES * stride * V);
                for (rows, group) in rows[..num_patterns].chunks_exact(LANES).zip(groups) {
                    transpose::<LANES>(rows, &mut group[(at * V + 4 * rate) * LANES..]);
                }
            }
        }
    }
}

/// Transposes rows of four numbers into four columns of stride G (trick 3).
#[inline(always)]
fn transpose<const G: usize>(rows: &[[f64; 4]], columns: &mut [f64]) {
    let (first, rest) = columns.split_at_mut(G);
    let (second, rest) = rest.split_at_mut(G);
    let (third, fourth) = rest.split_at_mut(G);
    let n = rows.len();
    let (first, second) = (&mut first[..n], &mut second[..n]);
    let (third, fourth) = (&mut third[..n], &mut fourth[..n]);
    for (i, row) in rows.iter().enumerate() {
        first[i] = row[0];
        second[i] = row[1];
        third[i] = row[2];
        fourth[i] = row[3];
    }
}

/// Block sums of weight·ln L, weight·L'/L and weight·(L''/L − (L'/L)²) at the length whose factors
/// (see `update_derivative_factors`) are given.
#[inline(always)]
pub fn derivatives<const W: usize>(
    num_patterns: usize,
    data: PatternData<'_>,
    sumtable: &[f64],
    scaler: &[u32; BLOCK],
    factors: &[[f64; 3]],
) -> [f64; 3] {
    let mut sums = [[0.0; LANES]; 3];
    let mut at = 0;
    // Trick 4.
    if W == 8 {
        while at + 32 <= num_patterns {
            add_derivatives::<32, 8>(at, data, sumtable, scaler, factors, &mut sums);
            at += 32;
        }
    } else {
        while at + 16 <= num_patterns {
            add_derivatives::<16, 4>(at, data, sumtable, scaler, factors, &mut sums);
            at += 16;
        }
    }
    while at < num_patterns {
        if W == 8 {
            add_derivatives::<LANES, 8>(at, data, sumtable, scaler, factors, &mut sums);
        } else {
            add_derivatives::<LANES, 4>(at, data, sumtable, scaler, factors, &mut sums);
        }
        at += LANES;
    }
    [add_lanes(&sums[0]), add_lanes(&sums[1]), add_lanes(&sums[2])]
}

/// Adds the values of the `N` patterns from `at` on to `sums`, `M` at a time.
#[inline(always)]
fn add_derivatives<const N: usize, const M: usize>(
    at: usize,
    data: PatternData<'_>,
    sumtable: &[f64],
    scaler: &[u32; BLOCK],
    factors: &[[f64; 3]],
    sums: &mut [Lanes; 3],
) {
    let mut l = *lanes_at::<N, _>(data.invariant, at);
    let (mut l1, mut l2) = ([0.0; N], [0.0; N]);
    let row = factors.len();
    if sumtable_group(row) == BLOCK {
        for (column, [f0, f1, f2]) in sumtable.chunks_exact(BLOCK).zip(factors) {
            let s = lanes_at::<N, _>(column, at);
            for i in 0..N {
                l[i] = s[i].mul_add(*f0, l[i]);
                l1[i] = s[i].mul_add(*f1, l1[i]);
                l2[i] = s[i].mul_add(*f2, l2[i]);
            }
        }
    } else {
        let eights: &[Lanes] = &sumtable.as_chunks().0[at / LANES * row..(at + N) / LANES * row];
        for (k, [f0, f1, f2]) in factors.iter().enumerate() {
            for eight in 0..N / LANES {
                for (i, s) in eights[eight * row + k].iter().enumerate() {
                    let at = eight * LANES + i;
                    l[at] = s.mul_add(*f0, l[at]);
                    l1[at] = s.mul_add(*f1, l1[at]);
                    l2[at] = s.mul_add(*f2, l2[at]);
                }
            }
        }
    }
    for first in (0..N).step_by(M) {
        let l = [*lanes_at(&l, first), *lanes_at(&l1, first), *lanes_at(&l2, first)];
        let at = at + first;
        let values = terms::<M>(l, *lanes_at(data.weights, at), *lanes_at(scaler, at));
        for (sums, values) in sums.iter_mut().zip(&values) {
            for i in 0..M {
                sums[first % LANES + i] += values[i];
            }
        }
    }
}

/// Terms of the sums, from L, L' and L'' of some patterns.
#[inline(always)]
fn terms<const M: usize>(
    [l, l1, l2]: [[f64; M]; 3],
    weights: [f64; M],
    scaler: [u32; M],
) -> [[f64; M]; 3] {
    // Trick 7.
    let l = where_used(weights, l, 1.0);
    let l1 = where_used(weights, l1, 0.0);
    let l2 = where_used(weights, l2, 0.0);
    let logs = ln(&l);
    let mut values = [[0.0; M]; 3];
    for i in 0..M {
        let lnl = f64::from(scaler[i]).mul_add(-LN_FACTOR, logs[i]);
        let inverse = 1.0 / l[i];
        let ratio = l1[i] * inverse;
        let curvature = (-ratio).mul_add(ratio, l2[i] * inverse);
        values[0][i] = weights[i] * lnl;
        values[1][i] = weights[i] * ratio;
        values[2][i] = weights[i] * curvature;
    }
    values
}

/// The numbers of patterns that have a weight, and for all others this one. By value: compilers make branches of a selection among
/// numbers that are in memory.
#[inline(always)]
fn where_used<const M: usize>(weights: [f64; M], x: [f64; M], other: f64) -> [f64; M] {
    let mut out = [0.0; M];
    for i in 0..M {
        out[i] = if weights[i] > 0.0 { x[i] } else { other };
    }
    out
}
