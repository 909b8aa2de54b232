//! P-matrices of recent branches. In a scan of regraft positions, the same branches come again and again: both halves of
//! a branch that is split have one length, and the branches around a subtree are those around the next one.
//!
//! Only the length and the model decide about a P-matrix, so one that is found here has the bits of a new one.

use super::kernels::GeneKernels;

/// Number of matrices that are kept, a power of two: measured on 31 and 55 proteins.
const KEPT: usize = 64;

/// The matrices of the two ends of an edge, and other recent ones.
#[derive(Debug)]
pub(super) struct Pmatrices {
    recent: Vec<Recent>,
    /// By end, the number of its matrix.
    of_end: [usize; 2],
}

#[derive(Debug, Default)]
struct Recent {
    /// Number of the model, which is never 0 for one that was set, and the bits of the branch length.
    key: (u64, u64),
    /// `[rate][column][row]`
    pmatrix: Vec<f64>,
}

impl Pmatrices {
    pub(super) fn new() -> Self {
        Pmatrices { recent: (0..KEPT).map(|_| Recent::default()).collect(), of_end: [0, 1] }
    }

    /// Makes `P(brlen)` the matrix of an end.
    pub(super) fn prepare(
        &mut self,
        GeneKernels { kernels, model }: GeneKernels,
        end: usize,
        brlen: f64,
    ) {
        let key = (model.serial, brlen.to_bits());
        let mut at = place(key);
        // The matrix of the other end is still needed.
        if at == self.of_end[1 - end] && self.recent[at].key != key {
            at = (at + 1) % KEPT;
        }
        let recent = &mut self.recent[at];
        if recent.key != key {
            recent.pmatrix.resize(model.dims.pmatrix(), 0.0);
            kernels.update_pmatrix(model, brlen, &mut recent.pmatrix);
            recent.key = key;
        }
        self.of_end[end] = at;
    }

    /// The matrix of an end.
    pub(super) fn of_end(&self, end: usize) -> &[f64] {
        &self.recent[self.of_end[end]].pmatrix
    }
}

/// Where a matrix is kept (multiplicative hashing, Knuth 1998, TAOCP 3, 6.4).
fn place((serial, brlen): (u64, u64)) -> usize {
    let mixed = (brlen ^ serial.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - KEPT.ilog2())) as usize
}
