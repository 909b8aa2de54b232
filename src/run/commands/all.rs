//! `--all`: search, replicates, and their support on the best tree.

use super::bootstrap::make_replicates;
use super::search::search_all;
use crate::bootstrap::map_support;
use crate::error::Result;
use crate::output::OutputKind;
use crate::run::deliver::{best_of, describe_support};
use crate::run::work::{RunRecord, Session};
use crate::taxa::Taxa;
use crate::tree::{EdgeId, NewickOptions, Tree, support_label, write_newick};

/// Searches from every starting tree, makes replicates with the best tree's models to start from, and
/// maps their support.
///
/// # Errors
/// A column with likelihood 0.
pub(crate) fn all(mut session: Session) -> Result<()> {
    let outcomes = search_all(&mut session)?;
    let best = &outcomes[best_of(&outcomes)];
    let replicates = make_replicates(&mut session, &best.models)?;
    let taxa = &session.setup.loaded.taxa;
    deliver_support(&best.tree, &replicates, taxa, session.record)
}

/// Maps the support of the replicates onto a tree, prints, reports and writes it.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn deliver_support(
    tree: &Tree,
    replicates: &[Tree],
    taxa: &Taxa,
    record: &mut RunRecord,
) -> Result<()> {
    let support = map_support(tree, replicates);
    let newick = newick_with_support(tree, &support, taxa);
    if let Some(bootstrap) = &mut record.report.bootstrap {
        bootstrap.support_tree = Some(newick.clone());
    }
    record.progress.result(&describe_support(&support, replicates.len()));
    record.write(OutputKind::Support, &(newick + "\n"))
}

/// A tree with its lengths, and at every inner node the support of the branch above it.
fn newick_with_support(tree: &Tree, support: &[Option<f64>], taxa: &Taxa) -> String {
    let label = |edge: EdgeId| support[edge.index()].map(support_label);
    let options = NewickOptions { node_labels: Some(&label), ..NewickOptions::default() };
    write_newick(tree, |taxon| taxa.name(taxon), &options)
}
