//! `--search`: from every starting tree to its best tree, and the best of them; `--all`: this, replicates, and their support on
//! the best tree.

use crate::dataset::Loaded;
use crate::error::Result;
use crate::runtime::{Session, with_threads};
use crate::steps::ancestral::deliver_ancestral;
use crate::steps::branch_tests::{deliver_branch_tests, support_by_likelihood};
use crate::steps::climb::search_all;
use crate::steps::replicates::make_replicates;
use crate::steps::{best_of, deliver_support};

/// Searches from every starting tree; tests the branches of the best tree and reconstructs its ancestral states if that
/// is asked for.
///
/// # Errors
/// A column with likelihood 0, or a file that cannot be written.
pub(crate) fn search(mut session: Session) -> Result<()> {
    let outcomes = search_all(&mut session)?;
    deliver_branch_tests(&mut session, &outcomes)?;
    deliver_ancestral(&mut session, &outcomes)
}

/// Searches from every starting tree, makes replicates with the best tree's models to start from, and
/// maps their support.
///
/// # Errors
/// A column with likelihood 0.
pub(crate) fn all(mut session: Session) -> Result<()> {
    let outcomes = search_all(&mut session)?;
    let best = &outcomes[best_of(&outcomes)];
    let mut support = support_by_likelihood(&mut session, best)?;
    deliver_ancestral(&mut session, &outcomes)?;
    let replicates = make_replicates(&mut session, &best.models)?;
    let kinds = &session.setup.plan.support.kinds;
    with_threads(session.setup.plan, || support.add_replicates(&best.tree, &replicates, kinds));
    let Loaded { taxa, root, .. } = &session.setup.loaded;
    deliver_support(&best.tree, &support, taxa, root.as_ref(), session.record)
}
