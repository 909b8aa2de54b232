//! The section of the JSON report, and what is shown of it.

use crate::output::Section;
use crate::output::table;

/// Its section of the JSON file.
pub(super) const SECTION: Section<MergingReport> = Section::new("partition_merging");

/// How partitions were merged.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct MergingReport {
    /// Which pairs of subsets were compared.
    pub method: String,
    /// The criterion.
    pub criterion: String,
    /// Number of sites of all partitions.
    pub sample_size: usize,
    /// Number of different subsets that were fitted.
    pub fitted: usize,
    /// The partitions as they were given.
    pub before: SchemeReport,
    /// The scheme that was found.
    pub after: SchemeReport,
    /// All merges, in their order.
    pub merges: Vec<MergeReport>,
    /// The subsets of the scheme, in the order of the partition file.
    pub subsets: Vec<SubsetReport>,
}

/// A partition scheme.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct SchemeReport {
    /// Number of subsets.
    pub subsets: usize,
    /// Log-likelihood.
    pub log_likelihood: f64,
    /// Number of parameters, with branch lengths.
    pub parameters: usize,
    /// Akaike's criterion.
    pub aic: f64,
    /// The same, corrected for small samples; null where there are too few sites for it.
    pub aicc: Option<f64>,
    /// The Bayesian information criterion.
    pub bic: f64,
}

/// A merge.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct MergeReport {
    /// The partitions of one subset.
    pub first: Vec<String>,
    /// The partitions of the other one.
    pub second: Vec<String>,
    /// The criterion of the scheme before the merge, at the branch lengths of the first fit.
    pub criterion_before: f64,
    /// The same after it.
    pub criterion_after: f64,
}

/// A subset of the scheme.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct SubsetReport {
    /// Its name in the partition file.
    pub subset: String,
    /// Its partitions.
    pub of: Vec<String>,
    /// Its model, as it is typed.
    pub model: String,
    /// Number of sites.
    pub sites: usize,
    /// Log-likelihood.
    pub log_likelihood: f64,
}

impl SchemeReport {
    /// The value of a criterion, if it is defined.
    pub(super) fn value(&self, criterion: &str) -> Option<f64> {
        match criterion {
            "AIC" => Some(self.aic),
            "AICc" => self.aicc,
            _ => Some(self.bic),
        }
    }
}

/// The merges and the scheme, for the terminal and the log.
pub(super) fn describe(report: &MergingReport) -> String {
    let rows: Vec<Vec<String>> = report
        .merges
        .iter()
        .enumerate()
        .map(|(step, merge)| {
            vec![
                (step + 1).to_string(),
                merge.first.join(", "),
                merge.second.join(", "),
                format!("{:.3}", merge.criterion_before),
                format!("{:.3}", merge.criterion_after),
            ]
        })
        .collect();
    let name = &report.criterion;
    let head = ["step", "merged", "with", &format!("{name} before"), &format!("{name} after")];
    let mut text = if rows.is_empty() { String::new() } else { table(&head, &rows) };
    let rows: Vec<Vec<String>> = report
        .subsets
        .iter()
        .map(|subset| {
            vec![
                subset.subset.clone(),
                subset.model.clone(),
                subset.sites.to_string(),
                subset.of.len().to_string(),
                format!("{:.3}", subset.log_likelihood),
            ]
        })
        .collect();
    text.push_str(&table(&["subset", "model", "sites", "partitions", "lnL"], &rows));
    let one = |scheme: &SchemeReport| {
        format!(
            "{} subsets, lnL {:.3}, {} parameters, {name} {}",
            scheme.subsets,
            scheme.log_likelihood,
            scheme.parameters,
            scheme.value(name).map_or("-".to_string(), |value| format!("{value:.3}"))
        )
    };
    let [before, after] = [&report.before, &report.after].map(one);
    text.push_str(&format!("before merging: {before}\nafter merging:  {after}\n"));
    text
}
