//! `--all`: search, replicates, and their support on the best tree.

use super::ancestral::deliver_ancestral;
use super::bootstrap::make_replicates;
use super::branch_tests::support_by_likelihood;
use super::search::search_all;
use crate::error::Result;
use crate::run::deliver::{best_of, deliver_support};
use crate::run::prepare::Loaded;
use crate::run::work::{Session, with_threads};

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
