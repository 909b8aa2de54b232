//! `--consense`: the consensus of all trees of a file.

use crate::error::Result;
use crate::output::OutputKind;
use crate::run::prepare::read_forest;
use crate::run::work::RunRecord;
use crate::tree::{ConsensusRule, Split, consensus, tree_splits};
use std::path::Path;

/// Writes the consensus tree, with the percentage of the trees that have each split.
///
/// # Errors
/// Unreadable trees, and trees over other taxa than the first.
pub(crate) fn consense(rule: ConsensusRule, trees: &Path, record: &mut RunRecord) -> Result<()> {
    let (taxa, trees) = read_forest(trees)?;
    let splits: Vec<Vec<Split>> = trees
        .iter()
        .map(|tree| tree_splits(tree).into_iter().map(|(_, split)| split).collect())
        .collect();
    let tree = consensus(taxa.len(), splits.iter().map(Vec::as_slice), rule);
    record.progress.result(&format!(
        "{} taxa, {} trees, {} of {} possible splits in the consensus\n",
        taxa.len(),
        trees.len(),
        tree.splits().len(),
        taxa.len().saturating_sub(3)
    ));
    let newick = tree.to_newick(|taxon| taxa.name(taxon));
    record.report.consensus_tree = Some(newick.clone());
    record.write(OutputKind::ConsensusTree, &(newick + "\n"))
}
