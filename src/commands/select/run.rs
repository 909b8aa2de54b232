//! Selects models, and writes how they compare and a partition file with those that were chosen; merges partitions, and writes the
//! scheme.

use super::merge::{Scheme, merge_partitions, sample_size};
use super::report::{MergingReport, SECTION, describe};
use super::subset_fit::in_file_order;
use crate::commands::Command;
use crate::error::{Error, Result};
use crate::model_selection::MergeMethod;
use crate::output::{CandidateReport, OutputKind, SelectionReport};
use crate::partition::{format_ranges, partition_line};
use crate::plan::{Facts, MemoryPlan, Needs, Plan, Workload};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_data_alone;
use crate::steps::select::select_models_for;

/// A partition file with the models that were selected.
pub(crate) const SELECTED_MODELS: OutputKind =
    OutputKind::new(42, "selectedModels", "the selected models; can be given as -q");

/// How the models compare.
pub(crate) const CRITERIA: OutputKind =
    OutputKind::new(43, "criteria", "the criteria of all models that were compared");

/// The partitions as they were merged.
pub(crate) const BEST_SCHEME: OutputKind = OutputKind::new(
    35,
    "bestScheme",
    "the partitions as they were merged, with their models; can be given as -q",
);

/// What was merged.
pub(crate) const MERGES: OutputKind = OutputKind::new(
    36,
    "merges",
    "the merges of partitions, and the criterion before and after each",
);

/// The model of each partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Select {
    /// How partitions are merged; `None` if they are not.
    pub merge: Option<MergeMethod>,
}

impl Command for Select {
    fn facts(&self, plan: &Plan) -> Facts {
        let has_tree = !plan.search.trees.is_empty();
        let (mut task, mut outputs) =
            ("model selection".to_string(), vec![SELECTED_MODELS, CRITERIA]);
        let mut identity = Vec::new();
        if let Some(method) = self.merge {
            task.push_str(" and merging of partitions");
            outputs.extend([BEST_SCHEME, MERGES]);
            identity.push(("--merge", method.describe()));
        }
        Facts {
            task,
            outputs,
            resumes: true,
            identity,
            needs: Needs {
                own_trees: has_tree,
                alignment: self.merge.is_some(),
                criterion: self.merge.is_some(),
                ..Needs::default()
            },
            workload: Workload {
                memory: MemoryPlan::Jobs,
                only_evaluates: has_tree,
                ..Workload::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let session = Session::start(plan, record)?;
        if let (Some(_), [only]) = (self.merge, session.setup.loaded.partitions.as_slice()) {
            return Err(Error::Usage(format!(
                "--merge merges partitions, but there is only one, '{}': leave it out",
                only.name
            )));
        }
        let candidates = session.setup.loaded.candidates.clone();
        let sample_size = self.merge.map(|_| sample_size(&session.setup));
        let mut session = select_models_for(session, sample_size)?;
        let loaded = &session.setup.loaded;
        let model = |&number: &usize| loaded.partitions[number].model.label();
        session.record.report.model = loaded.file_order.iter().map(model).collect();
        let lines = loaded.file_order.iter().map(|number| {
            let name = &loaded.partitions[*number].name;
            partition_line(model(number), name, format_ranges(loaded.columns_of(*number)))
        });
        let partitions: String = lines.collect();
        session.record.write(SELECTED_MODELS, &partitions)?;
        let table = table_of(&session.record.report.model_selection);
        session.record.write(CRITERIA, &table)?;
        match self.merge {
            Some(method) => {
                let scheme = merge_partitions(&mut session, method, candidates)?;
                deliver_scheme(&mut session, &scheme)
            }
            None => Ok(()),
        }
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_data_alone(Session::start(plan, record)?)
    }
}

/// Writes and shows the scheme.
fn deliver_scheme(session: &mut Session, scheme: &Scheme) -> Result<()> {
    let lines = scheme.subsets.iter().zip(&scheme.members).map(|(subset, members)| {
        let loaded = &session.setup.loaded;
        let ranges: Vec<String> = in_file_order(&session.setup, members)
            .into_iter()
            .map(|member| format_ranges(loaded.columns_of(member)))
            .collect();
        partition_line(subset.model.label(), &subset.name, ranges.join(", "))
    });
    let text: String = lines.collect();
    session.record.report.model =
        scheme.subsets.iter().map(|subset| subset.model.label()).collect();
    session.record.progress.result(&describe(&scheme.report));
    session.record.write(BEST_SCHEME, &text)?;
    session.record.write(MERGES, &merges_of(&scheme.report))?;
    session.record.report.write_section(&SECTION, &scheme.report);
    Ok(())
}

/// A line for each merge; values are separated by tabulators.
fn merges_of(report: &MergingReport) -> String {
    let mut text = "step\tmerged\twith\tbefore\tafter\n".to_string();
    for (step, merge) in report.merges.iter().enumerate() {
        text.push_str(&format!(
            "{}\t{}\t{}\t{:.3}\t{:.3}\n",
            step + 1,
            merge.first.join(","),
            merge.second.join(","),
            merge.criterion_before,
            merge.criterion_after
        ));
    }
    text
}

/// A line for each model that was compared, the best of a partition first; values are separated by tabulators.
fn table_of(selections: &[SelectionReport]) -> String {
    let mut text =
        "partition\tmodel\tlnL\tparameters\tAIC\tAICc\tBIC\tweight\tis_chosen\tis_optimised\n"
            .to_string();
    for selection in selections {
        for (rank, candidate) in selection.candidates.iter().enumerate() {
            let CandidateReport {
                model,
                log_likelihood,
                parameters,
                aic,
                aicc,
                bic,
                weight,
                optimised,
            } = candidate;
            let aicc = aicc.map_or("NA".to_string(), |value| format!("{value:.3}"));
            text.push_str(&format!(
                "{}\t{model}\t{log_likelihood:.6}\t{parameters}\t{aic:.3}\t{aicc}\t{bic:.3}\t{weight:.4}\t{}\t{}\n",
                selection.partition,
                u8::from(rank == 0),
                u8::from(*optimised)
            ));
        }
    }
    text
}
