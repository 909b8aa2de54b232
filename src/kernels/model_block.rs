//! Model blocks: a partition's model in the form that kernels read, in the layout of `layout.rs`.

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
