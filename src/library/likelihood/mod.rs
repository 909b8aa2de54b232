//! Likelihood of trees by Felsenstein's pruning algorithm (1981, J Mol Evol 17:368). The [`Evaluator`]
//! (`evaluator/`) decides what must be computed; an [`engine::Engine`] (`cpu/`, `cuda/`, `naive/`, or `site_frequencies/`
//! where patterns have frequencies of their own, made by [`select`]) computes it.
//!
//! Glossary. *CLV*: conditional likelihood vector, the probability of the data behind a node given
//! each state at the node, per pattern and rate category. *Virtual root*: the edge towards which all
//! CLVs of a partition point. *Partition*: a partition, identified by its number. *T|g*: the tree restricted to the
//! taxa that have data in partition g. *Slot*: number of the one CLV that an inner node of T|g owns; the edge
//! towards which the CLV points may change, its slot does not. *Temporary*: a vector that exists only while
//! a program of work runs. *Sumtable*: the factors of an edge's likelihood that do not depend on its
//! length, per pattern, rate category and eigenvalue. *Repeats*: patterns of a block that agree in all tips behind a
//! vector; they are one *class* and have one row in it.
//!
//! # Examples
//!
//! The branch lengths of a tree of four taxa under the model of Jukes and Cantor:
//!
//! ```
//! use mlsearch_library::alignment::read_alignment_from;
//! use mlsearch_library::likelihood::{BranchOptions, BrlenLinkage, EngineOptions, make_evaluator};
//! use mlsearch_library::partition::Partition;
//! use mlsearch_library::tree::read_newick;
//!
//! let text = b"4 8\nA ACGTACGT\nB ACGTACGA\nC ACTTACCA\nD ACTTGCCA\n";
//! let alignment = read_alignment_from(&text[..], "typed.phy")?;
//! let newick = read_newick("((A:0.1,B:0.1):0.1,C:0.1,D:0.1);", "typed.tree")?;
//! let (tree, _) = newick[0].to_tree(alignment.taxa(), "typed.tree", None)?;
//!
//! let partitions = [Partition::whole(&alignment, "JC")?];
//! let models = [partitions[0].model.clone()];
//! let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
//! let mut evaluator = make_evaluator(&partitions, &models, tree, linked, &engine)?;
//!
//! let before = evaluator.log_likelihood()?;
//! let options = BranchOptions { max_sweeps: 10, lnl_epsilon: 1e-3, gain_tolerance: 1e-6 };
//! let after = evaluator.optimize_branches(&options)?;
//! assert!(after > before);
//! # Ok::<(), mlsearch_library::error::Error>(())
//! ```

#[doc(hidden)]
pub mod cpu;
#[doc(hidden)]
pub mod cuda;
#[doc(hidden)]
pub mod distributed;
pub mod engine;
mod evaluator;
#[cfg(any(test, feature = "failing-engine"))]
pub mod failing;
#[doc(hidden)]
pub mod naive;
mod partitions;
pub mod select;
mod site_frequencies;

pub use crate::numeric::{Gamma, GammaPrior};
pub use engine::{EngineError, EngineOptions, GpuRates, Result, ScorePrecision};
pub(crate) use evaluator::RateMatrixGradient;
pub use evaluator::{
    BranchOptions, BrlenLinkage, Evaluator, NodeStates, Prune, Resolution, Snapshot, SubtreeMove,
    Trial,
};
pub use partitions::make_evaluator;

/// Shortest and longest optimised branch length, in expected substitutions per site; 1e-6 and 100 are also
/// the defaults of RAxML-NG. They apply to the global tree or, under unlinked lengths, to each partition's tree.
/// Lengths that have not been optimised may lie outside: those of an input tree, and the halves of a branch
/// that a regraft has split.
pub const BRLEN_BOUNDS: [f64; 2] = [1e-6, 100.0];

/// A branch that is not longer than this has no length: its optimum is the minimum, from which it may differ because
/// all lengths are scaled together when parameters are optimised. Lengths of more than that are rare; a single
/// substitution in an alignment of 100 000 sites makes a branch five times as long.
pub const NO_LENGTH: f64 = 2.0 * BRLEN_BOUNDS[0];
