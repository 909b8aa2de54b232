//! What every engine shares: its contract ([`Engine`]), the programs of work that it is given, the data
//! and models of genes, and the parts of an engine that do not depend on what computes: model tables,
//! Newton-Raphson, corrections of ascertainment bias, the layout that fixes how sums are grouped.
//!
//! Engines (`cpu`, `naive`) import this room and never each other; `select` makes them.

pub mod ascertainment;
mod check;
pub mod constant_patterns;
mod contract;
mod data;
pub mod layout;
mod model_block;
mod newton;
mod program;
pub mod scaling;

pub use check::Checked;
pub use contract::{Capabilities, Engine, EngineError, EngineOptions, Entry, Make, Result};
pub use data::{GeneData, GeneModel};
pub use model_block::ModelBlock;
pub use newton::{Derivatives, run_sweep};
pub use program::{
    EdgeJob, InsertionProgram, InsertionStep, Operation, SweepGene, SweepJob, SweepOperation,
    SweepProgram, SweepStep, TraversalDescriptor, TrialProgram, Vector,
};
