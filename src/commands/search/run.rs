//! `--search`: from every starting tree to its best tree, and the best of them; `--all`: this, replicates, and their support on
//! the best tree.

use crate::commands::Command;
use crate::dataset::Loaded;
use crate::error::Result;
use crate::output::OutputKind;
use crate::plan::{
    Facts, IdenticalSequences, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Needs, Plan, Replaces,
    Workload,
};
use crate::runtime::{RunRecord, Session, with_threads};
use crate::steps::ancestral::{self, deliver_ancestral};
use crate::steps::branch_tests::{self, deliver_branch_tests, support_by_likelihood};
use crate::steps::climb::search_all;
use crate::steps::dry_run::describe_searches;
use crate::steps::replicates::make_replicates;
use crate::steps::select::select_models;
use crate::steps::{best_of, deliver_support, results, tested_trees};

/// A search for the best tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    /// Replicates follow, and their support on the best tree.
    pub replicates: bool,
}

impl Command for Search {
    fn facts(&self, plan: &Plan) -> Facts {
        let mut outputs = vec![
            OutputKind::StartTree,
            OutputKind::BestTree,
            OutputKind::BestModel,
            OutputKind::MlTrees,
        ];
        let (mut task, mut needs) = ("search for the best tree".to_string(), Needs::default());
        if self.replicates {
            outputs.extend([OutputKind::Bootstraps, OutputKind::Support]);
            task.push_str(&format!(", bootstrap, {}, support", plan.bootstrap.describe()));
            needs.least_taxa = LEAST_TAXA_OF_REPLICATES;
        } else {
            needs.note_of_one_tree = true;
        }
        outputs.extend(results::outputs(plan));
        if !self.replicates {
            outputs.extend(branch_tests::outputs(plan));
        }
        outputs.extend(tested_trees::outputs(plan));
        outputs.extend(ancestral::outputs(plan));
        Facts {
            task,
            outputs,
            replaces: Replaces::AllOfAnalyses,
            resumes: true,
            needs,
            workload: Workload {
                memory: MemoryPlan::Jobs,
                is_one_search: !self.replicates,
                identical: IdenticalSequences::OneInSearches,
                ..Workload::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let session = select_models(Session::start(plan, record)?)?;
        if self.replicates { all(session) } else { search(session) }
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_searches(Session::start(plan, record)?)
    }
}

/// Searches from every starting tree; tests the branches of the best tree and reconstructs its ancestral states if that
/// is asked for.
///
/// # Errors
/// A column with likelihood 0, or a file that cannot be written.
fn search(mut session: Session) -> Result<()> {
    let outcomes = search_all(&mut session, None)?;
    deliver_branch_tests(&mut session, &outcomes)?;
    deliver_ancestral(&mut session, &outcomes)
}

/// Searches from every starting tree, makes replicates with the best tree's models to start from, and
/// maps their support.
///
/// # Errors
/// A column with likelihood 0.
fn all(mut session: Session) -> Result<()> {
    let then = session.setup.plan.bootstrap.describe();
    let outcomes = search_all(&mut session, Some(&then))?;
    let best = &outcomes[best_of(&outcomes)];
    let mut support = support_by_likelihood(&mut session, best)?;
    deliver_ancestral(&mut session, &outcomes)?;
    let replicates = make_replicates(&mut session, &best.models)?;
    let kinds = &session.setup.plan.support.kinds;
    with_threads(session.setup.plan, || support.add_replicates(&best.tree, &replicates, kinds));
    let Loaded { taxa, root, .. } = &session.setup.loaded;
    deliver_support(&best.tree, &support, taxa, root.as_ref(), session.record)
}
