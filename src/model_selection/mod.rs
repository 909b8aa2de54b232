//! Model selection: which model a partition should have, by an information criterion on one tree.
//!
//! A [`Question`] says among which models; [`Choosing`] asks for fits and is told them, stage by stage,
//! until it has an answer; [`fit`] makes one. [`Scores`] are what the criteria say of a fit.
//!
//! Nothing here makes trees or evaluators, knows of threads, or prints.

mod candidates;
mod choose;
mod criteria;
mod fit;

pub(crate) use candidates::{Candidate, Question};
pub(crate) use choose::{Choosing, Ranked};
pub(crate) use criteria::Criterion;
pub(crate) use fit::{Fit, fit};
