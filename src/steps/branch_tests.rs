//! SH-aLRT and aBayes of the best tree of a search or an evaluation.

use super::support::SUPPORT;
use super::{BranchSupport, Outcome, best_of, deliver_support};
use crate::bootstrap::{BranchTests, Resampling, SupportKind, test_branches};
use crate::dataset::Loaded;
use crate::error::Result;
use crate::likelihood::Evaluator;
use crate::output::OutputKind;
use crate::plan::Plan;
use crate::runtime::{JobContext, Resources, Session, Setup, thread_pool};
use crate::tree::Tree;

/// The file of these tests.
pub(crate) fn outputs(plan: &Plan) -> Option<OutputKind> {
    (!plan.support.kinds.is_empty()).then_some(SUPPORT)
}

/// Tests the branches of the best tree, if that is asked for, and delivers what was found.
///
/// # Errors
/// The engine has failed, or a file cannot be written.
pub(crate) fn deliver_branch_tests(session: &mut Session, outcomes: &[Outcome]) -> Result<()> {
    let best = &outcomes[best_of(outcomes)];
    let support = support_by_likelihood(session, best)?;
    if support.kinds.is_empty() {
        return Ok(());
    }
    let Loaded { taxa, root, .. } = &session.setup.loaded;
    deliver_support(&best.tree, &support, taxa, root.as_ref(), session.record)
}

/// The support of a tree by the likelihoods of its neighbours, of the kinds that are asked for.
///
/// # Errors
/// The engine has failed.
pub(crate) fn support_by_likelihood(
    session: &mut Session,
    best: &Outcome,
) -> Result<BranchSupport> {
    let plan = session.setup.plan;
    let has = |kind| plan.support.kinds.contains(&kind);
    let (sh_alrt, abayes) = (has(SupportKind::ShAlrt), has(SupportKind::ABayes));
    let mut support = BranchSupport::default();
    if !(sh_alrt || abayes) {
        return Ok(support);
    }
    session.stage("tests of branches");
    let setup = &session.setup;
    let jobs = setup.jobs("test of branches", 1);
    for tests in session.record.run_jobs(&jobs, |job| test(setup, best, job))? {
        if sh_alrt {
            let source = format!("{} resampled alignments", plan.support.alrt_replicates);
            support.push(SupportKind::ShAlrt, tests.sh_alrt, source);
            support.sh_alrt_replicates = Some(plan.support.alrt_replicates);
        }
        if abayes {
            support.push(SupportKind::ABayes, tests.abayes, "the tree and its neighbours".into());
        }
    }
    Ok(support)
}

fn test(setup: &Setup, best: &Outcome, job: &mut JobContext) -> Result<BranchTests> {
    let plan = setup.plan;
    let mut evaluator = evaluator_of(setup, job.resources, best)?;
    let pool = thread_pool(plan);
    let patterns: Vec<_> = setup.loaded.partitions.iter().map(|p| &p.patterns).collect();
    let replicates = match plan.support.kinds.contains(&SupportKind::ShAlrt) {
        true => plan.support.alrt_replicates,
        false => 0,
    };
    let resampling = Resampling { patterns: &patterns, replicates, seed: plan.seed, pool: &pool };
    Ok(test_branches(&mut evaluator, resampling, job)?)
}

/// An evaluator with the tree, lengths, scalers and models of an outcome.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn evaluator_of(
    setup: &Setup,
    resources: Resources,
    best: &Outcome,
) -> Result<Evaluator> {
    let partition_trees: Vec<&Tree> =
        best.partition_trees.iter().flatten().map(|(tree, _)| tree).collect();
    let (tree, linkage) = (best.tree.clone(), setup.linkage);
    setup.evaluator_as_it_was(
        resources,
        &best.models,
        tree,
        linkage,
        &best.scalers,
        &partition_trees,
    )
}
