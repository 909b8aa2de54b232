//! Partials (CLVs) of a node from its two children, by Felsenstein's pruning algorithm (1981, J Mol Evol 17:368).
//!
//! ```text
//! update_partials: for each vector of rates r, pattern p
//!     out[p, r] = (P1_r · child1[p, r]) * (P2_r · child2[p, r])        * is by element
//!     count[p]  = count1[p] + count2[p], and one more for each scaling
//!
//! update_class_table: for each row c of a CLV, rate r
//!     table[c, r] = P_r · CLV[c, r]
//! ```
//!
//! For a child that is a tip, the product P · child is read from a table by the tip's code (`operand`); for one with
//! classes of repeated patterns, from a table by the pattern's class. The result has the same bits as without
//! classes, because each row depends on its own pattern alone.
//!
//! Trick 1: each vector of rates is processed for several patterns, so that both matrices stay in registers (`operand`).

use super::operand::{
    End, Inner, Operand, end_tile, first_rows_mut, for_each_tile, put_aside, vector_mut, with_ends,
    with_tiles,
};
use super::scalers::{add_scalers, any_scaled, rescale};
use crate::ModelBlock;
use crate::layout::Dims;
use std::borrow::Borrow;

/// Updates one CLV block of `num_patterns` patterns and its scaler counts from two children. True if some count is not 0.
#[inline(always)]
pub fn update_partials<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_patterns: usize,
    ends: [End<'_>; 2],
    out: &mut [f64],
    out_scaler: &mut [u32],
) -> bool {
    let dims = model.dims;
    let out = &mut out[..num_patterns * dims.row()];
    let tables = ends[0].has_table() && ends[1].has_table();
    with_tiles!(dims, tables, partials_of_ends::<S, W>(|dims| dims, num_patterns, ends, out));
    let counts = &mut out_scaler[..num_patterns * dims.scalers()];
    let scalers = [ends[0].scaler(), ends[1].scaler()];
    add_scalers(scalers[0], scalers[1], counts);
    let may_be_scaled = rescale::<S>(dims, out, counts) || scalers != [None; 2];
    may_be_scaled && any_scaled(counts)
}

/// Applies a P-matrix to the first `num_rows` rows of a CLV, once for all patterns of each class. For more than
/// four states, the number of rows is a multiple of four (`with_tiles!`).
#[inline(always)]
pub fn update_class_table<const S: usize, const W: usize>(
    model: &ModelBlock,
    num_rows: usize,
    clv: &[f64],
    pmatrix: &[f64],
    out: &mut [f64],
) {
    let dims = model.dims;
    with_tiles!(dims, false, class_table::<S, W>(|dims| dims, num_rows, clv, pmatrix, out));
}

#[inline(always)]
fn class_table<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_rows: usize,
    clv: &[f64],
    pmatrix: &[f64],
    out: &mut [f64],
) {
    let stride = dims.row() / V;
    let out: &mut [[f64; V]] = first_rows_mut(out.as_chunks_mut().0, num_rows, stride);
    let rows: Inner<'_, S, V> = Inner { clv: clv.as_chunks().0, pmatrix: pmatrix.as_chunks().0 };
    let rows = rows.of_first(num_rows, stride);
    for_each_tile!(V, T, stride, num_rows, |at, first| (at_rates = rows.at_rates(at)) {
        let x = rows.tile::<W, T>(&at_rates, first, [stride, at]);
        for (t, x) in x.into_iter().enumerate() {
            *vector_mut(out, first + t, [stride, at]) = x;
        }
        end_tile();
    });
}

#[inline(always)]
fn partials_of_ends<const S: usize, const W: usize, const V: usize, const T: usize>(
    dims: Dims,
    num_patterns: usize,
    ends: [End<'_>; 2],
    out: &mut [f64],
) {
    let (stride, out) = (dims.row() / V, out.as_chunks_mut().0);
    with_ends!(S, V, ends, |a, b| partials_of_operands::<W, V, T>(stride, num_patterns, a, b, out))
}

#[inline(always)]
fn partials_of_operands<const W: usize, const V: usize, const T: usize>(
    stride: usize,
    num_patterns: usize,
    a: impl Operand<V>,
    b: impl Operand<V>,
    out: &mut [[f64; V]],
) {
    let out = first_rows_mut(out, num_patterns, stride);
    let (a, b) = (a.of_first(num_patterns, stride), b.of_first(num_patterns, stride));
    // Trick 1.
    for_each_tile!(V, T, stride, num_patterns, |at, first| (at_a = a.at_rates(at), at_b = b.at_rates(at)) {
        let x = a.tile::<W, T>(&at_a, first, [stride, at]);
        put_aside::<_, _, W, V, T>(&x, a, b);
        let y = b.tile::<W, T>(&at_b, first, [stride, at]);
        for t in 0..T {
            let out = vector_mut(out, first + t, [stride, at]);
            let (x, y) = (*x[t].borrow(), *y[t].borrow());
            for i in 0..V {
                out[i] = x[i] * y[i];
            }
        }
        end_tile();
    });
}
