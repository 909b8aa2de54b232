//! Results, recomputed from scratch and checked (`outcome`), as files and report (`results`) and as text
//! (`summary`), with the support of branches (`support`), the agreement of searches (`agreement`) and the detection of terraces (`terrace`).

mod agreement;
mod outcome;
mod results;
mod summary;
mod support;
mod terrace;

pub(super) use outcome::{Outcome, best_of};
pub(super) use results::deliver;
pub(super) use support::{BranchSupport, deliver_support};
