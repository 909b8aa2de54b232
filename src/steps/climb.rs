//! From every starting tree to its best tree, and the best of them.

use super::contradiction::compare_with_free;
use super::one_class::{ObserverOfPart, Part, follow, guides};
use super::starts::START_TREE;
use super::starts::{StartLengths, StartTree, make_starts, write_starts};
use super::{Outcome, deliver};
use crate::dataset::Identical;
use crate::error::Result;
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::optimize::OptimizeOptions;
use crate::output::Next;
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::plan::TreeSource;
use crate::runtime::{JobContext, Resources, Session, Setup};
use crate::search::schedule::LAST_EPSILON;
use crate::search::{Search, SearchEffort, SearchHistory, SearchOptions, SearchState, settle};
use crate::tree::Tree;

/// Searches from every starting tree, and delivers what was found; `next` is what comes after it.
///
/// # Errors
/// A column with likelihood 0, or a file that cannot be written.
pub(crate) fn search_all(session: &mut Session, next: Next) -> Result<Vec<Outcome>> {
    let starts = make_starts(session, StartLengths::FromParsimony, Some("the search"))?;
    let contradicted = compare_with_free(session).is_some_and(|found| found.is_strong());
    // By default all starting trees serve one search, which continues from the best; if trees were given, a
    // search starts from each of them.
    let screened = session.setup.plan.search.trees == [TreeSource::Auto];
    let num_searches = if screened { 1 } else { starts.len() };
    session.record.progress.stage_before("search", next);
    let setup = &session.setup;
    let searches = setup.jobs("search", num_searches);
    let scanning = if num_searches == 1 { setup.companions_of_search().count() } else { 0 };
    if scanning > 0 {
        let what = match setup.resources.gpus() {
            Some(_) => "climbs go on",
            None => "subtrees are scanned",
        };
        let line = format!("{what} side by side on {scanning} evaluators");
        session.record.progress.detail_about_run(&line);
    }
    let outcomes = session.record.run_jobs(&searches, |job| {
        let i = job.number;
        let begin = Begin {
            tree: setup.reduced_tree(&starts[i].tree),
            options: SearchOptions {
                alternatives: match screened {
                    true => starts[1..].iter().map(|s| setup.reduced_tree(&s.tree)).collect(),
                    false => Vec::new(),
                },
                explores: screened && setup.plan.search.effort != SearchEffort::Fast,
                effort: setup.plan.search.effort,
                contradicted,
                seed: setup.plan.seed,
                index: i as u64,
                // Where sequences were left out, polytomies are resolved when these are back.
                resolve: setup.identical.is_none(),
                ..SearchOptions::default()
            },
            is_shown: true,
        };
        search_from(setup, &starts[i], begin, num_searches > 1, job)
    })?;
    let used = &mut session.record.report.run.threads;
    *used = scanning.max(*used);
    let outcomes: Vec<Outcome> =
        outcomes.into_iter().map(|outcome| outcome.with_models(&session.setup)).collect();
    let histories = outcomes.iter().filter_map(|outcome| outcome.history.as_ref());
    let more = histories.flat_map(|history| &history.more_starts);
    let setup = &session.setup;
    let more = more.map(|tree| setup.newick(&setup.whole_tree(tree), true) + "\n");
    let newicks: String = std::iter::once(write_starts(session, &starts)).chain(more).collect();
    session.record.write(START_TREE, &newicks)?;
    deliver(session, &outcomes)?;
    Ok(outcomes)
}

fn search_from(
    setup: &Setup,
    start: &StartTree,
    begin: Begin,
    several: bool,
    job: &mut JobContext,
) -> Result<Outcome> {
    if several && !job.is_resumed() {
        job.event(&Event::Detail(format!("search from {}", start.source)));
    }
    let mut models = setup.models();
    let partitions = setup.reduced(&setup.loaded.partitions);
    let data = setup.parsimony_data(job.resources, &partitions);
    let Climbed { mut evaluator, history } =
        climb(setup, &partitions, &data, &mut models, begin, job)?;
    if let Some(identical) = &setup.identical {
        drop((partitions, data));
        evaluator = put_back(setup, identical, job.resources, &models, evaluator)?;
        let plan = &setup.plan.search;
        let options = OptimizeOptions {
            model: plan.opt_model,
            ..OptimizeOptions::to(plan.lh_epsilon.unwrap_or(LAST_EPSILON))
        };
        let constraint = setup.loaded.constraint.as_ref();
        settle(&mut evaluator, &mut models, &setup.models(), &options, constraint, job)?;
    }
    if several {
        let lnl = evaluator.log_likelihood()?;
        job.event(&Event::Detail(format!("{}: lnL {lnl:.6}", start.source)));
    }
    let mut outcome = Outcome::of(start.source.clone(), evaluator, models, setup)?;
    outcome.history = Some(history);
    Ok(outcome)
}

/// An evaluator of all taxa, for the tree of one of a search that had left out identical sequences, which is gone before,
/// so that both are never in memory.
fn put_back(
    setup: &Setup,
    identical: &Identical,
    resources: Resources,
    models: &[Model],
    reduced: Evaluator,
) -> Result<Evaluator> {
    let (tree, linkage) = (identical.put_back(reduced.tree()), reduced.linkage());
    let partitions = 0..reduced.num_partitions();
    let scalers: Vec<f64> =
        partitions.clone().map(|partition| reduced.brlen_scaler(partition)).collect();
    let partition_tree = |partition| match reduced.partition_tree(partition) {
        (tree, taxa) if taxa.len() >= 2 => identical.put_back_in_partition(tree, taxa),
        (tree, _) => tree.clone(),
    };
    let partition_trees: Vec<Tree> = match linkage.has_own_lengths() {
        true => partitions.map(partition_tree).collect(),
        false => Vec::new(),
    };
    let partition_trees: Vec<&Tree> = partition_trees.iter().collect();
    drop(reduced);
    setup.evaluator_as_it_was(resources, models, tree, linkage, &scalers, &partition_trees)
}

/// Where one search begins.
pub(crate) struct Begin {
    /// The tree it begins with.
    pub tree: Tree,
    /// What is special to this search; [`climb`] adds what the plan says of all.
    pub options: SearchOptions,
    /// The best tree so far is shown while the search goes on.
    pub is_shown: bool,
}

impl Begin {
    /// The part under guides: only its topology matters.
    fn under_guides(&self) -> Begin {
        let options = SearchOptions { conclude: false, resolve: false, ..self.options.clone() };
        Begin { tree: self.tree.clone(), options, is_shown: self.is_shown }
    }

    /// What comes after the part under guides, with its tree: starting trees and perturbations were tried there.
    fn after_guides(self) -> Begin {
        let options = SearchOptions {
            effort: self.options.effort.lower(),
            alternatives: Vec::new(),
            explores: false,
            begun: true,
            ..self.options
        };
        Begin { options, ..self }
    }
}

/// Where a search ended.
pub(crate) struct Climbed {
    /// Has the best tree.
    pub evaluator: Evaluator,
    /// What the search met on its way.
    pub history: SearchHistory,
}

/// The state of a search.
#[derive(serde::Serialize, serde::Deserialize)]
enum ClimbState {
    /// Under guides.
    Guided(SearchState),
    /// Under the models themselves, with what a search under guides met before.
    Own(Option<SearchHistory>, SearchState),
}

/// One search from one tree, on the data as read or on a replicate of them; the models follow it. If they have guides, a search
/// under these comes first. An interrupted search goes on from its state in the checkpoint.
///
/// # Errors
/// There is not enough memory, the engine has failed, or the run is to end.
pub(crate) fn climb(
    setup: &Setup,
    partitions: &[Partition],
    data: &ParsimonyData,
    models: &mut [Model],
    mut begin: Begin,
    job: &mut JobContext,
) -> Result<Climbed> {
    let mut guides = guides(setup, models);
    let fits = |state: &ClimbState| match state {
        ClimbState::Guided(_) => guides.is_some(),
        ClimbState::Own(met, _) => met.is_some() == guides.is_some(),
    };
    let ((met, state), guided) = match job.resume_state(fits)? {
        None => ((None, None), None),
        Some(ClimbState::Guided(state)) => ((None, None), Some(state)),
        Some(ClimbState::Own(met, state)) => ((met, Some(state)), None),
    };
    let data = Data { setup, partitions, data };
    let met = match &mut guides {
        Some(guides) if met.is_none() => {
            let guide = begin.under_guides();
            let climbed = data.climb_on(guides, guide, guided, Part::UnderGuides, job)?;
            follow(models, guides);
            begin.tree = climbed.evaluator.tree().clone();
            Some(climbed.history)
        }
        _ => met,
    };
    match met {
        None => data.climb_on(models, begin, state, Part::Whole, job),
        Some(met) => {
            let climbed =
                data.climb_on(models, begin.after_guides(), state, Part::AfterGuides(&met), job)?;
            Ok(Climbed { history: met, ..climbed })
        }
    }
}

/// What a search is made with.
struct Data<'a> {
    setup: &'a Setup<'a>,
    partitions: &'a [Partition],
    data: &'a ParsimonyData,
}

impl Data<'_> {
    /// A search, or its part under these models.
    fn climb_on(
        &self,
        models: &mut [Model],
        begin: Begin,
        state: Option<SearchState>,
        part: Part,
        job: &mut JobContext,
    ) -> Result<Climbed> {
        let Data { setup, partitions, data } = self;
        // The search itself unlinks the lengths, when the tree is good enough for this to be worthwhile.
        let unlinked = setup.linkage.has_own_lengths();
        let linkage = if unlinked { BrlenLinkage::Linked } else { setup.linkage };
        let make =
            |resources| setup.evaluator(resources, partitions, models, begin.tree.clone(), linkage);
        let companions = job.resources.companions().map(make).collect::<Result<_>>()?;
        let mut evaluator =
            setup.evaluator(job.resources, partitions, models, begin.tree, linkage)?;
        let plan = &setup.plan.search;
        let options = SearchOptions {
            spr_radius: plan.spr_radius,
            spr_cutoff: plan.spr_cutoff,
            lnl_epsilon: plan.lh_epsilon,
            optimize_model: plan.opt_model,
            unlinked: unlinked && !matches!(part, Part::UnderGuides),
            ..begin.options
        };
        let search = match state {
            None => Search::new(&mut evaluator, models, data, &options),
            Some(state) if !state.fits(&evaluator, models) => return Err(job.unusable_state()),
            Some(state) => Search::resume(&mut evaluator, models, data, &options, state),
        };
        let mut search = search.with_companions(companions);
        while !search.is_done() {
            save(&search, setup, begin.is_shown, &part, job)?;
            search.step(&mut ObserverOfPart { observer: job, part: &part })?;
        }
        let history = search.history().clone();
        Ok(Climbed { evaluator, history })
    }
}

/// Saves the state of the search if it is time for it, with the best tree so far if that `is_shown`.
fn save(
    search: &Search,
    setup: &Setup,
    is_shown: bool,
    part: &Part,
    job: &mut JobContext,
) -> Result<()> {
    job.save_state(search.is_between_rounds(), || {
        let state = search.state();
        let (tree, lnl) = state.best();
        let newick = || setup.newick(&setup.whole_tree(tree), true);
        let best = lnl.filter(|_| is_shown).map(|lnl| (lnl, newick()));
        let state = match part {
            Part::UnderGuides => ClimbState::Guided(state),
            Part::AfterGuides(met) => ClimbState::Own(Some((*met).clone()), state),
            Part::Whole => ClimbState::Own(None, state),
        };
        (state, best)
    })
}

#[cfg(test)]
mod tests {
    use crate::cli::parse;
    use crate::error::Error;
    use crate::likelihood::failing::{CALLS, TURN};
    use crate::run::execute;
    use std::path::Path;
    use std::sync::atomic::Ordering;

    /// Runs a command in a folder of its own. Returns the best tree and model, the trees of replicates, and the report.
    fn run(words: &str, folder: &Path) -> Result<[String; 4], Error> {
        let prefix = folder.join("x");
        execute_line(&format!("{words} --quiet --prefix {}", prefix.display()), folder)
    }

    /// Runs a command as it is.
    fn execute_line(line: &str, folder: &Path) -> Result<[String; 4], Error> {
        let unquoted = format!("mlsearch {line}").replace('\'', "");
        let words: Vec<String> = unquoted.split_whitespace().map(String::from).collect();
        let Ok(analysis) = parse(&words) else { panic!("{line}") };
        execute(&analysis)?;
        let read = |kind: &str| std::fs::read_to_string(folder.join(format!("x.mlsearch.{kind}")));
        Ok(["bestTree", "bestModel", "bootstraps", "json"]
            .map(|kind| read(kind).unwrap_or_default()))
    }

    /// Such a run ends in the middle of a search, of the fit of a model, of a replicate.
    #[test]
    fn a_lost_engine_ends_the_run_with_the_command_that_resumes_it_on_the_processor() {
        let _turn = TURN.lock();
        let folder = tempfile::tempdir().unwrap();
        let partitions = "-s datasets/gappy.phy -q partitions/gappy.part -m GTR+G -T 1 --fast";
        let one = "-s datasets/primates.phy";
        for (command, all_calls) in [
            (partitions.to_string(), [0, 3, 1000]),
            (format!("{one} --evaluate -t pars{{1}} -m GTR+G -T 1"), [0, 7, 60]),
            (format!("{one} --evaluate -t pars{{1}} -m auto -T 1"), [1, 5, 20]),
            (format!("{one} --all --bs-trees 3 --fast -m JC -T 1"), [2, 20, 100]),
            (format!("{one} --bootstrap --bs-trees 4 --fast -m JC -T 2"), [2, 20, 100]),
        ] {
            CALLS.store(usize::MAX, Ordering::Relaxed);
            let want = run(&format!("{command} --redo"), folder.path()).unwrap();
            for calls in all_calls {
                CALLS.store(calls, Ordering::Relaxed);
                let lost = run(&format!("{command} --redo --backend failing"), folder.path());
                let message = lost.unwrap_err().to_string();
                let (reason, resuming) = message.split_once(": mlsearch ").expect("a command");
                let said = "the failing engine stopped working: it was pulled out; to go on from \
                            the checkpoint on the processor, repeat";
                assert_eq!(reason, said, "{command} after {calls} calls");
                let found = execute_line(resuming, folder.path()).unwrap();
                assert_eq!(found[..3], want[..3], "{command} after {calls} calls");
            }
        }
    }
}
