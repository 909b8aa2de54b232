//! `--all`: search, replicates, and their support on the best tree.

use super::bootstrap::make_replicates;
use super::outcome::best_of;
use super::search::search_all;
use super::session::{Files, Session};
use crate::bootstrap::map_support;
use crate::error::Result;
use crate::output::Kind;
use crate::taxa::Taxa;
use crate::tree::{EdgeId, NewickOptions, Tree, support_label, write_newick};

/// Searches from every starting tree, makes replicates with the best tree's models to start from, and
/// maps their support.
///
/// # Errors
/// A column with likelihood 0.
pub fn all(mut session: Session) -> Result<Files> {
    let mut files = Files::new();
    let outcomes = search_all(&mut session, &mut files)?;
    let best = &outcomes[best_of(&outcomes)];
    let replicates = make_replicates(&mut session, &best.models, &mut files)?;
    let newick = newick_with_support(&best.tree, &replicates, &session.setup.loaded.taxa);
    if let Some(bootstrap) = &mut session.report.bootstrap {
        bootstrap.support_tree = Some(newick.clone());
    }
    files.push((Kind::Support, newick + "\n"));
    Ok(files)
}

/// A tree with its lengths, and at every inner node the percentage of the trees that have the split
/// above it.
pub fn newick_with_support(tree: &Tree, replicates: &[Tree], taxa: &Taxa) -> String {
    let support = map_support(tree, replicates);
    let label = |edge: EdgeId| support[edge.index()].map(support_label);
    let options = NewickOptions { node_labels: Some(&label), ..NewickOptions::default() };
    write_newick(tree, |taxon| taxa.name(taxon), &options)
}
