//! `--search`: from every starting tree to its best tree, and the best of them; `--all`: this, replicates, and their support on
//! the best tree.

use crate::commands::Command;
use crate::error::Result;
use crate::plan::{Facts, Plan};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_searches;
use crate::steps::select::select_models;
use crate::steps::whole_search::{facts_of_search, search_whole};

/// A search for the best tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    /// Replicates follow, and their support on the best tree.
    pub replicates: bool,
}

impl Command for Search {
    fn facts(&self, plan: &Plan) -> Facts {
        facts_of_search(plan, self.replicates)
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let mut session = select_models(Session::start(plan, record)?)?;
        search_whole(&mut session, self.replicates).map(|_| ())
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_searches(Session::start(plan, record)?)
    }
}
