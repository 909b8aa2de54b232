//! One run from the validated intent to the last output file.
//!
//! Glue only: what is computed lives in the rooms below, what is typed in `cli`.

mod execute;
mod plan;

pub use execute::execute;
pub use plan::{
    BootstrapOptions, BrlenLinkage, Command, ConsensusRule, DEFAULT_REPLICATES, DEFAULT_SEED,
    DataOptions, OutputOptions, Plan, RunOptions, SearchOptions, Simd, SimulatePlan, Threads,
    TreeSource,
};
