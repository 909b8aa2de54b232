//! The kinds of output files: their names, and what is in them.

/// One kind of output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The tree with the highest likelihood.
    BestTree,
    /// The same without branches of no length, if it has any.
    BestTreeCollapsed,
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
    /// Numbers of gene trees and sites that agree with the branches of a tree.
    Concordance,
    /// Trees of the terrace.
    Terrace,
    /// The consensus tree.
    ConsensusTree,
    /// Given trees with a root.
    RootedTree,
    /// Distances between trees.
    RfDistances,
    /// Distances between sequences.
    Distances,
    /// The same, compressed.
    DistancesGz,
    /// The same as an array.
    DistancesNpy,
    /// The same for each partition by itself, one file for each.
    PartitionDistances,
    /// The same, compressed.
    PartitionDistancesGz,
    /// The same as arrays.
    PartitionDistancesNpy,
    /// Trees of these distances.
    DistanceTrees,
    /// Tests of the evaluated trees.
    TopologyTests,
    /// The tree with names of its inner nodes.
    AncestralTree,
    /// The most likely states at inner nodes.
    AncestralStates,
    /// The probabilities of all states at inner nodes.
    AncestralProbs,
    /// The tree with numbers of changes.
    MutationMapTree,
    /// Changes of states along branches.
    MutationMapList,
    /// The consensus of the sampled trees.
    PosteriorTree,
    /// The splits of the sampled trees.
    PosteriorSplits,
    /// The sampled tree with the highest posterior density.
    MapTree,
    /// Sampled parameters, one file for each run.
    SampledParameters,
    /// Sampled trees, one file for each run.
    SampledTrees,
    /// Plot of the sampled parameters.
    TracePlot,
    /// Plot of the frequencies of splits in different runs.
    SplitPlot,
    /// Plot of the agreement of runs.
    AsdsfPlot,
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
    /// A partition file with the models that were selected.
    SelectedModels,
    /// How the models compare.
    Criteria,
    /// What an interrupted run is resumed from; removed at its end.
    Checkpoint,
    /// The best tree of a run in progress; removed at its end.
    LastTree,
}

/// What analyses of sequences write: `--redo` of one replaces all of them.
pub(crate) const ANALYSIS_KINDS: [OutputKind; 27] = [
    OutputKind::BestTree,
    OutputKind::BestTreeCollapsed,
    OutputKind::BestModel,
    OutputKind::MlTrees,
    OutputKind::StartTree,
    OutputKind::Bootstraps,
    OutputKind::Support,
    OutputKind::TopologyTests,
    OutputKind::AncestralTree,
    OutputKind::AncestralStates,
    OutputKind::AncestralProbs,
    OutputKind::MutationMapTree,
    OutputKind::MutationMapList,
    OutputKind::PosteriorTree,
    OutputKind::PosteriorSplits,
    OutputKind::MapTree,
    OutputKind::SampledParameters,
    OutputKind::SampledTrees,
    OutputKind::TracePlot,
    OutputKind::SplitPlot,
    OutputKind::AsdsfPlot,
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
    pub(crate) fn is_numbered(self) -> bool {
        matches!(
            self,
            OutputKind::BootstrapMsa
                | OutputKind::BootstrapPartitions
                | OutputKind::SampledParameters
                | OutputKind::SampledTrees
                | OutputKind::PartitionDistances
                | OutputKind::PartitionDistancesGz
                | OutputKind::PartitionDistancesNpy
        )
    }

    /// What follows `PREFIX.mlsearch.`.
    pub fn suffix(self) -> &'static str {
        match self {
            OutputKind::BestTree => "bestTree",
            OutputKind::BestTreeCollapsed => "bestTreeCollapsed",
            OutputKind::BestModel => "bestModel",
            OutputKind::MlTrees => "mlTrees",
            OutputKind::StartTree => "startTree",
            OutputKind::Bootstraps => "bootstraps",
            OutputKind::Support => "support",
            OutputKind::Concordance => "concordance",
            OutputKind::Terrace => "terrace",
            OutputKind::ConsensusTree => "consensusTree",
            OutputKind::RootedTree => "rootedTree",
            OutputKind::RfDistances => "rfDistances",
            OutputKind::Distances => "distances",
            OutputKind::DistancesGz => "distances.gz",
            OutputKind::DistancesNpy => "distances.npy",
            OutputKind::PartitionDistances => "partitionN.distances",
            OutputKind::PartitionDistancesGz => "partitionN.distances.gz",
            OutputKind::PartitionDistancesNpy => "partitionN.distances.npy",
            OutputKind::DistanceTrees => "distanceTrees",
            OutputKind::TopologyTests => "topologyTests",
            OutputKind::AncestralTree => "ancestralTree",
            OutputKind::AncestralStates => "ancestralStates",
            OutputKind::AncestralProbs => "ancestralProbs",
            OutputKind::MutationMapTree => "mutationMapTree",
            OutputKind::MutationMapList => "mutationMapList",
            OutputKind::PosteriorTree => "posteriorTree",
            OutputKind::PosteriorSplits => "posteriorSplits",
            OutputKind::MapTree => "mapTree",
            OutputKind::SampledParameters => "runN.p",
            OutputKind::SampledTrees => "runN.trees",
            OutputKind::TracePlot => "trace.svg",
            OutputKind::SplitPlot => "splits.svg",
            OutputKind::AsdsfPlot => "asdsf.svg",
            OutputKind::SiteLh => "siteLH",
            OutputKind::BestPartitionTrees => "bestPartitionTrees",
            OutputKind::Log => "log",
            OutputKind::Json => "json",
            OutputKind::Alignment => "phy",
            OutputKind::Partitions => "part",
            OutputKind::TrueTree => "trueTree",
            OutputKind::BootstrapMsa => "bootstrapMSA.N.phy",
            OutputKind::BootstrapPartitions => "bootstrapMSA.N.part",
            OutputKind::SelectedModels => "selectedModels",
            OutputKind::Criteria => "criteria",
            OutputKind::Checkpoint => "checkpoint",
            OutputKind::LastTree => "lastTree",
        }
    }

    /// Its content, as a user reads it.
    pub fn content(self) -> &'static str {
        match self {
            OutputKind::BestTree => "the tree with the highest likelihood",
            OutputKind::BestTreeCollapsed => "the same with polytomies for branches without length",
            OutputKind::BestModel => "its model with all parameters; can be given as -q or -m",
            OutputKind::MlTrees => "the final tree of every search, or every evaluated tree",
            OutputKind::StartTree => "the starting trees",
            OutputKind::Bootstraps => "the trees of the bootstrap replicates",
            OutputKind::Support => "the tree with support values",
            OutputKind::Concordance => "the gene trees and sites that agree with each branch",
            OutputKind::Terrace => "trees on the terrace of the given one",
            OutputKind::ConsensusTree => "the consensus tree",
            OutputKind::RootedTree => "the given trees with a root",
            OutputKind::RfDistances => "distances between pairs of trees",
            OutputKind::Distances => "the distances between the sequences",
            OutputKind::DistancesGz => "the distances between the sequences, compressed",
            OutputKind::DistancesNpy => "the distances between the sequences, for NumPy",
            OutputKind::PartitionDistances => "the distances between the sequences of partition N",
            OutputKind::PartitionDistancesGz => {
                "the distances between the sequences of partition N, compressed"
            }
            OutputKind::PartitionDistancesNpy => {
                "the distances between the sequences of partition N, for NumPy"
            }
            OutputKind::DistanceTrees => "trees of the distances",
            OutputKind::TopologyTests => "the tests of the evaluated trees",
            OutputKind::AncestralTree => "the best tree with names of its inner nodes",
            OutputKind::AncestralStates => "the most likely states at these nodes, as sequences",
            OutputKind::AncestralProbs => "the probabilities of all states at these nodes",
            OutputKind::MutationMapTree => {
                "the best tree with names of its inner nodes and the number of changes of every branch"
            }
            OutputKind::MutationMapList => "the changes of every branch",
            OutputKind::PosteriorTree => {
                "the consensus of the sampled trees with posterior probabilities"
            }
            OutputKind::PosteriorSplits => "the splits of the sampled trees",
            OutputKind::MapTree => "the sampled tree with the highest posterior density",
            OutputKind::SampledParameters => "the samples of run N: log-likelihood and parameters",
            OutputKind::SampledTrees => "the sampled trees of run N",
            OutputKind::TracePlot => "the samples of all runs, drawn",
            OutputKind::SplitPlot => "the frequencies of splits in run 1 and the others, drawn",
            OutputKind::AsdsfPlot => "the agreement of the runs over the generations, drawn",
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
            OutputKind::SelectedModels => "the selected models; can be given as -q",
            OutputKind::Criteria => "the criteria of all models that were compared",
            OutputKind::Checkpoint => "what the interrupted run is resumed from",
            OutputKind::LastTree => "the best tree so far",
        }
    }
}
