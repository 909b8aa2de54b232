//! The options of steps, written once for all analyses that take the step: starting and given trees (`trees`), searches (`climb`),
//! replicates (`replicates`), support of branches (`support`), what is computed of the best tree (`best_tree`), tests of trees
//! (`tests_of_trees`), roots (`rooting`), state frequencies of sites (`site_frequencies`), and sites that agree with a tree
//! (`site_concordance`).

mod best_tree;
mod climb;
mod replicates;
mod rooting;
mod site_concordance;
mod site_frequencies;
mod support;
mod tests_of_trees;
mod trees;

pub(crate) use best_tree::{BestTreeArgs, BranchTestArgs};
pub(crate) use climb::{ClimbArgs, ConstraintArgs, FitArgs, IdenticalArgs};
pub(crate) use replicates::{DrawArgs, ReplicateArgs, StopArgs, parse_rule};
pub(crate) use rooting::{NO_ROOT, RootArgs};
pub(crate) use site_concordance::read_quartets;
pub(crate) use site_frequencies::SiteFrequencyArgs;
pub(crate) use support::{MetricArgs, parse_metrics};
pub(crate) use tests_of_trees::TestArgs;
pub(crate) use trees::StartArgs;
