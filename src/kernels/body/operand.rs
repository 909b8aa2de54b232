//! One end of an edge as an operand of a kernel: a vector over states for each pattern and rate.
//!
//! ```text
//! Tip:   x[p, r] = table[code[p], r]                          sum of the columns of P_r of the code's states
//! Inner: x[p, r] = P_r · CLV[p, r] = Σ_j column_j · CLV[p, r][j]
//! Plain: x[p, r] = CLV[p, r]                                  no matrix is applied
//! Site repeats (`repeats`): like a tip, with the class of the pattern as its code, and a row for each class
//! ```
//!
//! Tricks:
//!
//! 1. The kind of each end is a type, so that no loop over patterns tests it (`with_ends!`).
//! 2. For four states, several rates form a vector that fills whole registers, and their matrices
//!    stay in registers for several patterns: with registers of eight numbers, those of all four rates (the usual
//!    number, as a constant) or else of two; with registers of four, those of one rate (`with_tiles!`). Where all ends
//!    are read from tables there are no matrices, so that a row of four rates is one vector with any registers, and each
//!    code is looked up once instead of four times.
//! 3. For more states, four patterns form a tile: each column of the matrix is loaded once and used four
//!    times. This made 20 and 64 states twice as fast.
//! 4. A product has as many sums in progress as there are registers, at least eight: enough to hide
//!    the latency of the multiply-add. Each sum is a single chain in the order of j, so that all instruction
//!    sets give the same bits.
//! 5. Each vector of rates is processed for all patterns. Rows of mixtures, however, are so long that one vector of each
//!    row, far from each other in memory, arrives too late: a few vectors are processed for each tile, and their
//!    matrices come from a nearer cache (`for_each_tile!`). Each number is computed as before. Vectors of one rate of four states
//!    are taken sixteen patterns at a time, because the three CLVs of a block are larger than the nearest cache.
//! 6. The compiler is prevented from vectorising over patterns, which would gather each number from a different
//!    row (`end_tile`).
//! 7. Of two products of a matrix with 20 states, the first is put aside in memory. Otherwise, sixteen registers of four numbers are one too
//!    few for the second, and one of its sums goes through memory at each step (CLVs took 1.2 times as long, sumtables 1.6 times).
//! 8. Loops over one rate of four states are so short that tests of bounds take a good part of their time. Rows of four rates are therefore cut to
//!    the number of patterns and indexed by the pattern: the compiler then sees that it is never outside, and tests only codes
//!    (`first_rows`, `vector`).

use crate::Code;
use std::borrow::Borrow;

/// Calls a function with V, the length of a vector, and T, the number of patterns of a tile, as the last
/// constants (tricks 2 and 3). `$tables` is true if all ends are read from tables. The number of rates is a multiple of V/S, and
/// the length of a block one of T.
macro_rules! with_tiles {
    ($sizes:expr, $tables:expr, $name:ident :: <$states:ident, $width:ident>
        (|$dims:ident| $($arg:expr),* $(,)?)) => {
        if $states == 4 && $sizes.num_rates == 4 && ($width == 8 || $tables) {
            let $dims = Dims { num_rates: 4, ..$sizes };
            $name::<$states, $width, 16, 1>($($arg),*)
        } else {
            let $dims = Dims { ..$sizes };
            if $states == 4 && $width == 8 && $dims.num_rates % 2 == 0 {
                $name::<$states, $width, 8, 1>($($arg),*)
            } else if $states == 4 && $width != 8 && $dims.num_rates == 4 {
                let $dims = Dims { num_rates: 4, ..$sizes };
                $name::<$states, $width, 4, 1>($($arg),*)
            } else if $states == 4 {
                $name::<$states, $width, 4, 1>($($arg),*)
            } else {
                $name::<$states, $width, $states, 4>($($arg),*)
            }
        }
    };
}
pub(super) use with_tiles;

/// Rows of more vectors than this are processed in groups of [`GROUPED`] (trick 5). Measured with `LG+C20+G4` on 140 proteins.
pub const MOST_UNGROUPED: usize = 8;
/// Number of vectors of a group.
pub const GROUPED: usize = 8;
/// Number of patterns for which the matrices of one rate of four states stay in registers (trick 5).
pub const PATTERNS_OF_A_RATE: usize = 16;

/// Evaluates `$body` for each vector `$at` of a row of `$stride` and each `$tile` patterns from `$first` on, with values that
/// are loaded for the vector (tricks 2 and 5). All vectors of a tile are taken in their order.
macro_rules! for_each_tile {
    (
        $vector:ident, $tile:expr, $stride:expr, $num_patterns:expr, |$at:ident, $first:ident|
        ($($loaded:ident = $load:expr),*) $body:block
    ) => {{
        let (stride, num_patterns): (usize, usize) = ($stride, $num_patterns);
        if $vector == 4 {
            let mut group = 0;
            while group < num_patterns {
                let end = num_patterns.min(group + crate::body::operand::PATTERNS_OF_A_RATE);
                for $at in 0..stride {
                    $(let $loaded = $load;)*
                    let mut $first = group;
                    while $first < end {
                        $body
                        $first += $tile;
                    }
                }
                group = end;
            }
        } else if $vector <= 16 || stride <= crate::body::operand::MOST_UNGROUPED {
            for $at in 0..stride {
                $(let $loaded = $load;)*
                let mut $first = 0;
                while $first < num_patterns {
                    $body
                    $first += $tile;
                }
            }
        } else {
            let mut group = 0;
            while group < stride {
                let end = stride.min(group + crate::body::operand::GROUPED);
                let mut $first = 0;
                while $first < num_patterns {
                    for $at in group..end {
                        $(let $loaded = $load;)*
                        $body
                    }
                    $first += $tile;
                }
                group = end;
            }
        }
    }};
}
pub(super) use for_each_tile;

/// Marks the end of the body of a loop over tiles (trick 6).
#[inline(always)]
pub fn end_tile() {
    std::hint::black_box(());
}

/// Keeps what was computed of the first operand out of the registers that the second needs (trick 7).
#[inline(always)]
pub fn put_aside<A: Operand<V>, B: Operand<V>, const W: usize, const V: usize, const T: usize>(
    tile: &[A::Vector; T],
    _: A,
    _: B,
) {
    if A::IS_PRODUCT && B::IS_PRODUCT && V == 20 && W < 8 {
        std::hint::black_box(tile);
    }
}

/// The rows of the first patterns, of `stride` vectors each (trick 8).
#[inline(always)]
pub fn first_rows<const V: usize>(
    vectors: &[[f64; V]],
    num_patterns: usize,
    stride: usize,
) -> &[[f64; V]] {
    match (V, stride) {
        (4, 4) => vectors.as_chunks::<4>().0[..num_patterns].as_flattened(),
        _ => &vectors[..num_patterns * stride],
    }
}

/// The same of rows that are written.
#[inline(always)]
pub fn first_rows_mut<const V: usize>(
    vectors: &mut [[f64; V]],
    num_patterns: usize,
    stride: usize,
) -> &mut [[f64; V]] {
    match (V, stride) {
        (4, 4) => vectors.as_chunks_mut::<4>().0[..num_patterns].as_flattened_mut(),
        _ => &mut vectors[..num_patterns * stride],
    }
}

/// Vector `at` of a row (trick 8).
#[inline(always)]
fn vector<const V: usize>(vectors: &[[f64; V]], row: usize, [stride, at]: [usize; 2]) -> &[f64; V] {
    match (V, stride) {
        (4, 4) => &vectors.as_chunks::<4>().0[row][at],
        _ => &vectors[row * stride + at],
    }
}

/// The same of rows that are written.
#[inline(always)]
pub fn vector_mut<const V: usize>(
    vectors: &mut [[f64; V]],
    row: usize,
    [stride, at]: [usize; 2],
) -> &mut [f64; V] {
    match (V, stride) {
        (4, 4) => &mut vectors.as_chunks_mut::<4>().0[row][at],
        _ => &mut vectors[row * stride + at],
    }
}

/// A source of one vector per pattern and V/S rates, with V numbers: the S states of V/S successive rates.
pub trait Operand<const V: usize>: Copy {
    /// True if its vectors are products of a matrix.
    const IS_PRODUCT: bool = false;
    /// A vector, or where it is stored.
    type Vector: Borrow<[f64; V]>;
    /// Values that are loaded once per vector of rates.
    type AtRates: Copy;
    /// The same for so many patterns only, with rows of `stride` vectors (trick 8).
    fn of_first(self, num_patterns: usize, stride: usize) -> Self;
    /// Loads the values for the rates of vector `at`.
    fn at_rates(self, at: usize) -> Self::AtRates;
    /// The vectors of the T patterns from `first` on, which are processed together, so that a column of a matrix is loaded once
    /// and used several times. The vector of pattern p in a CLV has the number `vectors[0] * p + vectors[1]`. `W` is the number of
    /// `f64` in a register.
    fn tile<const W: usize, const T: usize>(
        self,
        at_rates: &Self::AtRates,
        first: usize,
        vectors: [usize; 2],
    ) -> [Self::Vector; T];
}

/// A tip with a matrix applied: rows of a tip table, selected by the tip's codes.
#[derive(Clone, Copy)]
pub struct Tip<'a, const V: usize> {
    /// Code of each pattern.
    pub codes: &'a [Code],
    /// `[code][rate][state]` in vectors.
    pub table: &'a [[f64; V]],
}

impl<'a, const V: usize> Operand<V> for Tip<'a, V> {
    type Vector = &'a [f64; V];
    type AtRates = ();
    #[inline(always)]
    fn of_first(self, num_patterns: usize, _stride: usize) -> Self {
        Tip { codes: &self.codes[..num_patterns], ..self }
    }
    #[inline(always)]
    fn at_rates(self, _at: usize) {}
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        _at_rates: &(),
        first: usize,
        vectors: [usize; 2],
    ) -> [&'a [f64; V]; T] {
        let codes = &self.codes[first..first + T];
        let mut tile = [&[0.0; V]; T];
        for (x, &code) in tile.iter_mut().zip(codes) {
            *x = vector(self.table, code as usize, vectors);
        }
        tile
    }
}

/// A CLV with a matrix applied.
#[derive(Clone, Copy)]
pub struct Inner<'a, const S: usize, const V: usize> {
    /// `[pattern][rate][state]` in vectors.
    pub clv: &'a [[f64; V]],
    /// `[rate][column]` columns.
    pub pmatrix: &'a [[f64; S]],
}

/// Matrices of V/S successive rates.
#[derive(Clone, Copy)]
pub struct Columns<'a, const S: usize, const V: usize> {
    columns: &'a [[f64; S]],
    /// For four states, the same in the order of registers (trick 2): column j of successive rates is contiguous.
    of_four: [[f64; V]; 4],
}

impl<'a, const S: usize, const V: usize> Operand<V> for Inner<'a, S, V> {
    const IS_PRODUCT: bool = true;
    type Vector = [f64; V];
    type AtRates = Columns<'a, S, V>;
    #[inline(always)]
    fn of_first(self, num_patterns: usize, stride: usize) -> Self {
        Inner { clv: first_rows(self.clv, num_patterns, stride), ..self }
    }
    #[inline(always)]
    fn at_rates(self, at: usize) -> Self::AtRates {
        let columns = &self.pmatrix[at * V..(at + 1) * V];
        let mut of_four = [[0.0; V]; 4];
        // Trick 2.
        if S == 4 {
            let registers = of_four.as_flattened_mut();
            let width = V.min(8);
            for (at, number) in registers.iter_mut().enumerate() {
                let (part, j, i) = (at / (4 * width), at / width % 4, at % width);
                *number = columns[(part * width + i) / 4 * 4 + j][i % 4];
            }
        }
        Columns { columns, of_four }
    }
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        at_rates: &Self::AtRates,
        first: usize,
        vectors: [usize; 2],
    ) -> [[f64; V]; T] {
        let mut tile = [[0.0; V]; T];
        let mut x = [&[0.0; V]; T];
        for (t, x) in x.iter_mut().enumerate() {
            *x = vector(self.clv, first + t, vectors);
        }
        if S == 4 {
            for t in 0..T {
                let columns = at_rates.of_four.as_flattened();
                if V == 4 {
                    multiply_4x4::<4>(columns, x[t], &mut tile[t]);
                } else {
                    multiply_4x4::<8>(columns, x[t], &mut tile[t]);
                }
            }
            return tile;
        }
        // Trick 4: rows and patterns whose sums are in progress together.
        let columns: &[[f64; V]] = at_rates.columns.as_flattened().as_chunks().0;
        match (S, W) {
            (64, 8) => multiply_tile::<V, T, 16, 4>(columns, x, &mut tile),
            (64, _) => multiply_tile::<V, T, 8, 4>(columns, x, &mut tile),
            (20, 8) => multiply_tile::<V, T, 20, 4>(columns, x, &mut tile),
            (20, _) => multiply_tile::<V, T, 20, 2>(columns, x, &mut tile),
            _ => multiply_tile::<V, T, 4, 4>(columns, x, &mut tile),
        }
        tile
    }
}

/// Matrix times vector of each rate, R numbers at a time.
#[inline(always)]
fn multiply_4x4<const R: usize>(columns: &[f64], x: &[f64], out: &mut [f64]) {
    let parts = columns.as_chunks::<R>().0.as_chunks::<4>().0;
    let vectors = x.as_chunks::<R>().0.iter().zip(out.as_chunks_mut::<R>().0);
    for (columns, (x, out)) in parts.iter().zip(vectors) {
        let mut sums = [0.0; R];
        for i in 0..R {
            sums[i] = columns[0][i] * x[i & !3];
        }
        for j in 1..4 {
            for i in 0..R {
                sums[i] = columns[j][i].mul_add(x[(i & !3) + j], sums[i]);
            }
        }
        *out = sums;
    }
}

/// Matrix times each vector of a tile, U patterns and R rows at a time.
#[inline(always)]
fn multiply_tile<const S: usize, const T: usize, const R: usize, const U: usize>(
    columns: &[[f64; S]],
    x: [&[f64; S]; T],
    out: &mut [[f64; S]; T],
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
pub struct Plain<'a, const V: usize> {
    /// `[pattern][rate][state]` in vectors.
    pub clv: &'a [[f64; V]],
}

impl<'a, const V: usize> Operand<V> for Plain<'a, V> {
    type Vector = &'a [f64; V];
    type AtRates = ();
    #[inline(always)]
    fn of_first(self, num_patterns: usize, stride: usize) -> Self {
        Plain { clv: first_rows(self.clv, num_patterns, stride) }
    }
    #[inline(always)]
    fn at_rates(self, _at: usize) {}
    #[inline(always)]
    fn tile<const W: usize, const T: usize>(
        self,
        _at_rates: &(),
        first: usize,
        vectors: [usize; 2],
    ) -> [&'a [f64; V]; T] {
        let mut tile = [&[0.0; V]; T];
        for (t, x) in tile.iter_mut().enumerate() {
            *x = vector(self.clv, first + t, vectors);
        }
        tile
    }
}

/// One end of an edge, for any number of states.
#[derive(Clone, Copy, Debug)]
pub enum End<'a> {
    /// A tip: codes of the block's patterns, and the tip table of a matrix.
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
        /// Scaler counts; `None` if all are 0.
        scaler: Option<&'a [u32]>,
        /// P-matrix.
        pmatrix: &'a [f64],
    },
    /// A CLV with one row for each class of repeated patterns: like a tip, but with scaler counts.
    Classes {
        /// Class of each pattern.
        classes: &'a [Code],
        /// `[class][rate][state]`, with a matrix applied (`partials::update_class_table`) where one is needed.
        table: &'a [f64],
        /// Scaler counts of each pattern; `None` if all are 0.
        scaler: Option<&'a [u32]>,
    },
}

impl<'a> End<'a> {
    /// True if the end's vectors are read from a table: it is a tip or has classes.
    #[inline(always)]
    pub fn has_table(self) -> bool {
        !matches!(self, End::Inner { .. })
    }

    /// The end as a typed operand, if its vectors are read from a table.
    #[inline(always)]
    pub fn tip<const V: usize>(self) -> Option<Tip<'a, V>> {
        match self {
            End::Tip { codes, table } | End::Classes { classes: codes, table, .. } => {
                Some(Tip { codes, table: table.as_chunks().0 })
            }
            End::Inner { .. } => None,
        }
    }

    /// The end as a typed operand, if it is a CLV with a row for each pattern.
    #[inline(always)]
    pub fn inner<const S: usize, const V: usize>(self) -> Option<Inner<'a, S, V>> {
        match self {
            End::Inner { clv, pmatrix, .. } => {
                Some(Inner { clv: clv.as_chunks().0, pmatrix: pmatrix.as_chunks().0 })
            }
            End::Tip { .. } | End::Classes { .. } => None,
        }
    }

    /// The same without its matrix.
    #[inline(always)]
    pub fn plain<const V: usize>(self) -> Option<Plain<'a, V>> {
        match self {
            End::Inner { clv, .. } => Some(Plain { clv: clv.as_chunks().0 }),
            End::Tip { .. } | End::Classes { .. } => None,
        }
    }

    /// Scaler counts; `None` for a tip and where all are 0.
    #[inline(always)]
    pub fn scaler(self) -> Option<&'a [u32]> {
        match self {
            End::Inner { scaler, .. } | End::Classes { scaler, .. } => scaler,
            End::Tip { .. } => None,
        }
    }
}

/// Evaluates `$body` with both ends as typed operands, each read from a table or a CLV (trick 1).
macro_rules! with_ends {
    ($states:ident, $vector:ident, $ends:expr, |$a:ident, $b:ident| $body:expr) => {{
        let [first, second] = $ends;
        match (first.tip::<$vector>(), second.tip::<$vector>()) {
            (Some($a), Some($b)) => $body,
            (Some($a), None) => {
                let $b =
                    second.inner::<$states, $vector>().expect("an end has a table or is inner");
                $body
            }
            (None, Some($b)) => {
                let $a = first.inner::<$states, $vector>().expect("an end has a table or is inner");
                $body
            }
            (None, None) => {
                let $a = first.inner::<$states, $vector>().expect("an end has a table or is inner");
                let $b =
                    second.inner::<$states, $vector>().expect("an end has a table or is inner");
                $body
            }
        }
    }};
}
pub(super) use with_ends;
