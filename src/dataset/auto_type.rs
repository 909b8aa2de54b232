//! Model selection among the models of the data type of `--data-type`.

use crate::error::abridged;
use crate::model::{AutoData, AutoModel, Model};

/// A selection (`text` is how it was typed) among the models of the type of `--data-type`.
///
/// # Errors
/// A message for an unknown type, for one without a selection, and for one that contradicts the selection.
pub(crate) fn auto_of_type(
    auto: AutoModel,
    text: &str,
    data_type: &str,
) -> Result<AutoModel, String> {
    let says = format!("{} --data-type {}", abridged(text.trim()), abridged(data_type.trim()));
    // Any model names the types that there are.
    let unknown = Model::parse("GTR")?.for_data_type(data_type).err().unwrap_or_default();
    let is_codons = Model::parse("GY")?.for_data_type(data_type).is_ok();
    let all = AutoModel::read("auto").filter(|_| Model::is_type(data_type));
    match all.and_then(|all| AutoModel::of_line(data_type, Some(all))) {
        None if is_codons => Err(format!(
            "{says}: there is no model selection for codons, only for DNA, AA, BIN and MULTI: give a codon model, for \
             example -m GY+F3X4 --data-type {}",
            data_type.trim()
        )),
        None => Err(format!("{says}: {unknown}")),
        Some(typed) if [AutoData::Detected, typed.data].contains(&auto.data) => {
            Ok(AutoModel { data: typed.data, ..auto })
        }
        Some(_) => {
            let models = match auto.data {
                AutoData::Dna => "DNA",
                AutoData::Protein => "proteins",
                AutoData::Binary => "binary data",
                AutoData::Multistate => "multi-state data",
                AutoData::Detected => "the data",
            };
            Err(format!(
                "{says}: '{}' selects among models of {models}: leave out --data-type, or give -m auto --data-type {}",
                abridged(text.trim()),
                data_type.trim()
            ))
        }
    }
}
