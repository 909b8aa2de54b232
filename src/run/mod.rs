//! One run from the validated intent to the last output file.
//!
//! Glue only: what is computed lives in the rooms below, what is typed in `cli`. Inside, too, imports
//! run downhill: `execute` chooses one of the `commands`, which let `deliver` tell and write what they
//! found; they stand on `work` (machine, jobs, record of the run), that on `prepare` (from files to
//! data), and all of them on the [`Plan`].

mod plan;

mod prepare;

mod work;

mod deliver;

#[allow(unreachable_pub)]
mod commands;

mod execute;

pub use crate::output::OutputKind;
pub use execute::execute;
pub use plan::Plan;
pub use work::make_evaluator;

pub(crate) use crate::likelihood::BrlenLinkage;
pub(crate) use crate::model_selection::Criterion;
pub(crate) use crate::search::SearchEffort;
pub(crate) use crate::tree::ConsensusRule;
pub(crate) use plan::{
    AnalysisOptions, BootstrapOptions, Command, DEFAULT_REPLICATES, DEFAULT_SEED, DataOptions,
    OutputOptions, RunOptions, SimulatePlan, Threads, TreeSource,
};
