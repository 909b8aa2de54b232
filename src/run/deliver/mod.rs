//! Results, recomputed from scratch and checked (`outcome`), as files and report (`results`) and as text
//! (`summary`), with the support of branches (`support`), the number of replicates (`bootstopping`), the agreement of searches (`agreement`), the detection of terraces
//! (`terrace`), and the tests of evaluated trees (`tested_trees`).

mod agreement;
mod bootstopping;
mod outcome;
mod results;
mod summary;
mod support;
mod terrace;
mod tested_trees;

pub(super) use bootstopping::Bootstopping;
pub(super) use outcome::{Outcome, best_of};
pub(super) use results::deliver;
pub(super) use support::{BranchSupport, deliver_support};
pub(super) use tested_trees::{Topologies, deliver_tests};
