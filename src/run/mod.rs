//! One run from the validated intent to the last output file.
//!
//! Glue only: what is computed lives in the rooms below, what is typed in `cli`. Inside, too, imports
//! run downhill: [`execute`] chooses one of the `commands`, which let `deliver` tell and write what they
//! found; they stand on `work` (machine, jobs, record of the run), that on `prepare` (from files to
//! data), and all of them on the [`Plan`].

mod plan;

mod prepare;

mod work;

mod deliver;

mod commands;

mod execute;

pub use crate::likelihood::BrlenLinkage;
pub use crate::model_selection::Criterion;
pub use crate::search::SearchEffort;
pub use crate::tree::ConsensusRule;
pub use execute::execute;
pub use plan::{
    AnalysisOptions, BootstrapOptions, Command, DEFAULT_REPLICATES, DEFAULT_SEED, DataOptions,
    OutputOptions, Plan, RunOptions, Simd, SimulatePlan, Threads, TreeSource,
};
pub use prepare::{GivenTree, Loaded, Remarks, load};
pub use work::{Machine, make_evaluator};
