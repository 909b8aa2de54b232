//! What an engine is given of one gene: its tip codes and weights, and its model.

use crate::alignment::Patterns;
use crate::alphabet::Code;
use crate::model::{Ascertainment, EigenModel, Model, RateCats};

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
    /// How sites that were left out are made up for, if they were. They are none of the patterns above.
    pub ascertainment: Option<Ascertainment>,
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

/// Model of one gene in the form an engine reads: eigensystems and rate categories.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneModel {
    /// Rate matrices with their frequencies: one, but for mixtures such as LG4X.
    pub matrices: Vec<EigenModel>,
    /// Which of them each category evolves by.
    pub matrix_of_rate: Vec<usize>,
    /// Equilibrium frequencies over all categories.
    pub freqs: Vec<f64>,
    /// Rate of each category.
    pub rates: Vec<f64>,
    /// Weight of each category; they sum to 1 − pinv.
    pub rate_weights: Vec<f64>,
    /// Proportion of invariant sites.
    pub pinv: f64,
}

impl GeneData {
    /// Tip codes and weights of compressed columns, to be computed under this model or others with as
    /// many rate categories and the same correction of ascertainment bias.
    pub fn new(patterns: &Patterns, model: &Model) -> Self {
        GeneData {
            tip_codes: patterns.codes.clone(),
            weights: patterns.weights.iter().map(|&w| f64::from(w)).collect(),
            code_masks: patterns.code_masks.clone(),
            undetermined: patterns.data_type.undetermined(),
            num_states: patterns.data_type.num_states(),
            num_rates: model.rate_cats().rates.len(),
            ascertainment: model.ascertainment.clone(),
        }
    }
}

impl GeneModel {
    /// The eigensystems and rate categories of a model.
    pub fn new(model: &Model) -> Self {
        Self::from_parts(model.eigen_models(), model.rate_cats())
    }

    /// A model of these matrices: one for all categories, or one for each.
    ///
    /// # Panics
    /// If there is neither one matrix nor one per category.
    pub fn from_parts(matrices: Vec<EigenModel>, cats: RateCats) -> Self {
        let num_rates = cats.rates.len();
        assert!(matrices.len() == 1 || matrices.len() == num_rates, "matrices of categories");
        let matrix_of_rate: Vec<usize> = (0..num_rates).map(|r| r % matrices.len()).collect();
        let freqs = match &matrices[..] {
            [only] => only.freqs.clone(),
            several => {
                let total: f64 = cats.weights.iter().sum();
                let mean = |state| {
                    let of = |(matrix, weight): (&EigenModel, &f64)| weight * matrix.freqs[state];
                    several.iter().zip(&cats.weights).map(of).sum::<f64>() / total
                };
                (0..several[0].num_states).map(mean).collect()
            }
        };
        GeneModel {
            matrices,
            matrix_of_rate,
            freqs,
            rates: cats.rates,
            rate_weights: cats.weights,
            pinv: cats.pinv,
        }
    }

    /// The matrix of a category.
    pub fn matrix(&self, rate: usize) -> &EigenModel {
        &self.matrices[self.matrix_of_rate[rate]]
    }
}
