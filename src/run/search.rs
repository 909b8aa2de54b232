//! `--search`: from every starting tree to its best tree, and the best of them.

use super::machine::Machine;
use super::outcome::{Outcome, deliver};
use super::plan::Plan;
use super::session::{Files, Session, Setup};
use super::start::{StartTree, make_starts, write_starts};
use crate::error::Result;
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::output::Kind;
use crate::partition::Partition;
use crate::search::{self, Event, Observer, SearchOptions};
use crate::tree::Tree;

/// Searches from every starting tree.
///
/// # Errors
/// A column with likelihood 0.
pub fn search(mut session: Session) -> Result<Files> {
    let mut files = Files::new();
    search_all(&mut session, &mut files)?;
    Ok(files)
}

/// Searches from every starting tree, and delivers what was found.
pub fn search_all(session: &mut Session, files: &mut Files) -> Result<Vec<Outcome>> {
    let starts = make_starts(session)?;
    let several = starts.len() > 1;
    let outcomes = session.run_jobs(starts.len(), |setup, machine, i, observer| {
        search_from(setup, machine, &starts[i], several, observer)
    })?;
    session.phase("writing");
    files.push((Kind::StartTree, write_starts(session, &starts)));
    deliver(session, &outcomes, files);
    Ok(outcomes)
}

fn search_from(
    setup: &Setup,
    machine: Machine,
    start: &StartTree,
    several: bool,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    if several {
        observer.event(&Event::Note(format!("search from {}", start.source)));
    }
    let mut models = setup.models();
    let partitions = &setup.loaded.partitions;
    let tree = start.tree.clone();
    let (evaluator, lnl) = climb(setup, machine, partitions, &mut models, tree, observer);
    if several {
        observer.event(&Event::Note(format!("{}: lnL {lnl:.6}", start.source)));
    }
    Outcome::of(start.source.clone(), evaluator, models, setup)
}

/// One search from one tree, on the data as read or on a replicate of them. Returns the evaluator
/// with the best tree, and its log-likelihood; the models follow it.
pub fn climb(
    setup: &Setup,
    machine: Machine,
    partitions: &[Partition],
    models: &mut [Model],
    tree: Tree,
    observer: &mut dyn Observer,
) -> (Evaluator, f64) {
    // The search itself unlinks the lengths, once the tree is good enough for it to pay.
    let unlinked = setup.linkage == BrlenLinkage::Unlinked;
    let linkage = if unlinked {
        BrlenLinkage::Linked
    } else {
        setup.linkage
    };
    let mut evaluator = setup.evaluator(machine, partitions, models, tree, linkage);
    let options = search_options(setup.plan, unlinked);
    let lnl = search::search(&mut evaluator, models, &options, observer);
    (evaluator, lnl)
}

fn search_options(plan: &Plan, unlinked: bool) -> SearchOptions {
    SearchOptions {
        spr_radius: plan.search.spr_radius,
        spr_cutoff: plan.search.spr_cutoff,
        lnl_epsilon: plan.search.lh_epsilon,
        optimize_model: plan.search.opt_model,
        unlinked,
    }
}
