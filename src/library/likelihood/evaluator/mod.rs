//! The evaluator, which search and optimisation use: a tree with its partitions and an engine.
//!
//! `evaluator` has the state and log-likelihoods; the other files add operations: `lengths` (changes of all
//! branch lengths), `sweep` (optimisation of branch lengths), `moves` (changes of topology), `interchange` (the
//! other resolutions of a branch), `insertion`
//! and `trial` (regraft positions, scored and tried without changing the tree), `node_states` (states at inner nodes), `classes` (of a
//! mixture), `rate_matrix_gradient` (derivatives in rate matrices).

#[cfg(test)]
mod ascertainment_tests;
mod brlens;
mod classes;
#[cfg(test)]
mod derivative_tests;
mod edge_numbers;
#[allow(clippy::module_inception)]
mod evaluator;
mod insertion;
mod interchange;
mod length_sets;
mod lengths;
mod linkage;
mod moves;
mod node_states;
mod partition_state;
mod partition_tree;
mod polytomies;
mod position;
mod prune;
mod rate_matrix_gradient;
#[cfg(test)]
mod site_frequency_tests;
mod sweep;
#[cfg(test)]
mod tests;
mod trial;
mod view;

pub use evaluator::{BranchOptions, Evaluator};
pub use interchange::Resolution;
pub use linkage::BrlenLinkage;
pub use moves::{Snapshot, SubtreeMove};
pub use node_states::NodeStates;
pub use prune::Prune;
pub(crate) use rate_matrix_gradient::RateMatrixGradient;
pub use trial::Trial;
