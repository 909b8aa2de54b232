//! `--bootstrap`: searches on resampled columns.

use crate::commands::Command;
use crate::error::Result;
use crate::plan::{
    Facts, IdenticalSequences, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Needs, Plan, Workload,
};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_searches;
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::replicates::make_replicates;
use crate::steps::select::select_models;
use crate::steps::site_frequencies::{self, begin_with_guide_tree};

/// Replicates only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bootstrap;

impl Command for Bootstrap {
    fn facts(&self, plan: &Plan) -> Facts {
        Facts {
            task: format!("bootstrap, {}", plan.bootstrap.describe()),
            outputs: std::iter::once(BOOTSTRAPS).chain(site_frequencies::outputs(plan)).collect(),
            resumes: true,
            needs: Needs { least_taxa: LEAST_TAXA_OF_REPLICATES, ..Needs::default() },
            workload: Workload {
                memory: MemoryPlan::Jobs,
                identical: IdenticalSequences::OneInSearches,
                only_replicates: true,
                ..Workload::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let mut session = select_models(Session::start(plan, record)?)?;
        begin_with_guide_tree(&mut session)?;
        let models = session.setup.models();
        make_replicates(&mut session, &models)?;
        Ok(())
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_searches(Session::start(plan, record)?)
    }
}
