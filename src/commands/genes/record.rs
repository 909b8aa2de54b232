//! What is known of each gene at the end ([`GeneRecord`]), and of all of them before ([`GeneRun`]): as it is kept in checkpoints and
//! shards.

use serde::{Deserialize, Serialize};

/// What became of a gene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GeneRecord {
    /// What its data are like, if they could be read.
    pub data: Option<GeneData>,
    /// What was found.
    pub outcome: GeneOutcome,
    /// What the user should know of it.
    pub remarks: Vec<String>,
}

/// The data of a gene.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GeneData {
    /// The type of its characters.
    pub data_type: String,
    /// Number of taxa.
    pub taxa: usize,
    /// Number of columns, three for a codon.
    pub columns: usize,
    /// Number of sites.
    pub sites: usize,
    /// Number of distinct sites.
    pub patterns: usize,
    /// Share of the characters that are undetermined.
    pub gaps: f64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum GeneOutcome {
    /// A tree.
    Tree(Box<GeneTree>),
    /// There is nothing to search, for this reason.
    Nothing(String),
    /// It could not be done, for this reason.
    Failed(String),
}

/// The tree of a gene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GeneTree {
    /// The tree as it is written.
    pub newick: String,
    /// The model with its parameters.
    pub model: String,
    /// Its log-likelihood.
    pub lnl: f64,
    /// Sum of all branch lengths.
    pub length: f64,
    /// The longest of them.
    pub longest: f64,
    /// The shape of the gamma distribution of the rates over sites.
    pub alpha: Option<f64>,
    /// Mean support of the inner branches.
    pub mean_support: Option<f64>,
    /// Share of the inner branches that have no length; none in a tree of three taxa.
    pub without_length: Option<f64>,
    /// The trees of its replicates, a line each.
    pub replicates: String,
}

/// What is known of a run before its genes are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GeneRun {
    /// What determines its results, in words.
    pub identity: Vec<(String, String)>,
    /// The seed of all random numbers but those of the resampling.
    pub seed: u64,
    /// Each gene has replicates.
    pub has_replicates: bool,
    /// The genes, in their order.
    pub genes: Vec<ListedGene>,
}

/// A gene as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ListedGene {
    /// Its name.
    pub name: String,
    /// The file that has it.
    pub file: String,
    /// Its columns in an alignment of several genes, as a partition file has them.
    pub ranges: Option<String>,
    /// The model or type in its line of the partition file.
    pub given_model: String,
}

impl GeneRecord {
    /// One that could not be done.
    pub(super) fn failed(data: Option<GeneData>, message: &str) -> Self {
        let outcome = GeneOutcome::Failed(in_one_line(message));
        GeneRecord { data, outcome, remarks: Vec::new() }
    }

    /// Its tree.
    pub(super) fn tree(&self) -> Option<&GeneTree> {
        match &self.outcome {
            GeneOutcome::Tree(tree) => Some(tree),
            GeneOutcome::Nothing(_) | GeneOutcome::Failed(_) => None,
        }
    }

    /// What is said of the gene of this name if it could not be done.
    pub(super) fn failure(&self, name: &str) -> Option<String> {
        match &self.outcome {
            GeneOutcome::Failed(reason) => {
                Some(format!("gene '{name}' could not be done: {reason}"))
            }
            GeneOutcome::Tree(_) | GeneOutcome::Nothing(_) => None,
        }
    }

    /// Why it has no tree, and what the user should know.
    pub(super) fn all_remarks(&self) -> Vec<&str> {
        let reason = match &self.outcome {
            GeneOutcome::Tree(_) => None,
            GeneOutcome::Nothing(reason) | GeneOutcome::Failed(reason) => Some(reason.as_str()),
        };
        reason.into_iter().chain(self.remarks.iter().map(String::as_str)).collect()
    }
}

/// Faults of several lines in one, without tabulators: the first, and how many more there are.
fn in_one_line(message: &str) -> String {
    let mut lines = message.lines().map(|line| line.replace('\t', " "));
    let first = lines.next().unwrap_or_default();
    match lines.count() {
        0 => first,
        more => format!("{first} (and {more} more lines)"),
    }
}
