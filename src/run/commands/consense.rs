//! `--consense`: the consensus of all trees of a file.

use crate::error::Result;
use crate::output::OutputKind;
use crate::run::prepare::{Lengths, read_forest};
use crate::run::work::RunRecord;
use crate::tree::{ConsensusRule, Split, consensus};
use std::path::Path;

/// Writes the consensus tree, with the percentage of the trees that have each split, and the mean lengths of its
/// branches in these.
///
/// # Errors
/// Unreadable trees, and trees over other taxa than the first.
pub(crate) fn consense(rule: ConsensusRule, trees: &Path, record: &mut RunRecord) -> Result<()> {
    let (taxa, trees) = read_forest(trees, Lengths::Usable)?;
    let splits: Vec<Vec<Split>> = trees
        .iter()
        .map(|tree| tree.splits().into_iter().map(|(_, split)| split).collect())
        .collect();
    let mut tree = consensus(taxa.len(), splits.iter().map(Vec::as_slice), rule);
    tree.set_mean_lengths(&trees);
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
