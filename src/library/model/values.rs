//! [`ModelValues`]: the values of a model's parameters, apart from what the model is; for checkpoints.

use super::codon::PositionFreqs;
use super::exchange::Exchange;
use super::mixture::Mixture;
use super::parameters::Model;
use super::rates::Heterogeneity;
use serde::{Deserialize, Serialize};

/// All values of a model that an optimisation may change. With the model as it was given they are the whole model,
/// bit for bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelValues {
    /// Exchange rates of classes; omega and kappa of codons; none of a published table.
    exchange: Vec<f64>,
    freqs: Vec<f64>,
    position_freqs: PositionFreqs,
    /// Alpha; or free rates, then their weights; none of equal rates. Then the weights of the classes of a mixture.
    over_sites: Vec<f64>,
    pinv: Option<f64>,
}

impl Model {
    /// The present values of its parameters.
    pub fn values(&self) -> ModelValues {
        ModelValues {
            exchange: match &self.exchange {
                Exchange::Classes(classes) => classes.rates.clone(),
                Exchange::Codon(codon) => std::iter::once(codon.omega).chain(codon.kappa).collect(),
                Exchange::Table(..) | Exchange::OfClasses => Vec::new(),
            },
            freqs: self.freqs.clone(),
            position_freqs: self.position_freqs,
            over_sites: {
                let rates = match &self.heterogeneity {
                    Heterogeneity::Uniform => Vec::new(),
                    Heterogeneity::Gamma(gamma) => vec![gamma.alpha],
                    Heterogeneity::Free(free) => {
                        [free.rates.clone(), free.weights.clone()].concat()
                    }
                };
                [&rates, self.own_weights().unwrap_or_default()].concat()
            },
            pinv: self.invariant.map(|invariant| invariant.pinv),
        }
    }

    fn own_weights(&self) -> Option<&[f64]> {
        self.mixture.as_ref().and_then(Mixture::own_weights)
    }

    /// True if these may be values of this model: there are as many, and all are possible numbers.
    pub fn fits(&self, values: &ModelValues) -> bool {
        let own = self.values();
        let is_possible = |value: &f64| *value >= 0.0 && value.is_finite();
        let all = values.exchange.iter().chain(&values.freqs).chain(&values.over_sites);
        own.exchange.len() == values.exchange.len()
            && own.freqs.len() == values.freqs.len()
            && own.over_sites.len() == values.over_sites.len()
            && own.pinv.is_some() == values.pinv.is_some()
            && all.chain(&values.pinv).chain(values.position_freqs.as_flattened()).all(is_possible)
    }

    /// The same model with other values.
    ///
    /// # Panics
    /// If they do not [fit](Model::fits).
    pub fn with_values(&self, values: &ModelValues) -> Model {
        assert!(self.fits(values), "values of another model than {}", self.name);
        let mut model = self.clone();
        match &mut model.exchange {
            Exchange::Classes(classes) => classes.rates.clone_from(&values.exchange),
            Exchange::Codon(codon) => {
                codon.omega = values.exchange[0];
                codon.kappa = values.exchange.get(1).copied();
            }
            Exchange::Table(..) | Exchange::OfClasses => {}
        }
        model.freqs.clone_from(&values.freqs);
        model.position_freqs = values.position_freqs;
        let num_classes = self.own_weights().map_or(0, <[f64]>::len);
        let (over_sites, of_classes) =
            values.over_sites.split_at(values.over_sites.len() - num_classes);
        if let Some(mixture) = &mut model.mixture {
            mixture.set_own_weights(of_classes);
        }
        match &mut model.heterogeneity {
            Heterogeneity::Uniform => {}
            Heterogeneity::Gamma(gamma) => gamma.alpha = over_sites[0],
            Heterogeneity::Free(free) => {
                let (rates, weights) = over_sites.split_at(free.rates.len());
                (free.rates, free.weights) = (rates.to_vec(), weights.to_vec());
            }
        }
        if let (Some(invariant), Some(pinv)) = (&mut model.invariant, values.pinv) {
            invariant.pinv = pinv;
        }
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_as_given_and_its_values_are_the_model() {
        for text in [
            "GTR+FO+I+G4",
            "JC",
            "LG+F+R4",
            "LG4X",
            "LG4M",
            "LG+C10+WO+R2+I",
            "C20+F",
            "EX3+G4",
            "GY+F3X4+G2",
            "MG+F1X4",
            "BIN+FO",
            "MULTI5_GTR+R2+I",
            "PROTGTR+FO+G4",
            "GTR+G+ASC_LEWIS",
        ] {
            let given = Model::parse(text).unwrap();
            let mut model = given.clone();
            let moved: Vec<f64> = model
                .free_parameters()
                .iter()
                .map(|p| (p.value * 1.37 + 0.0123).clamp(p.lo, p.hi))
                .collect();
            model.set_free_parameters(&moved);
            let bytes = postcard::to_stdvec(&model.values()).unwrap();
            let back: ModelValues = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(given.with_values(&back), model, "{text}");
            assert!(!Model::parse("GTR+R7").unwrap().fits(&back), "{text}");
        }
        let mut poor = Model::parse("JC+G4").unwrap();
        let mut values = poor.values();
        values.over_sites[0] = f64::NAN;
        assert!(!poor.fits(&values));
        poor.set_free_parameters(&[0.3]);
        assert!(poor.fits(&poor.values()));
    }
}
