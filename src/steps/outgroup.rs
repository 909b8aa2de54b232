//! Trees as they are written: with the root that was asked for.

use crate::dataset::{Loaded, Root};
use crate::observer::{Event, Observer};
use crate::runtime::{RunRecord, Setup};
use crate::taxa::Taxa;
use crate::tree::{Drawing, Tree};

/// A tree over all taxa with its lengths as Newick text, rooted if that was asked for. Inner branches that are not longer
/// than `collapsed` are left out.
pub(crate) fn draw(setup: &Setup, tree: &Tree, collapsed: Option<f64>) -> String {
    let Loaded { taxa, root, .. } = &setup.loaded;
    let drawing = Drawing::of_tree(tree, |_| None);
    let place = root.as_ref().and_then(|root| root.place(&drawing));
    drawing.draw(|taxon| taxa.name(taxon), place, collapsed).newick
}

/// Warns if the outgroup is no clade of a tree, which is called `name`.
pub(crate) fn warn_of_outgroup(
    tree: &Tree,
    root: Option<&Root>,
    taxa: &Taxa,
    name: &str,
    record: &mut RunRecord,
) {
    let drawing = Drawing::of_tree(tree, |_| None);
    if let Some(warning) = root.and_then(|root| root.warning(&drawing, taxa, name)) {
        record.progress.event(&Event::Warning(warning));
    }
}
