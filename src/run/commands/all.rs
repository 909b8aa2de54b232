//! `--all`: search, replicates, and their support on the best tree.

use super::bootstrap::make_replicates;
use super::search::search_all;
use crate::error::Result;
use crate::run::deliver::{best_of, deliver_support, support_by};
use crate::run::work::{Session, with_threads};

/// Searches from every starting tree, makes replicates with the best tree's models to start from, and
/// maps their support.
///
/// # Errors
/// A column with likelihood 0.
pub(crate) fn all(mut session: Session) -> Result<()> {
    let outcomes = search_all(&mut session)?;
    let best = &outcomes[best_of(&outcomes)];
    let replicates = make_replicates(&mut session, &best.models)?;
    let plan = session.setup.plan;
    let support = with_threads(plan, || support_by(&replicates, &best.tree, &plan.support.kinds));
    deliver_support(&best.tree, &support, &session.setup.loaded.taxa, session.record)
}
