//! [`Plan`] and its parts.

use super::facts::Facts;
use crate::alignment::Recoding;
use crate::bootstrap::{Bootstop, Sampling, SamplingUnit, SupportKind};
use crate::distance::DistanceTree;
use crate::input::is_stream;
use crate::likelihood::{BrlenLinkage, ScorePrecision};
use crate::model_selection::Criterion;
use crate::mpi::Ranks;
use crate::output::{Names, TreeFormat};
use crate::search::SearchEffort;
use crate::stop::Stop;
use crate::topology_tests::TopologyTest;
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
pub(crate) enum TreeSource {
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

impl TreeSource {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            TreeSource::File(path) => Some(path),
            _ => None,
        }
    }
}

/// Number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the cores and the amount of work justify, but no more than this.
    Auto {
        /// Upper limit, if the user set one.
        max: Option<usize>,
    },
    /// Exactly this number.
    Fixed(usize),
}

/// Where the state frequencies of sites come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SiteFrequencies {
    /// The model has frequencies for all sites.
    #[default]
    OfModel,
    /// A file.
    File(PathBuf),
    /// A profile mixture on a tree.
    Guide {
        /// The file of the tree.
        tree: PathBuf,
        /// How often, each time on the best tree under the frequencies of before.
        rounds: usize,
    },
}

/// The data and its model, as given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DataOptions {
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
    /// Groups of amino acids that are the states of the data.
    pub recode: Option<Recoding>,
    /// A file that defines models and frequencies under names.
    pub model_definitions: Option<PathBuf>,
    /// Multi-state models have equal rates (`MK`) or different ones (`GTR`) where they do not say so.
    pub multistate_equal: Option<bool>,
    /// Selection of models compares profile mixtures, too.
    pub auto_mixtures: bool,
    /// Criterion of model selection; `None` for BIC.
    pub auto_criterion: Option<Criterion>,
    /// Where the state frequencies of sites come from.
    pub site_frequencies: SiteFrequencies,
    /// Partitions that estimate the exchange rates of the same matrix share them.
    pub link_exchange_rates: bool,
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
            recode: None,
            model_definitions: None,
            multistate_equal: None,
            auto_mixtures: false,
            auto_criterion: None,
            site_frequencies: SiteFrequencies::OfModel,
            link_exchange_rates: false,
            gamma_median: false,
            brlen: BrlenLinkage::Linked,
            restricted: true,
        }
    }
}

/// Numerical optimisation and search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnalysisOptions {
    /// Starting trees, or the trees to evaluate.
    pub trees: Vec<TreeSource>,
    /// Per-partition trees whose own lengths start an unlinked evaluation.
    pub partition_trees: Option<PathBuf>,
    /// Optimise model parameters.
    pub opt_model: bool,
    /// Optimise branch lengths.
    pub opt_branches: bool,
    /// Use all classes of profile mixtures from the beginning.
    pub whole_mixture: bool,
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

impl Default for AnalysisOptions {
    fn default() -> Self {
        AnalysisOptions {
            trees: Vec::new(),
            partition_trees: None,
            opt_model: true,
            opt_branches: true,
            whole_mixture: false,
            lh_epsilon: None,
            effort: SearchEffort::Normal,
            spr_radius: None,
            spr_cutoff: None,
            keep_identical: false,
            constraint: None,
        }
    }
}

/// Bootstrap replicates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BootstrapOptions {
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
    /// Those of a run without replicates.
    pub(crate) fn none(seed: u64) -> Self {
        BootstrapOptions {
            replicates: 0,
            bootstop: None,
            sampling: Sampling { unit: SamplingUnit::Sites, jackknife: None },
            seed,
            with_brlens: false,
        }
    }

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SupportOptions {
    /// The kinds, in the order of a label; none for commands without support.
    pub kinds: Vec<SupportKind>,
    /// Number of replicates of SH-aLRT.
    pub alrt_replicates: usize,
}

/// Tests of evaluated trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Which, in the order in which they are shown; none if empty.
    pub(crate) kinds: Vec<TopologyTest>,
    /// Number of RELL replicates.
    pub replicates: usize,
}

/// What is reconstructed on the best tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AncestralOptions {
    /// The states at inner nodes.
    pub states: bool,
    /// The changes along branches.
    pub changes: bool,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunOptions {
    /// Threads.
    pub threads: Threads,
    /// Most bytes of memory that the run may use, besides what the machine has.
    pub memory: Option<u64>,
    /// Name of the engine; `None` for what suits the data and the machine.
    pub engine: Option<&'static str>,
    /// GPUs to use, as bits by their numbers; 0 for the first one.
    pub gpus: u64,
    /// Precision of scores of regraft positions on GPUs.
    pub score_precision: ScorePrecision,
    /// Instruction set; `None` for the best that this machine has.
    pub instruction_set: Option<&'static str>,
    /// How another thread ends the run, if it is inside another program.
    pub stop: Stop,
    /// The processes of the run, if it was started as several.
    pub ranks: Option<Ranks>,
    /// How many of them compute one likelihood; `None` for as many as make it faster.
    pub ranks_per_job: Option<usize>,
}

/// Where trees are rooted when they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rooting {
    /// In the branch of these taxa, or of the first of them if they are no clade.
    Outgroup(Vec<String>),
    /// In the middle of the longest path between two taxa.
    Midpoint,
}

/// Files and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputOptions {
    /// Start of every output file's path.
    pub prefix: PathBuf,
    /// Existing results may be replaced.
    pub redo: bool,
    /// Write per-site log-likelihoods.
    pub sitelh: bool,
    /// Rates of sites, and profiles under profile mixtures.
    pub site_rates: bool,
    /// Where the trees are rooted; `None` for unrooted ones.
    pub root: Option<Rooting>,
    /// Show no progress.
    pub quiet: bool,
    /// Format in which trees are written besides Newick.
    pub tree_format: TreeFormat,
    /// Write the results as a page, too.
    pub page: bool,
    /// Whose names results have besides their own.
    pub names: Names,
}

/// What all analyses share of a run: its options, and the facts of the analysis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// What the analysis says of itself.
    pub facts: Facts,
    /// The run is only described (`--check`).
    pub is_check: bool,
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
    /// The same without what chooses GPUs, where the results do not depend on them.
    pub processor_command: String,
    /// Remarks on the options, to be shown and recorded.
    pub notes: Vec<String>,
}

impl Plan {
    /// Every file that is read.
    pub(crate) fn input_files(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = Vec::new();
        paths.extend(self.data.msa.as_deref());
        paths.extend(self.data.partitions.as_deref());
        paths.extend(self.data.site_weights.as_deref());
        paths.extend(self.data.protein_matrix.as_deref());
        paths.extend(self.data.model_definitions.as_deref());
        match &self.data.site_frequencies {
            SiteFrequencies::OfModel => {}
            SiteFrequencies::File(path) | SiteFrequencies::Guide { tree: path, .. } => {
                paths.push(path);
            }
        }
        paths.extend(self.search.partition_trees.as_deref());
        paths.extend(self.search.constraint.as_deref());
        paths.extend(self.facts.inputs.iter().map(PathBuf::as_path));
        paths.extend(self.search.trees.iter().filter_map(TreeSource::file));
        paths
    }

    /// True if every process can read all input: not standard input, nor pipes.
    pub(crate) fn can_be_read_again(&self) -> bool {
        !self.input_files().into_iter().any(is_stream)
    }

    /// How branch lengths are linked; without a partition file there is nothing to link.
    pub(crate) fn linkage(&self) -> BrlenLinkage {
        match self.data.partitions {
            Some(_) => self.data.brlen,
            None => BrlenLinkage::Linked,
        }
    }
}
