//! `--tree-constraint`: the constraint on the trees of a run, and whether given trees satisfy it.

use super::remarks::{Remarks, list_names};
use super::trees::{GivenTree, read_one_tree};
use crate::error::{Fault, Faults, Place, Result, collect};
use crate::taxa::Taxa;
use crate::tree::{Constraint, Tree};
use std::path::Path;

/// Reads a constraint; `None` if it has faults, or constrains nothing.
///
/// # Errors
/// [`crate::error::Error::Io`].
pub(crate) fn read_constraint(
    path: &Path,
    taxa: &Taxa,
    faults: &mut Faults,
    remarks: &mut Remarks,
) -> Result<Option<Constraint>> {
    let file = path.display().to_string();
    let read = read_one_tree(path).and_then(|newick| newick.to_constraint(taxa, &file));
    let Some(constraint) = collect(read, faults)? else { return Ok(None) };
    let (num_taxa, num_splits) = (constraint.num_taxa(), constraint.num_splits());
    if num_splits == 0 {
        remarks.warnings.push(format!(
            "{file}: the constraint tree has no inner branch, so it constrains nothing; give one \
             with the branches that are wanted, or leave out the option"
        ));
        return Ok(None);
    }
    let plural = if num_splits == 1 { "" } else { "es" };
    remarks.notes.push(format!(
        "all trees must have {num_splits} inner branch{plural}, those of the constraint tree {file}; it has {num_taxa} of \
         the {} taxa",
        taxa.len()
    ));
    Ok(Some(constraint))
}

/// The faults of trees that violate a constraint.
pub(crate) fn check_trees<'a>(
    constraint: &Constraint,
    path: &Path,
    trees: impl Iterator<Item = &'a GivenTree>,
    taxa: &Taxa,
    faults: &mut Faults,
) {
    for given in trees {
        let violation = describe_violation(constraint, path, &given.tree, taxa);
        faults.extend(violation.map(|message| Fault::new(Place::file(&given.source), message)));
    }
}

/// What is wrong with a tree that violates a constraint.
pub(crate) fn describe_violation(
    constraint: &Constraint,
    path: &Path,
    tree: &Tree,
    taxa: &Taxa,
) -> Option<String> {
    let clade = constraint.violated(tree)?;
    let names = list_names(clade.iter().map(|&taxon| taxa.name(taxon)));
    Some(format!(
        "the tree violates the constraint of {}: no branch separates the following from the other taxa of the constraint: \
         {names}",
        path.display()
    ))
}
