//! One run, from the validated plan to the last output file.
//!
//! This room only connects others: computations are in the rooms below, the command line is in `cli`.
//! Inside, imports have one direction: [`execute`] chooses one of the `commands`, which report and write
//! their results with `deliver`; they use `work` (machine, jobs, record of the run), which uses `prepare`
//! (from files to data), and all of them use the [`Plan`].

mod plan;

mod prepare;

mod work;

mod deliver;

mod commands;

mod execute;

pub use crate::likelihood::BrlenLinkage;
pub use crate::search::SearchEffort;
pub use crate::selection::Criterion;
pub use execute::execute;
pub use plan::{
    AnalysisOptions, BootstrapOptions, Command, ConsensusRule, DEFAULT_REPLICATES, DEFAULT_SEED,
    DataOptions, OutputOptions, Plan, RunOptions, Simd, SimulatePlan, Threads, TreeSource,
};
pub use prepare::{GivenTree, Loaded, Remarks, load};
pub use work::{Machine, make_evaluator};
