//! [`Plan`] and its parts.

use super::matrix::MatrixPlan;
use super::on_trees::{ConcordancePlan, DistancePlan, TerracePlan};
use crate::bootstrap::{Bootstop, Sampling, SamplingUnit, SupportKind};
use crate::distance::DistanceTree;
use crate::likelihood::{BrlenLinkage, ScorePrecision};
use crate::model_selection::Criterion;
use crate::output::{ANALYSIS_KINDS, OutputKind};
use crate::sampler::SamplingPlan;
use crate::search::SearchEffort;
use crate::topology_tests::TopologyTest;
use crate::tree::ConsensusRule;
use std::path::{Path, PathBuf};

/// Seed of a run that was given none: such a run can be repeated, too.
pub(crate) const DEFAULT_SEED: u64 = 12345;

/// Number of bootstrap replicates if none is given.
pub(crate) const DEFAULT_REPLICATES: usize = 100;

/// Most bootstrap replicates of a bootstopping rule if no number is given: that of RAxML-NG.
pub(crate) const DEFAULT_MOST_REPLICATES: usize = 1000;

/// Number of replicates of SH-aLRT if none is given: then the support of a branch has a standard error of at most
/// 1.6 percent.
pub(crate) const DEFAULT_ALRT_REPLICATES: usize = 1000;

/// Where trees come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeSource {
    /// As many parsimony trees as the effort of the search needs; the search continues with the best.
    Auto,
    /// This number of randomised stepwise-addition parsimony trees.
    Parsimony(usize),
    /// This number of random trees.
    Random(usize),
    /// The tree of the distances between the sequences.
    Distances(DistanceTree),
    /// All trees of a Newick file.
    File(PathBuf),
}

/// Number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// As many as the cores and the amount of work justify, but no more than this.
    Auto {
        /// Upper limit, if the user set one.
        max: Option<usize>,
    },
    /// Exactly this number.
    Fixed(usize),
}

/// A self-test of cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelftestPlan {
    /// Only what takes seconds.
    pub quick: bool,
}

/// A simulated data set.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatePlan {
    /// The tree: `File` (its first tree), or `Random(number of taxa)`.
    pub tree: TreeSource,
    /// Number of sites, unless there is a partition file.
    pub num_sites: Option<usize>,
    /// Share of (taxon x partition) cells to leave without data, in [0, 1).
    pub missing: f64,
    /// Mean branch length of a random tree, in substitutions per site.
    pub mean_brlen: f64,
}

/// The run whose memory and time are estimated.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckedRun {
    /// A search or an evaluation.
    Likelihoods,
    /// A sample.
    Sample(Box<SamplingPlan>),
    /// Distances between the sequences.
    Distances(MatrixPlan),
}

/// What the run does.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Search for the best tree.
    Search,
    /// Branch lengths and model on given trees.
    Evaluate,
    /// Bootstrap replicates only.
    Bootstrap,
    /// The alignments of bootstrap replicates.
    BsMsa,
    /// Search, replicates, support on the best tree.
    All,
    /// Starting trees only.
    Start,
    /// Describe the alignment and estimate the memory and time of a run.
    Check(CheckedRun),
    /// Map the frequencies of splits among trees onto a tree.
    Support {
        /// The tree that gets the values.
        tree: PathBuf,
        /// The trees that are counted.
        bs_trees: PathBuf,
    },
    /// Distances between the trees of one or two files.
    RfDist(DistancePlan),
    /// Distances between the sequences, or trees of given distances.
    Distances(MatrixPlan),
    /// Concordance of gene trees and sites with the branches of a tree.
    Concordance(ConcordancePlan),
    /// The trees on the terrace of a tree.
    Terrace(TerracePlan),
    /// Whether the replicate trees of a file are enough.
    BsConverge {
        /// The file.
        trees: PathBuf,
    },
    /// Consensus of all trees of a file.
    Consense {
        /// Which splits it shows.
        rule: ConsensusRule,
        /// The file.
        trees: PathBuf,
    },
    /// Root all trees of a file.
    Root {
        /// The file.
        trees: PathBuf,
    },
    /// Sequences along a tree.
    Simulate(SimulatePlan),
    /// Compares cards with the processor.
    GpuSelftest(SelftestPlan),
    /// Trees and parameters from their posterior distribution.
    Sample(Box<SamplingPlan>),
}

/// The data and its model, as given.
#[derive(Debug, Clone, PartialEq)]
pub struct DataOptions {
    /// The alignment; present for every command that computes on sequences.
    pub msa: Option<PathBuf>,
    /// The partition file.
    pub partitions: Option<PathBuf>,
    /// File of the weights of the columns.
    pub site_weights: Option<PathBuf>,
    /// Model of the alignment, or of partition lines that only name a data type.
    pub model: Option<String>,
    /// Data type of partitions that name none: `CODON2`, `BIN`.
    pub data_type: Option<String>,
    /// File of an amino-acid matrix that replaces that of the model.
    pub protein_matrix: Option<PathBuf>,
    /// Multi-state models have equal rates (`MK`) or different ones (`GTR`) where they do not say so.
    pub multistate_equal: Option<bool>,
    /// Criterion of model selection; `None` for BIC.
    pub auto_criterion: Option<Criterion>,
    /// Discrete rates are medians of their categories, not means.
    pub gamma_median: bool,
    /// How branch lengths are linked.
    pub brlen: BrlenLinkage,
    /// Compute each partition on the tree of its own taxa. `false` keeps all taxa in all
    /// partitions: slower, same likelihood, for comparison only.
    pub restricted: bool,
}

impl Default for DataOptions {
    fn default() -> Self {
        DataOptions {
            msa: None,
            partitions: None,
            site_weights: None,
            model: None,
            data_type: None,
            protein_matrix: None,
            multistate_equal: None,
            auto_criterion: None,
            gamma_median: false,
            brlen: BrlenLinkage::Linked,
            restricted: true,
        }
    }
}

/// Numerical optimisation and search.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalysisOptions {
    /// Starting trees, or the trees to evaluate.
    pub trees: Vec<TreeSource>,
    /// Per-partition trees whose own lengths start an unlinked evaluation.
    pub partition_trees: Option<PathBuf>,
    /// Optimise model parameters.
    pub opt_model: bool,
    /// Optimise branch lengths.
    pub opt_branches: bool,
    /// Gain in log-likelihood below which optimisation ends; `None` for the schedule's own.
    pub lh_epsilon: Option<f64>,
    /// How much time a search may take.
    pub effort: SearchEffort,
    /// Largest distance between pruning and regrafting place; `None` for the schedule's own.
    pub spr_radius: Option<usize>,
    /// Cutoff of the lazy search; `None` for the schedule's own, `Some(None)` for none at all.
    pub spr_cutoff: Option<Option<f64>>,
    /// Search with all sequences, also where some are identical.
    pub keep_identical: bool,
    /// The file of the tree whose splits all trees must have.
    pub constraint: Option<PathBuf>,
}

/// Bootstrap replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapOptions {
    /// How many; at most so many if there is a rule of bootstopping.
    pub replicates: usize,
    /// When to stop earlier.
    pub bootstop: Option<Bootstop>,
    /// How their columns are drawn.
    pub sampling: Sampling,
    /// Seed of the resampling.
    pub seed: u64,
    /// Keep optimised branch lengths in the replicates' trees.
    pub with_brlens: bool,
}

impl BootstrapOptions {
    /// How many, in words.
    pub(crate) fn describe(&self) -> String {
        let number = self.replicates;
        let mut text = match self.bootstop {
            None => format!("{number} replicates"),
            Some(rule) => format!("at most {number} replicates ({})", rule.criterion.name()),
        };
        match self.sampling.unit {
            SamplingUnit::Sites => {}
            SamplingUnit::Partitions => text.push_str(" of whole partitions"),
            SamplingUnit::PartitionsAndSites => text.push_str(" of partitions and sites"),
        }
        if let Some(share) = self.sampling.jackknife {
            text.push_str(&format!(" (jackknife without {} %)", 100.0 * share));
        }
        text
    }
}

/// Support of the branches of the best tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportOptions {
    /// The kinds, in the order of a label; none for commands without support.
    pub kinds: Vec<SupportKind>,
    /// Number of replicates of SH-aLRT.
    pub alrt_replicates: usize,
}

/// Tests of evaluated trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOptions {
    /// Which, in the order in which they are shown; none if empty.
    pub(crate) kinds: Vec<TopologyTest>,
    /// Number of RELL replicates.
    pub replicates: usize,
}

/// Number of trees of a terrace that are written if none is given.
pub(crate) const DEFAULT_TERRACE_TREES: usize = 100;

/// Number of quartets per branch for site concordance if none is given, as in the publication.
pub(crate) const DEFAULT_QUARTETS: usize = 100;

/// What is reconstructed on the best tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AncestralOptions {
    /// The states at inner nodes.
    pub states: bool,
    /// The changes along branches.
    pub changes: bool,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// Threads.
    pub threads: Threads,
    /// Most bytes of memory that the run may use, besides what the machine has.
    pub memory: Option<u64>,
    /// Name of the engine; `None` for what suits the data and the machine.
    pub engine: Option<&'static str>,
    /// Graphics cards to use, as bits by their numbers; 0 for the first one.
    pub cards: u64,
    /// Precision of scores of regraft positions on cards.
    pub score_precision: ScorePrecision,
    /// Instruction set; `None` for the best that this machine has.
    pub instruction_set: Option<&'static str>,
}

/// Where trees are rooted when they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rooting {
    /// In the branch of these taxa, or of the first of them if they are no clade.
    Outgroup(Vec<String>),
    /// In the middle of the longest path between two taxa.
    Midpoint,
}

/// Files and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOptions {
    /// Start of every output file's path.
    pub prefix: PathBuf,
    /// Existing results may be replaced.
    pub redo: bool,
    /// Write per-site log-likelihoods.
    pub sitelh: bool,
    /// Where the trees are rooted; `None` for unrooted ones.
    pub root: Option<Rooting>,
    /// Show no progress.
    pub quiet: bool,
}

/// One run, ready to be carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What to do.
    pub command: Command,
    /// On which data, with which model.
    pub data: DataOptions,
    /// How to optimise and search.
    pub search: AnalysisOptions,
    /// Replicates, where the command makes some.
    pub bootstrap: BootstrapOptions,
    /// Which support the branches get.
    pub support: SupportOptions,
    /// Tests of the trees, where the command evaluates some.
    pub tests: TestOptions,
    /// What is reconstructed on the best tree, where there is one.
    pub ancestral: AncestralOptions,
    /// Seed of everything random but the resampling.
    pub seed: u64,
    /// On how many cores, with which kernels.
    pub run: RunOptions,
    /// Where results go.
    pub output: OutputOptions,
    /// The command as typed, for the record.
    pub command_line: String,
    /// The same without what begins an interrupted run anew.
    pub resuming_command: String,
    /// The same without what chooses cards, where the results do not depend on them.
    pub processor_command: String,
    /// Remarks on the options, to be shown and recorded.
    pub notes: Vec<String>,
}

impl Plan {
    /// Every file this run will write: what has to be free before anything is computed.
    pub fn output_kinds(&self) -> Vec<OutputKind> {
        let unlinked = self.linkage() == BrlenLinkage::Unlinked;
        let mut kinds = match &self.command {
            Command::Search => {
                vec![
                    OutputKind::StartTree,
                    OutputKind::BestTree,
                    OutputKind::BestModel,
                    OutputKind::MlTrees,
                ]
            }
            Command::Evaluate => {
                vec![OutputKind::BestTree, OutputKind::BestModel, OutputKind::MlTrees]
            }
            Command::Bootstrap => vec![OutputKind::Bootstraps],
            Command::BsMsa if self.data.partitions.is_none() => vec![OutputKind::BootstrapMsa],
            Command::BsMsa => vec![OutputKind::BootstrapMsa, OutputKind::BootstrapPartitions],
            Command::All => vec![
                OutputKind::StartTree,
                OutputKind::BestTree,
                OutputKind::BestModel,
                OutputKind::MlTrees,
                OutputKind::Bootstraps,
                OutputKind::Support,
            ],
            Command::Start => vec![OutputKind::StartTree],
            Command::Check(_) => return Vec::new(),
            Command::Support { .. } => vec![OutputKind::Support],
            Command::RfDist(_) => vec![OutputKind::RfDistances],
            Command::Distances(asked) => asked.output_kinds(self.bootstrap.replicates > 0),
            Command::Concordance(_) => vec![OutputKind::Support, OutputKind::Concordance],
            Command::Terrace(_) => vec![OutputKind::Terrace],
            Command::BsConverge { .. } | Command::GpuSelftest(_) => Vec::new(),
            Command::Consense { .. } => vec![OutputKind::ConsensusTree],
            Command::Root { .. } => vec![OutputKind::RootedTree],
            Command::Simulate(_) => {
                vec![OutputKind::Alignment, OutputKind::Partitions, OutputKind::TrueTree]
            }
            Command::Sample(_) => vec![
                OutputKind::StartTree,
                OutputKind::PosteriorTree,
                OutputKind::PosteriorSplits,
                OutputKind::MapTree,
                OutputKind::SampledParameters,
                OutputKind::SampledTrees,
            ],
        };
        if matches!(self.command, Command::Search | Command::Evaluate | Command::All) {
            kinds.push(OutputKind::BestTreeCollapsed);
            if unlinked {
                kinds.push(OutputKind::BestPartitionTrees);
            }
            if self.output.sitelh {
                kinds.push(OutputKind::SiteLh);
            }
            if !self.support.kinds.is_empty() && self.command != Command::All {
                kinds.push(OutputKind::Support);
            }
            if !self.tests.kinds.is_empty() {
                kinds.push(OutputKind::TopologyTests);
            }
            if self.ancestral.states {
                kinds.extend([
                    OutputKind::AncestralTree,
                    OutputKind::AncestralStates,
                    OutputKind::AncestralProbs,
                ]);
            }
            if self.ancestral.changes {
                kinds.extend([OutputKind::MutationMapTree, OutputKind::MutationMapList]);
            }
        }
        kinds.extend([OutputKind::Log, OutputKind::Json]);
        kinds
    }

    /// What `--redo` removes before the first result: all files that an analysis of sequences may have left
    /// under the prefix, so that the results are those of one run. Commands on trees follow such an analysis
    /// and replace only their own files.
    pub fn replaced_kinds(&self) -> Vec<OutputKind> {
        match &self.command {
            Command::Search
            | Command::Evaluate
            | Command::Bootstrap
            | Command::All
            | Command::Start
            | Command::Sample(_) => ANALYSIS_KINDS.to_vec(),
            _ => {
                let unfinished = [OutputKind::Checkpoint, OutputKind::LastTree];
                self.output_kinds().into_iter().chain(unfinished).collect()
            }
        }
    }

    /// Every file that is read.
    pub fn input_files(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = Vec::new();
        paths.extend(self.data.msa.as_deref());
        paths.extend(self.data.partitions.as_deref());
        paths.extend(self.data.site_weights.as_deref());
        paths.extend(self.data.protein_matrix.as_deref());
        paths.extend(self.search.partition_trees.as_deref());
        paths.extend(self.search.constraint.as_deref());
        let mut sources: Vec<&TreeSource> = self.search.trees.iter().collect();
        match &self.command {
            Command::Support { tree, bs_trees } => {
                paths.extend([tree.as_path(), bs_trees.as_path()]);
            }
            Command::RfDist(DistancePlan { trees, reference, .. }) => {
                paths.push(trees);
                paths.extend(reference.as_deref());
            }
            Command::Distances(asked) => paths.extend(asked.file.as_deref()),
            Command::Concordance(ConcordancePlan { tree, gene_trees, .. }) => {
                paths.push(tree);
                paths.extend(gene_trees.as_deref());
            }
            Command::Terrace(TerracePlan { tree, .. }) => paths.push(tree),
            Command::BsConverge { trees }
            | Command::Consense { trees, .. }
            | Command::Root { trees } => paths.push(trees),
            Command::Simulate(simulate) => sources.push(&simulate.tree),
            _ => {}
        }
        paths.extend(sources.into_iter().filter_map(|source| match source {
            TreeSource::File(path) => Some(path.as_path()),
            _ => None,
        }));
        paths
    }

    /// What the run does, in a few words.
    pub fn task(&self) -> String {
        let replicates = self.bootstrap.describe();
        match &self.command {
            Command::Search => "search for the best tree".into(),
            Command::Evaluate if self.tests.kinds.is_empty() => "evaluation of given trees".into(),
            Command::Evaluate => "evaluation and tests of given trees".into(),
            Command::Bootstrap => format!("bootstrap, {replicates}"),
            Command::BsMsa => format!("alignments of {replicates}"),
            Command::All => {
                format!("search for the best tree, bootstrap, {replicates}, support")
            }
            Command::Start => "starting trees".into(),
            Command::Check(_) => "check".into(),
            Command::Support { .. } => "support of a tree".into(),
            Command::RfDist(_) => "distances between trees".into(),
            Command::Distances(MatrixPlan { file: Some(_), .. }) => "trees of distances".into(),
            Command::Distances(_) if self.bootstrap.replicates > 0 => {
                format!("distances between sequences, bootstrap, {replicates}")
            }
            Command::Distances(_) => "distances between sequences".into(),
            Command::Concordance(_) => "concordance factors".into(),
            Command::Terrace(_) => "terrace of a tree".into(),
            Command::BsConverge { .. } => "number of bootstrap replicates".into(),
            Command::Consense { .. } => "consensus tree".into(),
            Command::Root { .. } => "rooting of trees".into(),
            Command::Simulate(_) => "simulation of sequences".into(),
            Command::GpuSelftest(_) => "self-test of cards".into(),
            Command::Sample(asked) => asked.describe(),
        }
    }

    /// True if an interrupted run of this kind can be resumed: those that compute for long.
    pub fn is_resumable(&self) -> bool {
        matches!(
            self.command,
            Command::Search
                | Command::Evaluate
                | Command::Bootstrap
                | Command::All
                | Command::Sample(_)
        )
    }

    /// Number of files of each kind of which there are several.
    pub(crate) fn num_numbered(&self) -> usize {
        match &self.command {
            Command::Sample(asked) => asked.num_runs,
            _ => self.bootstrap.replicates,
        }
    }

    /// Number of engines in each of the jobs that may run at the same time.
    pub(crate) fn engines_per_job(&self) -> usize {
        match &self.command {
            Command::Sample(asked) | Command::Check(CheckedRun::Sample(asked)) => asked.num_chains,
            _ => 1,
        }
    }

    /// False if the models of the data make no difference to the results.
    pub(crate) fn computes_with_models(&self) -> bool {
        !matches!(self.command, Command::Concordance(_) | Command::Terrace(_) | Command::BsMsa)
    }

    /// True if, of taxa with identical sequences, all but one are left out of searches and of distances.
    pub fn leaves_out_identical(&self) -> bool {
        let searches = matches!(
            self.command,
            Command::Search
                | Command::All
                | Command::Bootstrap
                | Command::Start
                | Command::Distances(_)
                | Command::Check(CheckedRun::Distances(_))
        );
        searches && !self.search.keep_identical
    }

    /// How branch lengths are linked; without a partition file there is nothing to link.
    pub fn linkage(&self) -> BrlenLinkage {
        match self.data.partitions {
            Some(_) => self.data.brlen,
            None => BrlenLinkage::Linked,
        }
    }
}
