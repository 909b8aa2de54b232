//! [`ModelsByType`]: a model for each type of data, as in `-m DNA=GTR+G,AA=LG+G`.

use super::models::ModelChoice;
use crate::alignment::Alignment;
use crate::error::{Fault, Faults, Place, abridged};
use crate::model::{AutoData, AutoModel, Model};
use crate::partition::{PartitionDef, detect_data_type};
use crate::plan::DataOptions;

/// The models of a run of data of several types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelsByType {
    /// The same for all data, or none.
    One(Option<String>),
    /// By the names of the types.
    Each(Vec<(&'static str, String)>),
}

/// A model of each type.
const OF_TYPES: [&str; 5] = ["JC", "LG", "GY", "BIN", "MULTI4_MK"];

/// The name of the type that a word means: `AA` is `protein`, and so is `AAX`, with frequencies that are estimated.
fn type_called(word: &str) -> Option<&'static str> {
    if !Model::is_type(word) {
        return None;
    }
    let bare = word.trim_end_matches(['X', 'x']);
    let models = OF_TYPES.iter().filter_map(|model| Model::parse(model).ok());
    let mut of_type = models.filter_map(|model| model.for_data_type(bare).ok());
    of_type.next().map(|model| model.data_type.name())
}

/// Where the pieces of a text begin that are separated by commas outside braces and brackets.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut pieces, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

impl ModelsByType {
    /// Reads what `-m` says; what is wrong with it joins the faults.
    pub(crate) fn read(data: &DataOptions, faults: &mut Faults) -> Self {
        let Some(text) = data.model.as_deref() else { return ModelsByType::One(None) };
        let mut check = |model: &str| {
            let options = DataOptions { model: Some(model.to_string()), ..data.clone() };
            ModelChoice::new(&options, faults);
        };
        let is_first_typed =
            text.split_once('=').is_some_and(|(word, _)| Model::is_type(word.trim()));
        if !is_first_typed {
            check(text);
            return ModelsByType::One(Some(text.to_string()));
        }
        let mut models: Vec<(&'static str, String)> = Vec::new();
        let mut wrong = Vec::new();
        for piece in split_outside_braces(text) {
            let shown = abridged(piece.trim());
            let typed = piece.split_once('=');
            let known = typed.and_then(|(word, model)| Some((type_called(word.trim())?, model)));
            match known {
                None => wrong.push(format!(
                    "-m: cannot read '{shown}': expected a type and its model, as in DNA=GTR+G,AA=LG+G"
                )),
                Some((name, _)) if models.iter().any(|one| one.0 == name) => {
                    wrong.push(format!("-m: there is a second model for {name} data, '{shown}'"));
                }
                Some((name, model)) => {
                    check(model.trim());
                    models.push((name, model.trim().to_string()));
                }
            }
        }
        let fault = |message| Fault::new(Place::default(), message);
        faults.extend(wrong.into_iter().map(fault));
        ModelsByType::Each(models)
    }

    /// The model for a partition whose own line may have one.
    ///
    /// # Errors
    /// There is none for its type.
    pub(crate) fn of(
        &self,
        alignment: &Alignment,
        def: &PartitionDef,
        file: &str,
    ) -> Result<Option<String>, Fault> {
        let models = match self {
            ModelsByType::One(model) => return Ok(model.clone()),
            ModelsByType::Each(models) => models,
        };
        let detects = def.model.is_empty()
            || AutoModel::of_line(&def.model, None).is_some_and(|a| a.data == AutoData::Detected);
        let given = || Model::parse(&def.model).ok().map(|model| model.data_type.name());
        let name = match detects {
            true => Some(detect_data_type(alignment, def).name()),
            false => type_called(&def.model).or_else(given),
        };
        // A line with a model of its own needs no other.
        let Some(name) = name else { return Ok(None) };
        let found = models.iter().find(|one| one.0 == name).map(|one| one.1.clone());
        if found.is_none() && (detects || Model::is_type(&def.model)) {
            let place = Place::file(file).named(&def.name);
            let message = format!("these are {name} data, for which -m has no model");
            return Err(Fault::new(place, message));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment_from;
    use crate::partition::whole_alignment;

    fn read(text: &str) -> (ModelsByType, Vec<String>) {
        let data = DataOptions { model: Some(text.into()), ..DataOptions::default() };
        let mut faults = Faults::new();
        let models = ModelsByType::read(&data, &mut faults);
        (models, faults.kept().iter().map(Fault::to_string).collect())
    }

    #[test]
    fn each_type_has_its_model_and_all_faults_are_named() {
        let (models, faults) = read("DNA=GTR{1/2/3/1/2/1}+G, aa = LG+G,CODON=GY+F3X4");
        assert_eq!(faults, Vec::<String>::new());
        let ModelsByType::Each(models) = models else { panic!("{models:?}") };
        let expected = [
            ("DNA", "GTR{1/2/3/1/2/1}+G".to_string()),
            ("protein", "LG+G".to_string()),
            ("codon", "GY+F3X4".to_string()),
        ];
        assert_eq!(models, expected);
        assert_eq!(read("GTR+G"), (ModelsByType::One(Some("GTR+G".into())), Vec::new()));
        let (_, faults) = read("DNA=GTR+G,AA=NOSUCH,nonsense,NT=JC");
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.starts_with("-m")), "{faults:?}");
    }

    #[test]
    fn a_line_or_the_characters_tell_the_type() {
        let (models, _) = read("DNA=HKY,AA=LG");
        let proteins = read_alignment_from(&b"2 8\nx MKVLITGA\ny MKALVTGX\n"[..], "f").unwrap();
        let of = |model: &str| models.of(&proteins, &whole_alignment(8, model)[0], "f");
        assert_eq!(of("").unwrap().as_deref(), Some("LG"));
        assert_eq!(of("auto").unwrap().as_deref(), Some("LG"));
        assert_eq!(of("DNA").unwrap().as_deref(), Some("HKY"));
        assert_eq!(of("AAX").unwrap().as_deref(), Some("LG"));
        assert_eq!(of("WAG+G").unwrap().as_deref(), Some("LG"));
        assert!(of("BIN").unwrap_err().to_string().contains("binary data, for which -m has no"));
        assert_eq!(of("BIN+G").unwrap(), None);
    }
}
