//! One end of an edge as the kernels see it: for a pattern and a rate, a vector over states.

use super::super::super::layout::Dims;
use crate::alphabet::Code;

/// Something that gives one vector over states per pattern and rate.
pub trait Operand<const S: usize>: Copy {
    /// What is fetched once per rate.
    type AtRate: Copy;
    /// Fetches what rate `rate` needs.
    fn at_rate(self, rate: usize) -> Self::AtRate;
    /// The vector of `pattern` at `rate`; `row` is pattern · rates + rate.
    fn vector(self, at_rate: &Self::AtRate, pattern: usize, row: usize) -> [f64; S];
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
    fn vector(self, at_rate: &Self::AtRate, pattern: usize, _row: usize) -> [f64; S] {
        at_rate[self.codes[pattern] as usize]
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

impl<const S: usize> Operand<S> for Inner<'_, S> {
    type AtRate = [[f64; S]; S];
    #[inline(always)]
    fn at_rate(self, rate: usize) -> Self::AtRate {
        let mut matrix = [[0.0; S]; S];
        matrix.copy_from_slice(&self.pmatrix[rate * S..(rate + 1) * S]);
        matrix
    }
    #[inline(always)]
    fn vector(self, at_rate: &Self::AtRate, _pattern: usize, row: usize) -> [f64; S] {
        let x = &self.clv[row];
        let mut sum = [0.0; S];
        for i in 0..S {
            sum[i] = at_rate[0][i] * x[0];
        }
        for j in 1..S {
            for i in 0..S {
                sum[i] = at_rate[j][i].mul_add(x[j], sum[i]);
            }
        }
        sum
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
    fn vector(self, _at_rate: &(), _pattern: usize, row: usize) -> [f64; S] {
        self.clv[row]
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
