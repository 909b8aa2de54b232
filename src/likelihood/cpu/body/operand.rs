//! One end of an edge as the kernels see it: for a pattern and a rate, a vector over states.

use super::super::super::layout::Dims;
use crate::alphabet::Code;

/// Vectors over states of T patterns that are worked on together, so that a column of a matrix, once
/// loaded, is used several times.
pub type Tile<const S: usize, const T: usize> = [[f64; S]; T];

/// Calls a function with the size of its tiles as the last constant: one pattern of four states, whose
/// matrix fits the registers, four of more states. Block lengths are multiples of both.
macro_rules! with_tiles {
    ($states:ident, $name:ident :: <$($constant:ident),*> ($($arg:expr),* $(,)?)) => {
        if $states == 4 { $name::<$($constant),*, 1>($($arg),*) } else { $name::<$($constant),*, 4>($($arg),*) }
    };
}
pub(super) use with_tiles;

/// Something that gives one vector over states per pattern and rate.
pub trait Operand<const S: usize>: Copy {
    /// What is fetched once per rate.
    type AtRate: Copy;
    /// Fetches what rate `rate` needs.
    fn at_rate(self, rate: usize) -> Self::AtRate;
    /// The vectors of the patterns from `first` on. Pattern p's row of a CLV is `rows[0] * p + rows[1]`:
    /// number of rates, and rate. `W`: numbers in a register, for which sums are arranged.
    fn tile<const W: usize, const T: usize>(
        self,
        at_rate: &Self::AtRate,
        first: usize,
        rows: [usize; 2],
    ) -> Tile<S, T>;
}

/// A tip seen through a matrix: rows of a table, picked by the tip's code.
#[derive(Clone, Copy)]
pub struct Tip<'a, const S: usize> {
    /// Code of each pattern.
    pub codes: &'a [Code],
    /// `[rate][code]` rows.
    pub table: &'a [[f64; S]],
    /// Codes per rate.
    pub num_codes: usize,
}

impl<'a, const S: usize> Operand<S> for Tip<'a, S> {
    type AtRate = &'a [[f64; S]];
    #[inline(always)]
    fn at_rate(self, rate: usize) -> Self::AtRate {
        &self.table[rate * self.num_codes..(rate + 1) * self.num_codes]
    }
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        at_rate: &Self::AtRate,
        first: usize,
        _rows: [usize; 2],
    ) -> Tile<S, T> {
        let codes = &self.codes[first..first + T];
        let mut tile = [[0.0; S]; T];
        for (vector, &code) in tile.iter_mut().zip(codes) {
            *vector = at_rate[code as usize];
        }
        tile
    }
}

/// A CLV seen through a matrix.
#[derive(Clone, Copy)]
pub struct Inner<'a, const S: usize> {
    /// `[pattern][rate]` rows.
    pub clv: &'a [[f64; S]],
    /// `[rate][column]` columns.
    pub pmatrix: &'a [[f64; S]],
}

/// A matrix at one rate.
#[derive(Clone, Copy)]
pub struct Columns<'a, const S: usize> {
    columns: &'a [[f64; S]],
    /// The same if they are of four states: few enough to stay in registers.
    of_four: [[f64; 4]; 4],
}

impl<'a, const S: usize> Operand<S> for Inner<'a, S> {
    type AtRate = Columns<'a, S>;
    #[inline(always)]
    fn at_rate(self, rate: usize) -> Self::AtRate {
        let columns = &self.pmatrix[rate * S..(rate + 1) * S];
        let mut of_four = [[0.0; 4]; 4];
        if S == 4 {
            of_four.as_flattened_mut().copy_from_slice(columns.as_flattened());
        }
        Columns { columns, of_four }
    }
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        at_rate: &Self::AtRate,
        first: usize,
        [num_rates, rate]: [usize; 2],
    ) -> Tile<S, T> {
        let mut tile = [[0.0; S]; T];
        let mut x = [&[0.0; S]; T];
        for (t, x) in x.iter_mut().enumerate() {
            *x = &self.clv[(first + t) * num_rates + rate];
        }
        if S == 4 {
            for t in 0..T {
                multiply_four(&at_rate.of_four, x[t], &mut tile[t]);
            }
            return tile;
        }
        // As many sums as there are registers for, at least eight to hide latency.
        match (S, W) {
            (64, 8) => multiply::<S, T, 16, 4>(at_rate.columns, x, &mut tile),
            (64, _) => multiply::<S, T, 8, 4>(at_rate.columns, x, &mut tile),
            (20, 8) => multiply::<S, T, 20, 4>(at_rate.columns, x, &mut tile),
            (20, _) => multiply::<S, T, 20, 2>(at_rate.columns, x, &mut tile),
            _ => multiply::<S, T, 4, 4>(at_rate.columns, x, &mut tile),
        }
        tile
    }
}

/// Σ_j column_j·x_j: every element is one chain of fused multiply-adds in the order of j.
#[inline(always)]
fn multiply_four(columns: &[[f64; 4]; 4], x: &[f64], out: &mut [f64]) {
    let mut sums = [0.0; 4];
    for i in 0..4 {
        sums[i] = columns[0][i] * x[0];
    }
    for j in 1..4 {
        for i in 0..4 {
            sums[i] = columns[j][i].mul_add(x[j], sums[i]);
        }
    }
    out.copy_from_slice(&sums);
}

/// The same for a tile, U patterns and R rows at a time.
#[inline(always)]
fn multiply<const S: usize, const T: usize, const R: usize, const U: usize>(
    columns: &[[f64; S]],
    x: [&[f64; S]; T],
    out: &mut Tile<S, T>,
) {
    for first in (0..S).step_by(R) {
        for at in (0..T).step_by(U) {
            let mut sums = [[0.0; R]; U];
            for u in 0..U {
                for i in 0..R {
                    sums[u][i] = columns[0][first + i] * x[at + u][0];
                }
            }
            for j in 1..S {
                let column = &columns[j][first..first + R];
                for u in 0..U {
                    for i in 0..R {
                        sums[u][i] = column[i].mul_add(x[at + u][j], sums[u][i]);
                    }
                }
            }
            for u in 0..U {
                out[at + u][first..first + R].copy_from_slice(&sums[u]);
            }
        }
    }
}

/// A CLV as it is.
#[derive(Clone, Copy)]
pub struct Plain<'a, const S: usize> {
    /// `[pattern][rate]` rows.
    pub clv: &'a [[f64; S]],
}

impl<const S: usize> Operand<S> for Plain<'_, S> {
    type AtRate = ();
    #[inline(always)]
    fn at_rate(self, _rate: usize) {}
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        _at_rate: &(),
        first: usize,
        [num_rates, rate]: [usize; 2],
    ) -> Tile<S, T> {
        let mut tile = [[0.0; S]; T];
        for (t, vector) in tile.iter_mut().enumerate() {
            *vector = self.clv[(first + t) * num_rates + rate];
        }
        tile
    }
}

/// One end of an edge, before the number of states is known to the compiler.
#[derive(Clone, Copy, Debug)]
pub enum End<'a> {
    /// A tip: codes of the block's patterns, and the table made from a matrix.
    Tip {
        /// Code of each pattern.
        codes: &'a [Code],
        /// Tip table.
        table: &'a [f64],
    },
    /// A CLV with its scaler counts, and a matrix.
    Inner {
        /// CLV block.
        clv: &'a [f64],
        /// Scaler counts.
        scaler: &'a [u32],
        /// P-matrix.
        pmatrix: &'a [f64],
    },
}

impl<'a> End<'a> {
    /// The end as a typed operand, if it is a tip.
    #[inline(always)]
    pub fn tip<const S: usize>(self, dims: Dims) -> Option<Tip<'a, S>> {
        match self {
            End::Tip { codes, table } => {
                Some(Tip { codes, table: table.as_chunks().0, num_codes: dims.num_codes })
            }
            End::Inner { .. } => None,
        }
    }

    /// The end as a typed operand, if it is a CLV.
    #[inline(always)]
    pub fn inner<const S: usize>(self) -> Option<Inner<'a, S>> {
        match self {
            End::Inner { clv, pmatrix, .. } => {
                Some(Inner { clv: clv.as_chunks().0, pmatrix: pmatrix.as_chunks().0 })
            }
            End::Tip { .. } => None,
        }
    }

    /// Scaler counts; none for a tip.
    #[inline(always)]
    pub fn scaler(self) -> Option<&'a [u32]> {
        match self {
            End::Inner { scaler, .. } => Some(scaler),
            End::Tip { .. } => None,
        }
    }
}

/// Calls `$body` with both ends as typed operands, whichever of tip and inner they are.
macro_rules! with_ends {
    ($dims:expr, $first:expr, $second:expr, |$a:ident, $b:ident| $body:expr) => {
        match ($first.tip($dims), $second.tip($dims)) {
            (Some($a), Some($b)) => $body,
            (Some($a), None) => {
                let $b = $second.inner().expect("an end is a tip or inner");
                $body
            }
            (None, Some($b)) => {
                let $a = $first.inner().expect("an end is a tip or inner");
                $body
            }
            (None, None) => {
                let $a = $first.inner().expect("an end is a tip or inner");
                let $b = $second.inner().expect("an end is a tip or inner");
                $body
            }
        }
    };
}
pub(super) use with_ends;
