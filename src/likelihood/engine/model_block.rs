//! Model blocks: a partition's model in the form that kernels read, in the layout of `layout.rs`.

use super::data::{PartitionData, PartitionModel};
use super::layout::Dims;

/// Model of one partition in the form that kernels read. P(t) = V·exp(Λ·r·t)·V⁻¹ for rate r.
#[derive(Debug, Clone, Default)]
pub struct ModelBlock {
    /// Sizes.
    pub dims: Dims,
    /// Different for all models that the partitions of an engine have had: what was computed from it is known by this
    /// number.
    pub serial: u64,
    /// Index of each category's rate matrix.
    pub matrix_of_rate: Vec<usize>,
    /// Eigenvalues of the normalised rate matrices, `[matrix][eigen]`.
    pub eigenvals: Vec<f64>,
    /// Right eigenvectors V, `[matrix][eigen][state]` (that is, columns of V).
    pub eigenvec_columns: Vec<f64>,
    /// Columns of V⁻¹, `[matrix][state][eigen]`.
    pub inv_eigenvec_columns: Vec<f64>,
    /// Rate of each category.
    pub rates: Vec<f64>,
    /// Weight of each category.
    pub rate_weights: Vec<f64>,
    /// rate_weight · freq, `[rate][state]`.
    pub weighted_freqs: Vec<f64>,
    /// States compatible with each tip code, as lists.
    pub code_states: Vec<Vec<u8>>,
    /// Matrix that is applied to the CLV at an edge's first end to make the sumtable: rate weight ·
    /// frequency · V, in the shape of a P-matrix.
    pub sumtable_left: Vec<f64>,
    /// The same for the second end: V⁻¹, in the shape of a P-matrix.
    pub sumtable_right: Vec<f64>,
    /// Tip table of `sumtable_left`.
    pub sumtable_left_tip: Vec<f64>,
    /// Tip table of `sumtable_right`.
    pub sumtable_right_tip: Vec<f64>,
    /// 1 for each state compatible with a tip code, otherwise 0; `[code][rate][state]`: the tip's CLV.
    pub indicator: Vec<f64>,
}

impl ModelBlock {
    /// The block of a partition that has no model yet: its sizes, and the tables that depend on tip codes alone.
    pub fn new(data: &PartitionData) -> Self {
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
    pub fn set(&mut self, model: &PartitionModel) {
        let Dims { num_states: n, num_rates, .. } = self.dims;
        let states = model.freqs.len();
        assert_eq!(
            model.rates.len(),
            num_rates,
            "a partition's number of rate categories is fixed"
        );
        assert!(states <= n, "a partition's number of states is fixed");
        self.matrix_of_rate.clone_from(&model.matrix_of_rate);
        self.rates.clone_from(&model.rates);
        self.rate_weights.clone_from(&model.rate_weights);
        // All entries of padding states are 0.
        let num_matrices = model.matrices.len();
        self.eigenvals = vec![0.0; num_matrices * n];
        self.eigenvec_columns = vec![0.0; num_matrices * n * n];
        self.inv_eigenvec_columns = vec![0.0; num_matrices * n * n];
        for (m, matrix) in model.matrices.iter().enumerate() {
            for k in 0..states {
                self.eigenvals[m * n + k] = matrix.eigenvals[k];
                for i in 0..states {
                    let at = (m * n + k) * n + i;
                    self.eigenvec_columns[at] = matrix.eigenvecs[i * states + k];
                    let column = (m * n + i) * n + k;
                    self.inv_eigenvec_columns[column] = matrix.inv_eigenvecs[k * states + i];
                }
            }
        }
        self.weighted_freqs = vec![0.0; num_rates * n];
        self.sumtable_left = vec![0.0; self.dims.pmatrix()];
        self.sumtable_right = vec![0.0; self.dims.pmatrix()];
        for (r, weight) in model.rate_weights.iter().enumerate() {
            let matrix = model.matrix(r);
            for i in 0..states {
                self.weighted_freqs[r * n + i] = weight * matrix.freqs[i];
                for k in 0..states {
                    let at = (r * n + i) * n + k;
                    let eigenvec = matrix.eigenvecs[i * states + k];
                    self.sumtable_left[at] = weight * matrix.freqs[i] * eigenvec;
                    self.sumtable_right[at] = matrix.inv_eigenvecs[k * states + i];
                }
            }
        }
        let ModelBlock { dims, code_states, .. } = &*self;
        let left = tip_table(dims, code_states, &self.sumtable_left);
        let right = tip_table(dims, code_states, &self.sumtable_right);
        (self.sumtable_left_tip, self.sumtable_right_tip) = (left, right);
    }
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
