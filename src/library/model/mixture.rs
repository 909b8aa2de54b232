//! [`Mixture`]: classes of sites with rate matrices of their own.
//!
//! ```text
//! likelihood of a site = sum over classes k, rate categories c of  w[k] v[c] L(Q[k], rate[k] r[c])
//! ```
//!
//! Profile mixtures (`LG+C20`) have classes that differ in their frequencies. In LG4M and LG4X, a class is a category of
//! rates over sites, and the sum is over the classes alone.

use super::modes::WeightsMode;
use super::profiles::ProfileMixture;
use super::protein::ProteinMixture;

/// Classes of sites, each with a rate matrix of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Its name: `LG4X`, `C20`.
    pub name: &'static str,
    /// The classes.
    pub classes: Vec<SiteClass>,
    /// Their shares of the sites.
    pub weights: ClassWeights,
}

/// A class of sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteClass {
    /// Exchange rates, on any scale; `None` for those of the model.
    pub exchange: Option<&'static [f64]>,
    /// Frequencies; `None` for those of the model.
    pub freqs: Option<&'static [f64]>,
}

/// Shares of the sites of classes.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassWeights {
    /// There is one class for each category of rates over sites, which has the weight of the category.
    OfRates,
    /// Each class has all rates over sites.
    Own {
        /// Weights of the classes; they sum to 1.
        weights: Vec<f64>,
        /// Where they come from.
        mode: WeightsMode,
    },
}

impl Mixture {
    /// A class for each category of rates over sites.
    pub(super) fn of_rates(mixture: &ProteinMixture) -> Self {
        let classes = mixture.components.iter();
        let classes = classes
            .map(|&matrix| SiteClass { exchange: Some(&matrix.rates), freqs: Some(&matrix.freqs) });
        Mixture { name: mixture.name, classes: classes.collect(), weights: ClassWeights::OfRates }
    }

    /// A class for each profile, with published weights.
    pub(super) fn of_profiles(mixture: &'static ProfileMixture) -> Self {
        let classes = mixture.profiles.iter();
        let classes = classes.map(|profile| SiteClass { exchange: None, freqs: Some(profile) });
        let mut weights = mixture.weights.to_vec();
        normalise_weights(&mut weights);
        let weights = ClassWeights::Own { weights, mode: WeightsMode::Table };
        Mixture { name: mixture.name, classes: classes.collect(), weights }
    }

    /// True if its classes take the exchange rates of a matrix, after which it is named in model strings (`+C20`).
    pub(super) fn is_of_frequencies(&self) -> bool {
        self.classes.iter().all(|class| class.exchange.is_none())
    }

    /// Adds a class with the exchange rates and frequencies of the model, as likely as the mean of the others, and
    /// estimates the weights.
    pub(super) fn add_class_of_model(&mut self) {
        self.classes.push(SiteClass { exchange: None, freqs: None });
        if let ClassWeights::Own { weights, mode } = &mut self.weights {
            weights.push(1.0 / weights.len() as f64);
            normalise_weights(weights);
            *mode = WeightsMode::Optimized;
        }
    }

    /// Gives all classes the frequencies of the model.
    pub(super) fn take_freqs_of_model(&mut self) {
        self.classes.iter_mut().for_each(|class| class.freqs = None);
    }

    /// The weights, if they are not those of rates over sites.
    pub fn own_weights(&self) -> Option<&[f64]> {
        match &self.weights {
            ClassWeights::OfRates => None,
            ClassWeights::Own { weights, .. } => Some(weights),
        }
    }

    /// Sets the weights, if they are not those of rates over sites.
    pub(super) fn set_own_weights(&mut self, values: &[f64]) {
        if let ClassWeights::Own { weights, .. } = &mut self.weights {
            weights.copy_from_slice(values);
        }
    }

    /// The weights that are estimated; none if they are given.
    pub(super) fn free_weights(&self) -> &[f64] {
        match &self.weights {
            ClassWeights::Own { weights, mode: WeightsMode::Optimized } => weights,
            _ => &[],
        }
    }
}

/// Makes weights sum to 1. Those that already do keep their bits.
pub(super) fn normalise_weights(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    if (sum - 1.0).abs() > 1e-12 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}
