//! Which model each partition has: its own line, or `-m`, or the default.
//!
//! A partition's model may end in `+BU{s}`: the scaler of the shared branch lengths that a scaled run
//! found (RAxML-NG writes `+B{s}`, which is read, too). It is no part of the model.

use super::plan::Plan;
use crate::error::{Fault, Place};
use crate::likelihood::BrlenLinkage;
use crate::model::Model;
use crate::numeric::GammaMode;
use crate::partition::{Partition, PartitionDef, format_ranges};

/// Model of partitions that name none, in a run without `-m`.
const DEFAULT_MODEL: &str = "GTR+G4";

/// What the command line says about models.
#[derive(Debug)]
pub struct ModelChoice {
    /// The model of `-m`.
    pub option: Option<Model>,
    /// True if `-m` was refused already: then nothing is said about lines that need it.
    pub option_is_bad: bool,
    /// Discrete rates are medians.
    pub gamma_median: bool,
}

/// Reads the model of `-m`.
pub fn parse_model_option(text: &str) -> Result<Model, Fault> {
    Model::parse(text).map_err(|message| Fault::new(Place::default(), format!("-m: {message}")))
}

/// The model of a partition and the scaler its line gives.
///
/// # Errors
/// The fault, with the line's place.
pub fn resolve_model(
    def: &PartitionDef,
    choice: &ModelChoice,
    notes: &mut Vec<String>,
) -> Result<(Model, Option<f64>), Fault> {
    let fault = |message: String| Fault::new(def.place.clone(), message);
    let (text, scaler) = split_scaler(&def.model).map_err(fault)?;
    let from_option = || match &choice.option {
        Some(model) => model.clone(),
        None => Model::parse(DEFAULT_MODEL).expect("the default model is known"),
    };
    let mut note = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    let takes_option = text.is_empty() || Model::is_type_only(&text);
    let mut model = if text.is_empty() {
        from_option()
    } else if let Some(model) = Model::for_type(&text, &from_option()) {
        model
    } else {
        Model::parse(&text).map_err(fault)?
    };
    if takes_option && choice.option.is_none() && !choice.option_is_bad {
        note(format!("partitions without a model of their own get {DEFAULT_MODEL} (no -m given)"));
    }
    if choice.gamma_median
        && let Some(gamma) = &mut model.gamma
    {
        gamma.mode = GammaMode::Median;
    }
    model.notes.iter().cloned().for_each(note);
    Ok((model, scaler))
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
        let option = option.map(|text| Model::parse(text).unwrap());
        ModelChoice { option, option_is_bad: false, gamma_median: false }
    }

    fn label(line: &str, option: Option<&str>) -> (String, Option<f64>, Vec<String>) {
        let mut notes = Vec::new();
        let (model, scaler) = resolve_model(&def(line), &choice(option), &mut notes).unwrap();
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
        let median = ModelChoice { gamma_median: true, ..choice(Some("JC+G")) };
        let model = resolve_model(&def("DNA"), &median, &mut Vec::new()).unwrap().0;
        assert_eq!(model.label(), "JC+FE+G4a");
    }

    #[test]
    fn a_scaler_is_taken_off_and_an_unusable_one_is_refused_at_its_line() {
        assert_eq!(label("JC+G{0.5}+BU{0.25}", None).1, Some(0.25));
        assert_eq!(label("JC+b[2]+G", None).0, "JC+FE+G4m");
        assert_eq!(label("DNA+BU{1.5}", Some("JC")).1, Some(1.5));
        for bad in ["JC+BU{0}", "JC+BU{x}", "JC+BU{-1}", "JC+B{inf}", "JC+B{"] {
            let fault = resolve_model(&def(bad), &choice(None), &mut Vec::new()).unwrap_err();
            let message = fault.to_string();
            assert!(message.starts_with("q, line 2, 'g': 'B"), "{message}");
        }
        let fault = resolve_model(&def("NONE"), &choice(None), &mut Vec::new()).unwrap_err();
        assert!(fault.to_string().starts_with("q, line 2, 'g': model 'NONE'"), "{fault}");
    }
}
