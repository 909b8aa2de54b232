//! [`Model`]: the model of one partition with the current values of all its parameters, and which of
//! them are free.

use super::bounds::RATE_START;
use super::qmatrix::{EigenModel, normalise_freqs};
use super::rates::RateCats;
use crate::alphabet::DataType;
use crate::numeric::GammaMode;

/// Whether a parameter is estimated by maximum likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamMode {
    /// The user gave its value, or the model has nothing to choose.
    Fixed,
    /// Estimated.
    Optimized,
}

/// Where the state frequencies come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreqsMode {
    /// All equal (`+FE`).
    Equal,
    /// Counted in the alignment (`+FC`, `+F`); equal until someone counts and calls
    /// [`Model::set_freqs`].
    Empirical,
    /// Estimated by maximum likelihood (`+FO`).
    Optimized,
    /// Given by the user (`+FU{...}`).
    Fixed,
}

/// Gamma-distributed rates over sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    /// Number of categories.
    pub num_cats: usize,
    /// What stands for a category.
    pub mode: GammaMode,
    /// Shape.
    pub alpha: f64,
    /// Whether the shape is estimated.
    pub alpha_mode: ParamMode,
}

/// Invariant sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Invariant {
    /// Proportion of sites that cannot vary.
    pub pinv: f64,
    /// Whether it is estimated.
    pub pinv_mode: ParamMode,
}

/// The model of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name of the rate matrix: a name of [`super::NAMED_DNA_MODELS`], or `DNA` and six digits.
    pub name: String,
    /// What the characters are.
    pub data_type: DataType,
    /// Class of each substitution rate, numbered by first appearance; rates of one class are equal.
    /// The class of the last rate is the reference.
    pub rate_classes: Vec<u8>,
    /// Exchange rates, upper triangle row by row (DNA: AC AG AT CG CT GT); the last is 1.
    pub subst_rates: Vec<f64>,
    /// Whether the rates are estimated (never if there is one class only).
    pub rates_mode: ParamMode,
    /// State frequencies; they sum to 1.
    pub freqs: Vec<f64>,
    /// Where the frequencies come from.
    pub freqs_mode: FreqsMode,
    /// Gamma-distributed rates over sites, if any.
    pub gamma: Option<Gamma>,
    /// Invariant sites, if any.
    pub invariant: Option<Invariant>,
    /// What the user should be told about how the model string was understood; one sentence each.
    pub notes: Vec<String>,
}

impl Model {
    /// A model with equal rates and frequencies, all rates of more than one class estimated.
    pub(super) fn with_classes(name: String, data_type: DataType, rate_classes: Vec<u8>) -> Self {
        let one_class = rate_classes.iter().all(|&class| class == rate_classes[0]);
        let states = data_type.num_states();
        assert_eq!(rate_classes.len(), states * (states - 1) / 2, "rate classes of {name}");
        Model {
            name,
            data_type,
            subst_rates: vec![RATE_START; rate_classes.len()],
            rate_classes,
            rates_mode: if one_class { ParamMode::Fixed } else { ParamMode::Optimized },
            freqs: vec![1.0 / states as f64; states],
            freqs_mode: FreqsMode::Equal,
            gamma: None,
            invariant: None,
            notes: Vec::new(),
        }
    }

    /// Number of states.
    pub fn num_states(&self) -> usize {
        self.freqs.len()
    }

    /// The eigensystem of each normalised rate matrix at the current rates and frequencies: one, or
    /// one per category of rates.
    pub fn eigen_models(&self) -> Vec<EigenModel> {
        vec![EigenModel::new(&self.subst_rates, &self.freqs)]
    }

    /// The rate categories at the current alpha and proportion of invariant sites.
    pub fn rate_cats(&self) -> RateCats {
        RateCats::of(self)
    }

    /// Number of parameters estimated from the data, as AIC and BIC count them: free rate classes,
    /// frequencies (empirical ones count like estimated ones), alpha, proportion of invariant sites.
    /// Branch lengths are not in it.
    pub fn num_free_parameters(&self) -> usize {
        let freqs = match self.freqs_mode {
            FreqsMode::Empirical | FreqsMode::Optimized => self.num_states() - 1,
            FreqsMode::Equal | FreqsMode::Fixed => 0,
        };
        let alpha = self.gamma.is_some_and(|g| g.alpha_mode == ParamMode::Optimized);
        let pinv = self.invariant.is_some_and(|i| i.pinv_mode == ParamMode::Optimized);
        self.free_rate_classes().len() + freqs + usize::from(alpha) + usize::from(pinv)
    }

    /// Class that has rate 1.
    pub fn reference_class(&self) -> u8 {
        *self.rate_classes.last().expect("a model has rates")
    }

    /// Classes whose rate is to be estimated: all but the reference, or none if the rates are fixed.
    pub fn free_rate_classes(&self) -> Vec<u8> {
        match self.rates_mode {
            ParamMode::Fixed => Vec::new(),
            ParamMode::Optimized => {
                (0..self.num_rate_classes()).filter(|&c| c != self.reference_class()).collect()
            }
        }
    }

    /// Number of rate classes, the reference included.
    pub fn num_rate_classes(&self) -> u8 {
        self.rate_classes.iter().max().map_or(0, |last| last + 1)
    }

    /// Rate of a class.
    pub fn class_value(&self, class: u8) -> f64 {
        let member = self.rate_classes.iter().position(|&c| c == class);
        self.subst_rates[member.expect("a class of this model")]
    }

    /// Rates of the [`Model::free_rate_classes`], in their order.
    pub fn class_values(&self) -> Vec<f64> {
        self.free_rate_classes().into_iter().map(|class| self.class_value(class)).collect()
    }

    /// Sets the rates of the [`Model::free_rate_classes`], in their order; the others stay.
    pub fn set_rates_from_classes(&mut self, values: &[f64]) {
        let classes = self.free_rate_classes();
        assert_eq!(classes.len(), values.len(), "rates for free classes");
        for (class, &value) in classes.into_iter().zip(values) {
            self.set_class_value(class, value);
        }
    }

    /// Sets the rate of every substitution in a class.
    pub(super) fn set_class_value(&mut self, class: u8, value: f64) {
        for (rate, &of) in self.subst_rates.iter_mut().zip(&self.rate_classes) {
            if of == class {
                *rate = value;
            }
        }
    }

    /// Sets the frequencies: normalised to sum 1, and raised to [`super::bounds::FREQ_FLOOR`].
    ///
    /// # Panics
    ///
    /// If they are not as many as states, negative, or all 0.
    pub fn set_freqs(&mut self, freqs: &[f64]) {
        assert_eq!(freqs.len(), self.num_states(), "frequencies");
        self.freqs.copy_from_slice(freqs);
        normalise_freqs(&mut self.freqs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_go_in_and_out() {
        let mut tim = Model::parse("TIM2uf").unwrap();
        assert_eq!((tim.free_rate_classes(), tim.reference_class()), (vec![0, 1, 3], 2));
        tim.set_rates_from_classes(&[0.5, 2.0, 3.0]);
        assert_eq!(tim.subst_rates, [0.5, 2.0, 0.5, 1.0, 3.0, 1.0]);
        assert_eq!(tim.class_values(), [0.5, 2.0, 3.0]);
        let k80 = Model::parse("K80").unwrap();
        assert_eq!((k80.free_rate_classes(), k80.num_rate_classes()), (vec![1], 2));
        assert!(Model::parse("K80{2}").unwrap().free_rate_classes().is_empty());
        assert!(Model::parse("F81").unwrap().free_rate_classes().is_empty());
    }

    #[test]
    fn free_parameters_are_counted() {
        for (text, free) in [
            ("JC", 0),
            ("F81", 3),
            ("K80", 1),
            ("HKY+G", 5),
            ("SYM+I+G", 7),
            ("GTR+FO+I+G4", 10),
            ("GTR+FE", 5),
            ("GTR{1/2/3/4/5/1}+FU{.1/.2/.3/.4}+G{0.5}+I{0.1}", 0),
        ] {
            assert_eq!(Model::parse(text).unwrap().num_free_parameters(), free, "{text}");
        }
    }
}
