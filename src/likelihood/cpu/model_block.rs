//! Model blocks: a gene's model as kernels read it.

use super::super::data::{GeneData, GeneModel};
use super::super::layout::Dims;
use super::body::pmatrix::ModelBlock;
use super::kernels::Kernels;

/// The model block of a gene before it has a model: sizes, and what depends on the tip codes alone.
pub fn empty_model(data: &GeneData) -> ModelBlock {
    let dims = Dims::new(data.num_states, data.num_rates, data.code_masks.len(), data.num_tips());
    let states_of =
        |mask: &u64| (0..data.num_states as u8).filter(|s| mask >> s & 1 == 1).collect();
    let code_states: Vec<Vec<u8>> = data.code_masks.iter().map(states_of).collect();
    let mut indicator = vec![0.0; dims.tip_table()];
    for rate in 0..dims.num_rates {
        for (code, states) in code_states.iter().enumerate() {
            for &state in states {
                indicator[code * dims.row() + rate * dims.num_states + state as usize] = 1.0;
            }
        }
    }
    ModelBlock {
        dims,
        matrix_of_rate: Vec::new(),
        eigenvals: Vec::new(),
        eigenvec_columns: Vec::new(),
        inv_eigenvec_columns: Vec::new(),
        rates: Vec::new(),
        rate_weights: Vec::new(),
        weighted_freqs: Vec::new(),
        code_states,
        sumtable_left: Vec::new(),
        sumtable_right: Vec::new(),
        sumtable_left_tip: vec![0.0; dims.tip_table()],
        sumtable_right_tip: vec![0.0; dims.tip_table()],
        indicator,
    }
}

/// Takes a model over into a gene's block, and makes the tables of sumtables from it.
///
/// # Panics
/// If its number of rates is not the block's, or it has more states.
pub fn fill_model(block: &mut ModelBlock, model: &GeneModel, kernels: &dyn Kernels) {
    let Dims { num_states: n, num_rates, .. } = block.dims;
    let states = model.freqs.len();
    assert_eq!(model.rates.len(), num_rates, "a gene's number of rates is fixed");
    assert!(states <= n, "a gene's number of states is fixed");
    block.matrix_of_rate.clone_from(&model.matrix_of_rate);
    block.rates.clone_from(&model.rates);
    block.rate_weights.clone_from(&model.rate_weights);
    // Whatever belongs to the states that pad the alphabet is 0.
    let num_matrices = model.matrices.len();
    block.eigenvals = vec![0.0; num_matrices * n];
    block.eigenvec_columns = vec![0.0; num_matrices * n * n];
    block.inv_eigenvec_columns = vec![0.0; num_matrices * n * n];
    for (m, matrix) in model.matrices.iter().enumerate() {
        for k in 0..states {
            block.eigenvals[m * n + k] = matrix.eigenvals[k];
            for i in 0..states {
                let at = (m * n + k) * n + i;
                block.eigenvec_columns[at] = matrix.eigenvecs[i * states + k];
                let column = (m * n + i) * n + k;
                block.inv_eigenvec_columns[column] = matrix.inv_eigenvecs[k * states + i];
            }
        }
    }
    block.weighted_freqs = vec![0.0; num_rates * n];
    block.sumtable_left = vec![0.0; block.dims.pmatrix()];
    block.sumtable_right = vec![0.0; block.dims.pmatrix()];
    for (r, weight) in model.rate_weights.iter().enumerate() {
        let matrix = model.matrix(r);
        for i in 0..states {
            block.weighted_freqs[r * n + i] = weight * matrix.freqs[i];
            for k in 0..states {
                let at = (r * n + i) * n + k;
                let eigenvec = matrix.eigenvecs[i * states + k];
                block.sumtable_left[at] = weight * matrix.freqs[i] * eigenvec;
                block.sumtable_right[at] = matrix.inv_eigenvecs[k * states + i];
            }
        }
    }
    let mut table = vec![0.0; block.dims.tip_table()];
    kernels.update_tip_table(block, &block.sumtable_left, &mut table);
    std::mem::swap(&mut block.sumtable_left_tip, &mut table);
    kernels.update_tip_table(block, &block.sumtable_right, &mut table);
    std::mem::swap(&mut block.sumtable_right_tip, &mut table);
}
