//! The canonical model string: what is printed, and read back exactly.
//!
//! Numbers are printed with the fewest digits that read back to the same bits. The letters show where a
//! value came from (`+FC` counted, `+FO` estimated, `+FU` given, `+IO` estimated, `+IU` given), but when
//! the string is read, a value in braces is fixed: see the parser. There is one rate per class, in the
//! order of first appearance (as in RAxML-NG), and none for models with one class.

use super::ascertainment::Ascertainment;
use super::codon::CodonRates;
use super::exchange::{Exchange, RateClasses};
use super::mixture::{ClassWeights, Mixture};
use super::modes::{FreqsMode, ParamMode, WeightsMode};
use super::parameters::Model;
use super::rates::Heterogeneity;
use crate::alphabet::DataType;
use crate::numeric::GammaMode;
use std::fmt;

impl fmt::Display for Model {
    /// For example `HKY{1/4.25}+FC{0.3/0.2/0.2/0.3}+IO{0.1}+G4m{0.5}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&canonical(self, true))
    }
}

impl Model {
    /// The canonical string without the parameters, except those that are fixed: `GTR+FC+G4m`.
    /// This is what a user would type for this model.
    pub fn label(&self) -> String {
        canonical(self, false)
    }

    /// [`Model::label`], shortened if it contains long lists of given values (a user's matrix).
    pub fn short_label(&self) -> String {
        const MOST: usize = 60;
        let label = self.label();
        match label.char_indices().nth(MOST) {
            Some((at, _)) => format!("{}...", &label[..at]),
            None => label,
        }
    }
}

fn canonical(model: &Model, all_values: bool) -> String {
    let shows = |mode: ParamMode| all_values || mode == ParamMode::Fixed;
    let mut text = model.name.clone();
    match &model.exchange {
        Exchange::Classes(classes) if classes.num_classes() > 1 && shows(classes.mode) => {
            text += &braces(class_values(classes));
        }
        Exchange::Codon(codon) if shows(codon.mode) => text += &braces(codon_values(codon)),
        _ => {}
    }
    if let Some(mixture) = &model.mixture {
        text += &of_mixture(mixture, all_values);
    }
    text += &freqs(model, all_values);
    if let DataType::Codon(code) = model.data_type {
        text += &format!("+CODE{{{}}}", code.number());
    }
    if let Some(invariant) = model.invariant {
        text += match invariant.pinv_mode {
            ParamMode::Fixed => "+IU",
            ParamMode::Optimized | ParamMode::Linked => "+IO",
        };
        if shows(invariant.pinv_mode) {
            text += &braces([invariant.pinv]);
        }
    }
    match &model.heterogeneity {
        Heterogeneity::Uniform => {}
        Heterogeneity::Gamma(gamma) => {
            let letter = match gamma.mode {
                GammaMode::Mean => 'm',
                GammaMode::Median => 'a',
            };
            text += &format!("+G{}{letter}", gamma.num_cats);
            if shows(gamma.alpha_mode) {
                text += &braces([gamma.alpha]);
            }
        }
        Heterogeneity::Free(free) => {
            text += &format!("+R{}", free.rates.len());
            if shows(free.mode) {
                text += &braces(free.rates.iter().copied());
                text += &braces(free.weights.iter().copied());
            }
        }
    }
    match &model.ascertainment {
        None => {}
        Some(Ascertainment::Lewis) => text += "+ASC_LEWIS",
        Some(Ascertainment::Felsenstein(n)) => text += &format!("+ASC_FELS{}", braces([*n])),
        Some(Ascertainment::Stamatakis(counts)) => {
            text += &format!("+ASC_STAM{}", braces(counts.iter().copied()));
        }
    }
    text
}

/// `+C20`, and weights that are not the published ones.
fn of_mixture(mixture: &Mixture, all_values: bool) -> String {
    let mut text = String::new();
    if mixture.is_of_frequencies() {
        text += &format!("+{}", mixture.name);
        mixture.given_profiles().for_each(|freqs| text += &braces(freqs.iter().copied()));
    }
    if let ClassWeights::Own { weights, mode } = &mixture.weights {
        let values = braces(weights.iter().copied());
        match mode {
            WeightsMode::Table => {}
            WeightsMode::Fixed => text += &format!("+WU{values}"),
            WeightsMode::Optimized if all_values => text += &format!("+WO{values}"),
            WeightsMode::Optimized => text += "+WO",
        }
    }
    text
}

fn freqs(model: &Model, all_values: bool) -> String {
    let values = |always: bool| {
        if always || all_values { braces(model.freqs.iter().copied()) } else { String::new() }
    };
    let positions = |name: &str, count: usize, counted: bool| {
        let values = model.position_freqs.as_flattened()[..count].iter().copied();
        let shown = all_values || !counted;
        format!("+{name}{}", if shown { braces(values) } else { String::new() })
    };
    match model.freqs_mode {
        FreqsMode::Table => String::new(),
        FreqsMode::Equal => "+FE".to_string(),
        FreqsMode::Fixed => format!("+FU{}", values(true)),
        FreqsMode::Empirical => format!("+FC{}", values(false)),
        FreqsMode::Optimized => format!("+FO{}", values(false)),
        FreqsMode::F1x4 { counted } => positions("F1X4", 4, counted),
        FreqsMode::F3x4 { counted } => positions("F3X4", 12, counted),
    }
}

fn class_values(classes: &RateClasses) -> impl Iterator<Item = f64> + '_ {
    (0..classes.num_classes()).map(|class| classes.value(class))
}

fn codon_values(codon: &CodonRates) -> impl Iterator<Item = f64> {
    codon.kappa.into_iter().chain([codon.omega])
}

fn braces(values: impl IntoIterator<Item = f64>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    format!("{{{}}}", values.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NAMED_DNA_MODELS;

    #[test]
    fn canonical_strings() {
        for (text, label) in [
            ("gtrgamma", "GTR+FC+G4m"),
            ("K2P+I{0.25}", "K80+FE+IU{0.25}"),
            ("DNA121131+FO+G8a", "DNA010020+FO+G8a"),
            ("TN{2/3}", "TN93{1/2/3}+FC"),
            ("PROTGAMMALGF", "LG+FC+G4m"),
            ("lg4x", "LG4X+R4"),
            ("GY94+F3X4", "GY+F3X4+CODE{1}"),
            ("GY{2/0.1}+F1X4{1/2/3/4}+CODE{2}", "GY{2/0.1}+F1X4{0.1/0.2/0.3/0.4}+CODE{2}"),
            ("GTR+R3+I", "GTR+FC+IO+R3"),
            ("MULTI3_MK+ASC", "MULTI3_MK+FE+ASC_LEWIS"),
            ("lg+c20", "LG+C20"),
            ("C20", "POISSON+C20+G4m"),
            ("EX2", "EX2+WO"),
            ("ul3+G+WU{1/2/5}", "UL3+WU{0.125/0.25/0.625}+G4m"),
            ("c10+F+R2", "POISSON+C10+WO+FC+R2"),
            ("WAG+F+C10+G4", "WAG+C10+WO+FC+G4m"),
            ("LG+C20+W+I", "LG+C20+WO+IO"),
            ("PROTGAMMALG+C60", "LG+C60+G4m"),
            ("BIN+ASC_STAM{3/4}", "BIN+FC+ASC_STAM{3/4}"),
        ] {
            assert_eq!(Model::parse(text).unwrap().label(), label, "{text}");
            assert_eq!(Model::parse(label).unwrap().label(), label);
        }
        let hky = Model::parse("HKY+FO+I+G").unwrap();
        assert_eq!(hky.to_string(), "HKY{1/3}+FO{0.25/0.25/0.25/0.25}+IO{0.1}+G4m{1}");
    }

    #[test]
    fn every_model_is_read_back_with_the_same_bits() {
        let dna = NAMED_DNA_MODELS.iter().map(|named| named.name);
        let others = ["LG", "LG4M", "LG4X", "PROTGTR", "BIN", "MULTI5_MK", "MULTI4_GTR"];
        for name in dna.chain(others) {
            for rest in ["", "+FO+I+G", "+FE+G4a", "+FC+IO", "+R4+ASC_FELS{7}", "+I+R4"] {
                check(&format!("{name}{rest}"));
            }
        }
        for name in ["GY", "GY0K", "MG", "MGK"] {
            for rest in ["", "+F1X4+CODE{2}", "+F3X4+G3", "+FE"] {
                check(&format!("{name}{rest}"));
            }
        }
        check("GY+F61");
        for text in
            ["LG+C10", "C20+F", "WAG+C30+W+R3", "LG+C10+FO+I", "PROTGTR+C10+G4", "EX2+G4", "EHO+F"]
        {
            check(text);
        }
        check("LG+C10+WU{1/2/3/4/5/0/7/8/9/10}+G4{0.3}");
        check("GTR+FU{0.3/1e-4/1e-3/7}");
    }

    /// Gives all parameters crooked values, prints, and reads back.
    fn check(text: &str) {
        let mut model = Model::parse(text).unwrap();
        let free = model.free_parameters();
        let crooked: Vec<f64> = (0..free.len())
            .map(|i| (free[i].value * libm::exp(0.1 * (i % 7) as f64 - 0.3)).min(free[i].hi))
            .collect();
        model.set_free_parameters(&crooked);
        match model.freqs_mode {
            FreqsMode::Empirical => {
                let odd: Vec<f64> = (0..model.num_states()).map(|i| 1.0 / (3 + i) as f64).collect();
                model.set_freqs(&odd);
            }
            FreqsMode::F1x4 { .. } => model.set_position_freqs(&[[0.1, 0.2, 0.3, 0.37]; 3]),
            FreqsMode::F3x4 { .. } => {
                model.set_position_freqs(&[[0.1, 0.2, 0.3, 0.37], [0.25; 4], [3.0, 1.0, 1.0, 7.0]]);
            }
            _ => {}
        }
        let printed = model.to_string();
        let again = Model::parse(&printed).unwrap();
        assert!(again.free_parameters().is_empty(), "{printed}: a value in braces is fixed");
        assert_eq!(again.eigen_models(), model.eigen_models(), "{printed}");
        assert_eq!(again.rate_cats(), model.rate_cats(), "{printed}");
        assert_eq!((&again.name, &again.freqs), (&model.name, &model.freqs), "{printed}");
        assert_eq!(again.ascertainment, model.ascertainment);
        // The letters of where values come from may change to those of given ones, but only once.
        let twice = Model::parse(&again.to_string()).unwrap();
        assert_eq!(twice.to_string(), again.to_string());
        assert_eq!(twice.eigen_models(), model.eigen_models(), "{printed}");
    }
}
