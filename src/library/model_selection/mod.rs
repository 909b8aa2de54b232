//! Model selection for a partition by an information criterion on a fixed tree topology.
//!
//! A [`CandidateSet`] defines the candidate models; [`Choosing`] requests fits stage by stage, receives their results
//! and ranks the models; `fit` carries out one fit. `merge` says which partitions are better described by one model together.
//!
//! This module makes neither trees nor evaluators, uses no threads, and does not print.

mod candidates;
mod choose;
mod criteria;
mod fit;
mod merge;

pub use candidates::{Candidate, CandidateSet};
pub use choose::{Choosing, Ranked};
pub use criteria::{Criterion, Scores};
pub use fit::{Fit, fit};
pub use merge::{Asked, Merge, MergeMethod, Merging, SchemeParts, SubsetScore, SubsetTraits};
