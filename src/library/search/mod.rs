//! Tree search: from starting trees to a maximum-likelihood tree.
//!
//! This module neither prints nor writes files, and does not depend on the engine that computes likelihoods.

mod changed;
mod climb;
mod contradiction;
mod crew;
mod fuse;
mod hill_climb;
mod history;
mod meter;
mod perturb;
mod resolution;
mod rounds;
mod scan;
#[doc(hidden)]
pub mod schedule;
mod screening;
mod spr;
mod start;
mod state;
mod wave;

pub use contradiction::Contradiction;
pub use hill_climb::{Search, SearchOptions, search};
pub use history::SearchHistory;
pub use resolution::settle;
pub use schedule::SearchEffort;
pub use start::parsimony_start;
pub use state::SearchState;

// For benchmarks.
#[doc(hidden)]
pub use changed::Changed;
#[doc(hidden)]
pub use scan::RoundResult;
#[doc(hidden)]
pub use spr::spr_round;
