//! Tree search: from starting trees to a maximum-likelihood tree.
//!
//! Nothing here prints, writes a file or knows which device computes likelihoods.

mod hill_climb;
mod meter;
mod perturb;
pub mod schedule;
mod spr;
mod start;
mod state;

pub use hill_climb::{Search, SearchOptions, search};
pub use schedule::{RoundOptions, SearchEffort};
pub use spr::{Changed, RoundResult, spr_round};
pub use start::parsimony_start;
pub use state::SearchState;
