//! Which model each partition has: its own line, or `-m`, or the default.
//!
//! A partition's model may end in `+BU{s}`: the scaler of the shared branch lengths that a scaled run
//! found (RAxML-NG writes `+B{s}`, which is read, too). It is no part of the model.

use super::plan::Plan;
use crate::error::{Fault, Place};
use crate::likelihood::BrlenLinkage;
use crate::model::{AutoModel, Heterogeneity, Model};
use crate::numeric::GammaMode;
use crate::partition::{Partition, PartitionDef, format_ranges};

/// Model of partitions that name none, in a run without `-m`.
const DEFAULT_MODEL: &str = "GTR+G4";

/// What the command line says about models.
#[derive(Debug, Default)]
pub struct ModelChoice {
    /// The model of `-m`; one that leaves the number of states open has two.
    option: Option<Model>,
    /// `-m` as it was typed, if it leaves the number of states open (`MULTIGAMMA`).
    open_option: Option<String>,
    /// What `-m` says if its model is to be chosen from the data; `option` then has RAxML's rates.
    auto: Option<AutoModel>,
    /// True if `-m` was refused already: then nothing is said about lines that need it.
    pub option_is_bad: bool,
    /// Discrete rates are medians.
    gamma_median: bool,
}

impl ModelChoice {
    /// Reads the model of `-m`; what is wrong with it joins the faults.
    pub fn new(option: Option<&str>, gamma_median: bool, faults: &mut Vec<Fault>) -> Self {
        let mut choice = ModelChoice { gamma_median, ..ModelChoice::default() };
        let Some(text) = option else {
            return choice;
        };
        choice.auto = AutoModel::read(text);
        if let Some(auto) = choice.auto {
            let rates = auto.rates.map(|rates| Model::parse(&format!("LG{rates}")));
            choice.option = rates.and_then(Result::ok);
            return choice;
        }
        choice.open_option = Model::leaves_states_open(text).then(|| text.to_string());
        match Model::parse_with_states(text, Some(2)) {
            Ok(model) => choice.option = Some(model),
            Err(message) => {
                faults.push(Fault::new(Place::default(), format!("-m: {message}")));
                choice.option_is_bad = true;
            }
        }
        choice
    }

    /// What is to be chosen for a partition, and the scaler its line gives; `None` if it has a model, or
    /// something is wrong with its line.
    pub fn to_be_chosen(&self, def: &PartitionDef) -> Option<(AutoModel, Option<f64>)> {
        let (text, scaler) = split_scaler(&def.model).ok()?;
        AutoModel::of_line(&text, self.auto).map(|auto| (auto, scaler))
    }

    /// The model of partitions without one of their own.
    fn model(&self, num_states: impl Fn() -> Option<usize>) -> Result<Model, String> {
        match (&self.open_option, &self.option) {
            (Some(open), _) => Model::parse_with_states(open, num_states()),
            (None, Some(model)) => Ok(model.clone()),
            (None, None) => Model::parse(DEFAULT_MODEL),
        }
    }
}

/// The model of a partition and the scaler its line gives. `num_states` counts the states of
/// multi-state data whose model does not say it.
///
/// # Errors
/// The fault, with the line's place.
pub fn resolve_model(
    def: &PartitionDef,
    choice: &ModelChoice,
    num_states: impl Fn() -> Option<usize>,
    notes: &mut Vec<String>,
) -> Result<(Model, Option<f64>), Fault> {
    let fault = |message: String| Fault::new(def.place.clone(), message);
    let (text, scaler) = split_scaler(&def.model).map_err(fault)?;
    let mut note = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    let takes_option = text.is_empty() || Model::is_type(&text);
    let states = || if takes_option_states(&text) { num_states() } else { None };
    let mut model = if text.is_empty() {
        choice.model(num_states).map_err(fault)?
    } else {
        let option = choice.option.clone().or_else(|| Model::parse(DEFAULT_MODEL).ok());
        let may_take = takes_option || choice.option.is_some() || Model::parse(&text).is_err();
        let of_type = option
            .filter(|_| may_take)
            .and_then(|option| Model::for_type(&text, &option, states()));
        of_type.unwrap_or_else(|| Model::parse_with_states(&text, states())).map_err(fault)?
    };
    if takes_option && choice.auto.is_some() {
        note(format!("no model is chosen for '{text}': such partitions get {}", model.label()));
    } else if takes_option && choice.option.is_none() && !choice.option_is_bad {
        note(format!("partitions without a model of their own get {DEFAULT_MODEL} (no -m given)"));
    }
    if choice.gamma_median
        && let Heterogeneity::Gamma(gamma) = &mut model.heterogeneity
    {
        gamma.mode = GammaMode::Median;
    }
    model.notes.iter().cloned().for_each(note);
    Ok((model, scaler))
}

/// True if the number of states of a partition's line must be counted in the data.
fn takes_option_states(text: &str) -> bool {
    Model::is_multistate_type(text) || Model::leaves_states_open(text)
}

/// Takes a `+BU{s}` or `+B{s}` off a model string.
fn split_scaler(text: &str) -> Result<(String, Option<f64>), String> {
    let upper = text.to_ascii_uppercase().replace('[', "{").replace(']', "}");
    let found = ["+BU{", "+B{"].iter().find_map(|mark| upper.find(mark).map(|at| (at, mark.len())));
    let Some((at, mark)) = found else {
        return Ok((text.to_string(), None));
    };
    let rest = &text[at + mark..];
    let end = rest.find(['}', ']']).unwrap_or(rest.len());
    match rest[..end].parse::<f64>() {
        Ok(scaler) if scaler > 0.0 && scaler.is_finite() => {
            let after = rest.get(end + 1..).unwrap_or_default();
            Ok((format!("{}{after}", &text[..at]), Some(scaler)))
        }
        _ => Err(format!(
            "'{}' is no scaler of branch lengths: expected a positive number, as in +BU{{0.8}}",
            &text[at + 1..at + mark + end]
        )),
    }
}

/// The best-model file: one line per partition, itself a partition file.
pub fn write_models(
    plan: &Plan,
    partitions: &[Partition],
    models: &[Model],
    scalers: &[f64],
) -> String {
    let scaled = plan.linkage() == BrlenLinkage::Scaled;
    let mut text = String::new();
    for ((partition, model), scaler) in partitions.iter().zip(models).zip(scalers) {
        let scaler = if scaled { format!("+BU{{{scaler}}}") } else { String::new() };
        let ranges = format_ranges(&partition.sites);
        text.push_str(&format!("{model}{scaler}, {} = {ranges}\n", partition.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def(model: &str) -> PartitionDef {
        let place = Place::file("q").at_line(2).named("g");
        PartitionDef { name: "g".into(), model: model.into(), sites: vec![0], place }
    }

    fn choice(option: Option<&str>) -> ModelChoice {
        let mut faults = Vec::new();
        let choice = ModelChoice::new(option, false, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        choice
    }

    fn resolve(line: &str, choice: &ModelChoice) -> Result<(Model, Option<f64>), Fault> {
        resolve_model(&def(line), choice, || Some(5), &mut Vec::new())
    }

    fn label(line: &str, option: Option<&str>) -> (String, Option<f64>, Vec<String>) {
        let mut notes = Vec::new();
        let (model, scaler) =
            resolve_model(&def(line), &choice(option), || Some(5), &mut notes).unwrap();
        (model.label(), scaler, notes)
    }

    #[test]
    fn a_type_takes_the_model_of_the_command_line_and_a_model_stands_on_its_own() {
        assert_eq!(label("DNA", Some("HKY+G")).0, "HKY+FC+G4m");
        assert_eq!(label("", Some("JC")).0, "JC+FE");
        assert_eq!(label("DNAX", Some("HKY+G")).0, "HKY+FO+G4m");
        assert_eq!(label("K80+I", Some("HKY+G")).0, "K80+FE+IO");
        let (model, _, notes) = label("DNA", None);
        assert_eq!((model.as_str(), notes.len()), ("GTR+FC+G4m", 1));
        assert!(label("JC", None).2.is_empty());
        let median = ModelChoice::new(Some("JC+G"), true, &mut Vec::new());
        assert_eq!(resolve("DNA", &median).unwrap().0.label(), "JC+FE+G4a");
    }

    #[test]
    fn types_of_other_data_get_their_own_model_with_the_rates_of_the_command_line() {
        for (line, option, expected) in [
            ("LG", Some("GTRGAMMA"), "LG+G4m"),
            ("LG", None, "LG"),
            ("WAGF", Some("GTRGAMMAI"), "WAG+FC+IO+G4m"),
            ("LG+I", Some("GTRGAMMA"), "LG+IO"),
            ("BIN", Some("GTRGAMMA"), "BIN+FC+G4m"),
            ("MULTI", Some("PROTGAMMAWAG"), "MULTI5_GTR+FC+G4m"),
            ("MULTI", Some("MK+G"), "MULTI5_MK+FE+G4m"),
            ("", Some("MK+G"), "MULTI5_MK+FE+G4m"),
            ("MULTI7_MK", Some("MK+G"), "MULTI7_MK+FE"),
            ("CODON2", Some("GY+F1X4+G"), "GY+F1X4+CODE{2}+G4m"),
            ("CODON", Some("GTR+G"), "GY+F3X4+CODE{1}+G4m"),
            ("DNA", Some("PROTGAMMALG"), "GTR+FC+G4m"),
            ("PROT", Some("LG+R3"), "LG+R3"),
            ("ASC_DNA", Some("GTRGAMMA"), "GTR+FC+G4m+ASC_LEWIS"),
        ] {
            assert_eq!(label(line, option).0, expected, "{line} with {option:?}");
        }
        let wrong = resolve("AA", &choice(Some("GTR+G"))).unwrap_err().to_string();
        assert!(wrong.contains("which amino-acid matrix"), "{wrong}");
    }

    #[test]
    fn a_scaler_is_taken_off_and_an_unusable_one_is_refused_at_its_line() {
        assert_eq!(label("JC+G{0.5}+BU{0.25}", None).1, Some(0.25));
        assert_eq!(label("JC+b[2]+G", None).0, "JC+FE+G4m");
        assert_eq!(label("DNA+BU{1.5}", Some("JC")).1, Some(1.5));
        for bad in ["JC+BU{0}", "JC+BU{x}", "JC+BU{-1}", "JC+B{inf}", "JC+B{"] {
            let fault = resolve(bad, &choice(None)).unwrap_err();
            let message = fault.to_string();
            assert!(message.starts_with("q, line 2, 'g': 'B"), "{message}");
        }
        let fault = resolve("NONE", &choice(None)).unwrap_err();
        assert!(fault.to_string().starts_with("q, line 2, 'g': model 'NONE'"), "{fault}");
    }
}
