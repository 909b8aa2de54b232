//! Nearest-neighbour interchanges: the two other resolutions of an inner branch, with their branch lengths.

use super::evaluator::Evaluator;
use super::length_sets::LengthSet;
use super::moves::ChangedLength;
use crate::likelihood::engine::Result;
use crate::tree::{EdgeId, NodeId};

/// Log-likelihoods of one resolution of an inner branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// Of the whole tree.
    pub lnl: f64,
    /// `[partition][pattern]`: of every pattern (unweighted); empty for partitions whose tree and lengths are as before.
    pub pattern_lnls: Vec<Vec<f64>>,
}

impl Evaluator {
    /// The inner edges of the tree in depth-first order, so that few CLVs have to be computed from one to the next.
    pub fn inner_edges(&self) -> Vec<EdgeId> {
        let Some((neighbour, edge)) = self.tree.links(NodeId(0)).next() else { return Vec::new() };
        let edges = self.tree.preorder(neighbour, edge).into_iter().map(|(_, edge)| edge);
        edges.filter(|&edge| !self.tree.is_terminal(edge)).collect()
    }

    /// The two other resolutions of an inner edge, each with the lengths of the edge and of its four neighbours
    /// optimised, in sweeps until one gains less than `lnl_epsilon`. Under unlinked lengths, partitions that lack taxa in one
    /// of the four subtrees around the edge are left as they are. Afterwards tree and lengths are as before, bit for bit.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn other_resolutions(&mut self, edge: EdgeId, lnl_epsilon: f64) -> Result<[Resolution; 2]> {
        let [left, right] =
            self.tree.ends(edge).map(|end| self.tree.other_links(end, edge).map(|link| link.1));
        let [first, second] = right;
        let around = [edge, left[0], left[1], right[0], right[1]];
        Ok([
            self.resolution(edge, [left[0], first], &around, lnl_epsilon)?,
            self.resolution(edge, [left[0], second], &around, lnl_epsilon)?,
        ])
    }

    fn resolution(
        &mut self,
        edge: EdgeId,
        [first, second]: [EdgeId; 2],
        around: &[EdgeId],
        lnl_epsilon: f64,
    ) -> Result<Resolution> {
        let partitions = self.partitions_around(edge, around);
        self.swap_subtrees(edge, first, second);
        let mut changed: Vec<ChangedLength> = Vec::new();
        let optimised = self.optimize_resolution(around, &partitions, lnl_epsilon, &mut changed);
        let resolution = optimised.and_then(|lnl| {
            let mut pattern_lnls = vec![Vec::new(); self.num_partitions()];
            for &partition in &partitions {
                pattern_lnls[partition] = self.pattern_log_likelihoods(partition)?;
            }
            Ok(Resolution { lnl, pattern_lnls })
        });
        for ChangedLength { set, edge, before } in changed.into_iter().rev() {
            self.set_length(set, edge, before);
        }
        self.update_restrictions();
        self.swap_subtrees(edge, second, first);
        resolution
    }

    /// Partitions on which a swap across the edge, or the lengths around it, have an effect.
    fn partitions_around(&self, edge: EdgeId, around: &[EdgeId]) -> Vec<usize> {
        let has_own_lengths = self.linkage.has_own_lengths();
        let is_concerned = |partition: &usize| {
            let restriction = &self.restrictions[self.partitions[*partition].set];
            let is_on_path = |edge: &EdgeId| restriction.is_on_path(*edge);
            restriction.taxa().len() >= 2
                && match has_own_lengths {
                    true => around.iter().filter(|other| **other != edge).all(is_on_path),
                    false => around.iter().any(is_on_path),
                }
        };
        (0..self.num_partitions()).filter(is_concerned).collect()
    }

    fn optimize_resolution(
        &mut self,
        around: &[EdgeId],
        partitions: &[usize],
        lnl_epsilon: f64,
        changed: &mut Vec<ChangedLength>,
    ) -> Result<f64> {
        let sets: Vec<LengthSet> = match self.linkage.has_own_lengths() {
            true => partitions.iter().map(|&partition| LengthSet::Own(partition)).collect(),
            false => vec![LengthSet::Shared],
        };
        let mut lnl = self.log_likelihood()?;
        for _ in 0..MAX_SWEEPS {
            changed.extend(self.optimize_edges_of(&sets, around, GAIN_SHARE * lnl_epsilon)?);
            let before = std::mem::replace(&mut lnl, self.log_likelihood()?);
            if lnl - before < lnl_epsilon {
                break;
            }
        }
        Ok(lnl)
    }
}

/// Newton's method ends at a branch when its next step is expected to gain this share of what ends the sweeps.
const GAIN_SHARE: f64 = 0.1;

/// Most sweeps over the five lengths of a resolution.
const MAX_SWEEPS: usize = 16;

#[cfg(test)]
mod tests {
    use super::super::tests::{GTR, HKY_I, close, random_case};
    use super::super::{BranchOptions, BrlenLinkage};
    use super::*;

    /// The definition: a fresh evaluator of the swapped tree, with the five lengths optimised until nothing is gained. The
    /// data are random, so lengths converge slowly.
    #[test]
    fn other_resolutions_are_those_of_swapped_trees_and_leave_no_trace() {
        let partitions =
            [(14, 200, GTR), (9, 60, HKY_I), (5, 30, "JC"), (2, 12, HKY_I), (1, 5, GTR)];
        for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked] {
            let case = random_case(8, 14, &partitions);
            let mut evaluator = case.evaluator(linkage);
            if linkage == BrlenLinkage::Scaled {
                evaluator.set_brlen_scaler(1, 1.7);
            }
            let options = BranchOptions { max_sweeps: 50, lnl_epsilon: 1e-6, gain_tolerance: 1e-9 };
            evaluator.optimize_branches(&options).unwrap();
            evaluator.forget();
            let before = evaluator.partition_log_likelihoods().unwrap();
            let (tree, lengths) = (evaluator.tree().clone(), evaluator.brlen_sets());
            let edges = evaluator.inner_edges();
            assert_eq!(edges.len(), 11);
            for edge in edges {
                let snapshot = evaluator.snapshot();
                let [left, right] = evaluator
                    .tree()
                    .ends(edge)
                    .map(|end| evaluator.tree().other_links(end, edge).map(|link| link.1));
                let around = [edge, left[0], left[1], right[0], right[1]];
                let found = evaluator.other_resolutions(edge, 1e-6).unwrap();
                assert_eq!(evaluator.brlen_sets(), lengths, "{linkage:?}, {edge:?}");
                evaluator.assert_integrity();
                evaluator.assert_clvs();
                for (found, second) in found.iter().zip(right) {
                    let mut other = case.evaluator(linkage);
                    if linkage == BrlenLinkage::Scaled {
                        other.set_brlen_scaler(1, 1.7);
                    }
                    other.restore(&snapshot);
                    let concerned = other.partitions_around(edge, &around);
                    other.swap_subtrees(edge, left[0], second);
                    for _ in 0..40 {
                        other.optimize_edges_of(&sets(&other, &concerned), &around, 1e-10).unwrap();
                    }
                    let lnl = other.log_likelihood().unwrap();
                    assert!((found.lnl - lnl).abs() < 1e-3, "{linkage:?}: {} not {lnl}", found.lnl);
                    let sum = |(partition, lnls): (usize, &Vec<f64>)| -> f64 {
                        match lnls.is_empty() {
                            true => before[partition],
                            false => lnls
                                .iter()
                                .zip(&case.data[partition].weights)
                                .map(|(l, w)| l * w)
                                .sum(),
                        }
                    };
                    let total: f64 = found.pattern_lnls.iter().enumerate().map(sum).sum();
                    assert!(close(total, found.lnl), "{linkage:?}: {total} not {}", found.lnl);
                }
            }
            evaluator.forget();
            let again = evaluator.partition_log_likelihoods().unwrap();
            assert!(again.iter().zip(&before).all(|(&a, &b)| close(a, b)));
            assert!(crate::tree::same_topology(evaluator.tree(), &tree));
        }
    }

    fn sets(evaluator: &Evaluator, partitions: &[usize]) -> Vec<LengthSet> {
        match evaluator.linkage().has_own_lengths() {
            true => partitions.iter().map(|&partition| LengthSet::Own(partition)).collect(),
            false => vec![LengthSet::Shared],
        }
    }
}
