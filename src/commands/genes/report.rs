//! The section of the JSON report.

use crate::output::Section;

/// Its section of the JSON file.
pub(super) const SECTION: Section<GenesReport> = Section::new("genes");

/// The genes of a run.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct GenesReport {
    /// How many have a tree.
    pub with_tree: usize,
    /// How many have none because there is nothing to search.
    pub without_tree: usize,
    /// How many could not be done.
    pub failed: usize,
    /// All of them, in their order.
    pub each: Vec<GeneReport>,
}

/// A gene.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct GeneReport {
    /// Its name.
    pub gene: String,
    /// The file that has it.
    pub file: String,
    /// The type of its characters.
    pub data_type: Option<String>,
    /// Number of taxa.
    pub taxa: Option<usize>,
    /// Number of sites.
    pub sites: Option<usize>,
    /// Number of distinct sites.
    pub patterns: Option<usize>,
    /// Share of its characters that are undetermined.
    pub gaps: Option<f64>,
    /// Its model with all parameters.
    pub model: Option<String>,
    /// The log-likelihood of its tree.
    pub log_likelihood: Option<f64>,
    /// Sum of all branch lengths of its tree.
    pub tree_length: Option<f64>,
    /// Length of its longest branch.
    pub longest_branch: Option<f64>,
    /// Mean support of the inner branches.
    pub mean_support: Option<f64>,
    /// Its line in the file of trees, from 1.
    pub line: Option<usize>,
    /// Number of inner branches that only it or only the tree of `--gcf-tree` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rf: Option<usize>,
    /// The same as a share of those that both have together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_rf: Option<f64>,
    /// Why it has no tree, and what the user should know.
    pub remarks: Vec<String>,
}
