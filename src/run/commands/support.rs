//! `--support`: how often the splits of a tree occur among other trees.

use crate::error::Result;
use crate::output::BootstrapReport;
use crate::run::deliver::{BranchSupport, deliver_support};
use crate::run::plan::Plan;
use crate::run::prepare::{own_taxa, read_one_tree, read_topologies};
use crate::run::work::{RunRecord, with_threads};
use std::path::Path;

/// Maps the trees of one file onto the tree of another.
///
/// # Errors
/// Unreadable trees, and trees over other taxa.
pub(crate) fn support(
    plan: &Plan,
    tree: &Path,
    bs_trees: &Path,
    record: &mut RunRecord,
) -> Result<()> {
    let file = tree.display().to_string();
    let newick = read_one_tree(tree)?;
    let taxa = own_taxa(&newick, &file)?.sorted();
    let (best, _) = newick.to_tree(&taxa, &file, None)?;
    let replicates = read_topologies(bs_trees, &taxa, &file)?;
    record.progress.text(&format!("{} taxa, {} trees", taxa.len(), replicates.len()));
    record.report.bootstrap =
        Some(BootstrapReport { replicates: replicates.len(), seed: plan.bootstrap.seed });
    let mut support = BranchSupport::default();
    with_threads(plan, || support.add_replicates(&best, &replicates, &plan.support.kinds));
    deliver_support(&best, &support, &taxa, record)
}
