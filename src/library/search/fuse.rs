//! Recombination of trees: where two trees from different starts differ, the better resolution of each region is kept.
//! Regions are nearly independent of each other, so that the result is mostly better than either tree, and a few trees
//! suffice where all combinations of their regions would be too many to search.
//!
//! If both trees satisfy a constraint, so does any mixture of their regions: a split of the constraint that no common edge
//! has is a refinement of one node of their strict consensus, so both trees have it in the same region.
//!
//! This is the tree fusing of Goloboff 1999 (Cladistics 15:415-428), with likelihoods instead of parsimony.

use super::changed::Changed;
use super::schedule as at;
use crate::likelihood::{Evaluator, NO_LENGTH, Result};
use crate::tree::{EdgeId, Region, Tree, regions};

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
    // A polytomy is no better than any of its resolutions.
    let resolved = |region: &Region| region.has_longer(NO_LENGTH);
    for region in regions(evaluator.tree(), other).into_iter().filter(resolved) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment;
    use crate::likelihood::{BranchOptions, BrlenLinkage, EngineOptions, make_evaluator};
    use crate::observer::Silent;
    use crate::parsimony::ParsimonyData;
    use crate::partition::Partition;
    use crate::rng::{Purpose, stream};
    use crate::search::{SearchEffort, SearchOptions, parsimony_start, search};
    use crate::tree::same_topology;
    use rand::RngExt;
    use std::path::Path;

    #[test]
    fn the_better_resolution_of_each_region_is_kept() {
        let alignment = read_alignment(Path::new("../../datasets/anolis.phy")).unwrap();
        let partitions = [Partition::whole(&alignment, "HKY+F+G4").unwrap()];
        let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
        let start = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
        let mut models = [partitions[0].model.clone()];
        let (linked, options) = (BrlenLinkage::Linked, EngineOptions::default());
        let mut evaluator = make_evaluator(&partitions, &models, start, linked, &options).unwrap();
        let fast = SearchOptions { effort: SearchEffort::Fast, ..SearchOptions::default() };
        search(&mut evaluator, &mut models, &data, &fast, &mut Silent).unwrap();
        let sweeps = BranchOptions { max_sweeps: 8, lnl_epsilon: 1e-3, gain_tolerance: 1e-6 };
        let best = evaluator.optimize_branches(&sweeps).unwrap();
        let (good, kept) = (evaluator.tree().clone(), evaluator.snapshot());
        let mut rng = stream(1, Purpose::Test, 0);
        let mut spoiled_regions = 0;
        for _ in 0..6 {
            // A few subtrees at random places.
            evaluator.restore(&kept);
            for _ in 0..2 {
                let tree = evaluator.tree();
                let tip = crate::tree::NodeId(rng.random_range(0..tree.num_tips() as u32));
                let (attach, pendant) = tree.links(tip).next().unwrap();
                let far: Vec<EdgeId> =
                    tree.edges_within(pendant, 4).into_iter().map(|e| e.0).collect();
                let ends = |edge: &&EdgeId| !tree.ends(**edge).contains(&attach);
                let far: Vec<EdgeId> = far.iter().filter(ends).copied().collect();
                evaluator.move_subtree(attach, pendant, far[rng.random_range(0..far.len())]);
            }
            let worse = evaluator.optimize_branches(&sweeps).unwrap();
            let spoiled = evaluator.tree().clone();
            let num_regions = regions(&spoiled, &good).len();
            assert!(num_regions > 0 && worse < best - 1.0, "{worse}, {best}");
            spoiled_regions += num_regions;
            let mut changed = Changed::none(&spoiled);
            assert_eq!(fuse(&mut evaluator, &good, &mut changed).unwrap(), num_regions);
            assert!(same_topology(evaluator.tree(), &good) && !changed.is_empty());
            // The other way round, nothing is better, and the tree remains as it was.
            evaluator.restore(&kept);
            let mut changed = Changed::none(&good);
            assert_eq!(fuse(&mut evaluator, &spoiled, &mut changed).unwrap(), 0);
            assert!(*evaluator.tree() == good && changed.is_empty());
        }
        assert!(spoiled_regions > 6, "some trees have several regions");
    }
}
