//! The free parameters of a model as one list, for optimisers, reports and counts.

use super::bounds;
use super::exchange::Exchange;
use super::mixture::Mixture;
use super::modes::{FreqsMode, ParamMode};
use super::parameters::Model;
use super::rates::{FreeRates, Heterogeneity};
use std::ops::Range;

/// A parameter to be estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct FreeParameter {
    /// Its name, as shown to users.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Smallest value.
    pub lo: f64,
    /// Largest value.
    pub hi: f64,
    /// True if an optimiser should vary its logarithm.
    pub logarithmic: bool,
}

/// Free parameters that are ratios to one and the same value, the last of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratios {
    /// Their positions among the free parameters.
    pub parameters: Range<usize>,
    /// Position of the value of which most can be known, because it is the largest or, of free rates, has the largest
    /// share of the substitutions; the end of the positions if that is the last one.
    pub best: usize,
}

fn logarithmic(name: String, value: f64, lo: f64, hi: f64) -> FreeParameter {
    FreeParameter { name, value, lo, hi, logarithmic: true }
}

impl Model {
    /// Its free parameters, in a fixed order: rate classes relative to the last, or kappa and omega;
    /// frequencies relative to the last; alpha, or free rates and weights relative to the last;
    /// proportion of invariant sites.
    pub fn free_parameters(&self) -> Vec<FreeParameter> {
        let mut all = Vec::new();
        match &self.exchange {
            Exchange::Classes(classes) => {
                let states = self.data_type.state_names();
                for class in classes.free() {
                    let name = format!("substitution rate {}", classes.name(class, states));
                    let value = classes.value(class);
                    all.push(logarithmic(name, value, bounds::RATE_MIN, bounds::RATE_MAX));
                }
            }
            Exchange::Codon(codon) if codon.mode == ParamMode::Optimized => {
                let parameters = [("kappa", codon.kappa), ("omega", Some(codon.omega))];
                for (name, value) in parameters {
                    if let Some(value) = value {
                        let [lo, hi] = [bounds::CODON_MIN, bounds::CODON_MAX];
                        all.push(logarithmic(name.to_string(), value, lo, hi));
                    }
                }
            }
            Exchange::Codon(_) | Exchange::Table(..) | Exchange::OfClasses => {}
        }
        if self.freqs_mode == FreqsMode::Optimized {
            let names = self.data_type.state_names();
            push_ratios(&mut all, &self.freqs, bounds::FREQ_MIN, |state| {
                format!("frequency of {} relative to {}", names[state], names[names.len() - 1])
            });
        }
        match &self.heterogeneity {
            Heterogeneity::Gamma(gamma) if gamma.alpha_mode == ParamMode::Optimized => {
                let [lo, hi] = [bounds::ALPHA_MIN, bounds::ALPHA_MAX];
                all.push(logarithmic("alpha".to_string(), gamma.alpha, lo, hi));
            }
            Heterogeneity::Free(free) if free.mode == ParamMode::Optimized => {
                let last = free.rates.len();
                push_ratios(&mut all, &free.rates, bounds::FREE_RATE_MIN, |cat| {
                    format!("free rate {} relative to {last}", cat + 1)
                });
                push_ratios(&mut all, &free.weights, bounds::FREE_WEIGHT_MIN, |cat| {
                    format!("weight of free rate {} relative to {last}", cat + 1)
                });
            }
            _ => {}
        }
        if let Some(invariant) = self.invariant.filter(|i| i.pinv_mode == ParamMode::Optimized) {
            all.push(FreeParameter {
                name: "the proportion of invariable sites".to_string(),
                value: invariant.pinv,
                lo: bounds::PINV_MIN,
                hi: bounds::PINV_MAX,
                logarithmic: false,
            });
        }
        all
    }

    /// Sets the [`Model::free_parameters`], in their order.
    ///
    /// # Panics
    /// If there are not as many values.
    pub fn set_free_parameters(&mut self, values: &[f64]) {
        let mut values = values.iter().copied();
        let mut next = || values.next().expect("as many values as free parameters");
        match &mut self.exchange {
            Exchange::Classes(classes) => {
                for class in classes.free() {
                    classes.set_value(class, next());
                }
            }
            Exchange::Codon(codon) if codon.mode == ParamMode::Optimized => {
                if let Some(kappa) = &mut codon.kappa {
                    *kappa = next();
                }
                codon.omega = next();
            }
            Exchange::Codon(_) | Exchange::Table(..) | Exchange::OfClasses => {}
        }
        if self.freqs_mode == FreqsMode::Optimized {
            let freqs = from_ratios(self.freqs.len(), &mut next);
            let floored: Vec<f64> = freqs.iter().map(|f| f.max(bounds::FREQ_MIN)).collect();
            self.set_freqs(&floored);
        }
        match &mut self.heterogeneity {
            Heterogeneity::Gamma(gamma) if gamma.alpha_mode == ParamMode::Optimized => {
                gamma.alpha = next().clamp(bounds::ALPHA_MIN, bounds::ALPHA_MAX);
            }
            Heterogeneity::Free(free) if free.mode == ParamMode::Optimized => {
                let num_cats = free.rates.len();
                free.rates = from_ratios(num_cats, &mut next);
                free.weights = from_ratios(num_cats, &mut next);
                free.normalise();
            }
            _ => {}
        }
        if let Some(invariant) =
            self.invariant.as_mut().filter(|i| i.pinv_mode == ParamMode::Optimized)
        {
            invariant.pinv = next();
        }
        assert!(values.next().is_none(), "more values than free parameters");
    }

    /// The weights of the classes of a mixture, if they are estimated; otherwise none. They are not among the
    /// [`Model::free_parameters`]: their likelihood is concave and known from that of each class at each pattern.
    pub(crate) fn free_class_weights(&self) -> &[f64] {
        self.mixture.as_ref().map_or(&[], Mixture::free_weights)
    }

    /// True if the weights of the classes of a mixture are to be estimated.
    pub fn estimates_class_weights(&self) -> bool {
        !self.free_class_weights().is_empty()
    }

    /// True if anything of it is to be estimated by maximum likelihood.
    pub fn has_open_parameters(&self) -> bool {
        self.has_linked_rates()
            || self.estimates_class_weights()
            || !self.free_parameters().is_empty()
    }

    /// Sets the weights of the classes of a mixture, which sum to 1.
    ///
    /// # Panics
    /// If their number is not that of the classes.
    pub(crate) fn set_class_weights(&mut self, weights: &[f64]) {
        if let Some(mixture) = &mut self.mixture {
            mixture.set_own_weights(weights);
        }
    }

    /// The same model with only one of the classes of a mixture, but the same categories.
    pub(crate) fn of_one_class(&self, class: usize) -> Model {
        let mut model = self.clone();
        model.mixture.iter_mut().for_each(|mixture| mixture.take_one_class(class));
        model
    }

    /// The same model with only one of its categories of rates over sites, or with invariant sites alone, but with as many categories
    /// and the same rates.
    pub(crate) fn of_one_rate(&self, cat: Option<usize>) -> Model {
        let mut model = self.clone();
        let pinv = self.invariant.map_or(0.0, |invariant| invariant.pinv);
        // The rates of variable sites are divided by their share again.
        let rates: Vec<f64> =
            self.rates_over_sites().rates.iter().map(|rate| rate * (1.0 - pinv)).collect();
        // The frequencies of invariant sites are means over the classes of a mixture by their weights, which must not all be 0.
        let others = match cat {
            None if self.mixture.is_some() => 1e-200,
            _ => 0.0,
        };
        let weights =
            (0..rates.len()).map(|at| if Some(at) == cat { 1.0 } else { others }).collect();
        model.heterogeneity =
            Heterogeneity::Free(FreeRates { rates, weights, mode: ParamMode::Fixed });
        model
    }

    /// Mean of the published rates of the classes of a mixture, by which they are divided: with other weights, the rates of all
    /// categories change with it.
    pub(crate) fn mean_class_rate(&self) -> f64 {
        self.mixture.as_ref().map_or(1.0, Mixture::mean_rate)
    }

    /// Those of the [`Model::free_parameters`] that are ratios: exchange rates, frequencies, free rates and their
    /// weights.
    pub(crate) fn ratios(&self) -> Vec<Ratios> {
        let mut ratios: Vec<Ratios> = Vec::new();
        let num_others = match &self.exchange {
            Exchange::Codon(codon) if codon.mode == ParamMode::Optimized => {
                1 + usize::from(codon.kappa.is_some())
            }
            _ => 0,
        };
        let mut push = |shares: &[f64]| {
            let first = ratios.last().map_or(num_others, |before| before.parameters.end);
            let largest = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
            let best = first + largest.expect("there is a last value");
            if shares.len() > 1 {
                ratios.push(Ratios { parameters: first..first + shares.len() - 1, best });
            }
        };
        if let Exchange::Classes(classes) = &self.exchange {
            let all = classes.free().into_iter().chain([classes.reference()]);
            push(&all.map(|class| classes.value(class)).collect::<Vec<_>>());
        }
        if self.freqs_mode == FreqsMode::Optimized {
            push(&self.freqs);
        }
        match &self.heterogeneity {
            Heterogeneity::Free(free) if free.mode == ParamMode::Optimized => {
                let expected = free.rates.iter().zip(&free.weights);
                push(&expected.map(|(rate, weight)| rate * weight).collect::<Vec<_>>());
                push(&free.weights);
            }
            _ => {}
        }
        ratios
    }

    /// True if any parameter of the rates over sites is to be estimated.
    pub(crate) fn has_free_rates_over_sites(&self) -> bool {
        let open = match &self.heterogeneity {
            Heterogeneity::Uniform => false,
            Heterogeneity::Gamma(gamma) => gamma.alpha_mode == ParamMode::Optimized,
            Heterogeneity::Free(free) => free.mode == ParamMode::Optimized,
        };
        open || self.invariant.is_some_and(|i| i.pinv_mode == ParamMode::Optimized)
    }

    /// Number of parameters estimated from the data, as AIC and BIC count them: the free parameters, weights of classes,
    /// and frequencies that are counted. Branch lengths are not in it.
    pub fn num_free_parameters(&self) -> usize {
        let counted = match self.freqs_mode {
            FreqsMode::Empirical => self.num_states() - 1,
            FreqsMode::F1x4 { counted: true } => 3,
            FreqsMode::F3x4 { counted: true } => 9,
            _ => 0,
        };
        let of_classes = self.free_class_weights().len().saturating_sub(1);
        self.free_parameters().len() + of_classes + counted
    }
}

/// Ratios of all values to the last.
fn push_ratios(
    all: &mut Vec<FreeParameter>,
    values: &[f64],
    min: f64,
    name: impl Fn(usize) -> String,
) {
    let last = values[values.len() - 1];
    for (i, value) in values[..values.len() - 1].iter().enumerate() {
        all.push(logarithmic(name(i), (value / last).clamp(min, 1.0 / min), min, 1.0 / min));
    }
}

/// Values with the given ratios to the last, summing to 1.
fn from_ratios(count: usize, next: &mut impl FnMut() -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = (1..count).map(|_| next()).collect();
    values.push(1.0);
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| value / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_go_in_and_out() {
        for text in [
            "GTR+FO+I+G",
            "TIM2uf",
            "JC",
            "LG+FO+G",
            "PROTGTR",
            "GY+F3X4+G",
            "MG",
            "BIN+FO",
            "GTR+R4+I",
            "LG4X",
            "MULTI3_GTR",
            "LG+C10+F+G4",
            "PROTGTR+C10+WO",
        ] {
            let mut model = Model::parse(text).unwrap();
            let before = model.free_parameters();
            let values: Vec<f64> =
                before.iter().enumerate().map(|(i, p)| p.value * (1.0 + 0.01 * i as f64)).collect();
            model.set_free_parameters(&values);
            for (parameter, value) in model.free_parameters().iter().zip(&values) {
                let difference = (parameter.value - value).abs();
                assert!(difference < 1e-12 * value.abs(), "{text}: {}", parameter.name);
            }
        }
    }

    #[test]
    fn ratios_are_those_to_one_value() {
        let found = |text: &str| {
            let ratios = Model::parse(text).unwrap().ratios().into_iter();
            ratios.map(|r| [r.parameters.start, r.parameters.end, r.best]).collect::<Vec<_>>()
        };
        assert_eq!(found("JC"), [[0; 3]; 0]);
        assert_eq!(found("HKY{1/0.5}+FO+G4"), [[0, 3, 3]]);
        assert_eq!(found("HKY+FO+G4"), [[0, 1, 0], [1, 4, 4]]);
        assert_eq!(found("GTR+R3{0.1/2/9}{0.7/0.2/0.1}+I"), [[0, 5, 4]]);
        assert_eq!(found("GTR+R3+I"), [[0, 5, 4], [5, 7, 7], [7, 9, 9]]);
        assert_eq!(found("GY+F3X4+R2"), [[2, 3, 3], [3, 4, 4]]);
        let mut model = Model::parse("JC+R3").unwrap();
        model.set_free_parameters(&[0.01, 0.1, 7.0, 2.0]);
        let best: Vec<_> = model.ratios().iter().map(|ratios| ratios.best).collect();
        assert_eq!(best, [2, 2]);
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
            ("LG+G", 1),
            ("LG+F+G", 20),
            ("PROTGTR+FO", 208),
            ("GTR+R4", 14),
            ("LG4X", 6),
            ("LG4M", 1),
            ("LG+C20+G4", 1),
            ("LG+C20+F+G4", 40),
            ("C60+WO", 60),
            ("EX3+G4", 3),
            ("UL2+WU{1/1}", 0),
            ("PROTGTR+C10", 189),
            ("GY+F3X4", 11),
            ("GY+F1X4", 5),
            ("GY+F+CODE{2}", 61),
            ("MG+FE", 1),
            ("BIN+F", 1),
        ] {
            assert_eq!(Model::parse(text).unwrap().num_free_parameters(), free, "{text}");
        }
    }
}
