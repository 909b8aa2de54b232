//! Exchange rates between states, and where they come from.
//!
//! A reversible rate matrix is `Q[i][j] = s[i][j] * pi[j]`; here is the symmetric part s, always as its
//! upper triangle, row by row.

use super::bounds::{RATE_START, TRANSITION_RATE_START};
use super::codon::CodonRates;
use super::modes::ParamMode;

/// Where the exchange rates of a model come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Exchange {
    /// Classes of equal rates, estimated or given: DNA, binary and multi-state models, PROTGTR.
    Classes(RateClasses),
    /// A published table, with its frequencies.
    Table(&'static [f64], &'static [f64]),
    /// Every class of the model's mixture has its own.
    OfClasses,
    /// Made from kappa and omega.
    Codon(CodonRates),
}

/// Most substitutions of a class that are named.
const MOST_NAMED: usize = 4;

/// Exchange rates in classes of equal ones.
#[derive(Debug, Clone, PartialEq)]
pub struct RateClasses {
    /// Class of each rate, numbered by first appearance. The class of the last rate is the reference.
    pub classes: Vec<u16>,
    /// The rates (DNA: AC AG AT CG CT GT); the last is 1.
    pub rates: Vec<f64>,
    /// Whether they are estimated (never if there is one class only).
    pub mode: ParamMode,
}

impl RateClasses {
    /// All rates equal; those of more than one class estimated.
    pub(super) fn new(classes: Vec<u16>) -> Self {
        let one_class = classes.iter().all(|&class| class == classes[0]);
        let mode = if one_class { ParamMode::Fixed } else { ParamMode::Optimized };
        RateClasses { rates: vec![RATE_START; classes.len()], classes, mode }
    }

    /// Of DNA, in the order AC AG AT CG CT GT. Transitions that are estimated apart from transversions begin with
    /// a higher rate, as they have in almost all partitions: from equal rates, an optimiser may find a lower optimum.
    pub(super) fn of_dna(classes: Vec<u16>) -> Self {
        let mut rates = Self::new(classes);
        for transition in [1, 4].map(|i| rates.classes[i]) {
            if [0, 2, 3, 5].iter().all(|&i| rates.classes[i] != transition) {
                rates.set_value(transition, TRANSITION_RATE_START);
            }
        }
        rates
    }

    /// Gives all rates these values, whatever their classes, and no longer estimates them.
    pub fn fix(&mut self, rates: &[f64]) {
        self.rates.copy_from_slice(rates);
        self.mode = ParamMode::Fixed;
    }

    /// One class for all rates of this number of states.
    pub(super) fn equal(num_states: usize) -> Self {
        Self::new(vec![0; num_states * (num_states - 1) / 2])
    }

    /// A class for every rate of this number of states.
    pub(super) fn different(num_states: usize) -> Self {
        Self::new((0..(num_states * (num_states - 1) / 2) as u16).collect())
    }

    /// Class that has rate 1.
    pub fn reference(&self) -> u16 {
        *self.classes.last().expect("a model has rates")
    }

    /// Classes whose rate is to be estimated from this partition: all but the reference, or none if the rates are fixed or
    /// linked.
    pub fn free(&self) -> Vec<u16> {
        match self.mode {
            ParamMode::Fixed | ParamMode::Linked => Vec::new(),
            ParamMode::Optimized => {
                (0..self.num_classes()).filter(|&class| class != self.reference()).collect()
            }
        }
    }

    /// Number of classes, the reference included.
    pub fn num_classes(&self) -> u16 {
        self.classes.iter().max().map_or(0, |last| last + 1)
    }

    /// The substitutions of a class, between states with these names: `A-G`, or `A-G/C-T`; of many, the first.
    pub fn name(&self, class: u16, states: &[&str]) -> String {
        let pairs = (0..states.len()).flat_map(|i| (i + 1..states.len()).map(move |j| (i, j)));
        let members = pairs.zip(&self.classes).filter(|&(_, &of)| of == class);
        let mut names = members.map(|((i, j), _)| format!("{}-{}", states[i], states[j]));
        let shown: Vec<String> = names.by_ref().take(MOST_NAMED).collect();
        let others = if names.next().is_some() { "/..." } else { "" };
        shown.join("/") + others
    }

    /// Rate of a class.
    pub fn value(&self, class: u16) -> f64 {
        let member = self.classes.iter().position(|&c| c == class);
        self.rates[member.expect("a class of this model")]
    }

    /// Sets the rate of every substitution in a class.
    pub(crate) fn set_value(&mut self, class: u16, value: f64) {
        for (rate, &of) in self.rates.iter_mut().zip(&self.classes) {
            if of == class {
                *rate = value;
            }
        }
    }
}
