//! The model of data whose sites have state frequencies of their own (PMSF: Wang, Minh, Susko & Roger 2018, Syst Biol 67:216).

use super::exchange::Exchange;
use super::modes::FreqsMode;
use super::parameters::Model;
use crate::alphabet::DataType;

impl Model {
    /// Why sites cannot have frequencies of their own under this model; `None` if they can.
    pub fn why_no_site_frequencies(&self) -> Option<&'static str> {
        let is_of_profiles = |model: &Model| {
            model.mixture.as_ref().is_none_or(|mixture| mixture.is_of_frequencies())
        };
        if self.data_type != DataType::Protein {
            Some("only amino acids have frequencies of sites")
        } else if self.ascertainment.is_some() {
            Some("there is no correction for ascertainment bias (+ASC) under frequencies of sites")
        } else if !is_of_profiles(self) || matches!(self.exchange, Exchange::OfClasses) {
            Some(
                "frequencies of sites need the exchange rates of one matrix, but this mixture has several",
            )
        } else {
            None
        }
    }

    /// The same exchange rates and rates over sites without classes, with the mean of the frequencies of sites as its own, which only what
    /// knows no sites uses.
    pub fn under_site_frequencies(&self, mean: &[f64]) -> Model {
        let mut model = Model { mixture: None, freqs_mode: FreqsMode::Fixed, ..self.clone() };
        model.set_freqs(mean);
        model
    }

    /// [`Model::short_label`] of a model under frequencies of sites.
    pub fn label_under_site_frequencies(&self) -> String {
        let plain = Model { mixture: None, freqs_mode: FreqsMode::Table, ..self.clone() };
        format!("{}, site frequencies", plain.short_label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_a_profile_mixture_give_way_to_frequencies_of_sites() {
        let model = Model::parse("LG+C20+F+G4{0.6}").unwrap();
        assert_eq!(model.why_no_site_frequencies(), None);
        let plain = model.under_site_frequencies(&[0.05; 20]);
        assert_eq!(plain.eigen_models().len(), 1);
        assert_eq!(plain.rate_cats(), Model::parse("LG+G4{0.6}").unwrap().rate_cats());
        assert_eq!(plain.label_under_site_frequencies(), "LG+G4m{0.6}, site frequencies");
        assert!(Model::parse("LG+G4").unwrap().why_no_site_frequencies().is_none());
        for text in ["GTR+G4", "LG4X", "EX2+G4", "LG+ASC", "GY"] {
            assert!(Model::parse(text).unwrap().why_no_site_frequencies().is_some(), "{text}");
        }
    }
}
