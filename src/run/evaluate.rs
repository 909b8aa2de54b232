//! `--evaluate`: branch lengths and models on given trees.

use super::outcome::{Outcome, deliver};
use super::session::{Files, Session};
use super::trees::GivenTree;
use crate::error::{Error, Fault, Place, Result};
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::optimize::{OptimizeOptions, optimize};
use crate::search::{Event, Observer};

/// Gain (log units) below which an evaluation ends. Other programs stop at 0.1 to 0.01 and so miss up
/// to that much; at this value ours comes out above theirs on every reference of the tests.
const EVALUATE_EPSILON: f64 = 1e-3;
/// The same before lengths are unlinked: they only start there.
const LINKED_EPSILON: f64 = 1.0;

/// Evaluates every given tree; each starts from the models as they were read.
///
/// # Errors
/// Trees that do not fit the partition trees, or a column with likelihood 0.
pub fn evaluate(mut session: Session) -> Result<Files> {
    if session.linkage == BrlenLinkage::Scaled && session.plan.search.opt_branches {
        session.progress.event(&Event::Note(
            "partitions' scalers are optimised with the branch lengths, to a mean of 1".into(),
        ));
    }
    let mut outcomes = Vec::new();
    for given in std::mem::take(&mut session.loaded.trees) {
        session.phase("evaluating");
        outcomes.push(evaluate_tree(&mut session, given)?);
    }
    session.phase("writing");
    let mut files = Files::new();
    deliver(&mut session, &outcomes, &mut files);
    Ok(files)
}

fn evaluate_tree(session: &mut Session, given: GivenTree) -> Result<Outcome> {
    let search = &session.plan.search;
    let (opt_model, opt_branches) = (search.opt_model, search.opt_branches);
    if !given.has_lengths && !opt_branches {
        session.progress.event(&Event::Warning(format!(
            "{}: branches without a length get 0.1, because lengths are not optimised",
            given.source
        )));
    }
    let options = |lnl_epsilon: f64| OptimizeOptions {
        model: opt_model,
        branches: opt_branches,
        ..OptimizeOptions::to(lnl_epsilon)
    };
    let epsilon = search.lh_epsilon.unwrap_or(EVALUATE_EPSILON);
    let mut models: Vec<Model> = session.models();
    let unlinked = session.linkage == BrlenLinkage::Unlinked;
    // Own lengths start as the path sums of the linked optimum, unless they are given.
    let given_lengths = session.loaded.partition_trees.is_some() || !opt_branches;
    let first = if unlinked && !given_lengths {
        BrlenLinkage::Linked
    } else {
        session.linkage
    };
    let mut evaluator = session.evaluator(&models, given.tree, first);
    if unlinked && !given_lengths {
        optimize(
            &mut evaluator,
            &mut models,
            &options(LINKED_EPSILON.max(epsilon)),
        );
        evaluator.unlink();
    }
    set_partition_trees(session, &mut evaluator, &given.source)?;
    let lnl = optimize(&mut evaluator, &mut models, &options(epsilon));
    session
        .progress
        .event(&Event::Note(format!("{}: lnL {lnl:.6}", given.source)));
    Outcome::of(given.source, evaluator, models, session)
}

/// Gives every partition the lengths of its own tree, where there are such trees.
fn set_partition_trees(session: &Session, evaluator: &mut Evaluator, source: &str) -> Result<()> {
    let Some(trees) = &session.loaded.partition_trees else {
        return Ok(());
    };
    let file = session
        .plan
        .search
        .partition_trees
        .as_deref()
        .unwrap_or("".as_ref());
    let mut faults = Vec::new();
    for (gene, subset) in trees.iter().enumerate() {
        let Some(subset) = subset else { continue };
        if !evaluator.set_gene_brlens(gene, &subset.tree) {
            let place = Place::file(file.display().to_string())
                .named(&session.loaded.partitions[gene].name);
            let message = format!("the partition's tree has another topology than {source}");
            faults.push(Fault::new(place, message));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Error::Input(faults))
    }
}
