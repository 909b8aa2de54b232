//! What several analyses do: starting trees (`starts`, `distance_trees`), model selection (`select`), searches (`climb`), optimisations
//! (`optimize`), how both begin under profile mixtures (`one_class`), replicates (`replicates`, `bootstopping`), and what is delivered of them: results, recomputed from scratch and checked (`outcome`), as
//! files and report (`results`) and as text (`summary`), with the support of branches (`support`, `branch_tests`), the agreement of
//! searches (`agreement`), free branches (`terrace`), what a constraint costs (`contradiction`), the tests of evaluated trees
//! (`tested_trees`), ancestral states (`ancestral`, `ancestral_tables`), the rates of sites (`site_rates`), and the frequencies of sites
//! from a profile mixture (`site_frequencies`). All steps of a search are in `whole_search`; `concordance` and `concordance_report` are what gene trees and
//! sites say of a tree. What a run would take is described by
//! `dry_run`.

mod agreement;
pub(crate) mod ancestral;
pub(crate) mod ancestral_tables;
mod bootstopping;
pub(crate) mod branch_tests;
pub(crate) mod climb;
pub(crate) mod concordance;
mod concordance_report;
mod contradiction;
pub(crate) mod distance_memory;
pub(crate) mod distance_tally;
pub(crate) mod distance_trees;
pub(crate) mod dry_run;
pub(crate) mod one_class;
pub(crate) mod optimize;
pub(crate) mod options;
mod outcome;
mod outgroup;
pub(crate) mod replicates;
pub(crate) mod results;
pub(crate) mod select;
pub(crate) mod site_frequencies;
pub(crate) mod site_rates;
pub(crate) mod starts;
mod summary;
pub(crate) mod support;
mod terrace;
pub(crate) mod tested_trees;
pub(crate) mod whole_search;

pub(crate) use ancestral_tables::{ProbabilityTable, deliver_changes, deliver_states};
pub(crate) use bootstopping::Bootstopping;
pub(crate) use outcome::{Outcome, best_of};
pub(crate) use outgroup::warn_of_outgroup;
pub(crate) use results::deliver;
pub(crate) use support::{BranchSupport, deliver_support, report_support};
pub(crate) use tested_trees::{Topologies, deliver_tests};
