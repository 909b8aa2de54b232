//! The plan of one run: what the user wants, validated, as plain data.
//!
//! A [`Plan`] is made by `cli` (or by a program that uses the library) and carried out by the
//! commands of this room. Nothing here reads a file.

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
