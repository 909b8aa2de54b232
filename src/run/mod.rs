//! One run from the validated intent to the last output file.
//!
//! Glue only: what is computed lives in the rooms below, what is typed in `cli`. One file per
//! command; what they share is in `load` (files to data), `models` (which partition has which),
//! `machine` (threads and kernels), `session` (what commands on sequences share), `record` (where words and
//! results go), `outcome` and `summary` (results, checked, as files, report and text).

mod all;
mod bootstrap;
mod check;
mod consense;
mod cost;
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
mod record;
mod remarks;
mod rfdist;
mod search;
mod select;
mod session;
mod simulate;
mod start;
mod summary;
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
