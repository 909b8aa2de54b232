//! The last step of a search: polytomies get a resolution that does not depend on the way of the search.
//!
//! Branches without length have in fact the minimum length, which suits some resolutions better than others, by up to
//! about 0.001 log units per branch. The resolution is therefore climbed to: from the canonical one, by swaps of
//! subtrees across the branches without length, as long as the likelihood increases. Searches that end in the same
//! tree, up to branches without length, thus write the same topology.

use super::schedule as at;
use crate::likelihood::{BranchOptions, Evaluator, NO_LENGTH, Result};
use crate::model::Model;
use crate::observer::Observer;
use crate::optimize::{Goal, Optimisation, OptimizeOptions, evaluate_anew};
use crate::tree::{Constraint, ConstraintView, EdgeId, NodeId, Tree};

/// The last optimisation of branch lengths.
const LAST_SWEEPS: BranchOptions = BranchOptions {
    max_sweeps: 8,
    lnl_epsilon: at::LAST_EPSILON,
    gain_tolerance: at::LAST_TOLERANCE,
};

/// Where patterns times taxa times states, summed over partitions, are not more than this, an evaluation of the tree takes
/// hundredths of a second and may find a better optimum: 0.12 log units on 41 taxa with 92 patterns under +I+G4, 0.1 on 52
/// with 201 under +R4. Where they are more, no search of benches/README.md ("Optima") was lower.
const FEW_VALUES: usize = 60_000;

/// Resolves the polytomies of a tree at the end of a search, and gives it other branch lengths where these are better: to a
/// search, the lengths of other resolutions were known. `models` are those of the evaluator's partitions, `initial` those with
/// which an evaluation of the tree begins, and `options` say what is optimised.
///
/// # Errors
/// The engine has failed.
pub fn settle(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    initial: &[Model],
    options: &OptimizeOptions,
    constraint: Option<&Constraint>,
    observer: &mut dyn Observer,
) -> Result<()> {
    evaluator.optimize_branches(&LAST_SWEEPS)?;
    resolve(evaluator, constraint)?;
    evaluator.number_as_read();
    let own_lengths = evaluator.linkage().has_own_lengths();
    if !own_lengths {
        let before = evaluator.log_likelihood()?;
        let optimisation = Optimisation::new(Goal::Settled, evaluator, models, &[], options);
        if optimisation.finish(observer)? > before + at::SAME {
            resolve(evaluator, constraint)?;
            evaluator.number_as_read();
        }
    }
    if own_lengths || evaluator.num_values() <= FEW_VALUES {
        evaluate_anew(evaluator, models, initial, options, observer)?;
    }
    Ok(())
}

/// Resolves the polytomies of the evaluator's tree and optimises the branch lengths. The tree before is kept if its
/// likelihood is higher. A constraint that the tree satisfies is still satisfied afterwards.
///
/// # Errors
/// The engine has failed.
pub(super) fn resolve(evaluator: &mut Evaluator, constraint: Option<&Constraint>) -> Result<()> {
    let unresolved = evaluator.edges_without_length();
    let edges: Vec<EdgeId> = {
        let tree = evaluator.tree();
        let is_inner = |&edge: &EdgeId| !tree.is_terminal(edge);
        tree.edges().filter(|edge| unresolved[edge.index()]).filter(is_inner).collect()
    };
    if edges.is_empty() {
        return Ok(());
    }
    let (before, snapshot) = (evaluator.log_likelihood()?, evaluator.snapshot());
    evaluator.resolve_polytomies(&unresolved, constraint);
    let mut lnl = evaluator.log_likelihood()?;
    while let Some(better) = swap_round(evaluator, &edges, constraint, lnl)? {
        lnl = better;
    }
    let lnl = evaluator.optimize_branches(&LAST_SWEEPS)?;
    if lnl < before - at::RESOLUTION_LOSS {
        evaluator.restore(&snapshot);
    }
    Ok(())
}

/// Swaps subtrees across each of the edges where this increases the likelihood; the log-likelihood after that, or
/// `None` if there was no such edge.
fn swap_round(
    evaluator: &mut Evaluator,
    edges: &[EdgeId],
    constraint: Option<&Constraint>,
    lnl: f64,
) -> Result<Option<f64>> {
    let mut best = lnl;
    let mut view = constraint.map(|constraint| ConstraintView::new(constraint, evaluator.tree()));
    for &edge in edges {
        let tree = evaluator.tree();
        let [left, right] =
            tree.ends(edge).map(|end| tree.other_links(end, edge).map(|link| link.1));
        let is_fixed = view.as_ref().is_some_and(|view| !view.may_interchange(tree, edge));
        if is_fixed || tree.ends(edge).iter().any(|&end| is_one_point(tree, end, edge)) {
            continue;
        }
        // The better one of the two other resolutions around the edge.
        let mut swap = None;
        for second in right {
            evaluator.swap_subtrees(edge, left[0], second);
            let lnl = evaluator.log_likelihood()?;
            evaluator.swap_subtrees(edge, second, left[0]);
            if lnl > best + at::SWAP_GAIN {
                (best, swap) = (lnl, Some(second));
            }
        }
        if let Some(second) = swap {
            evaluator.swap_subtrees(edge, left[0], second);
            if let Some(view) = &mut view {
                view.update(evaluator.tree());
            }
        }
    }
    Ok((best > lnl).then_some(best))
}

/// True if nothing behind `edge`, seen from its other end, has a length: all tips there are at the same point.
fn is_one_point(tree: &Tree, node: NodeId, edge: EdgeId) -> bool {
    let mut stack = vec![(node, edge)];
    while let Some((node, edge)) = stack.pop() {
        if tree.brlen(edge) > NO_LENGTH {
            return false;
        }
        if !tree.is_tip(node) {
            stack.extend(tree.other_links(node, edge));
        }
    }
    true
}
