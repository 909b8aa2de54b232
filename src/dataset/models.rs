//! Which model each partition has: its own line, or `-m`, or the default.
//!
//! A partition's model may end in `+BU{s}`: the scaler of the shared branch lengths that a scaled run
//! found (RAxML-NG writes `+B{s}`, which is read, too). It is not part of the model.

use super::auto_type::auto_of_type;
use super::matrix_files::{parse_model, read_matrix_file};
use super::model_definitions::Definitions;
use crate::alphabet::DataType;
use crate::error::{Error, Fault, Faults, Place, abridged};
use crate::likelihood::BrlenLinkage;
use crate::model::{AutoData, AutoModel, Heterogeneity, Model, UserMatrix};
use crate::numeric::GammaMode;
use crate::partition::{PartitionDef, format_ranges, partition_line};
use crate::plan::{DataOptions, Plan};

/// Model of partitions that name none, in a run without `-m`.
const DEFAULT_MODEL: &str = "GTR+G4";

/// What the command line says about models.
#[derive(Debug, Default)]
pub(crate) struct ModelChoice {
    /// The model of `-m`; one that leaves the number of states open has two.
    option: Option<Model>,
    /// `-m` as it was typed, if it leaves the number of states open (`MULTIGAMMA`).
    open_option: Option<String>,
    /// What `-m` says if a model is to be selected; `option` then has RAxML's rates.
    auto: Option<AutoModel>,
    /// True if `-m` was refused: then lines that need it are not checked.
    pub option_is_bad: bool,
    /// Type of data of partitions that name neither it nor a model (`--data-type`).
    data_type: Option<String>,
    /// The matrix of `-P`.
    matrix: Option<UserMatrix>,
    /// What is defined in the file of `--definitions`.
    definitions: Definitions,
    /// Multi-state models that do not say it have equal rates, or different ones (`-K`).
    multistate_equal: Option<bool>,
    /// Discrete rates are medians.
    gamma_median: bool,
    /// False if nothing is computed with a model, so that nobody asks for it.
    pub is_asked_for: bool,
}

impl ModelChoice {
    /// Reads the model of `-m`, with what other options say of it; what is wrong joins the faults.
    pub(crate) fn new(options: &DataOptions, faults: &mut Faults) -> Self {
        let mut choice = ModelChoice {
            data_type: options.data_type.clone(),
            multistate_equal: options.multistate_equal,
            gamma_median: options.gamma_median,
            is_asked_for: true,
            ..ModelChoice::default()
        };
        let matrix = options.protein_matrix.as_deref().map(read_matrix_file).transpose();
        choice.matrix = choice.of_file(matrix, "-P", faults).flatten();
        let definitions = options.model_definitions.as_deref().map(Definitions::read_file);
        let definitions = choice.of_file(definitions.transpose(), "--definitions", faults);
        choice.definitions = definitions.flatten().unwrap_or_default();
        if choice.option_is_bad {
            return choice;
        }
        let Some(text) = options.model.as_deref() else {
            return choice;
        };
        if let Some(auto) = AutoModel::read(text) {
            let typed = choice.data_type.as_deref();
            match typed.map_or(Ok(auto), |data_type| auto_of_type(auto, text, data_type)) {
                Ok(auto) => choice.auto = Some(auto),
                Err(message) => {
                    faults.push(Fault::new(Place::default(), format!("-m {message}")));
                    choice.option_is_bad = true;
                }
            }
            let rates = auto.rates.map(|rates| Model::parse(&format!("LG{rates}")));
            choice.option = rates.and_then(Result::ok);
            return choice;
        }
        choice.open_option = Model::leaves_states_open(text).then(|| text.to_string());
        match choice.read_option(text) {
            Ok(model) => choice.option = Some(model),
            Err(message) => {
                let message = match looks_like_file(text) {
                    true => format!(
                        "'{}' is neither a model nor an existing file: give the path of a partition file, or a \
                         model such as GTR+G",
                        abridged(text)
                    ),
                    false => message,
                };
                faults.push(Fault::new(Place::default(), format!("-m: {message}")));
                choice.option_is_bad = true;
            }
        }
        choice
    }

    /// What was read from the file of an option; what is wrong with it joins the faults.
    fn of_file<T>(
        &mut self,
        read: crate::error::Result<T>,
        option: &str,
        faults: &mut Faults,
    ) -> Option<T> {
        match read {
            Ok(found) => return Some(found),
            Err(Error::Input(more)) => faults.append(more),
            Err(other) => faults.push(Fault::new(Place::default(), format!("{option}: {other}"))),
        }
        self.option_is_bad = true;
        None
    }

    fn read_option(&self, text: &str) -> Result<Model, String> {
        let model = parse_model(text, Some(2), self.matrix.as_ref(), &self.definitions)?;
        let model = match &self.matrix {
            Some(matrix) => model.with_user_matrix(matrix)?,
            None => model,
        };
        let says_rates = names_multistate_rates(text).filter(|_| self.multistate_equal.is_some());
        if says_rates.is_some() && says_rates != self.multistate_equal {
            return Err(format!(
                "model '{}' contradicts -K: give only one of them",
                abridged(text)
            ));
        }
        let Some(data_type) = &self.data_type else {
            return Ok(model);
        };
        let typed = model.for_data_type(data_type);
        let shown = abridged(text);
        let typed = typed.map_err(|wrong| format!("model '{shown}' with --data-type: {wrong}"))?;
        // A genetic code in the model string must agree.
        if text.to_ascii_uppercase().contains("+CODE") && typed.data_type != model.data_type {
            return Err(format!(
                "model '{shown}' and --data-type {data_type} name different genetic codes: give only one of them"
            ));
        }
        Ok(typed)
    }

    /// The models to compare for a partition, and the scaler its line gives; `None` if its model is given or
    /// its scaler is faulty.
    ///
    /// # Errors
    /// `auto` in the line, if there is no selection for the type of `--data-type`.
    pub(crate) fn to_be_chosen(
        &self,
        def: &PartitionDef,
    ) -> Result<Option<(AutoModel, Option<f64>)>, Fault> {
        let Ok((text, scaler)) = split_scaler(&def.model) else { return Ok(None) };
        let Some(auto) = AutoModel::of_line(&text, self.auto) else { return Ok(None) };
        let auto = match &self.data_type {
            // That of the command line has its type already.
            Some(data_type) if auto.data == AutoData::Detected => {
                auto_of_type(auto, &text, data_type)
                    .map_err(|message| Fault::new(def.place.clone(), message))?
            }
            _ => auto,
        };
        Ok(Some((auto, scaler)))
    }

    /// The type of `--data-type`, if the line of a partition names none and has no model.
    pub(crate) fn type_from_option(&self, def: &PartitionDef) -> Option<&str> {
        let (text, _) = split_scaler(&def.model).ok()?;
        let selects = AutoModel::of_line(&text, None).map(|auto| auto.data);
        let names_none = text.is_empty() || selects == Some(AutoData::Detected);
        self.data_type.as_deref().filter(|_| names_none)
    }

    /// The model of partitions without one of their own.
    fn model(&self, num_states: impl Fn() -> Option<usize>) -> Result<Model, String> {
        match (&self.open_option, &self.option, &self.data_type) {
            (Some(open), ..) => {
                Ok(self.with_multistate_rates(Model::parse_with_states(open, num_states())?, open))
            }
            (None, Some(model), _) => Ok(model.clone()),
            (None, None, None) => Model::parse(DEFAULT_MODEL),
            (None, None, Some(data_type)) => {
                let default = Model::parse(DEFAULT_MODEL)?;
                let unknown = default.for_data_type(data_type);
                Model::for_type(data_type, &default, num_states()).unwrap_or(unknown)
            }
        }
    }

    /// A multi-state model with the rates of `-K`, unless the text it came from says which.
    fn with_multistate_rates(&self, model: Model, text: &str) -> Model {
        match self.multistate_equal {
            Some(equal)
                if matches!(model.data_type, DataType::Multistate(_))
                    && names_multistate_rates(text).is_none() =>
            {
                model.with_multistate_rates(equal)
            }
            _ => model,
        }
    }
}

/// The model of a partition and the scaler its line gives. `num_states` counts the states of
/// multi-state data whose model does not say it.
///
/// # Errors
/// The fault, with the line's place.
pub(crate) fn resolve_model(
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
        let of_itself =
            || parse_model(&text, states(), choice.matrix.as_ref(), &choice.definitions);
        let model = of_type.unwrap_or_else(of_itself).map_err(fault)?;
        choice.with_multistate_rates(model, &text)
    };
    if takes_option && choice.auto.is_some() {
        note(format!(
            "no model selection for partitions of type '{text}': they get {}",
            model.label()
        ));
    } else if takes_option
        && choice.option.is_none()
        && !choice.option_is_bad
        && choice.is_asked_for
    {
        note(format!("partitions without a model get {DEFAULT_MODEL}, because no -m was given"));
    }
    if choice.gamma_median
        && let Heterogeneity::Gamma(gamma) = &mut model.heterogeneity
    {
        gamma.mode = GammaMode::Median;
    }
    model.notes.iter().cloned().for_each(note);
    Ok((model, scaler))
}

/// True for a word with folders or an extension, as in `partitions.part`, that does not begin like a model: probably
/// a misspelt file name, if the word is not a model.
fn looks_like_file(text: &str) -> bool {
    let head = text.split(['+', '{', '[']).next().unwrap_or_default();
    // Q.PFAM and its kin.
    let is_matrix = head.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("Q."));
    head.contains(std::path::is_separator) || (head.contains('.') && !is_matrix)
}

/// Whether a multi-state model's name says that its rates are equal (`MULTI4_MK`) or not
/// (`MULTI4_GTR`); RAxML's `MULTI` and `MULTIGAMMA` do not say.
fn names_multistate_rates(text: &str) -> Option<bool> {
    let name = text.split(['+', '{', '[']).next().unwrap_or_default().trim().to_ascii_uppercase();
    let says = |kind: &str| name.strip_suffix(kind).is_some_and(|rest| rest.starts_with("MULTI"));
    match name.as_str() {
        "MK" => Some(true),
        _ if says("_MK") => Some(true),
        _ if says("_GTR") => Some(false),
        _ => None,
    }
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
            "'{}' does not scale branch lengths: expected a positive number, as in +BU{{0.8}}",
            abridged(&text[at + 1..at + mark + end])
        )),
    }
}

/// The best-model file: one line per partition with its name, columns, model and scaler, itself a partition file.
pub(crate) fn write_models<'a>(
    plan: &Plan,
    partitions: impl Iterator<Item = (&'a str, &'a [u32], &'a Model, f64)>,
) -> String {
    let scaled = plan.linkage() == BrlenLinkage::Scaled;
    let mut text = String::new();
    for (name, columns, model, scaler) in partitions {
        let scaler = if scaled { format!("+BU{{{scaler}}}") } else { String::new() };
        text.push_str(&partition_line(format!("{model}{scaler}"), name, format_ranges(columns)));
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

    fn options(model: Option<&str>) -> DataOptions {
        DataOptions { model: model.map(String::from), ..DataOptions::default() }
    }

    fn choose(options: &DataOptions) -> ModelChoice {
        let mut faults = Faults::new();
        let choice = ModelChoice::new(options, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        choice
    }

    fn choice(option: Option<&str>) -> ModelChoice {
        choose(&options(option))
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
        let median = choose(&DataOptions { gamma_median: true, ..options(Some("JC+G")) });
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
        assert!(wrong.contains("the amino-acid matrix is missing"), "{wrong}");
    }

    #[test]
    fn a_data_type_of_the_command_line_is_that_of_lines_without_one() {
        let typed = |model: Option<&str>, data_type: &str| DataOptions {
            data_type: Some(data_type.to_string()),
            ..options(model)
        };
        for (line, model, data_type, expected) in [
            ("", Some("GY+F3X4"), "CODON2", "GY+F3X4+CODE{2}"),
            (
                "",
                Some("GY{2/0.1}+F1X4{1/1/1/1}+G"),
                "codon5",
                "GY{2/0.1}+F1X4{0.25/0.25/0.25/0.25}+CODE{5}+G4m",
            ),
            ("CODON11", Some("GY{2/0.1}"), "CODON2", "GY{2/0.1}+F3X4+CODE{11}"),
            ("", Some("LG+G"), "AA", "LG+G4m"),
            ("", Some("MK+G"), "MORPH", "MULTI5_MK+FE+G4m"),
            ("", None, "CODON2", "GY+F3X4+CODE{2}+G4m"),
            ("", None, "BIN", "BIN+FC+G4m"),
            ("DNA", None, "BIN", "GTR+FC+G4m"),
        ] {
            let choice = choose(&typed(model, data_type));
            assert_eq!(
                resolve(line, &choice).unwrap().0.label(),
                expected,
                "{model:?} {data_type}"
            );
        }
        for (model, data_type, expected) in [
            ("GTR+G", "CODON2", "the data type is CODON2, but GTR+FC+G4m is a model of DNA"),
            ("GY+CODE{1}", "CODON2", "different genetic codes"),
            ("GTR", "RNA", "unknown data type 'RNA'"),
            ("GTR", "CODON8", "unknown data type 'CODON8'"),
        ] {
            let mut faults = Faults::new();
            ModelChoice::new(&typed(Some(model), data_type), &mut faults);
            assert_eq!(faults.len(), 1);
            assert!(faults.kept()[0].message.contains(expected), "{faults:?}");
        }
        for (line, model, data_type, expected) in [
            ("", "auto", "AA", Some(AutoData::Protein)),
            ("", "MFP", "dna", Some(AutoData::Dna)),
            ("auto", "auto", "BIN", Some(AutoData::Binary)),
            ("", "TEST", "MORPH", Some(AutoData::Multistate)),
            ("", "PROTGAMMAAUTO", "AA", Some(AutoData::Protein)),
            ("auto", "LG", "AA", Some(AutoData::Protein)),
            // What lines say comes first.
            ("DNA", "auto", "AA", Some(AutoData::Dna)),
            ("LG", "auto", "AA", None),
        ] {
            let chosen = choose(&typed(Some(model), data_type)).to_be_chosen(&def(line)).unwrap();
            assert_eq!(chosen.map(|(auto, _)| auto.data), expected, "{line} {model} {data_type}");
        }
        for (model, data_type, expected) in [
            ("auto", "CODON2", "give a codon model, for example -m GY+F3X4 --data-type CODON2"),
            ("auto", "RNA", "unknown data type 'RNA'"),
            ("auto", "DNAX", "unknown data type 'DNAX'"),
            ("PROTGAMMAAUTO", "DNA", "or give -m auto --data-type DNA"),
            ("AA", "BIN", "selects among models of proteins"),
        ] {
            let mut faults = Faults::new();
            ModelChoice::new(&typed(Some(model), data_type), &mut faults);
            assert_eq!(faults.len(), 1);
            assert!(faults.kept()[0].message.contains(expected), "{faults:?}");
        }
        let codons = choose(&typed(Some("GY"), "CODON")).to_be_chosen(&def("auto")).unwrap_err();
        assert!(codons.to_string().starts_with("q, line 2, 'g': auto --data-type"), "{codons}");
        let wrong = resolve("", &choose(&typed(None, "RNA"))).unwrap_err().message;
        assert!(wrong.contains("unknown data type 'RNA'"), "{wrong}");
    }

    #[test]
    fn multi_state_models_that_do_not_say_it_have_the_rates_of_the_command_line() {
        let equal = |model: &str, equal: bool| DataOptions {
            multistate_equal: Some(equal),
            ..options(Some(model))
        };
        for (line, model, is_equal, expected) in [
            ("", "MULTIGAMMA", true, "MULTI5_MK+FE+G4m"),
            ("", "MULTIGAMMAX", true, "MULTI5_MK+FO+G4m"),
            ("", "ASC_MULTIGAMMA", true, "MULTI5_MK+FE+G4m+ASC_LEWIS"),
            ("MULTI", "GTRGAMMA", true, "MULTI5_MK+FE+G4m"),
            ("MULTI", "GTRGAMMA", false, "MULTI5_GTR+FC+G4m"),
            ("MULTI", "MK", true, "MULTI5_MK+FE"),
            ("MULTI3_GTR", "GTRGAMMA", true, "MULTI3_GTR+FC"),
            ("DNA", "GTRGAMMA", true, "GTR+FC+G4m"),
        ] {
            let choice = choose(&equal(model, is_equal));
            let found = resolve(line, &choice).unwrap().0.label();
            assert_eq!(found, expected, "{line} {model} {is_equal}");
        }
        let mut faults = Faults::new();
        ModelChoice::new(&equal("MK+G", false), &mut faults);
        assert!(faults.kept()[0].message.contains("contradicts -K"), "{faults:?}");
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

    #[test]
    fn a_file_that_is_not_there_is_told_from_an_unknown_model() {
        let said = |text: &str| {
            let mut faults = Faults::new();
            ModelChoice::new(&options(Some(text)), &mut faults);
            faults.kept()[0].message.clone()
        };
        for file in ["typo.part", "genes/part", "genes.nex+G"] {
            assert!(said(file).contains("is neither a model nor an existing file"), "{file}");
        }
        for model in ["TYPO", "Q.TYPO", "GTR{1/2}", "GTR+G{1/2}", "LG+G.5"] {
            assert!(!said(model).contains("an existing file"), "{model}: {}", said(model));
        }
    }
}
