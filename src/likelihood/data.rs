//! What an engine is given of one gene: its tip codes and weights, and its model.

use crate::alignment::Patterns;
use crate::alphabet::Code;
use crate::model::Model;

/// Patterns of one gene over the taxa that have data in it.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneData {
    /// Code of each pattern, per tip of the gene's restricted tree.
    pub tip_codes: Vec<Vec<Code>>,
    /// Weight of each pattern.
    pub weights: Vec<f64>,
    /// Code → bitmask of compatible states.
    pub code_masks: Vec<u64>,
    /// The code that is compatible with every state.
    pub undetermined: Code,
    /// States of the alphabet.
    pub num_states: usize,
    /// Rate categories of every model this gene will have.
    pub num_rates: usize,
}

impl GeneData {
    /// Number of patterns.
    pub fn num_patterns(&self) -> usize {
        self.weights.len()
    }

    /// Number of taxa with data.
    pub fn num_tips(&self) -> usize {
        self.tip_codes.len()
    }

    /// Bitmask of the states that all tips share at a pattern.
    pub fn shared_states(&self, pattern: usize) -> u64 {
        let all = u64::MAX >> (64 - self.num_states);
        self.tip_codes
            .iter()
            .fold(all, |states, codes| states & self.code_masks[codes[pattern] as usize])
    }
}

/// Model of one gene in the form an engine reads: eigensystem and rate categories.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneModel {
    /// Eigenvalues of the normalised rate matrix.
    pub eigenvals: Vec<f64>,
    /// V, row-major `[state][eigen]`.
    pub eigenvecs: Vec<f64>,
    /// V⁻¹, row-major `[eigen][state]`.
    pub inv_eigenvecs: Vec<f64>,
    /// Equilibrium frequencies.
    pub freqs: Vec<f64>,
    /// Rate of each category.
    pub rates: Vec<f64>,
    /// Weight of each category; they sum to 1 − pinv.
    pub rate_weights: Vec<f64>,
    /// Proportion of invariant sites.
    pub pinv: f64,
}

impl GeneData {
    /// Tip codes and weights of compressed columns. `num_rates` is that of the gene's model.
    pub fn new(patterns: &Patterns, num_rates: usize) -> Self {
        GeneData {
            tip_codes: patterns.codes.clone(),
            weights: patterns.weights.iter().map(|&w| f64::from(w)).collect(),
            code_masks: patterns.code_masks.clone(),
            undetermined: patterns.data_type.undetermined(),
            num_states: patterns.data_type.num_states(),
            num_rates,
        }
    }
}

impl GeneModel {
    /// The eigensystem and rate categories of a model.
    pub fn new(model: &Model) -> Self {
        let eigen = model.eigen_model();
        let rates = model.rate_cats();
        GeneModel {
            eigenvals: eigen.eigenvals,
            eigenvecs: eigen.eigenvecs,
            inv_eigenvecs: eigen.inv_eigenvecs,
            freqs: eigen.freqs,
            rates: rates.rates,
            rate_weights: rates.weights,
            pinv: rates.pinv,
        }
    }
}
