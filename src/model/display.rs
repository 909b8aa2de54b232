//! The canonical model string: what is printed, and read back exactly.
//!
//! Numbers are printed with as few digits as bring back the same bits. The letters tell where a value
//! came from (`+FC` counted, `+FO` estimated, `+FU` given, `+IO` estimated, `+IU` given), but read
//! back, a value in braces is fixed: see the parser. Rates are one per class, in the order of first
//! appearance (RAxML-NG's manner); models with one class have none to print.

use super::parameters::{FreqsMode, Model, ParamMode};
use crate::numeric::GammaMode;
use std::fmt;

impl fmt::Display for Model {
    /// For example `HKY{1/4.25}+FC{0.3/0.2/0.2/0.3}+IO{0.1}+G4m{0.5}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&canonical(self, true))
    }
}

impl Model {
    /// The canonical string with the parameters left out, but those that are fixed: `GTR+FC+G4m`.
    /// This is what a user would type for this model.
    pub fn label(&self) -> String {
        canonical(self, false)
    }
}

fn canonical(model: &Model, all_values: bool) -> String {
    let mut text = model.name.clone();
    let classes = model.num_rate_classes();
    if classes > 1 && (all_values || model.rates_mode == ParamMode::Fixed) {
        text += &braces((0..classes).map(|class| model.class_value(class)));
    }
    let freqs = || braces(model.freqs.iter().copied());
    match model.freqs_mode {
        FreqsMode::Equal => text += "+FE",
        FreqsMode::Fixed => text += &format!("+FU{}", freqs()),
        FreqsMode::Empirical if all_values => text += &format!("+FC{}", freqs()),
        FreqsMode::Optimized if all_values => text += &format!("+FO{}", freqs()),
        FreqsMode::Empirical => text += "+FC",
        FreqsMode::Optimized => text += "+FO",
    }
    if let Some(invariant) = model.invariant {
        text += match invariant.pinv_mode {
            ParamMode::Fixed => "+IU",
            ParamMode::Optimized => "+IO",
        };
        if all_values || invariant.pinv_mode == ParamMode::Fixed {
            text += &braces([invariant.pinv]);
        }
    }
    if let Some(gamma) = model.gamma {
        let letter = match gamma.mode {
            GammaMode::Mean => 'm',
            GammaMode::Median => 'a',
        };
        text += &format!("+G{}{letter}", gamma.num_cats);
        if all_values || gamma.alpha_mode == ParamMode::Fixed {
            text += &braces([gamma.alpha]);
        }
    }
    text
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
        ] {
            assert_eq!(Model::parse(text).unwrap().label(), label, "{text}");
            assert_eq!(Model::parse(label).unwrap().label(), label);
        }
        let hky = Model::parse("HKY+FO+I+G").unwrap();
        assert_eq!(hky.to_string(), "HKY{1/1}+FO{0.25/0.25/0.25/0.25}+IO{0.1}+G4m{1}");
    }

    #[test]
    fn every_model_is_read_back_with_the_same_bits() {
        for named in &NAMED_DNA_MODELS {
            for rest in ["", "+FO+I+G", "+FE+G5a", "+FU{0.3/1e-4/1e-3/7}", "+FC+IO"] {
                let mut model = Model::parse(&format!("{}{rest}", named.name)).unwrap();
                for class in model.free_rate_classes() {
                    model.set_class_value(class, libm::exp(1.0 + f64::from(class)) * 1e-3);
                }
                if matches!(model.freqs_mode, FreqsMode::Empirical | FreqsMode::Optimized) {
                    model.set_freqs(&[0.1, 1.0 / 3.0, 0.123_456_789, 0.77]);
                }
                if let Some(gamma) = &mut model.gamma {
                    gamma.alpha = libm::exp(-1.0);
                }
                if let Some(invariant) = &mut model.invariant {
                    invariant.pinv = 1.0 / 7.0;
                }
                let text = model.to_string();
                let mut again = Model::parse(&text).unwrap();
                // The same values, now fixed.
                again.rates_mode = model.rates_mode;
                again.freqs_mode = model.freqs_mode;
                again.gamma = again.gamma.map(|mut gamma| {
                    assert_eq!(gamma.alpha_mode, ParamMode::Fixed);
                    gamma.alpha_mode = model.gamma.unwrap().alpha_mode;
                    gamma
                });
                again.invariant = again.invariant.map(|mut invariant| {
                    assert_eq!(invariant.pinv_mode, ParamMode::Fixed);
                    invariant.pinv_mode = model.invariant.unwrap().pinv_mode;
                    invariant
                });
                again.notes.clone_from(&model.notes);
                assert_eq!(again, model, "{text}");
                assert_eq!(again.to_string(), text);
            }
        }
    }
}
