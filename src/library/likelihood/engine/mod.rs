//! What all engines share: their contract ([`Engine`]), the programs of work that they carry out, the data
//! and models of partitions, and the parts that do not depend on the hardware: model tables, Newton-Raphson,
//! corrections of ascertainment bias, the layout that determines how sums are grouped, and who has which blocks where several ranks
//! compute ([`Holders`]).
//!
//! Engines (`cpu`, `cuda`, `naive`) import this module and never each other; `select` makes them.

pub mod ascertainment;
mod block_sum;
mod check;
pub mod constant_patterns;
mod contract;
mod data;
mod forgetting;
mod holders;
mod model_block;
pub mod newton;
pub mod pmatrix_gradient;
mod program;
pub mod states;
mod temporaries;

pub use block_sum::{BlockSum, aligned_runs};
pub use check::Checked;
pub use contract::{
    Capabilities, Engine, EngineError, EngineOptions, Entry, GpuRates, Make, Result,
    ScorePrecision, SweepWork,
};
pub use data::{PartitionData, PartitionModel};
pub use forgetting::{Forgetting, min_clvs};
pub use holders::{Held, Holders};
pub use mlsearch_kernels::body::operand_of_pattern::RATES;
pub use mlsearch_kernels::{ModelBlock, layout, scaling};
pub use model_block::{new_block, set_model};
pub use newton::{Derivatives, TrialSweep, chain_rule, run_sweep, run_trials};
pub use program::{
    Clv, EdgeJob, Goal, InsertionProgram, InsertionStep, Operation, PointJob, SweepJob,
    SweepOperation, SweepPartition, SweepProgram, SweepStep, TraversalDescriptor, TrialProgram,
};
pub use temporaries::Places;
