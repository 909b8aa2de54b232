//! One run from the validated intent to the last output file.
//!
//! Glue only: what is computed lives in the rooms below, what is typed in `cli`. One file per
//! command; what they share is in `load` (files to data), `models` (which partition has which),
//! `machine` (threads and kernels), `session` and `outcome` (results, checked, as files and report).

mod all;
mod bootstrap;
mod check;
mod consense;
mod evaluate;
mod execute;
mod invariable;
mod jobs;
mod load;
mod machine;
mod matrix_files;
mod models;
mod outcome;
mod plan;
mod remarks;
mod rfdist;
mod search;
mod select;
mod session;
mod simulate;
mod start;
mod support;
mod terrace;
mod trees;

pub use crate::likelihood::BrlenLinkage;
pub use crate::search::SearchEffort;
pub use crate::selection::Criterion;
pub use execute::execute;
pub use load::{Loaded, load};
pub use machine::{Machine, make_evaluator};
pub use plan::{
    BootstrapOptions, Command, ConsensusRule, DEFAULT_REPLICATES, DEFAULT_SEED, DataOptions,
    OutputOptions, Plan, RunOptions, SearchOptions, Simd, SimulatePlan, Threads, TreeSource,
};
pub use remarks::Remarks;
pub use trees::GivenTree;
