//! P-matrices of recent branches. In a scan of regraft positions, the same branches come again and again: both halves of
//! a branch that is split have one length, and the branches around a subtree are those around the next one.
//!
//! Only the length and the model decide about a P-matrix, so one that is found here has the bits of a new one.

use mlsearch_kernels::PartitionKernels;

/// Number of matrices that are kept, a power of two: with 16, searches of 31 and 55 proteins take 1.03 and 1.05 times as long.
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
        PartitionKernels { kernels, model }: PartitionKernels,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::{
        ModelBlock, PartitionData, PartitionModel, new_block, set_model,
    };
    use crate::model::Model;
    use mlsearch_kernels::all_kernels;

    fn block(model: &str, serial: u64) -> ModelBlock {
        let data = PartitionData {
            tip_codes: vec![vec![1, 2, 4]; 4],
            weights: vec![1.0; 3],
            code_masks: (0..16).collect(),
            undetermined: 15,
            num_states: 4,
            num_rates: 4,
            ascertainment: None,
            pattern_freqs: None,
        };
        let mut block = new_block(&data);
        set_model(&mut block, &PartitionModel::new(&Model::parse(model).unwrap()));
        block.serial = serial;
        block
    }

    /// More lengths than matrices are kept, so that many share a place, also those of the two ends.
    #[test]
    fn both_ends_have_the_matrices_of_their_lengths_and_models() {
        let kernels = all_kernels().remove(0);
        let models = [block("K80{2}+G4{0.5}", 1), block("K80{5}+G4{0.5}", 2)];
        let mut kept = Pmatrices::new();
        for i in 0..4000 {
            let model = &models[i / 5 % 2];
            let with = PartitionKernels { kernels: kernels.as_ref(), model };
            let brlens = [i * i % 151, i * 7 % 113].map(|number| 1e-3 * (number + 1) as f64);
            for (end, brlen) in brlens.into_iter().enumerate() {
                kept.prepare(with, end, brlen);
            }
            for (end, brlen) in brlens.into_iter().enumerate() {
                let mut new = vec![0.0; model.dims.pmatrix()];
                kernels.update_pmatrix(model, brlen, &mut new);
                assert_eq!(kept.of_end(end), new, "end {end}, length {brlen}");
            }
        }
    }
}
