//! [`Mixture`]: classes of sites with rate matrices of their own.
//!
//! ```text
//! likelihood of a site = sum over classes k, rate categories c of  w[k] v[c] L(Q[k], R[k] r[c])
//! R[k] = rate[k] / sum over j of  w[j] rate[j]
//! ```
//!
//! Profile mixtures (`LG+C20`) have classes that differ in their frequencies, EX2 and its kin in their matrices and rates. In LG4M and LG4X, a class is a category of
//! rates over sites, and the sum is over the classes alone.

use super::matrix_mixtures::MatrixMixture;
use super::modes::WeightsMode;
use super::profiles::ProfileMixture;
use super::protein::{ProteinMatrix, ProteinMixture};
use super::qmatrix::normalise_freqs;
use std::borrow::Cow;

/// Classes of sites, each with a rate matrix of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Its name: `LG4X`, `C20`, `EX2`; `FMIX` of given profiles, `MIX` of named matrices.
    pub name: &'static str,
    /// The classes.
    pub classes: Vec<SiteClass>,
    /// Their shares of the sites.
    pub weights: ClassWeights,
    /// Mean of the rates of the classes, by which they are divided: exactly 1 where they are equal.
    mean_rate: f64,
}

/// Name of a mixture of given profiles.
pub(super) const GIVEN_PROFILES: &str = "FMIX";
/// Name of a mixture of named matrices.
pub(super) const NAMED_MATRICES: &str = "MIX";

/// A class of sites.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteClass {
    /// Exchange rates, on any scale; `None` for those of the model.
    pub exchange: Option<&'static [f64]>,
    /// Frequencies; `None` for those of the model.
    pub freqs: Option<Cow<'static, [f64]>>,
    /// Rate, relative to that of other classes.
    pub rate: f64,
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

impl SiteClass {
    fn of_matrix(matrix: &'static ProteinMatrix, rate: f64) -> Self {
        let freqs = Some(Cow::Borrowed(&matrix.freqs[..]));
        SiteClass { exchange: Some(&matrix.rates), freqs, rate }
    }

    fn of_freqs(freqs: Cow<'static, [f64]>) -> Self {
        SiteClass { exchange: None, freqs: Some(freqs), rate: 1.0 }
    }
}

impl Mixture {
    /// A class for each category of rates over sites.
    pub(super) fn of_rates(mixture: &ProteinMixture) -> Self {
        let classes = mixture.components.iter();
        let classes = classes.map(|&matrix| SiteClass::of_matrix(matrix, 1.0));
        Mixture::new(mixture.name, classes.collect(), ClassWeights::OfRates)
    }

    /// A class for each profile, with published weights.
    pub(super) fn of_profiles(mixture: &'static ProfileMixture) -> Self {
        let classes = mixture.profiles.iter();
        let classes = classes.map(|profile| SiteClass::of_freqs(Cow::Borrowed(profile)));
        let mut weights = mixture.weights.to_vec();
        normalise_weights(&mut weights);
        let weights = ClassWeights::Own { weights, mode: WeightsMode::Table };
        Mixture::new(mixture.name, classes.collect(), weights)
    }

    /// A class for each of these profiles, which are not negative and not all 0.
    pub(super) fn of_given_profiles(profiles: &[Vec<f64>]) -> Self {
        let class = |profile: &Vec<f64>| {
            let mut freqs = profile.clone();
            normalise_freqs(&mut freqs);
            SiteClass::of_freqs(Cow::Owned(freqs))
        };
        Mixture::of_equal_weights(GIVEN_PROFILES, profiles.iter().map(class).collect())
    }

    /// A class for each matrix.
    pub(super) fn of_matrices(mixture: &'static MatrixMixture) -> Self {
        let matrices = mixture.matrices.iter().copied().zip(mixture.rates.iter().copied());
        Mixture::of_matrices_with_rates(mixture.name, matrices)
    }

    /// A class for each matrix, with its rate.
    pub(super) fn of_matrices_with_rates(
        name: &'static str,
        matrices: impl Iterator<Item = (&'static ProteinMatrix, f64)>,
    ) -> Self {
        let classes = matrices.map(|(matrix, rate)| SiteClass::of_matrix(matrix, rate));
        Mixture::of_equal_weights(name, classes.collect())
    }

    /// Classes with equal weights, which are estimated.
    fn of_equal_weights(name: &'static str, classes: Vec<SiteClass>) -> Self {
        let weights = vec![1.0 / classes.len() as f64; classes.len()];
        let weights = ClassWeights::Own { weights, mode: WeightsMode::Optimized };
        Mixture::new(name, classes, weights)
    }

    fn new(name: &'static str, classes: Vec<SiteClass>, weights: ClassWeights) -> Self {
        let mut mixture = Mixture { name, classes, weights, mean_rate: 1.0 };
        mixture.update_mean_rate();
        mixture
    }

    fn update_mean_rate(&mut self) {
        if let ClassWeights::Own { weights, .. } = &self.weights
            && self.classes.iter().any(|class| class.rate != 1.0)
        {
            self.mean_rate =
                self.classes.iter().zip(weights).map(|(class, weight)| class.rate * weight).sum();
        }
    }

    /// The rate of each class, relative to their mean.
    pub(super) fn class_rates(&self) -> Vec<f64> {
        self.classes.iter().map(|class| class.rate / self.mean_rate).collect()
    }

    /// True if some classes are faster than others.
    pub(crate) fn has_different_rates(&self) -> bool {
        self.classes.windows(2).any(|pair| pair[0].rate != pair[1].rate)
    }

    /// Mean of the rates of the classes, by which they are divided.
    pub(super) fn mean_rate(&self) -> f64 {
        self.mean_rate
    }

    /// Gives all sites to one class, whose rate remains relative to the mean rate of before.
    pub(super) fn take_one_class(&mut self, class: usize) {
        if let ClassWeights::Own { weights, .. } = &mut self.weights {
            weights.fill(0.0);
            weights[class] = 1.0;
        }
    }

    /// True if its classes take the exchange rates of a matrix, after which it is named in model strings (`+C20`).
    pub fn is_of_frequencies(&self) -> bool {
        self.classes.iter().all(|class| class.exchange.is_none())
    }

    /// The profiles, if they are not published ones.
    pub(super) fn given_profiles(&self) -> impl Iterator<Item = &[f64]> {
        let is_given = self.name == GIVEN_PROFILES;
        self.classes.iter().filter_map(move |class| class.freqs.as_deref().filter(|_| is_given))
    }

    /// Adds a class with the exchange rates and frequencies of the model, as likely as the mean of the others, and
    /// estimates the weights.
    pub(super) fn add_class_of_model(&mut self) {
        self.classes.push(SiteClass { exchange: None, freqs: None, rate: 1.0 });
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
        self.update_mean_rate();
    }

    /// Gives the classes these weights, which are positive, and keeps them.
    pub(super) fn fix_weights(&mut self, mut values: Vec<f64>) {
        normalise_weights(&mut values);
        if let ClassWeights::Own { mode, .. } = &mut self.weights {
            *mode = WeightsMode::Fixed;
        }
        self.set_own_weights(&values);
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
