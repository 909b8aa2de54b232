//! Results, computed once more from nothing and checked (`outcome`), as files and report (`results`) and text
//! (`summary`), with what should be known about them (`terrace`).

mod outcome;
mod results;
mod summary;
mod terrace;

pub(super) use outcome::{Outcome, best_of};
pub(super) use results::deliver;
pub(super) use summary::describe_support;
