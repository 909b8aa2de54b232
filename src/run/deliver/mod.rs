//! Results, recomputed from scratch and checked (`outcome`), as files and report (`results`) and as text
//! (`summary`), with the support of branches (`support`), concordance factors (`concordance`), the number of replicates
//! (`bootstopping`), the agreement of searches (`agreement`), the detection of terraces (`terrace`), the tests of
//! evaluated trees (`tested_trees`), ancestral states (`ancestral`), and samples from a posterior (`posterior`).

mod agreement;
mod ancestral;
mod bootstopping;
mod concordance;
mod outcome;
mod plots;
mod posterior;
mod results;
mod rooting;
mod summary;
mod support;
mod terrace;
mod tested_trees;

pub(super) use ancestral::{ProbabilityTable, deliver_changes, deliver_states};
pub(super) use bootstopping::Bootstopping;
pub(super) use concordance::{Concordance, deliver_concordance};
pub(super) use outcome::{Outcome, best_of};
pub(super) use posterior::{Diagnosis, Mixing, Sampled, deliver_posterior};
pub(super) use results::deliver;
pub(super) use rooting::warn_of_outgroup;
pub(super) use support::{BranchSupport, deliver_support, report_support};
pub(super) use tested_trees::{Topologies, deliver_tests};
