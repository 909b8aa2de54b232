//! [`OutputKind`]: the kinds of output files, their names and what they contain.

/// One kind of output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The tree with the highest likelihood.
    BestTree,
    /// Its model, usable as `-q` or `-m`.
    BestModel,
    /// The final tree of every starting tree, or every evaluated tree.
    MlTrees,
    /// The starting trees.
    StartTree,
    /// The trees of the bootstrap replicates.
    Bootstraps,
    /// The tree with support values.
    Support,
    /// The consensus tree.
    ConsensusTree,
    /// Robinson-Foulds distances.
    RfDistances,
    /// Tests of the evaluated trees.
    TopologyTests,
    /// Log-likelihood of every site.
    SiteLh,
    /// One tree per partition with its own lengths.
    BestPartitionTrees,
    /// The record of the run.
    Log,
    /// All results, for programs.
    Json,
    /// Simulated sequences.
    Alignment,
    /// Partitions of simulated sequences.
    Partitions,
    /// The tree of simulated sequences.
    TrueTree,
    /// The alignments of bootstrap replicates, one file for each.
    BootstrapMsa,
    /// Their partitions.
    BootstrapPartitions,
    /// What an interrupted run is resumed from; removed at its end.
    Checkpoint,
    /// The best tree of a run in progress; removed at its end.
    LastTree,
}

/// What analyses of sequences write: `--redo` of one replaces all of them.
pub(crate) const ANALYSIS_KINDS: [OutputKind; 13] = [
    OutputKind::BestTree,
    OutputKind::BestModel,
    OutputKind::MlTrees,
    OutputKind::StartTree,
    OutputKind::Bootstraps,
    OutputKind::Support,
    OutputKind::TopologyTests,
    OutputKind::SiteLh,
    OutputKind::BestPartitionTrees,
    OutputKind::Log,
    OutputKind::Json,
    OutputKind::Checkpoint,
    OutputKind::LastTree,
];

impl OutputKind {
    /// The result that has this number as a `u32`, if it may be one of an analysis.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        ANALYSIS_KINDS.into_iter().find(|kind| *kind as u32 == number)
    }

    /// True for results of which there are several files, with numbers from 1 in the place of `N`.
    pub(super) fn is_numbered(self) -> bool {
        matches!(self, OutputKind::BootstrapMsa | OutputKind::BootstrapPartitions)
    }

    /// What follows `PREFIX.mlsearch.`.
    pub fn suffix(self) -> &'static str {
        match self {
            OutputKind::BestTree => "bestTree",
            OutputKind::BestModel => "bestModel",
            OutputKind::MlTrees => "mlTrees",
            OutputKind::StartTree => "startTree",
            OutputKind::Bootstraps => "bootstraps",
            OutputKind::Support => "support",
            OutputKind::ConsensusTree => "consensusTree",
            OutputKind::RfDistances => "rfDistances",
            OutputKind::TopologyTests => "topologyTests",
            OutputKind::SiteLh => "siteLH",
            OutputKind::BestPartitionTrees => "bestPartitionTrees",
            OutputKind::Log => "log",
            OutputKind::Json => "json",
            OutputKind::Alignment => "phy",
            OutputKind::Partitions => "part",
            OutputKind::TrueTree => "trueTree",
            OutputKind::BootstrapMsa => "bootstrapMSA.N.phy",
            OutputKind::BootstrapPartitions => "bootstrapMSA.N.part",
            OutputKind::Checkpoint => "checkpoint",
            OutputKind::LastTree => "lastTree",
        }
    }

    /// Its content, as a user reads it.
    pub fn content(self) -> &'static str {
        match self {
            OutputKind::BestTree => "the tree with the highest likelihood",
            OutputKind::BestModel => "its model with all parameters; can be given as -q or -m",
            OutputKind::MlTrees => "the final tree of every search, or every evaluated tree",
            OutputKind::StartTree => "the starting trees",
            OutputKind::Bootstraps => "the trees of the bootstrap replicates",
            OutputKind::Support => "the tree with support values",
            OutputKind::ConsensusTree => "the consensus tree",
            OutputKind::RfDistances => "Robinson-Foulds distances between all pairs of trees",
            OutputKind::TopologyTests => "the tests of the evaluated trees",
            OutputKind::SiteLh => "the log-likelihood of every site",
            OutputKind::BestPartitionTrees => {
                "the tree of each partition with its own branch lengths"
            }
            OutputKind::Log => "a detailed record of the run",
            OutputKind::Json => "all results, for programs",
            OutputKind::Alignment => "the simulated sequences",
            OutputKind::Partitions => "their partitions and models",
            OutputKind::TrueTree => "the tree along which they were simulated",
            OutputKind::BootstrapMsa => "the alignments of the replicates N",
            OutputKind::BootstrapPartitions => "their partitions and models",
            OutputKind::Checkpoint => "what the interrupted run is resumed from",
            OutputKind::LastTree => "the best tree so far",
        }
    }
}
