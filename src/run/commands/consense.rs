//! `--consense`: the consensus of all trees of a file.

use crate::error::{Error, Result};
use crate::observer::{Event, Observer};
use crate::output::OutputKind;
use crate::run::plan::Plan;
use crate::run::prepare::{Lengths, find_root, read_forest};
use crate::run::work::RunRecord;
use crate::tree::{ConsensusRule, Split, consensus};
use std::path::Path;

/// Writes the consensus tree, with the percentage of the trees that have each split, and the mean lengths of its
/// branches in these.
///
/// # Errors
/// Unreadable trees, trees over other taxa than the first, and an outgroup that they do not have.
pub(crate) fn consense(
    plan: &Plan,
    rule: ConsensusRule,
    trees: &Path,
    record: &mut RunRecord,
) -> Result<()> {
    let file = trees.display().to_string();
    let (taxa, trees) = read_forest(trees, Lengths::Usable)?;
    let root = find_root(plan.output.root.as_ref(), &taxa, &file);
    let root = root.map_err(|fault| Error::Input(fault.into()))?;
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
    let drawing = tree.drawing();
    if let Some(warning) =
        root.as_ref().and_then(|r| r.warning(&drawing, &taxa, "the consensus tree"))
    {
        record.progress.event(&Event::Warning(warning));
    }
    let place = root.and_then(|root| root.place(&drawing));
    let newick = drawing.draw(|taxon| taxa.name(taxon), place, None).newick;
    record.report.consensus_tree = Some(newick.clone());
    record.write(OutputKind::ConsensusTree, &(newick + "\n"))
}
