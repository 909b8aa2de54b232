//! A sample from a posterior distribution, in the JSON report.

use crate::output::Section;

/// Its section of the JSON file.
pub(super) const SECTION: Section<SamplingReport> = Section::new("sampling");

/// A sample.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SamplingReport {
    /// Number of generations of each run.
    pub generations: u64,
    /// Generations between two samples.
    pub sample_every: u64,
    /// Number of runs.
    pub runs: usize,
    /// Number of chains of each run.
    pub chains: usize,
    /// Of each run, its heating.
    pub temperatures: Vec<f64>,
    /// True if the data counted for nothing.
    pub prior_only: bool,
    /// Prior of the branch lengths, as it is typed.
    pub brlen_prior: String,
    /// All priors, by their names.
    pub priors: std::collections::BTreeMap<&'static str, String>,
    /// Number of samples of each run that were left aside, from the first on.
    pub burnin_samples: usize,
    /// Number of samples of each run that count.
    pub samples: usize,
    /// True if the rule to stop was reached; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by_rule: Option<bool>,
    /// The last comparison of the runs.
    pub agreement: DiagnosisReport,
    /// Log-likelihood and parameters.
    pub parameters: Vec<ParameterReport>,
    /// Log-likelihood and tree length over the generations, to be looked at.
    pub traces: Vec<TraceReport>,
    /// Splits of the sampled trees, from frequent to rare.
    pub splits: Vec<SplitReport>,
    /// The fewest topologies that have 50 and 95 percent of the samples.
    pub credible_sets: Vec<CredibleReport>,
    /// Accepted proposals of the cold chain of each run, after the adaptation.
    pub acceptance: Vec<Vec<AcceptanceReport>>,
    /// Of each run, share of accepted swaps between neighbouring temperatures, the coldest first.
    pub swap_rates: Vec<Vec<Option<f64>>>,
    /// The marginal likelihood, if it was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginal_likelihood: Option<MarginalReport>,
    /// The consensus of the samples, with posterior probabilities and mean lengths.
    pub consensus_tree: String,
    /// The sampled tree with the highest posterior density.
    pub map_tree: String,
}

/// How a value of a run went.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct TraceReport {
    /// The name of the value.
    pub name: String,
    /// The run, from 1.
    pub run: usize,
    /// Generations between two of its values.
    pub generations_apart: u64,
    /// Its values, at most 500.
    pub values: Vec<f64>,
}

/// A marginal likelihood by stepping stones.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct MarginalReport {
    /// Number of stepping stones.
    pub steps: u64,
    /// Generations of each.
    pub generations_per_step: u64,
    /// Natural logarithm of the marginal likelihood: the mean over runs.
    pub ln: f64,
    /// Of each run.
    pub of_runs: Vec<f64>,
}

/// How well runs agree.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct DiagnosisReport {
    /// Average standard deviation of the frequencies of splits between runs, of several runs.
    pub asdsf: Option<f64>,
    /// Least effective sample size of a parameter.
    pub least_ess: Option<f64>,
    /// Least effective sample size of the presence of a split with a probability of 0.1 to 0.9.
    pub least_split_ess: Option<f64>,
    /// Effective sample size of the topologies: of Robinson-Foulds distances to focal trees; absent if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_ess: Option<f64>,
    /// Largest potential scale reduction factor of a parameter, of several runs.
    pub largest_psrf: Option<f64>,
}

/// A parameter.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ParameterReport {
    /// Its name, as in the files of samples.
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Median.
    pub median: f64,
    /// The shortest interval with 95 percent of the samples.
    pub hpd95: [f64; 2],
    /// Effective sample size, all runs together.
    pub ess: f64,
    /// Potential scale reduction factor, of several runs.
    pub psrf: Option<f64>,
}

/// A split.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SplitReport {
    /// The taxa on the side without the first taxon.
    pub taxa: Vec<String>,
    /// Its posterior probability.
    pub probability: f64,
    /// Its frequency in each run.
    pub of_runs: Vec<f64>,
    /// Mean length of its branch in the trees that have it.
    pub mean_length: f64,
    /// Standard deviation of this length.
    pub sd_length: f64,
    /// Effective sample size of its presence, if its probability is 0.1 to 0.9.
    pub ess: Option<f64>,
    /// Potential scale reduction factor of the length, if all sampled trees have the split.
    pub psrf: Option<f64>,
}

/// A credible set of topologies.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct CredibleReport {
    /// Share of the samples.
    pub share: f64,
    /// Number of topologies.
    pub topologies: usize,
}

/// A kind of proposal.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct AcceptanceReport {
    /// The kind.
    pub proposal: String,
    /// How many were made.
    pub proposed: u64,
    /// Share that was accepted, if any was made.
    pub rate: Option<f64>,
}
