//! The tree, its genes and an engine as one: what search and optimisation hold.
//!
//! `evaluator` has the state and its likelihoods; the other files add what can be done with it:
//! `lengths` (all branch lengths at once), `sweep` (optimising them), `moves` (changes of topology),
//! `insertion` and `trial` (regraft positions, scored and tried while the tree stays as it is).

#[cfg(test)]
mod ascertainment_tests;
mod brlens;
#[allow(clippy::module_inception)]
mod evaluator;
mod gene_state;
mod gene_tree;
mod insertion;
mod length_sets;
mod lengths;
mod linkage;
mod moves;
mod position;
mod prune;
mod sweep;
#[cfg(test)]
mod tests;
mod trial;
mod view;

pub use evaluator::{BranchOptions, Evaluator};
pub use linkage::BrlenLinkage;
pub use moves::{Snapshot, SubtreeMove};
pub use prune::Prune;
pub use trial::Trial;
