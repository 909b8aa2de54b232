//! [`Distance`]: what is known of distances before they are computed.

use super::check::describe_distances;
use super::matrix::outputs;
use super::plan::MatrixPlan;
use super::run::distances;
use crate::commands::Command;
use crate::error::Result;
use crate::plan::{Facts, IdenticalSequences, Plan, Workload};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::{describe_files, describe_run};

/// Distances between sequences, or trees of given distances.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Distance(pub MatrixPlan);

impl Command for Distance {
    fn facts(&self, plan: &Plan) -> Facts {
        let Distance(options) = self;
        let has_replicates = plan.bootstrap.replicates > 0;
        let task = match options.file {
            Some(_) => "trees of distances".into(),
            None if has_replicates => {
                format!("distances between sequences, bootstrap, {}", plan.bootstrap.describe())
            }
            None => "distances between sequences".into(),
        };
        let identical = IdenticalSequences::OneInDistances;
        Facts {
            task,
            inputs: options.file.iter().cloned().collect(),
            outputs: outputs(options, has_replicates),
            numbered: plan.bootstrap.replicates,
            formula: options.formula.name(),
            workload: Workload { identical, has_pairs: true, ..Workload::default() },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        distances(plan, &self.0, record)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        if self.0.file.is_some() {
            describe_files(plan, record);
            return Ok(());
        }
        let session = Session::start(plan, record)?;
        describe_run(session, |setup, rows| describe_distances(&self.0, setup, rows))
    }
}
