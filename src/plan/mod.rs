//! The plan of one run: what the user wants, validated, as plain data.
//!
//! A [`Plan`] is made by `cli` (or by a program that uses the library) and carried out by the
//! rooms above. Nothing here reads a file.

mod matrix;
mod on_trees;
mod options;

pub(crate) use matrix::{DistanceFormula, MatrixPlan};
pub(crate) use on_trees::{ConcordancePlan, DistancePlan, TerracePlan};
pub use options::Plan;
pub(crate) use options::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, CheckedRun, Command,
    DEFAULT_ALRT_REPLICATES, DEFAULT_MOST_REPLICATES, DEFAULT_QUARTETS, DEFAULT_REPLICATES,
    DEFAULT_SEED, DEFAULT_TERRACE_TREES, DataOptions, OutputOptions, Rooting, RunOptions,
    SelftestPlan, SimulatePlan, SupportOptions, TestOptions, Threads, TreeSource,
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
