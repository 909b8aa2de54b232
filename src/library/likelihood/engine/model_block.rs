//! Model blocks: a partition's model in the form that kernels read, in the layout of `layout`.

use super::data::{PartitionData, PartitionModel};
use mlsearch_kernels::ModelBlock;
use mlsearch_kernels::layout::Dims;

/// The block of a partition that has no model yet: its sizes, and the tables that depend on tip codes alone.
pub fn new_block(data: &PartitionData) -> ModelBlock {
    let num_codes = data.code_masks.len();
    let dims = Dims::new(data.num_states, data.num_rates, num_codes, data.num_tips());
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
        code_states,
        sumtable_left_tip: vec![0.0; dims.tip_table()],
        sumtable_right_tip: vec![0.0; dims.tip_table()],
        indicator,
        ..ModelBlock::default()
    }
}

/// Sets the model, and computes the tables for sumtables from it.
///
/// # Panics
/// If its number of rate categories differs from that of the block, or if it has more states.
pub fn set_model(block: &mut ModelBlock, model: &PartitionModel) {
    let Dims { num_states: n, num_rates, .. } = block.dims;
    let states = model.freqs.len();
    assert_eq!(model.rates.len(), num_rates, "a partition's number of rate categories is fixed");
    assert!(states <= n, "a partition's number of states is fixed");
    block.matrix_of_rate.clone_from(&model.matrix_of_rate);
    block.rates.clone_from(&model.rates);
    block.rate_weights.clone_from(&model.rate_weights);
    // All entries of padding states are 0.
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
    let ModelBlock { dims, code_states, .. } = &*block;
    let left = tip_table(dims, code_states, &block.sumtable_left);
    let right = tip_table(dims, code_states, &block.sumtable_right);
    (block.sumtable_left_tip, block.sumtable_right_tip) = (left, right);
}

/// For each code and rate category, the sum of the matrix columns of the states compatible with the code, in
/// the order of states.
fn tip_table(dims: &Dims, code_states: &[Vec<u8>], matrix: &[f64]) -> Vec<f64> {
    let n = dims.num_states;
    let mut table = vec![0.0; dims.tip_table()];
    for (states, rows) in code_states.iter().zip(table.chunks_exact_mut(dims.row())) {
        for (r, row) in rows.chunks_exact_mut(n).enumerate() {
            for &state in states {
                let column = &matrix[(r * n + state as usize) * n..][..n];
                row.iter_mut().zip(column).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    table
}
