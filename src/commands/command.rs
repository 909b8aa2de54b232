//! [`Command`]: what every analysis does, and [`Analysis`]: one of them with the options of its run.

use super::Word;
use super::words::kinds_of_analyses;
use crate::error::Result;
use crate::output::{CHECKPOINT, JSON, LAST_TREE, LOG, Names, OutputKind, PAGE, TreeFormat};
use crate::plan::{Facts, Plan, Replaces};
use crate::runtime::RunRecord;
use crate::steps::dry_run::describe_files;
use std::any::Any;
use std::fmt::Debug;

/// One analysis, with the options that only it knows.
///
/// The order of a run is a contract: its inputs exist; its files are reserved and locked; the data are read, threads and memory
/// planned, the checkpoint opened; the log begins; results are computed and written. A run that is refused leaves nothing.
pub(crate) trait Command: Any + Debug + Send + Sync {
    /// What is known before any file is read.
    fn facts(&self, plan: &Plan) -> Facts;

    /// Computes and writes the results.
    ///
    /// # Errors
    /// Refused input, and what fails.
    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()>;

    /// Describes a run on standard output, without one (`--check`). An analysis of given trees has only files to describe.
    ///
    /// # Errors
    /// Input that a run would refuse.
    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_files(plan, record);
        Ok(())
    }
}

/// An analysis and the options of its run.
#[derive(Debug)]
pub struct Analysis {
    /// What analyses share.
    pub(crate) plan: Plan,
    /// The analysis itself.
    pub(crate) command: Box<dyn Command>,
}

/// The files that have the trees of these in another format.
fn in_format(kinds: &[OutputKind], format: TreeFormat) -> Vec<OutputKind> {
    let others = kinds.iter().filter_map(|kind| kind.in_format(format));
    others.map(|(kind, _)| kind).collect()
}

/// The files that have the content of these with the name of another program.
fn named_as(kinds: &[OutputKind], names: Names) -> Vec<OutputKind> {
    kinds.iter().filter_map(|kind| kind.with_name_of(names)).collect()
}

impl Analysis {
    /// The plan, once it knows the facts of the analysis.
    pub(crate) fn new(word: &Word, plan: Plan, command: Box<dyn Command>) -> Self {
        let mut facts = command.facts(&plan);
        debug_assert!(
            facts.outputs.iter().all(|kind| word.outputs.contains(kind) || *kind == PAGE)
        );
        if !facts.leaves_no_record {
            facts.outputs.extend([LOG, JSON]);
            facts.outputs.extend(plan.output.page.then_some(PAGE));
        }
        facts.replaced = match word.replaces {
            Replaces::Own => {
                let unfinished = [CHECKPOINT, LAST_TREE];
                facts.outputs.iter().copied().chain(unfinished).collect()
            }
            Replaces::AllOfAnalyses => kinds_of_analyses(),
        };
        // Of an earlier run, whatever its format of trees and its names were.
        let formats = [TreeFormat::Nexus, TreeFormat::PhyloXml];
        let others = formats.map(|format| in_format(&facts.replaced, format));
        let programs = [Names::Raxml, Names::RaxmlNg];
        let named = programs.map(|names| named_as(&facts.replaced, names));
        facts.replaced.extend(others.into_iter().chain(named).flatten());
        let others = in_format(&facts.outputs, plan.output.tree_format);
        let named = named_as(&facts.outputs, plan.output.names);
        facts.outputs.extend(others.into_iter().chain(named));
        let facts = if plan.is_check { facts.of_check() } else { facts };
        Analysis { plan: Plan { facts, ..plan }, command }
    }

    /// The command as typed.
    pub fn command_line(&self) -> &str {
        &self.plan.command_line
    }

    /// Carries the analysis out, or describes it.
    ///
    /// # Errors
    /// Those of the analysis.
    pub(crate) fn carry_out(&self, record: &mut RunRecord) -> Result<()> {
        match self.plan.is_check {
            true => self.command.check(&self.plan, record),
            false => self.command.run(&self.plan, record),
        }
    }
}
