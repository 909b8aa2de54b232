//! Models that are to be selected: which ones to compare is decided when the data are read.

use super::models::ModelChoice;
use crate::alignment::Alignment;
use crate::alphabet::DataType;
use crate::error::{Fault, Faults, abridged};
use crate::model::AutoData;
use crate::model_selection::CandidateSet;
use crate::partition::{PartitionDef, detect_data_type, num_states_seen};
use crate::plan::Plan;

/// The models to compare for a partition, and the scaler its line gives; `None` if its model is given.
///
/// # Errors
/// A partition for whose data type no models can be compared.
pub(crate) fn candidates_of(
    def: &PartitionDef,
    choice: &ModelChoice,
    alignment: &Alignment,
    plan: &Plan,
) -> Result<Option<(CandidateSet, Option<f64>)>, Fault> {
    let Some((auto, scaler)) = choice.to_be_chosen(def)? else { return Ok(None) };
    let mut detected = detect_data_type(alignment, def);
    // The letters of multi-state data may be those of nucleotides or amino acids.
    if auto.data == AutoData::Multistate && matches!(detected, DataType::Dna | DataType::Protein) {
        let states = DataType::multistate(num_states_seen(alignment, def));
        detected = states.unwrap_or(DataType::Binary);
    }
    let candidates = CandidateSet::new(auto, detected, plan.data.gamma_median);
    Ok(Some((candidates.with_profiles(plan.data.auto_mixtures), scaler)))
}

/// The faults of characters that cannot be read as a partition's data type; only one if `--data-type` demands this type and
/// the characters show that they are of another.
pub(crate) fn explain_characters(
    faults: Faults,
    def: &PartitionDef,
    read_as: DataType,
    choice: &ModelChoice,
    alignment: &Alignment,
) -> Faults {
    let detected = detect_data_type(alignment, def).name();
    let (Some(typed), Some(first)) = (choice.type_from_option(def), faults.kept().first()) else {
        return faults;
    };
    if detected == read_as.name() {
        return faults;
    }
    let message = format!(
        "--data-type {} contradicts the characters of partition '{}', which are {detected} data (this is the first that \
         {} data do not have): leave out --data-type, so that auto takes the type that the characters show",
        typed.trim(),
        abridged(&def.name),
        read_as.name()
    );
    Fault::new(first.place.clone(), message).into()
}
