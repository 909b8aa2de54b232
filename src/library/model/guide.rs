//! The model of one class with which work under a profile mixture begins.
//!
//! A likelihood under a mixture of 20 profiles costs 20 times that under one matrix, and most of a search goes past trees, lengths and
//! parameters that either model finds bad. What is best under the guide is where the mixture begins.

use super::exchange::Exchange;
use super::modes::{FreqsMode, ParamMode};
use super::parameters::Model;
use super::protein_tables::{lg, poisson};
use super::rates::Heterogeneity;

impl Model {
    /// The same model with the mean frequencies of the classes of its profile mixture instead of the classes, and with the exchange
    /// rates of LG where it has equal ones or estimates them. `None` if it has no profile mixture: mixtures of
    /// matrices have few classes.
    pub fn guide(&self) -> Option<Model> {
        let mixture = self.mixture.as_ref().filter(|mixture| mixture.is_of_frequencies())?;
        let weights = mixture.own_weights()?;
        let mut freqs = vec![0.0; self.num_states()];
        for (class, weight) in mixture.classes.iter().zip(weights) {
            let of_class = class.freqs.as_deref().unwrap_or(&self.freqs);
            freqs.iter_mut().zip(of_class).for_each(|(sum, freq)| *sum += weight * freq);
        }
        let mut guide = Model { mixture: None, freqs_mode: FreqsMode::Fixed, ..self.clone() };
        let are_equal =
            matches!(guide.exchange, Exchange::Table(rates, _) if rates == poisson::POISSON.rates);
        if are_equal || matches!(guide.exchange, Exchange::Classes(_)) {
            guide.exchange = Exchange::Table(&lg::LG.rates, &lg::LG.freqs);
        }
        guide.set_freqs(&freqs);
        Some(guide)
    }

    /// Takes the rates over sites of its [guide](Model::guide), as far as they are estimated.
    pub fn follow(&mut self, guide: &Model) {
        match (&mut self.heterogeneity, &guide.heterogeneity) {
            (Heterogeneity::Gamma(own), Heterogeneity::Gamma(found)) => own.alpha = found.alpha,
            (Heterogeneity::Free(own), Heterogeneity::Free(found)) => own.clone_from(found),
            _ => {}
        }
        if let (Some(own), Some(found)) = (&mut self.invariant, guide.invariant)
            && own.pinv_mode == ParamMode::Optimized
        {
            own.pinv = found.pinv;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_has_one_class_with_the_mean_frequencies_and_its_rates_are_followed() {
        let mut model = Model::parse("LG+C20+G4+I").unwrap();
        let mut guide = model.guide().unwrap();
        assert_eq!(guide.eigen_models().len(), 1);
        assert_eq!(guide.rate_cats().rates.len(), 4);
        let mean: f64 = model.mixture.as_ref().map_or(0.0, |mixture| {
            let weights = mixture.own_weights().unwrap().iter();
            weights
                .zip(&mixture.classes)
                .map(|(w, class)| w * class.freqs.as_ref().unwrap()[3])
                .sum()
        });
        assert!((guide.freqs[3] - mean).abs() < 1e-6);
        guide.set_free_parameters(&[0.4, 0.2]);
        model.follow(&guide);
        let values: Vec<f64> = model.free_parameters().iter().map(|free| free.value).collect();
        assert_eq!(values, [0.4, 0.2]);
        let given = Model::parse("LG+C20+G4{0.7}").unwrap();
        let mut followed = given.clone();
        followed.follow(&given.guide().unwrap());
        assert_eq!(followed, given);
        for (text, exchange) in [("C20+G4", &lg::LG.rates), ("PROTGTR+C10", &lg::LG.rates)] {
            let guide = Model::parse(text).unwrap().guide().unwrap();
            assert!(matches!(guide.exchange, Exchange::Table(rates, _) if rates == exchange));
            assert!(guide.free_parameters().len() <= 1, "{text}");
        }
        for text in ["LG+G4", "LG4X", "EX2+G4", "GTR+G4"] {
            assert!(Model::parse(text).unwrap().guide().is_none(), "{text}");
        }
    }
}
