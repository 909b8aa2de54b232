//! Warnings and notes about data that are accepted; they name taxa and partitions.

use crate::alignment::AlignmentSummary;
use crate::alphabet::DataType;
use crate::error::abridged;
use crate::model::{Heterogeneity, Model};
use crate::model_selection::CandidateSet;
use crate::partition::{Partition, format_ranges};
use crate::plan::Plan;
use crate::taxa::Taxa;
use std::collections::BTreeMap;

/// Fewest taxa with which a partition is informative about the topology.
const MIN_INFORMATIVE_TAXA: usize = 4;
/// Most warnings of one kind.
const MAX_CASES: usize = 3;
/// Most names in one message.
const MAX_NAMES: usize = 20;

/// Warnings and notes, in the order in which they arose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Remarks {
    /// What users should know before relying on a result.
    pub warnings: Vec<String>,
    /// Further information.
    pub notes: Vec<String>,
    /// Information for the log only.
    pub details: Vec<String>,
}

impl Remarks {
    /// Warns of each of several cases of one kind. If they are many, the warning is their summary (which
    /// has their number) with one of them, and all go into the log.
    pub(crate) fn warn_of_each(&mut self, summary: &str, cases: Vec<String>) {
        if cases.len() <= MAX_CASES {
            self.warnings.extend(cases);
        } else {
            self.warnings.push(format!("{summary}; for example: {}", cases[0]));
            self.details.extend(cases);
        }
    }
}

/// Notes options that have no effect with these models, or in a single process.
pub(crate) fn note_unused(
    plan: &Plan,
    partitions: &[Partition],
    candidates: &[Option<CandidateSet>],
    remarks: &mut Remarks,
) {
    let (data, models) = (&plan.data, || partitions.iter().map(|partition| &partition.model));
    let all_given = candidates.iter().all(Option::is_none);
    let is_gamma = |model: &Model| matches!(model.heterogeneity, Heterogeneity::Gamma(_));
    let is_multistate = |model: &Model| matches!(model.data_type, DataType::Multistate(_));
    let criterion = data.auto_criterion.is_some() && !plan.facts.needs.criterion;
    let (given, no_gamma) = ("every partition has a given model", "no model has +G");
    for (is_unused, why, option) in [
        (criterion && all_given, given, "--auto-criterion"),
        (data.auto_mixtures && all_given, given, "--mixtures"),
        (
            data.gamma_median && all_given && !models().any(is_gamma),
            no_gamma,
            "--gamma-median (-u)",
        ),
        (
            data.multistate_equal.is_some() && !models().any(is_multistate),
            "there are no multi-state data",
            "-K",
        ),
        (
            plan.search.whole_mixture && all_given && models().all(|model| model.guide().is_none()),
            "no model is a profile mixture",
            "--whole-mixture",
        ),
        (
            plan.run.ranks_per_job.is_some() && plan.run.ranks.is_none(),
            "there is one process",
            "--ranks-per-job",
        ),
    ] {
        if is_unused {
            remarks.notes.push(format!("{why}: {option} has no effect"));
        }
    }
}

/// Looks at taxa and partitions as read.
pub(crate) fn remark(
    taxa: &Taxa,
    partitions: &[Partition],
    report: &AlignmentSummary,
    remarks: &mut Remarks,
) {
    if !report.gap_taxa.is_empty() {
        remarks.warnings.push(format!(
            "taxa without any data, whose position in the tree is arbitrary: {}; leave them out",
            names(&report.gap_taxa)
        ));
    }
    let groups = &report.duplicate_sequences;
    let surplus: usize = groups.iter().map(|group| group.len() - 1).sum();
    let each = |group: &Vec<String>| format!("taxa with identical sequences: {}", names(group));
    let summary = format!(
        "{surplus} sequences are identical to an earlier one ({} groups, all listed in the log)",
        groups.len()
    );
    remarks.warn_of_each(&summary, groups.iter().map(each).collect());
    if !report.gap_columns.is_empty() {
        remarks.notes.push(format!(
            "columns without any data: {} ({})",
            report.gap_columns.len(),
            shorten(&format_ranges(&report.gap_columns))
        ));
    }
    let mut cases = Vec::new();
    for partition in partitions {
        let n = partition.patterns.num_tips();
        if n < MIN_INFORMATIVE_TAXA && n < taxa.len() {
            let consequence = match n {
                0 => {
                    "it does not contribute to the likelihood, and its parameters are not optimised"
                }
                1 => "it is not informative about the tree, and its parameters are not optimised",
                _ => "it is not informative about the topology",
            };
            let plural = if n == 1 { "taxon" } else { "taxa" };
            let here = partition.patterns.tip_taxa.iter().map(|&taxon| taxa.name(taxon));
            let list = if n == 0 { String::new() } else { format!(" ({})", list_names(here)) };
            cases.push(format!(
                "partition '{}' has data for {n} {plural}{list}: {consequence}",
                abridged(&partition.name)
            ));
        }
    }
    let summary = format!(
        "{} partitions have data for fewer than {MIN_INFORMATIVE_TAXA} taxa (all listed in the log)",
        cases.len()
    );
    remarks.warn_of_each(&summary, cases);
    let strangers = strangers(taxa, partitions);
    let summary = format!(
        "{} partitions share fewer than 2 taxa with the others (all listed in the log)",
        strangers.len()
    );
    remarks.warn_of_each(&summary, strangers);
}

/// Warns if partitions of different types of data have the same branch lengths, which are substitutions for each codon in one
/// and for each nucleotide in another.
pub(crate) fn warn_of_shared_lengths(partitions: &[Partition], remarks: &mut Remarks) {
    let mut first = BTreeMap::new();
    for partition in partitions.iter().filter(|partition| partition.patterns.num_tips() > 1) {
        first.entry(partition.model.data_type.name()).or_insert(&partition.name);
    }
    if first.len() > 1 {
        let each = first.iter().map(|(kind, name)| format!("'{}' ({kind})", abridged(name)));
        remarks.warnings.push(format!(
            "partitions of different types of data have the same branch lengths: {}; their sites change at different rates, \
             for which --brlen scaled has a factor of each partition",
            each.collect::<Vec<_>>().join(", ")
        ));
    }
}

/// Partitions whose taxa cannot be placed relative to those of the others: fewer than two taxa in common.
fn strangers(taxa: &Taxa, partitions: &[Partition]) -> Vec<String> {
    let mut warnings = Vec::new();
    if partitions.len() < 2 {
        return warnings;
    }
    let mut num_partitions = vec![0usize; taxa.len()];
    for partition in partitions {
        partition.patterns.tip_taxa.iter().for_each(|&taxon| num_partitions[taxon] += 1);
    }
    for partition in partitions.iter().filter(|p| p.patterns.num_tips() >= 2) {
        let shared: Vec<&str> = partition
            .patterns
            .tip_taxa
            .iter()
            .filter(|&&taxon| num_partitions[taxon] > 1)
            .map(|&taxon| taxa.name(taxon))
            .collect();
        if shared.len() < 2 {
            let found = shared
                .first()
                .map_or("none".to_string(), |name| format!("only {}", abridged(name)));
            warnings.push(format!(
                "partition '{}' shares fewer than 2 taxa with the others ({found}): the position of its taxa \
                 among those of the others is arbitrary; add sequences that link it to them, or analyse it alone",
                abridged(&partition.name)
            ));
        }
    }
    warnings
}

fn names(all: &[String]) -> String {
    list_names(all.iter().map(String::as_str))
}

/// Names as messages list them: the first of many, and abridged.
pub(crate) fn list_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.map(abridged);
    let shown: Vec<_> = names.by_ref().take(MAX_NAMES).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn shorten(ranges: &str) -> String {
    match ranges.match_indices(", ").nth(MAX_NAMES) {
        Some((at, _)) => format!("{}, ...", &ranges[..at]),
        None => ranges.to_string(),
    }
}
