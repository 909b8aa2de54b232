//! Whether a run that names no engine computes on a card: if there is one, the data are large, and the card gives the
//! processor's bits on them.

use super::calibration::first_tree;
use super::machine::Machine;
use crate::error::Result;
use crate::likelihood::select::{GeneSize, cards_for_jobs, room_on_cards, why_card};
use crate::model::Model;
use crate::partition::Partition;
use crate::run::plan::Plan;
use crate::run::prepare::Loaded;

/// The machine with a card or without, and what the user should know of it.
pub(super) fn choose_card(
    machine: Machine,
    plan: &Plan,
    loaded: &Loaded,
) -> (Machine, Option<String>) {
    let sizes: Vec<GeneSize> = loaded.partitions.iter().map(size_of).collect();
    let machine = machine.dealing(cards_for_jobs(machine.options(), &sizes));
    let with_room =
        |machine: Machine| machine.with_room_on_cards(room_on_cards(machine.options(), &sizes));
    if machine.is_on_cards() {
        return (with_room(machine), None);
    }
    let why = match plan.run.engine {
        None => why_card(machine.options(), &sizes),
        Some(_) => None,
    };
    let Some(why) = why else { return (machine, None) };
    let on_card = with_room(machine.on_card());
    match agree(&[machine, on_card], plan, loaded) {
        Ok(true) => (on_card, Some(format!("computing on a card: {why}"))),
        Ok(false) => {
            let warning = "warning: computing on the processor, because the card's likelihood of the data has other bits; \
                           please report what 'mlsearch gpu-selftest' says";
            (machine, Some(warning.to_string()))
        }
        Err(error) => (machine, Some(format!("computing on the processor: {error}"))),
    }
}

fn size_of(partition: &Partition) -> GeneSize {
    GeneSize {
        num_tips: partition.patterns.num_tips(),
        num_patterns: partition.patterns.num_patterns(),
        num_states: partition.model.num_states(),
        num_rates: partition.model.rate_cats().rates.len(),
    }
}

/// True if all machines give the same bits for the likelihood of the first tree.
fn agree(machines: &[Machine], plan: &Plan, loaded: &Loaded) -> Result<bool> {
    let (tree, _) = first_tree(plan, loaded);
    let models: Vec<Model> = loaded.partitions.iter().map(|p| p.model.clone()).collect();
    let lnls = |machine: &Machine| -> Result<Vec<u64>> {
        let mut evaluator =
            machine.evaluator(&loaded.partitions, &models, tree.clone(), plan.linkage())?;
        Ok(evaluator.gene_log_likelihoods()?.into_iter().map(f64::to_bits).collect())
    };
    let found = machines.iter().map(lnls).collect::<Result<Vec<_>>>()?;
    Ok(found.windows(2).all(|pair| pair[0] == pair[1]))
}
