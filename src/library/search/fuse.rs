//! Recombination of trees: where two trees from different starts differ, the better resolution of each region is kept.
//! Regions are nearly independent of each other, so that the result is mostly better than either tree, and a few trees
//! suffice where all combinations of their regions would be too many to search.
//!
//! If both trees satisfy a constraint, so does any mixture of their regions: a split of the constraint that no common edge
//! has is a refinement of one node of their strict consensus, so both trees have it in the same region.
//!
//! This is the tree fusing of Goloboff 1999 (Cladistics 15:415-428), with likelihoods instead of parsimony.

use super::changed::Changed;
use super::crew::Crew;
use super::schedule as at;
use crate::likelihood::{Evaluator, NO_LENGTH, Result};
use crate::tree::{EdgeId, Region, Tree, regions};

/// Replaces each region of the leader's tree in which it differs from `other` by its resolution there, if that
/// has a higher likelihood. Marks the subtrees near the replaced regions as changed. Returns the number of regions whose
/// resolution was replaced. The members of the crew attempt regions side by side, each on the present tree.
///
/// # Errors
/// The engine has failed.
pub(super) fn fuse(crew: &mut Crew, other: &Tree, changed: &mut Changed) -> Result<usize> {
    // A polytomy is no better than any of its resolutions.
    let resolved = |region: &Region| region.has_longer(NO_LENGTH);
    let regions: Vec<Region> =
        regions(crew.leader.tree(), other).into_iter().filter(resolved).collect();
    let (mut next, mut taken) = (0, 0);
    loop {
        let best = crew.leader.log_likelihood()?;
        let left = &regions[next..];
        let is_better = |evaluator: &mut Evaluator, number: usize| {
            take_if_better(evaluator, &left[number], best)
        };
        let Some(number) = crew.first_success(left.len(), is_better)? else { return Ok(taken) };
        taken += 1;
        left[number].edges().for_each(|edge| changed.mark_around(crew.leader.tree(), edge));
        next += number + 1;
    }
}

/// Gives a region of the evaluator's tree, which has this log-likelihood, its other resolution, if that is better.
fn take_if_better(evaluator: &mut Evaluator, region: &Region, best: f64) -> Result<bool> {
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
    let is_better = lnl > best + at::ACCEPT_GAIN;
    if !is_better {
        evaluator.return_to(&before);
    }
    Ok(is_better)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment;
    use crate::likelihood::{BranchOptions, BrlenLinkage, EngineOptions, make_evaluator};
    use crate::observer::Silent;
    use crate::parallel::Pool;
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
        let make = || make_evaluator(&partitions, &models, start.clone(), linked, &options);
        let (mut evaluator, mut leader) = (make().unwrap(), make().unwrap());
        let mut others = [(); 4].map(|()| make().unwrap());
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
            let (spoiled, before) = (evaluator.tree().clone(), evaluator.snapshot());
            let num_regions = regions(&spoiled, &good).len();
            assert!(num_regions > 0 && worse < best - 1.0, "{worse}, {best}");
            spoiled_regions += num_regions;
            let mut changed = Changed::none(&spoiled);
            let mut crew = Crew::alone(&mut evaluator);
            assert_eq!(fuse(&mut crew, &good, &mut changed).unwrap(), num_regions);
            assert!(same_topology(evaluator.tree(), &good) && !changed.is_empty());
            // Attempts that are made side by side change no bit.
            let lnl = evaluator.log_likelihood().unwrap();
            for (num_others, num_workers) in [(1, 1), (1, 2), (3, 3), (4, 5)] {
                leader.resume(&before, &models);
                let others = &mut others[..num_others];
                others.iter_mut().for_each(|other| other.resume(&before, &models));
                let mut pool = Pool::new(num_workers);
                let mut crew = Crew::new(&mut leader, others, &mut pool);
                let mut again = Changed::none(&spoiled);
                assert_eq!(fuse(&mut crew, &good, &mut again).unwrap(), num_regions);
                assert!(leader.tree() == evaluator.tree() && again == changed);
                assert_eq!(leader.log_likelihood().unwrap().to_bits(), lnl.to_bits());
            }
            // The other way round, nothing is better, and the tree remains as it was.
            evaluator.restore(&kept);
            let mut changed = Changed::none(&good);
            let mut crew = Crew::alone(&mut evaluator);
            assert_eq!(fuse(&mut crew, &spoiled, &mut changed).unwrap(), 0);
            assert!(*evaluator.tree() == good && changed.is_empty());
        }
        assert!(spoiled_regions > 6, "some trees have several regions");
    }
}
