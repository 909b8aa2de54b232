//! What the user wants of one run, validated, as plain data: the groups of options that analyses share (`options`), what an
//! analysis says of itself (`facts`), and distances between sequences (`matrix`).
//!
//! A [`Plan`] is made by `cli` and carried out by the rooms above. Nothing here reads a file. What only one analysis knows is
//! in its room in `commands`.

mod facts;
mod matrix;
mod options;

pub(crate) use facts::{
    Facts, IdenticalSequences, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Needs, Replaces, Workload,
};
pub(crate) use matrix::{DistanceFormula, MatrixPlan};
pub(crate) use options::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, DEFAULT_ALRT_REPLICATES,
    DEFAULT_MOST_REPLICATES, DEFAULT_REPLICATES, DEFAULT_SEED, DataOptions, OutputOptions, Plan,
    Rooting, RunOptions, SupportOptions, TestOptions, Threads, TreeSource,
};

// What a plan says in the words of rooms below.
pub(crate) use crate::bootstrap::{
    Bootstop, BootstopCriterion, DEFAULT_CUTOFF, DEFAULT_HALVINGS, Sampling, SamplingUnit,
    SupportKind,
};
pub(crate) use crate::distance::DistanceTree;
pub(crate) use crate::likelihood::BrlenLinkage;
pub(crate) use crate::model_selection::Criterion;
pub(crate) use crate::output::MatrixFormat;
pub(crate) use crate::sampler::{
    BrlenPrior, DEFAULT_GENERATIONS, NumberPrior, Priors, SamplingPlan, SharesPrior, StopRule,
};
pub(crate) use crate::search::SearchEffort;
pub(crate) use crate::topology_tests::{DEFAULT_RELL_REPLICATES, TopologyTest};
pub(crate) use crate::tree::ConsensusRule;
pub(crate) use crate::tree_distance::TreeMetric;
