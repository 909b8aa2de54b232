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
//! 1. Nothing is shared by patterns, so the numbers of a register are those of four rates, and each number of U is loaded once for both
//!    children. A row is `[four rates][state][rate]`; rates that are missing repeat the last one with weight 0.
//! 2. A product has ten sums in progress, to hide the latency of the multiply-add. Each sum is a single chain, so that all instruction sets
//!    give the same bits. Registers of eight numbers are not faster: to fill them takes as long as they save.
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

/// exp(λ_k·x) − 1 for these x, such as products of rates and lengths, of all eigenvalues.
#[inline(always)]
pub fn exponentials<const N: usize>(eigenvals: &[f64; STATES], x: &[f64; N]) -> [[f64; N]; STATES] {
    let mut out = [[0.0; N]; STATES];
    for k in 0..STATES {
        for l in 0..N {
            out[k][l] = eigenvals[k] * x[l];
        }
    }
    for sixteen in out.as_flattened_mut().as_chunks_mut::<16>().0 {
        *sixteen = exp_minus_one(sixteen);
    }
    out
}

/// D^(1/2)·P(t)·x of both children for four rates. What is negative after rounding is 0.
#[inline(always)]
pub fn through_branches(
    matrix: PatternMatrix<'_>,
    rates: &[f64; RATES],
    ends: [PatternEnd<'_>; 2],
    brlens: [f64; 2],
    four: usize,
) -> [Four; 2] {
    let grown = [
        grown(matrix, rates, ends[0], brlens[0], four),
        grown(matrix, rates, ends[1], brlens[1], four),
    ];
    // Trick 3.
    let at_tips = [ends[0].at_tip(matrix), ends[1].at_tip(matrix)];
    let mut out = [[[0.0; RATES]; STATES]; 2];
    for (out, tip) in out.iter_mut().zip(&at_tips) {
        if let Some(tip) = tip {
            for i in 0..STATES {
                out[i] = [tip[i]; RATES];
            }
        }
    }
    // Trick 2.
    const T: usize = 5;
    for first in (0..STATES).step_by(T) {
        let mut sums = [[[0.0; RATES]; 2]; T];
        for j in 0..T {
            sums[j] = [out[0][first + j], out[1][first + j]];
        }
        let [a, b] = &grown;
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            for (j, [of_a, of_b]) in sums.iter_mut().enumerate() {
                let u = matrix.vectors[first + j][k];
                for l in 0..RATES {
                    of_a[l] = u.mul_add(a[l], of_a[l]);
                    of_b[l] = u.mul_add(b[l], of_b[l]);
                }
            }
        }
        for j in 0..T {
            for end in 0..2 {
                for l in 0..RATES {
                    let sum = sums[j][end][l];
                    out[end][first + j][l] = if sum > 0.0 { sum } else { 0.0 };
                }
            }
        }
    }
    out
}

/// exp(Λrt)·w of a CLV, and (exp(Λrt) − 1)·w of a tip (trick 3).
#[inline(always)]
fn grown(
    matrix: PatternMatrix<'_>,
    rates: &[f64; RATES],
    end: PatternEnd<'_>,
    brlen: f64,
    four: usize,
) -> Four {
    let mut lengths = [0.0; RATES];
    for l in 0..RATES {
        lengths[l] = rates[l] * brlen;
    }
    let e = exponentials(matrix.eigenvals, &lengths);
    let w = end.four(matrix, four);
    let one = if matches!(end, PatternEnd::Inner { .. }) { 1.0 } else { 0.0 };
    let mut out = [[0.0; RATES]; STATES];
    for k in 0..STATES {
        for l in 0..RATES {
            out[k][l] = w[k][l].mul_add(e[k][l], one * w[k][l]);
        }
    }
    out
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
