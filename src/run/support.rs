//! `--support`: how often the splits of a tree occur among other trees.

use super::all::newick_with_support;
use super::machine::with_threads;
use super::plan::Plan;
use super::session::Files;
use super::trees::{own_taxa, read_one_tree, read_topologies};
use crate::error::Result;
use crate::output::{BootstrapReport, Kind, Progress, Report};
use std::path::Path;

/// Maps the trees of one file onto the tree of another.
///
/// # Errors
/// Unreadable trees, and trees over other taxa.
pub fn support(
    plan: &Plan,
    tree: &Path,
    bs_trees: &Path,
    progress: &mut Progress,
    report: &mut Report,
) -> Result<Files> {
    let file = tree.display().to_string();
    let newick = read_one_tree(tree)?;
    let taxa = own_taxa(&newick, &file)?;
    let (best, _) = newick.to_tree(&taxa, &file, None)?;
    let replicates = read_topologies(bs_trees, &taxa, &file)?;
    progress.text(&format!("{} taxa, {} trees", taxa.len(), replicates.len()));
    let newick = with_threads(plan, || newick_with_support(&best, &replicates, &taxa));
    report.bootstrap = Some(BootstrapReport {
        replicates: replicates.len(),
        seed: plan.bootstrap.seed,
        support_tree: Some(newick.clone()),
    });
    Ok(vec![(Kind::Support, newick + "\n")])
}
