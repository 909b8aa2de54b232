//! [`Reading`]: a command line on its way to a plan.

use super::facts::Facts;
use super::files::OutputArgs;
use super::machine::RunArgs;
use super::options::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, DataOptions, Plan, SupportOptions,
    TestOptions,
};
use super::refusals::Refusals;
use std::path::Path;

/// The command as it was typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// As a shell would need it to be typed again.
    pub line: String,
    /// The same without what begins an interrupted run anew.
    pub resuming: String,
    /// The same without what chooses GPUs, where the results do not depend on them.
    pub on_processor: String,
}

/// A command line whose options are being read: what was said, what is wrong with it, what the user should know.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The command as it was typed.
    pub said: Said,
    /// What is wrong.
    pub refusals: Refusals,
    /// Remarks on options.
    pub notes: Vec<String>,
}

impl Reading {
    /// The plan of an analysis that searches no trees, whose results are named after `input`.
    pub(crate) fn plan(
        &mut self,
        data: DataOptions,
        run: &RunArgs,
        output: &OutputArgs,
        input: Option<&Path>,
    ) -> Plan {
        let input = input.or(data.msa.as_deref());
        Plan {
            facts: Facts::default(),
            is_check: run.check,
            output: output.read(input, &mut self.refusals),
            data,
            search: AnalysisOptions::default(),
            bootstrap: BootstrapOptions::none(run.seed()),
            support: SupportOptions::default(),
            tests: TestOptions::default(),
            ancestral: AncestralOptions::default(),
            seed: run.seed(),
            run: run.read(&mut self.refusals),
            command_line: self.said.line.clone(),
            resuming_command: self.said.resuming.clone(),
            processor_command: self.said.on_processor.clone(),
            notes: std::mem::take(&mut self.notes),
        }
    }
}
