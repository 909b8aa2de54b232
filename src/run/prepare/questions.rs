//! Models that are to be selected: which ones to compare is decided when the data are read.

use super::models::ModelChoice;
use crate::alignment::Alignment;
use crate::model_selection::Question;
use crate::partition::{PartitionDef, detect_data_type};
use crate::run::plan::Plan;

/// The models to compare for a partition, and the scaler its line gives; `None` if its model is given.
pub(super) fn ask(
    def: &PartitionDef,
    choice: &ModelChoice,
    alignment: &Alignment,
    plan: &Plan,
) -> Option<(Question, Option<f64>)> {
    let (asked, scaler) = choice.to_be_chosen(def)?;
    let detected = detect_data_type(alignment, def);
    Some((Question::new(asked, detected, plan.data.gamma_median), scaler))
}
