//! One end of an edge as an operand of the kernels of patterns that have a rate matrix each (site frequencies, `PMSF`).
//!
//! The rate matrix of a pattern is reversible: with D = diag(frequencies), Q = D^(-1/2)·U·Λ·Uᵀ·D^(1/2), and U is orthogonal. The CLV x of
//! a node is stored as w = Uᵀ·D^(1/2)·x. Then
//!
//! ```text
//! D^(1/2)·P(t)·x = U·(exp(Λrt) * w)                           * is by element
//! L(edge)        = Σ_k wa_k · exp(λ_k·r·t) · wb_k
//!
//! Unknown: x = 1 for all states:  w = (1, 0, 0, ...), because the first eigenvector is D^(1/2)·1, with eigenvalue 0
//! Tip:     w = Σ sqrt(frequency_i) · row i of U, over the states i of the code
//! Inner:   w as stored
//! ```
//!
//! An update of a CLV is then one product with U for each child and one with Uᵀ, and likelihoods and derivatives at an edge take no product
//! at all.
//!
//! Tricks:
//!
//! 1. Nothing is shared by patterns, so the numbers of a register are those of four rates, and of both children: each number of U is
//!    loaded once for eight products. A row is `[four rates][state][rate]`; rates that are missing repeat the last one with weight 0.
//! 2. A product has ten sums in progress if a register has eight numbers, otherwise five of two registers. Each sum is a single chain,
//!    so that all instruction sets give the same bits.
//! 3. At a tip, x is known: P(t)·x = x + V·(exp(Λrt) − 1)·w keeps small probabilities of change exact (`pmatrix`, trick 1).

use crate::elementary::exp_minus_one;

/// Number of states: only amino acids have site frequencies.
pub const STATES: usize = 20;
/// Number of rates whose numbers are processed together (trick 1).
pub const RATES: usize = 4;
/// Length of four rates of a row.
pub const FOUR_RATES: usize = STATES * RATES;

/// The rate matrix of a pattern.
#[derive(Debug, Clone, Copy)]
pub struct PatternMatrix<'a> {
    /// Eigenvalues; the first is 0.
    pub eigenvals: &'a [f64; STATES],
    /// U, `[state][eigen]`.
    pub vectors: &'a [[f64; STATES]; STATES],
    /// Square roots of the frequencies.
    pub roots: &'a [f64; STATES],
    /// Their inverses.
    pub inverse_roots: &'a [f64; STATES],
}

/// One end of an edge at a pattern.
#[derive(Debug, Clone, Copy)]
pub enum PatternEnd<'a> {
    /// A tip that may have any state, or no CLV at all.
    Unknown,
    /// A tip.
    Tip {
        /// The states that it may have.
        states: &'a [u8],
    },
    /// A stored CLV or a temporary.
    Inner {
        /// Its row.
        row: &'a [f64],
        /// Its scaler counts, one for each rate.
        scaler: &'a [u32],
    },
}

/// Numbers of four rates, `[state or eigenvalue][rate]`.
pub type Four = [[f64; RATES]; STATES];
/// The same of two children.
pub type Eight = [[f64; 2 * RATES]; STATES];

impl PatternEnd<'_> {
    /// Scaler count of a rate.
    #[inline(always)]
    pub fn count(&self, rate: usize) -> u32 {
        match self {
            PatternEnd::Inner { scaler, .. } => scaler[rate],
            _ => 0,
        }
    }

    /// D^(1/2)·x of a tip, the same for all rates; `None` of a CLV.
    #[inline(always)]
    fn at_tip(&self, matrix: PatternMatrix<'_>) -> Option<[f64; STATES]> {
        match *self {
            PatternEnd::Unknown => Some(*matrix.roots),
            PatternEnd::Tip { states } => {
                let mut y = [0.0; STATES];
                for &state in states {
                    y[state as usize] = matrix.roots[state as usize];
                }
                Some(y)
            }
            PatternEnd::Inner { .. } => None,
        }
    }

    /// w of four rates.
    #[inline(always)]
    pub fn four(&self, matrix: PatternMatrix<'_>, four: usize) -> Four {
        let mut w = [[0.0; RATES]; STATES];
        match *self {
            PatternEnd::Unknown => w[0] = [1.0; RATES],
            PatternEnd::Tip { states } => {
                for &state in states {
                    let root = matrix.roots[state as usize];
                    let vector = &matrix.vectors[state as usize];
                    for k in 0..STATES {
                        let x = root.mul_add(vector[k], w[k][0]);
                        w[k] = [x; RATES];
                    }
                }
            }
            PatternEnd::Inner { row, .. } => {
                w.copy_from_slice(row[four * FOUR_RATES..][..FOUR_RATES].as_chunks().0);
            }
        }
        w
    }
}

/// exp(λ_k·r·t) − 1 of an eigenvalue, for four rates and two lengths.
#[inline(always)]
pub fn exponentials(eigenval: f64, rates: &[f64; RATES], brlens: [f64; 2]) -> [f64; 2 * RATES] {
    let mut x = [0.0; 2 * RATES];
    for l in 0..RATES {
        x[l] = eigenval * (rates[l] * brlens[0]);
        x[RATES + l] = eigenval * (rates[l] * brlens[1]);
    }
    exp_minus_one(&x)
}

/// D^(1/2)·P(t)·x of both children for four rates. What is negative after rounding is 0.
#[inline(always)]
pub fn through_branches<const W: usize>(
    matrix: PatternMatrix<'_>,
    rates: &[f64; RATES],
    ends: [PatternEnd<'_>; 2],
    brlens: [f64; 2],
    four: usize,
) -> Eight {
    let (a, b) = (ends[0].four(matrix, four), ends[1].four(matrix, four));
    // Trick 3.
    let at_tips = [ends[0].at_tip(matrix), ends[1].at_tip(matrix)];
    let [of_a, of_b] = at_tips.map(|tip| if tip.is_some() { 0.0 } else { 1.0 });
    let mut grown = [[0.0; 2 * RATES]; STATES];
    for k in 0..STATES {
        let e = exponentials(matrix.eigenvals[k], rates, brlens);
        for l in 0..RATES {
            grown[k][l] = a[k][l].mul_add(e[l], of_a * a[k][l]);
            grown[k][RATES + l] = b[k][l].mul_add(e[RATES + l], of_b * b[k][l]);
        }
    }
    let mut out = [[0.0; 2 * RATES]; STATES];
    for (end, tip) in at_tips.iter().enumerate() {
        if let Some(tip) = tip {
            for i in 0..STATES {
                for l in 0..RATES {
                    out[i][end * RATES + l] = tip[i];
                }
            }
        }
    }
    // Trick 2.
    if W == 8 {
        for first in (0..STATES).step_by(10) {
            sums::<10>(matrix.vectors, &grown, first, &mut out);
        }
    } else {
        for first in (0..STATES).step_by(5) {
            sums::<5>(matrix.vectors, &grown, first, &mut out);
        }
    }
    out
}

/// Adds T rows of U·x.
#[inline(always)]
fn sums<const T: usize>(u: &[[f64; STATES]; STATES], x: &Eight, first: usize, out: &mut Eight) {
    let mut sums = [[0.0; 2 * RATES]; T];
    sums.copy_from_slice(&out[first..first + T]);
    for k in 0..STATES {
        for j in 0..T {
            for l in 0..2 * RATES {
                sums[j][l] = u[first + j][k].mul_add(x[k][l], sums[j][l]);
            }
        }
    }
    for j in 0..T {
        for l in 0..2 * RATES {
            out[first + j][l] = if sums[j][l] > 0.0 { sums[j][l] } else { 0.0 };
        }
    }
}

/// Uᵀ·y.
#[inline(always)]
pub fn to_eigen(u: &[[f64; STATES]; STATES], y: &Four) -> Four {
    const T: usize = 10;
    let mut out = [[0.0; RATES]; STATES];
    for first in (0..STATES).step_by(T) {
        let mut sums = [[0.0; RATES]; T];
        for i in 0..STATES {
            for j in 0..T {
                for l in 0..RATES {
                    sums[j][l] = u[i][first + j].mul_add(y[i][l], sums[j][l]);
                }
            }
        }
        out[first..first + T].copy_from_slice(&sums);
    }
    out
}
