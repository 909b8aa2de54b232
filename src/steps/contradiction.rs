//! How far the data contradict the constraint of a run, told before the search.

use crate::observer::{Event, Observer};
use crate::runtime::Session;
use crate::search::Contradiction;

/// Compares parsimony trees with and without the constraint, and tells the result; `None` without a constraint.
pub(crate) fn compare_with_free(session: &mut Session) -> Option<Contradiction> {
    let setup = &session.setup;
    setup.loaded.constraint.as_ref()?;
    let partitions = setup.reduced(&setup.loaded.partitions);
    let resources = setup.resources.without_companions();
    let found = Contradiction::of(&setup.parsimony_data(resources, &partitions), setup.plan.seed)?;
    drop(partitions);
    let Contradiction { constrained, free } = found;
    let numbers = format!(
        "a parsimony tree has {constrained} changes under the constraint, {free} without it"
    );
    let progress = &mut session.record.progress;
    match found.is_strong() {
        true => progress.event(&Event::Warning(format!(
            "the data contradict the constraint: {numbers}; to test it, see mlsearch help search --guide"
        ))),
        false => progress.text(&format!("note: {numbers}")),
    }
    Some(found)
}
