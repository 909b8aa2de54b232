//! One run, from the validated plan to the last output file.
//!
//! This room only connects others: computations are in the rooms below, the command line is in `cli`.
//! Inside, imports have one direction: `execute` chooses one of the `commands`, which report and write
//! their results with `deliver`; they use `work` (machine, jobs, record of the run), which uses `prepare`
//! (from files to data), and all of them use the [`Plan`].

mod plan;

mod prepare;

mod work;

mod deliver;

mod commands;

mod execute;

pub use crate::output::{MatrixFormat, OutputKind};
pub use execute::execute;
pub use plan::Plan;
// For the tests of hostile input.
#[doc(hidden)]
pub use prepare::{SiteWeights, parse_distances};
pub use work::interrupt::listen as listen_to_signals;

pub(crate) use crate::bootstrap::{
    Bootstop, BootstopCriterion, DEFAULT_CUTOFF, DEFAULT_HALVINGS, Sampling, SamplingUnit,
    SupportKind,
};
pub(crate) use crate::distance::DistanceTree;
pub(crate) use crate::likelihood::BrlenLinkage;
pub(crate) use crate::model_selection::Criterion;
pub(crate) use crate::sampler::{
    BrlenPrior, DEFAULT_GENERATIONS, NumberPrior, Priors, SamplingPlan, SharesPrior, StopRule,
};
pub(crate) use crate::search::SearchEffort;
pub(crate) use crate::topology_tests::{DEFAULT_RELL_REPLICATES, TopologyTest};
pub(crate) use crate::tree::ConsensusRule;
pub(crate) use crate::tree_distance::TreeMetric;
pub(crate) use plan::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, CheckedRun, Command, ConcordancePlan,
    DEFAULT_ALRT_REPLICATES, DEFAULT_MOST_REPLICATES, DEFAULT_QUARTETS, DEFAULT_REPLICATES,
    DEFAULT_SEED, DEFAULT_TERRACE_TREES, DataOptions, DistanceFormula, DistancePlan, MatrixPlan,
    OutputOptions, Rooting, RunOptions, SelftestPlan, SimulatePlan, SupportOptions, TerracePlan,
    TestOptions, Threads, TreeSource,
};
