//! Likelihood of trees: what is computed ([`Evaluator`], in `evaluator/`) and by what (an
//! [`engine::Engine`]: `cpu/`, `naive/`, made by [`select`]).
//!
//! Glossary. *CLV*: conditional likelihood vector, the probability of the data behind a node for
//! each state at the node, per pattern and rate category. *Virtual root*: the edge towards which all
//! CLVs of a gene point. *Gene*: a partition, by number. *T|g*: the tree restricted to the taxa that
//! have data in gene g. *Slot*: number of the one CLV that an inner node of T|g owns; what it points
//! towards changes (it is relocatable), its place does not. *Temporary*: a vector that exists while a
//! program of work runs. *Sumtable*: what is left of an edge's likelihood when its length is the only
//! variable.

#[doc(hidden)]
pub mod cpu;
pub mod engine;
mod evaluator;
#[cfg(test)]
pub(crate) mod failing;
#[doc(hidden)]
pub mod naive;
mod partitions;
pub mod select;

pub use engine::{EngineError, EngineOptions, Result};
pub use evaluator::{BranchOptions, BrlenLinkage, Evaluator, Prune, Snapshot, SubtreeMove, Trial};
pub use partitions::make_evaluator;

pub(crate) use partitions::replace_engine;

/// Shortest and longest branch (substitutions per site), as in the field's programs: of the global tree, or
/// of each gene's tree when unlinked. Lengths may lie outside only while nobody optimises them: those that
/// a user gives, and halves made by a regraft.
pub const BRLEN_BOUNDS: [f64; 2] = [1e-6, 100.0];
