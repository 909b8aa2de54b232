//! The data of one partition in the form that engines read: tip codes, pattern weights and model.

use crate::alignment::{PatternFreqs, Patterns};
use crate::alphabet::Code;
use crate::model::{Ascertainment, EigenModel, Model, RateCats};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Patterns of one partition over the taxa that have data in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartitionData {
    /// Codes, `[tip][pattern]`, for the tips of the partition's restricted tree.
    pub tip_codes: Vec<Vec<Code>>,
    /// Weight of each pattern.
    pub weights: Vec<f64>,
    /// Bitmask of compatible states, by code.
    pub code_masks: Vec<u64>,
    /// The code that is compatible with every state.
    pub undetermined: Code,
    /// Number of states of the alphabet.
    pub num_states: usize,
    /// Number of rate categories, the same in all models of this partition.
    pub num_rates: usize,
    /// Correction of ascertainment bias, if any. The excluded sites are not among the patterns above.
    pub ascertainment: Option<Ascertainment>,
    /// State frequencies of each pattern, instead of those of the model.
    pub pattern_freqs: Option<PatternFreqs>,
}

impl PartitionData {
    /// Number of patterns.
    pub fn num_patterns(&self) -> usize {
        self.weights.len()
    }

    /// Number of taxa with data.
    pub fn num_tips(&self) -> usize {
        self.tip_codes.len()
    }

    /// The patterns of these numbers.
    pub fn of_patterns(&self, patterns: Range<usize>) -> Self {
        PartitionData {
            tip_codes: self
                .tip_codes
                .iter()
                .map(|codes| codes[patterns.clone()].to_vec())
                .collect(),
            weights: self.weights[patterns.clone()].to_vec(),
            code_masks: self.code_masks.clone(),
            ascertainment: self.ascertainment.clone(),
            pattern_freqs: self.pattern_freqs.as_ref().map(|freqs| freqs.of_range(patterns)),
            ..*self
        }
    }

    /// True if engines compute derivatives in its P-matrices: it has neither a correction of ascertainment bias nor state frequencies of
    /// each pattern.
    pub fn has_gradients(&self) -> bool {
        self.ascertainment.is_none() && self.pattern_freqs.is_none()
    }

    /// Bitmask of the states that are compatible with the codes of all tips at a pattern.
    pub fn shared_states(&self, pattern: usize) -> u64 {
        let all = u64::MAX >> (64 - self.num_states);
        self.tip_codes
            .iter()
            .fold(all, |states, codes| states & self.code_masks[codes[pattern] as usize])
    }
}

/// Model of one partition in the form an engine reads: eigensystems and rate categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartitionModel {
    /// Rate matrices with their frequencies: a single one, except in mixtures such as LG4X and LG+C20.
    pub matrices: Vec<EigenModel>,
    /// Index of each category's rate matrix.
    pub matrix_of_rate: Vec<usize>,
    /// Equilibrium frequencies, averaged over the categories.
    pub freqs: Vec<f64>,
    /// Rate of each category.
    pub rates: Vec<f64>,
    /// Weight of each category; they sum to 1 − pinv.
    pub rate_weights: Vec<f64>,
    /// Proportion of invariant sites.
    pub pinv: f64,
    /// Exchange rates, for patterns that have frequencies of their own; otherwise none.
    pub exchange: Vec<f64>,
}

impl PartitionData {
    /// Tip codes and weights of site patterns, for this model or others with the same number of rate
    /// categories and the same correction of ascertainment bias.
    pub fn new(patterns: &Patterns, model: &Model) -> Self {
        PartitionData {
            tip_codes: patterns.codes.clone(),
            weights: patterns.weights.iter().map(|&w| f64::from(w)).collect(),
            code_masks: patterns.code_masks.clone(),
            undetermined: patterns.data_type.undetermined(),
            num_states: patterns.data_type.num_states(),
            num_rates: model.rate_cats().rates.len(),
            ascertainment: model.ascertainment.clone(),
            pattern_freqs: patterns.freqs.clone(),
        }
    }
}

impl PartitionModel {
    /// The eigensystems and rate categories of a model.
    pub fn new(model: &Model) -> Self {
        Self::from_parts(model.eigen_models(), model.rate_cats())
    }

    /// The same with exchange rates, for patterns that have frequencies of their own.
    ///
    /// # Panics
    /// If the model is a mixture.
    pub fn of_site_frequencies(model: &Model) -> Self {
        assert!(model.mixture.is_none(), "a pattern with frequencies has no classes");
        PartitionModel { exchange: model.exchange_rates().into_owned(), ..Self::new(model) }
    }

    /// A model of the given matrices.
    ///
    /// # Panics
    /// If a category has a matrix that is not among them.
    pub fn from_parts(matrices: Vec<EigenModel>, cats: RateCats) -> Self {
        assert!(cats.matrices.iter().all(|&matrix| matrix < matrices.len()), "a missing matrix");
        let freqs = match &matrices[..] {
            [only] => only.freqs.clone(),
            several => {
                let total: f64 = cats.weights.iter().sum();
                let mean = |state| {
                    let of =
                        |(&matrix, weight): (&usize, &f64)| weight * several[matrix].freqs[state];
                    cats.matrices.iter().zip(&cats.weights).map(of).sum::<f64>() / total
                };
                (0..several[0].num_states).map(mean).collect()
            }
        };
        PartitionModel {
            matrices,
            matrix_of_rate: cats.matrices,
            freqs,
            rates: cats.rates,
            rate_weights: cats.weights,
            pinv: cats.pinv,
            exchange: Vec::new(),
        }
    }

    /// The rate matrix of a category.
    pub fn matrix(&self, rate: usize) -> &EigenModel {
        &self.matrices[self.matrix_of_rate[rate]]
    }
}
