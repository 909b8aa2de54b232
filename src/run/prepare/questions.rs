//! Models that are to be chosen from the data: asked for when the data are read, answered by the run.

use super::models::ModelChoice;
use crate::alignment::Alignment;
use crate::model_selection::Question;
use crate::partition::{PartitionDef, detect_data_type};
use crate::run::plan::Plan;

/// What is to be chosen for a partition, and the scaler its line gives; `None` if it has a model.
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
