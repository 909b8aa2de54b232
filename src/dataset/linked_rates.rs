//! `--link-exchange-rates`: which partitions have exchange rates in common.

use crate::error::{Fault, Faults, Place};
use crate::model::Model;
use crate::partition::Partition;
use crate::plan::Plan;

/// Links the exchange rates of partitions that estimate those of the same matrix, if the user asks for it. Returns a note on it.
pub(super) fn link_exchange_rates(
    plan: &Plan,
    partitions: &mut [Partition],
    is_selected: &[bool],
    faults: &mut Faults,
) -> Option<String> {
    if !plan.data.link_exchange_rates {
        return None;
    }
    let mut refuse = |message: &str| {
        faults.push(Fault::new(Place::default(), format!("--link-exchange-rates: {message}")));
        None
    };
    if is_selected.contains(&true) {
        return refuse(
            "-m auto selects a model for each partition by itself: give one, such as GTR20+G4 or GTR+G4",
        );
    }
    let mut models: Vec<&mut Model> = partitions.iter_mut().map(|one| &mut one.model).collect();
    if Model::link_exchange_rates(&mut models) == 0 {
        return refuse(
            "no two partitions estimate the exchange rates of the same matrix: give them (-q) models such as GTR20+G4 or GTR+G4",
        );
    }
    let are_linked = partitions.iter().filter(|one| one.model.has_linked_rates()).count();
    Some(format!(
        "{are_linked} partitions have exchange rates in common with others of the same matrix"
    ))
}
