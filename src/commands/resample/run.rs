//! `--bsmsa`: the alignments of bootstrap replicates.

use crate::alignment::Alignment;
use crate::bootstrap::replicate_weights;
use crate::commands::Command;
use crate::error::Result;
use crate::output::{BootstrapReport, OutputKind};
use crate::partition::{Partition, partition_line};
use crate::plan::{Facts, LEAST_TAXA_OF_REPLICATES, Needs, Plan};
use crate::runtime::interrupt::go_on;
use crate::runtime::{RunRecord, Session};
use crate::simulate::write_phylip;
use crate::steps::dry_run::describe_data_alone;

/// The alignments of bootstrap replicates, one file for each.
pub(crate) const BOOTSTRAP_MSA: OutputKind =
    OutputKind::new(40, "bootstrapMSA.N.phy", "the alignments of the replicates N").numbered();

/// Their partitions.
pub(crate) const BOOTSTRAP_PARTITIONS: OutputKind =
    OutputKind::new(41, "bootstrapMSA.N.part", "their partitions and models").numbered();

/// In a partition file, a model that is to be selected.
const AUTO: &str = "auto";

/// The alignments of bootstrap replicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resample;

impl Command for Resample {
    fn facts(&self, plan: &Plan) -> Facts {
        let partitions = plan.data.partitions.as_ref().map(|_| BOOTSTRAP_PARTITIONS);
        Facts {
            task: format!("alignments of {}", plan.bootstrap.describe()),
            outputs: [BOOTSTRAP_MSA].into_iter().chain(partitions).collect(),
            numbered: plan.bootstrap.replicates,
            needs: Needs {
                models: false,
                alignment: true,
                least_taxa: LEAST_TAXA_OF_REPLICATES,
                ..Needs::default()
            },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        resample(Session::start(plan, record)?)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_data_alone(Session::start(plan, record)?)
    }
}

/// Writes the alignment of every replicate, and its partitions if the run has some. The columns are those that
/// `--bootstrap` with the same seed draws, sorted by partition and pattern.
///
/// # Errors
/// Names that PHYLIP cannot hold, or a file that cannot be written.
fn resample(session: Session) -> Result<()> {
    let (setup, record) = (&session.setup, session.record);
    let (loaded, bootstrap) = (&setup.loaded, &setup.plan.bootstrap);
    let alignment = loaded.alignment.as_ref().expect("the command keeps it");
    let patterns: Vec<_> = loaded.partitions.iter().map(|partition| &partition.patterns).collect();
    for replicate in 0..bootstrap.replicates {
        go_on(setup.plan.run.stop)?;
        let weights = replicate_weights(bootstrap.sampling, bootstrap.seed, replicate, &patterns);
        let columns = |&number: &usize| {
            let partition = &loaded.partitions[number];
            (partition, columns(partition, &weights[number]))
        };
        let columns: Vec<(&Partition, Vec<u32>)> = loaded.file_order.iter().map(columns).collect();
        let text = to_phylip(alignment, &columns)?;
        record.write_numbered(BOOTSTRAP_MSA, replicate + 1, &text)?;
        if setup.plan.data.partitions.is_some() {
            let model = |number: usize| {
                let model = match loaded.candidates[number] {
                    Some(_) => AUTO.to_string(),
                    None => loaded.partitions[number].model.label(),
                };
                let scaler = loaded.brlen_scalers[number];
                scaler.map_or(model.clone(), |scaler| format!("{model}+BU{{{scaler}}}"))
            };
            let models: Vec<String> =
                loaded.file_order.iter().map(|&number| model(number)).collect();
            let text = to_partition_file(&columns, &models);
            record.write_numbered(BOOTSTRAP_PARTITIONS, replicate + 1, &text)?;
        }
    }
    record.report.bootstrap = Some(BootstrapReport {
        replicates: bootstrap.replicates,
        seed: bootstrap.seed,
        sampling: Some(bootstrap.sampling.unit.name()),
        jackknife: bootstrap.sampling.jackknife,
        bootstopping: None,
    });
    Ok(())
}

/// The columns of the alignment that have these patterns, each as often as its weight says.
fn columns(partition: &Partition, weights: &[u32]) -> Vec<u32> {
    let mut left = weights.to_vec();
    let mut columns = Vec::new();
    for (site, pattern) in partition.sites_and_patterns() {
        // All of them where the pattern is first seen.
        let times = std::mem::take(&mut left[pattern]);
        (0..times).for_each(|_| columns.extend_from_slice(site));
    }
    columns
}

fn to_phylip(alignment: &Alignment, columns: &[(&Partition, Vec<u32>)]) -> Result<String> {
    let num_columns = columns.iter().map(|(_, columns)| columns.len()).sum();
    write_phylip(alignment.taxa(), num_columns, |taxon, text| {
        let row = alignment.row(taxon);
        let columns = columns.iter().flat_map(|(_, columns)| columns);
        text.extend(columns.map(|&column| char::from(row[column as usize])));
    })
}

/// A line per partition that has columns.
fn to_partition_file(partitions: &[(&Partition, Vec<u32>)], models: &[String]) -> String {
    let (mut text, mut before) = (String::new(), 0);
    let all = partitions.iter().zip(models);
    for ((partition, columns), model) in all.filter(|((_, columns), _)| !columns.is_empty()) {
        let (first, last) = (before + 1, before + columns.len());
        let ranges = format!("{first}-{last}");
        text.push_str(&partition_line(model, &partition.name, ranges));
        before = last;
    }
    text
}
