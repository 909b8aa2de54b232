//! `--evaluate`: branch lengths and models on given trees.

use crate::commands::Command;
use crate::error::{Error, Fault, Faults, Place, Result};
use crate::likelihood::Evaluator;
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::optimize::OptimizeOptions;
use crate::plan::{Facts, MemoryPlan, Needs, Plan, Workload};
use crate::runtime::{JobContext, RunRecord, Session, Setup};
use crate::steps::ancestral::{self, deliver_ancestral};
use crate::steps::branch_tests::{self, deliver_branch_tests};
use crate::steps::dry_run::describe_searches;
use crate::steps::one_class::TreeToOptimize;
use crate::steps::results::{BEST_MODEL, BEST_TREE, ML_TREES};
use crate::steps::select::select_models;
use crate::steps::site_frequencies::{self, begin_with_guide_tree, end_with_mixture};
use crate::steps::site_rates::{self, deliver_site_rates};
use crate::steps::starts::{StartLengths, StartTree, make_starts};
use crate::steps::{Outcome, Topologies, deliver, deliver_tests, results, tested_trees};
use crate::tree::Tree;

/// Gain (log units) below which an evaluation ends. Other programs stop at 0.1 to 0.01 and so miss up
/// to that much.
const EVALUATE_EPSILON: f64 = 1e-3;

/// Branch lengths and models on given trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evaluate;

impl Command for Evaluate {
    fn facts(&self, plan: &Plan) -> Facts {
        let mut outputs = vec![BEST_TREE, BEST_MODEL, ML_TREES];
        outputs.extend(results::outputs(plan));
        outputs.extend(branch_tests::outputs(plan));
        outputs.extend(tested_trees::outputs(plan));
        outputs.extend(ancestral::outputs(plan));
        outputs.extend(site_rates::outputs(plan));
        outputs.extend(site_frequencies::outputs(plan));
        let tests = if plan.tests.kinds.is_empty() { "" } else { " and tests" };
        Facts {
            task: format!("evaluation{tests} of given trees"),
            outputs,
            resumes: true,
            needs: Needs { own_trees: true, ..Needs::default() },
            workload: Workload {
                memory: MemoryPlan::Jobs,
                only_evaluates: true,
                ..Workload::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        evaluate(select_models(Session::start(plan, record)?)?)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_searches(Session::start(plan, record)?)
    }
}

/// Evaluates every given tree; each starts from the models as they were read.
///
/// # Errors
/// Partition trees that do not fit a tree, or a column with likelihood 0.
fn evaluate(mut session: Session) -> Result<()> {
    site_rates::check(&session.setup)?;
    let mixtures = begin_with_guide_tree(&mut session)?;
    let trees = make_starts(&mut session, StartLengths::AsGiven, Some("the evaluation"))?;
    let is_tested = !session.setup.plan.tests.kinds.is_empty();
    let topologies = if is_tested { Some(find_topologies(&mut session, &trees)?) } else { None };
    session.stage("branch lengths and model");
    let setup = &session.setup;
    let jobs = setup.jobs("tree", trees.len());
    let outcomes =
        session.record.run_jobs(&jobs, |job| evaluate_tree(setup, &trees[job.number], job))?;
    let outcomes: Vec<Outcome> =
        outcomes.into_iter().map(|outcome| outcome.with_models(&session.setup)).collect();
    deliver(&mut session, &outcomes)?;
    deliver_branch_tests(&mut session, &outcomes)?;
    deliver_ancestral(&mut session, &outcomes)?;
    deliver_site_rates(&mut session, &outcomes)?;
    end_with_mixture(&mut session, mixtures, &outcomes)?;
    topologies.map_or(Ok(()), |found| deliver_tests(&mut session, &outcomes, &found))
}

/// The topologies of the trees to be tested.
///
/// # Errors
/// Fewer than two.
fn find_topologies(session: &mut Session, trees: &[StartTree]) -> Result<Topologies> {
    let plan = session.setup.plan;
    let given: Vec<&Tree> = trees.iter().map(|start| &start.tree).collect();
    // Trees whose given lengths are kept differ in these.
    let topologies = match plan.search.opt_branches {
        true => Topologies::of(&given),
        false => Topologies::all_different(trees.len()),
    };
    if topologies.count() < 2 {
        let first = trees.first().map_or("", |start| start.source.as_str());
        let found = match trees.len() {
            1 => format!("{first} is the only tree"),
            many => format!("all {many} trees have the topology of {first}"),
        };
        return Err(Error::Usage(format!(
            "--tests compares trees of different topologies, at least two, but {found}"
        )));
    }
    for (tree, first) in topologies.duplicates() {
        let (tree, first) = (&trees[tree].source, &trees[first].source);
        let note = format!(
            "{tree} has the same topology as {first}: they are tested as one tree, the better of them"
        );
        session.event(Event::Note(note));
    }
    Ok(topologies)
}

fn evaluate_tree(setup: &Setup, start: &StartTree, job: &mut JobContext) -> Result<Outcome> {
    let search = &setup.plan.search;
    let (opt_model, opt_branches) = (search.opt_model, search.opt_branches);
    if !start.has_lengths && !opt_branches && !job.is_resumed() {
        job.event(&Event::Warning(format!(
            "{}: branches without a length get 0.1 substitutions per site, because branch lengths are not \
             optimised: give the tree lengths, or let them be optimised",
            start.source
        )));
    }
    let options = OptimizeOptions {
        model: opt_model,
        branches: opt_branches,
        ..OptimizeOptions::to(search.lh_epsilon.unwrap_or(EVALUATE_EPSILON))
    };
    let initial: Vec<Model> = setup.models();
    // Unlinked lengths start as the path sums of the tree's lengths. To start from the linked optimum, as a
    // search does, is slower here and ends lower, because partitions with few sites do not leave its very short
    // branches (59 taxa, 8 partitions: -51124.95 instead of -51124.51).
    let partitions = &setup.loaded.partitions;
    let tree = TreeToOptimize { setup, partitions, initial: &initial, tree: &start.tree, options };
    let begun = |evaluator: &mut Evaluator| set_partition_trees(setup, evaluator, &start.source);
    let (evaluator, models, lnl) = tree.optimize(job.resources, begun, job)?;
    job.event(&Event::Detail(format!("{}: lnL {lnl:.6}", start.source)));
    Outcome::of(start.source.clone(), evaluator, models, setup)
}

/// Gives every partition the lengths of its own tree, where there are such trees.
fn set_partition_trees(setup: &Setup, evaluator: &mut Evaluator, source: &str) -> Result<()> {
    let (Some(trees), Some(file)) =
        (&setup.loaded.partition_trees, &setup.plan.search.partition_trees)
    else {
        return Ok(());
    };
    let mut faults = Faults::new();
    for &partition in &setup.loaded.file_order {
        let Some(subset) = &trees[partition] else { continue };
        if !evaluator.set_partition_brlens(partition, &subset.tree) {
            let name = &setup.loaded.partitions[partition].name;
            let place = Place::file(file.display().to_string()).named(name);
            let message =
                format!("the topology of the partition's tree differs from that of {source}");
            faults.push(Fault::new(place, message));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
}
