//! Replicates: searches on resampled columns.

use super::Bootstopping;
use super::climb::{Begin, Climbed, climb};
use crate::bootstrap::{STEP, replicate_weights};
use crate::error::Result;
use crate::likelihood::BRLEN_BOUNDS;
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::output::{BootstrapReport, OutputKind};
use crate::partition::{Partition, count_freqs};
use crate::rng::Purpose;
use crate::runtime::{JobContext, Jobs, Session, Setup};
use crate::search::{SearchOptions, parsimony_start};
use crate::tree::{Tree, tree_splits};

/// The trees of the bootstrap replicates.
pub(crate) const BOOTSTRAPS: OutputKind =
    OutputKind::new(5, "bootstraps", "the trees of the bootstrap replicates").of_trees("support");

/// Makes the replicates' trees, starting from these models, and their file and report.
pub(crate) fn make_replicates(session: &mut Session, models: &[Model]) -> Result<Vec<Tree>> {
    collect_replicates(session, |setup, number, job| replicate(setup, models, number, job))
}

/// Makes the trees of replicates, by their number from 0, and their file and report.
pub(crate) fn collect_replicates(
    session: &mut Session,
    make: impl Fn(&Setup, usize, &mut JobContext) -> Result<Tree> + Sync,
) -> Result<Vec<Tree>> {
    session.stage("bootstrap");
    let plan = session.setup.plan;
    let most = plan.bootstrap.replicates;
    let growing = session.record.grow(BOOTSTRAPS)?;
    let mut bootstopping = Bootstopping::of_plan(plan, session.setup.loaded.taxa.len());
    let mut trees: Vec<Tree> = Vec::new();
    loop {
        let before = trees.len();
        // How many are made at a time depends on nothing but the rule: the number of threads does not change the result.
        let count = if bootstopping.is_some() { STEP.min(most - before) } else { most };
        let setup = &session.setup;
        let jobs = Jobs {
            before,
            most,
            is_most_expected: before + count == most,
            on_result: &|job, tree| {
                growing.add(before + job, setup.newick(tree, plan.bootstrap.with_brlens));
            },
            ..setup.jobs("replicate", count)
        };
        trees.extend(session.record.run_jobs(&jobs, |job| make(setup, before + job.number, job))?);
        let splits = |tree| tree_splits(tree).into_iter().map(|(_, split)| split).collect();
        let new = trees[before..].iter().map(splits);
        let is_enough = bootstopping.as_mut().is_some_and(|tests| tests.add(new, session.record));
        if is_enough || trees.len() == most {
            break;
        }
    }
    let newicks = trees.iter();
    let newicks = newicks.map(|tree| session.setup.newick(tree, plan.bootstrap.with_brlens) + "\n");
    let newicks: String = newicks.collect();
    session.record.write(BOOTSTRAPS, &newicks)?;
    session.record.report.bootstrap = Some(BootstrapReport {
        replicates: trees.len(),
        seed: plan.bootstrap.seed,
        sampling: Some(plan.bootstrap.sampling.unit.name()),
        jackknife: plan.bootstrap.sampling.jackknife,
        bootstopping: bootstopping.map(|tests| tests.deliver(session.record)),
    });
    Ok(trees)
}

/// The partitions of a replicate, with its frequencies in those models that count them. Which taxa have data in a partition
/// is decided by the original columns, even if none of the few determined characters of a taxon was drawn.
pub(crate) fn resample(setup: &Setup, models: &mut [Model], number: usize) -> Vec<Partition> {
    let (seed, sampling) = (setup.plan.bootstrap.seed, setup.plan.bootstrap.sampling);
    let originals = &setup.loaded.partitions;
    let patterns: Vec<_> = originals.iter().map(|partition| &partition.patterns).collect();
    let weights = replicate_weights(sampling, seed, number, &patterns);
    originals
        .iter()
        .zip(&weights)
        .zip(models)
        .map(|((original, weights), model)| {
            let patterns = original.patterns.with_weights(weights);
            // A partition that was not drawn keeps its frequencies, which nothing depends on.
            if model.wants_counts() && patterns.num_tips() > 0 {
                count_freqs(model, &patterns);
            }
            Partition {
                name: original.name.clone(),
                model: model.clone(),
                patterns,
                sites: Vec::new(),
            }
        })
        .collect()
}

/// One replicate: columns resampled, a parsimony tree of these, a search.
fn replicate(setup: &Setup, models: &[Model], number: usize, job: &mut JobContext) -> Result<Tree> {
    let seed = setup.plan.bootstrap.seed;
    let mut models = models.to_vec();
    let partitions = resample(setup, &mut models, number);
    let partitions = setup.reduced(&partitions);
    let data = setup.parsimony_data(job.resources, &partitions);
    let tree = parsimony_start(&data, seed, Purpose::BootstrapTree, number as u64);
    let begin = Begin {
        tree,
        options: SearchOptions {
            // The tree of a replicate need not be the very best one: resampling makes support vary more.
            effort: setup.plan.search.effort.lower(),
            seed,
            index: number as u64,
            conclude: setup.plan.bootstrap.with_brlens,
            // Branches without length would otherwise be supported by all replicates.
            resolve: false,
            ..SearchOptions::default()
        },
        is_shown: false,
    };
    job.mute(true);
    let Climbed { mut evaluator, .. } = climb(setup, &partitions, &data, &mut models, begin, job)?;
    job.mute(false);
    let lnl = evaluator.log_likelihood()?;
    let (nth, count) = (number + 1, setup.plan.bootstrap.replicates);
    let message = format!("replicate {nth} of {count}: lnL {lnl:.4} on its resampled columns");
    job.event(&Event::Detail(message));
    if evaluator.linkage().has_own_lengths() {
        evaluator.average_brlens();
        evaluator.clamp_brlens();
    }
    Ok(setup.whole_tree_of_replicate(evaluator.tree(), number, BRLEN_BOUNDS[0]))
}
