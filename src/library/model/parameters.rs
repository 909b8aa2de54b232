//! [`Model`]: the model of one partition with the current values of all its parameters, and which of
//! them are free.

use super::ascertainment::Ascertainment;
use super::codon::{CodonModelKind, PositionFreqs, codon_freqs};
use super::exchange::{Exchange, RateClasses};
use super::mixture::{Mixture, SiteClass};
use super::modes::{FreqsMode, ParamMode};
use super::qmatrix::{EigenModel, normalise_freqs};
use super::rates::{Heterogeneity, Invariant, RateCats};
use crate::alphabet::DataType;
use std::borrow::Cow;

/// The model of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Canonical name of the rate matrix: `GTR`, `DNA010020`, `LG`, `GY`, `MULTI4_MK` ...
    pub name: String,
    /// Data type.
    pub data_type: DataType,
    /// Exchange rates between the states.
    pub exchange: Exchange,
    /// Classes of sites with rate matrices of their own, if any.
    pub mixture: Option<Mixture>,
    /// State frequencies; they sum to 1. Classes with frequencies of their own ignore them.
    pub freqs: Vec<f64>,
    /// Where the frequencies come from.
    pub freqs_mode: FreqsMode,
    /// Codon models: nucleotide frequencies at each position, equal ones unless F1x4 or F3x4.
    pub position_freqs: PositionFreqs,
    /// How rates differ between variable sites.
    pub heterogeneity: Heterogeneity,
    /// Invariant sites, if any.
    pub invariant: Option<Invariant>,
    /// The correction for invariable sites that were left out of the alignment, if any.
    pub ascertainment: Option<Ascertainment>,
    /// Notes for the user on how the model string was understood.
    pub notes: Vec<String>,
}

impl Model {
    /// A model with equal frequencies and equal rates over sites.
    pub(super) fn new(name: String, data_type: DataType, exchange: Exchange) -> Self {
        let states = data_type.num_states();
        if let Exchange::Classes(RateClasses { classes, .. }) = &exchange {
            assert_eq!(classes.len(), states * (states - 1) / 2, "rate classes of {name}");
        }
        Model {
            name,
            data_type,
            exchange,
            mixture: None,
            freqs: vec![1.0 / states as f64; states],
            freqs_mode: FreqsMode::Equal,
            position_freqs: [[0.25; 4]; 3],
            heterogeneity: Heterogeneity::Uniform,
            invariant: None,
            ascertainment: None,
            notes: Vec::new(),
        }
    }

    /// Keeps the exchange rates as they are: they are no longer estimated.
    pub fn hold_exchange_rates(&mut self) {
        if let Exchange::Classes(classes) = &mut self.exchange {
            classes.mode = ParamMode::Fixed;
        }
    }

    /// Number of states.
    pub fn num_states(&self) -> usize {
        self.freqs.len()
    }

    /// Exchange rates between the states, on any scale; none where classes have rates of their own.
    pub(crate) fn exchange_rates(&self) -> Cow<'_, [f64]> {
        match &self.exchange {
            Exchange::Classes(classes) => Cow::Borrowed(&classes.rates[..]),
            Exchange::Table(rates, _) => Cow::Borrowed(&rates[..]),
            Exchange::Codon(codon) => Cow::Owned(codon.exchange_rates(&self.position_freqs)),
            Exchange::OfClasses => Cow::Borrowed(&[]),
        }
    }

    /// The eigensystem of each normalised rate matrix at the current rates and frequencies: one, or
    /// one per class of a mixture.
    pub fn eigen_models(&self) -> Vec<EigenModel> {
        let rates = &*self.exchange_rates();
        let of_class = |class: &SiteClass| {
            EigenModel::new(
                class.exchange.unwrap_or(rates),
                class.freqs.as_deref().unwrap_or(&self.freqs),
            )
        };
        match &self.mixture {
            None => vec![EigenModel::new(rates, &self.freqs)],
            Some(mixture) => mixture.classes.iter().map(of_class).collect(),
        }
    }

    /// The rate categories at the current parameters: those of rates over sites, of each class of a mixture.
    pub fn rate_cats(&self) -> RateCats {
        let cats = RateCats::new(&self.heterogeneity, self.invariant);
        match &self.mixture {
            None => cats,
            Some(mixture) => cats.of_classes(mixture.own_weights(), &mixture.class_rates()),
        }
    }

    /// The rate categories of a single class.
    pub fn rates_over_sites(&self) -> RateCats {
        RateCats::new(&self.heterogeneity, self.invariant)
    }

    /// True if states or nucleotides must be counted in the alignment.
    pub fn wants_counts(&self) -> bool {
        matches!(
            self.freqs_mode,
            FreqsMode::Empirical
                | FreqsMode::F1x4 { counted: true }
                | FreqsMode::F3x4 { counted: true }
        )
    }

    /// True if exchange is by Muse & Gaut's codon model, whose frequencies are products of those of
    /// nucleotides.
    pub(super) fn is_muse_gaut(&self) -> bool {
        matches!(&self.exchange, Exchange::Codon(codon) if codon.kind == CodonModelKind::MuseGaut)
    }

    /// Sets the frequencies: normalised to sum 1, and raised to `FREQ_FLOOR`.
    ///
    /// # Panics
    ///
    /// If their number is not that of the states, or if they are negative or all 0.
    pub fn set_freqs(&mut self, freqs: &[f64]) {
        assert_eq!(freqs.len(), self.num_states(), "frequencies");
        self.freqs.copy_from_slice(freqs);
        normalise_freqs(&mut self.freqs);
    }

    /// Sets a codon model's nucleotide frequencies at each position, and the codon frequencies made of
    /// them.
    ///
    /// # Panics
    ///
    /// If it is not a codon model, or they are negative or all 0.
    pub fn set_position_freqs(&mut self, position_freqs: &PositionFreqs) {
        let DataType::Codon(code) = self.data_type else {
            panic!("nucleotide frequencies of a model of {}", self.data_type.name());
        };
        self.position_freqs = *position_freqs;
        self.position_freqs.iter_mut().for_each(|freqs| normalise_freqs(freqs));
        let freqs = codon_freqs(code, &self.position_freqs);
        self.set_freqs(&freqs);
    }
}
