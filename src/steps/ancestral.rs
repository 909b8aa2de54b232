//! `--ancestral` and `--mutmap`: states at the inner nodes of the best tree of a search or an evaluation, and changes
//! along its branches.

use super::ancestral_tables::{
    ANCESTRAL_PROBS, ANCESTRAL_STATES, ANCESTRAL_TREE, MUTATION_MAP_LIST, MUTATION_MAP_TREE,
};
use super::branch_tests::evaluator_of;
use super::{Outcome, ProbabilityTable, best_of, deliver_changes, deliver_states};
use crate::ancestral::{AncestralStates, InnerNodes, changes_of_branches, reconstruct};
use crate::error::Result;
use crate::observer::{Advance, Observer};
use crate::output::OutputKind;
use crate::plan::Plan;
use crate::runtime::Session;
use std::ops::ControlFlow;

/// The files of ancestral states and of changes.
pub(crate) fn outputs(plan: &Plan) -> Vec<OutputKind> {
    let states = [ANCESTRAL_TREE, ANCESTRAL_STATES, ANCESTRAL_PROBS];
    let changes = [MUTATION_MAP_TREE, MUTATION_MAP_LIST];
    let states = states.into_iter().filter(|_| plan.ancestral.states);
    states.chain(changes.into_iter().filter(|_| plan.ancestral.changes)).collect()
}

/// Reconstructs the states of the best tree, if that is asked for, and delivers what was found. This takes about as long
/// as a few evaluations of the likelihood, so an interrupted run begins it anew.
///
/// # Errors
/// The engine has failed, or a file cannot be written.
pub(crate) fn deliver_ancestral(session: &mut Session, outcomes: &[Outcome]) -> Result<()> {
    let wanted = session.setup.plan.ancestral;
    if !wanted.states && !wanted.changes {
        return Ok(());
    }
    session.stage("ancestral states");
    let best = &outcomes[best_of(outcomes)];
    let nodes = InnerNodes::of(&best.tree, &session.setup.loaded.taxa);
    let found = reconstruct_all(session, best, &nodes)?;
    if wanted.states {
        deliver_states(session, best, &nodes, &found)?;
    }
    if wanted.changes {
        let partitions = &session.setup.loaded.partitions;
        let changes = changes_of_branches(&best.tree, &nodes, &found, partitions);
        deliver_changes(session, best, &nodes, &changes)?;
    }
    Ok(())
}

/// The most likely states of all nodes. The probabilities, which may be larger than the memory, are written meanwhile.
fn reconstruct_all(
    session: &mut Session,
    best: &Outcome,
    nodes: &InnerNodes,
) -> Result<AncestralStates> {
    let Session { setup, record } = session;
    let partitions = &setup.loaded.partitions;
    let resources = setup.resources.share_out(setup.plan, 1).resources;
    let mut evaluator = evaluator_of(setup, resources, best)?;
    let weights: Vec<&[u32]> = partitions.iter().map(|p| &p.patterns.weights[..]).collect();
    let mut table = match setup.plan.ancestral.states {
        true => {
            let part = record.part(ANCESTRAL_PROBS)?;
            Some(ProbabilityTable::begin(part, &setup.loaded)?)
        }
        false => None,
    };
    let mut written = Ok(());
    let found = reconstruct(&mut evaluator, nodes, &weights, |number, probabilities| {
        let share = number as f64 / nodes.nodes().len() as f64;
        record.progress.advance(Advance { phase: Some(share), ..Advance::default() });
        if let Some(table) = &mut table {
            written = table.add(&nodes.name(number), probabilities, &setup.loaded);
        }
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    table.map_or(Ok(()), |table| record.complete(table.end()))?;
    Ok(found)
}
