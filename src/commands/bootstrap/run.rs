//! `--bootstrap`: searches on resampled columns.

use crate::commands::Command;
use crate::error::Result;
use crate::output::OutputKind;
use crate::plan::{
    Facts, IdenticalSequences, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Needs, Plan, Replaces,
    Workload,
};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_searches;
use crate::steps::replicates::make_replicates;
use crate::steps::select::select_models;

/// Replicates only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bootstrap;

impl Command for Bootstrap {
    fn facts(&self, plan: &Plan) -> Facts {
        Facts {
            task: format!("bootstrap, {}", plan.bootstrap.describe()),
            outputs: vec![OutputKind::Bootstraps],
            replaces: Replaces::AllOfAnalyses,
            resumes: true,
            needs: Needs { least_taxa: LEAST_TAXA_OF_REPLICATES, ..Needs::default() },
            workload: Workload {
                memory: MemoryPlan::Jobs,
                identical: IdenticalSequences::OneInSearches,
                ..Workload::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let mut session = select_models(Session::start(plan, record)?)?;
        let models = session.setup.models();
        make_replicates(&mut session, &models)?;
        Ok(())
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_searches(Session::start(plan, record)?)
    }
}
