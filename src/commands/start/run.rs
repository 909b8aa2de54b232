//! `--start`: starting trees alone.

use crate::commands::Command;
use crate::error::Result;
use crate::plan::{Facts, IdenticalSequences, Plan, Workload};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_searches;
use crate::steps::starts::START_TREE;
use crate::steps::starts::{StartLengths, make_starts, write_starts};

/// Starting trees alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start;

impl Command for Start {
    fn facts(&self, _: &Plan) -> Facts {
        let identical = IdenticalSequences::OneInSearches;
        Facts {
            task: "starting trees".into(),
            outputs: vec![START_TREE],
            workload: Workload { identical, ..Workload::default() },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let mut session = Session::start(plan, record)?;
        let starts = make_starts(&mut session, StartLengths::FromParsimony, None)?;
        let newicks = write_starts(&session, &starts);
        session.record.write(START_TREE, &newicks)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_searches(Session::start(plan, record)?)
    }
}
