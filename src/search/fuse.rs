//! Recombination of trees: where two trees from different starts differ, the better resolution of each region is kept.
//! Regions are nearly independent of each other, so that the result is mostly better than either tree, and a few trees
//! suffice where all combinations of their regions would be too many to search.
//!
//! This is the tree fusing of Goloboff 1999 (Cladistics 15:415-428), with likelihoods instead of parsimony.

use super::schedule as at;
use super::spr::Changed;
use crate::likelihood::{Evaluator, Result};
use crate::tree::{EdgeId, Tree, regions};

/// Replaces each region of the evaluator's tree in which it differs from `other` by its resolution there, if that
/// has a higher likelihood. Marks the subtrees near the replaced regions as changed. Returns the number of regions whose
/// resolution was replaced.
///
/// # Errors
/// The engine has failed.
pub(super) fn fuse(
    evaluator: &mut Evaluator,
    other: &Tree,
    changed: &mut Changed,
) -> Result<usize> {
    let mut taken = 0;
    let mut best = evaluator.log_likelihood()?;
    for region in regions(evaluator.tree(), other) {
        let before = evaluator.snapshot();
        evaluator.set_tree(region.resolve(evaluator.tree()));
        let edges: Vec<EdgeId> = region.edges().collect();
        let mut lnl = evaluator.log_likelihood()?;
        for _ in 0..at::FUSE_SWEEPS {
            evaluator.optimize_edges(&edges, at::VERIFY_TOLERANCE)?;
            let now = evaluator.log_likelihood()?;
            if now - std::mem::replace(&mut lnl, now) < at::VERIFY_TOLERANCE {
                break;
            }
        }
        if lnl > best + at::ACCEPT_GAIN {
            best = lnl;
            taken += 1;
            edges.iter().for_each(|&edge| changed.mark_around(evaluator.tree(), edge));
        } else {
            evaluator.restore(&before);
        }
    }
    Ok(taken)
}
