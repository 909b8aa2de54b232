//! Selects models, and writes how they compare and a partition file with those that were chosen.

use crate::commands::Command;
use crate::error::Result;
use crate::output::{CandidateReport, OutputKind, SelectionReport};
use crate::partition::format_ranges;
use crate::plan::{Facts, MemoryPlan, Needs, Plan, Workload};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_data_alone;
use crate::steps::select::select_models;

/// A partition file with the models that were selected.
pub(crate) const SELECTED_MODELS: OutputKind =
    OutputKind::new(42, "selectedModels", "the selected models; can be given as -q");

/// How the models compare.
pub(crate) const CRITERIA: OutputKind =
    OutputKind::new(43, "criteria", "the criteria of all models that were compared");

/// The model of each partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Select;

impl Command for Select {
    fn facts(&self, plan: &Plan) -> Facts {
        let has_tree = !plan.search.trees.is_empty();
        Facts {
            task: "model selection".into(),
            outputs: vec![SELECTED_MODELS, CRITERIA],
            resumes: true,
            needs: Needs { own_trees: has_tree, ..Needs::default() },
            workload: Workload {
                memory: MemoryPlan::Jobs,
                only_evaluates: has_tree,
                ..Workload::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let session = select_models(Session::start(plan, record)?)?;
        let loaded = &session.setup.loaded;
        let in_file = || loaded.file_order.iter().map(|&partition| &loaded.partitions[partition]);
        session.record.report.model = in_file().map(|partition| partition.model.label()).collect();
        let lines = in_file().map(|partition| {
            let (model, name) = (partition.model.label(), &partition.name);
            format!("{model}, {name} = {}\n", format_ranges(&partition.sites))
        });
        let partitions: String = lines.collect();
        session.record.write(SELECTED_MODELS, &partitions)?;
        let table = table_of(&session.record.report.model_selection);
        session.record.write(CRITERIA, &table)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_data_alone(Session::start(plan, record)?)
    }
}

/// A line for each model that was compared, the best of a partition first; values are separated by tabulators.
fn table_of(selections: &[SelectionReport]) -> String {
    let mut text =
        "partition\tmodel\tlnL\tparameters\tAIC\tAICc\tBIC\tweight\tis_chosen\n".to_string();
    for selection in selections {
        for (rank, candidate) in selection.candidates.iter().enumerate() {
            let CandidateReport {
                model, log_likelihood, parameters, aic, aicc, bic, weight, ..
            } = candidate;
            let aicc = aicc.map_or("NA".to_string(), |value| format!("{value:.3}"));
            text.push_str(&format!(
                "{}\t{model}\t{log_likelihood:.6}\t{parameters}\t{aic:.3}\t{aicc}\t{bic:.3}\t{weight:.4}\t{}\n",
                selection.partition,
                u8::from(rank == 0)
            ));
        }
    }
    text
}
