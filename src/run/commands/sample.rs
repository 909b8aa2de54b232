//! Very long alignments: the starting trees are compared on a sample of the columns, and the search begins with the
//! tree that these lead to.
//!
//! Each column adds to the evidence, and to the work: which tree is near the best is clear long before all columns
//! are used. Everything that is accepted afterwards has a higher likelihood on all columns.

use super::search::{Begin, Climbed, climb};
use super::start::StartTree;
use crate::bootstrap::sampled_weights;
use crate::error::Result;
use crate::observer::{Event, Observer};
use crate::parsimony::ParsimonyData;
use crate::run::work::{Machine, Session, Setup};
use crate::search::SearchEffort;

/// Columns from which on a search begins with a sample.
const MANY: usize = 50_000;
/// Columns of the sample.
const SAMPLE: usize = 10_000;

/// The tree with which a search from these starting trees begins that compares them on a sample of the columns; `None`
/// if it compares them on all columns.
///
/// # Errors
/// A column with likelihood 0.
pub(super) fn begin_on_sample(
    session: &mut Session,
    starts: &[StartTree],
) -> Result<Option<StartTree>> {
    let effort = session.setup.plan.search.effort;
    let part = SAMPLE as f64 / session.setup.loaded.num_sites as f64;
    // One starting tree is not worth it, and a thorough search contains one with less effort on all columns.
    if session.setup.loaded.num_sites < MANY || effort != SearchEffort::Normal || starts.len() < 2 {
        return Ok(None);
    }
    let found = session.run_jobs("sample", 1, |setup, machine, _, observer| {
        observer.event(&Event::Detail(format!("search on a sample of {SAMPLE} columns")));
        search_sample(setup, machine, part, starts, observer)
    })?;
    Ok(found.into_iter().next())
}

fn search_sample(
    setup: &Setup,
    machine: Machine,
    part: f64,
    starts: &[StartTree],
    observer: &mut dyn Observer,
) -> Result<StartTree> {
    let seed = setup.plan.seed;
    let patterns = setup.loaded.partitions.iter().map(|partition| &partition.patterns);
    let weights = sampled_weights(seed, part, patterns);
    let mut models = setup.models();
    let partitions = setup.reweighted(&weights, &mut models);
    let data = ParsimonyData::of_partitions(setup.loaded.taxa.len(), &partitions);
    let begin = Begin {
        tree: starts[0].tree.clone(),
        alternatives: starts[1..].iter().map(|start| start.tree.clone()).collect(),
        more_starts: SearchEffort::Normal.schedule().more_starts,
        effort: SearchEffort::Fast,
        seed,
        index: 0,
        conclude: false,
        resolve: false,
    };
    let Climbed { evaluator, .. } =
        climb(setup, machine, &partitions, &data, &mut models, begin, observer)?;
    let source = format!("sample of {SAMPLE} columns");
    Ok(StartTree { source, tree: evaluator.tree().clone(), has_lengths: true })
}
