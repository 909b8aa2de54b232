//! Shifts of changes between neighbouring branches.
//!
//! Where a site has changed several times, its changes can often be explained by other branches just as well: parsimony
//! has several reconstructions. In branch lengths, each can be an optimum of its own, in which some branches have about the
//! length of one change and their neighbours have none. No optimisation of one branch after the other leads from one to the
//! other, since several lengths must change at once.

use crate::likelihood::{Evaluator, Result};
use crate::tree::{EdgeId, NodeId, Tree};
use std::collections::HashMap;

/// A branch shorter than this share of one change has hardly any length.
const NONE: f64 = 0.1;
/// A branch of at least this share of one change may give it to a neighbour that has hardly any length.
const ONE: f64 = 0.4;
/// A branch with more changes than this gives all, or one of them.
const FEW: f64 = 1.5;
/// A branch with more changes than this gives none: the gains were from branches of 0.7 to 3.2 changes.
const MANY: f64 = 6.0;
/// Lengths that differ by less than this share of one change are regarded as the same.
const SAME: f64 = 0.25;

/// A shift is given up if the log-likelihood is lower by more than this (log units) before other lengths have adapted to it.
/// Those that gained more than 0.01 began 0.4 to 2.6 below.
const FLOOR: f64 = 3.0;

/// It is given up, too, if the adaptation of the branches around recovers less than this share of the loss: mostly less than a
/// tenth where a shift led back to the present optimum, a half and more where it led to a better one.
const RECOVERED: f64 = 0.2;

/// Maximum number of sweeps of the branches around until the shifted ones are optimised, too.
const ADAPTING: usize = 4;
/// Number of sweeps after that.
const SETTLING: usize = 2;

/// It goes on, for at most so many times, where the log-likelihood differs from the one before by less than this.
const FLAT: f64 = 0.05;
const MORE_WHERE_FLAT: usize = 8;

/// A shift that was in vain is tried again if a length around it has changed by more than this share of one change.
const CHANGED: f64 = 0.05;

/// Number of edges up to which branches around a shift adapt. Measured on four alignments: 3 and 4 find nothing else.
const RADIUS: usize = 2;

/// Minimum gain (log units) of a shift or a region.
const GAIN: f64 = 1e-3;

/// Newton tolerance (log units per branch).
const TOLERANCE: f64 = 1e-4;

/// Maximum number of passes over the tree.
const MAX_PASSES: usize = 3;

/// For each edge: the length of a branch there on which one site has changed. Infinite where no partition has data on both
/// sides.
fn changes(evaluator: &Evaluator) -> Vec<f64> {
    evaluator.tree().edges().map(|edge| 1.0 / evaluator.num_sites_on(edge)).collect()
}

/// Shifts that were in vain: to which branch and from which one, with the lengths around at that time.
pub(super) type InVain = HashMap<(EdgeId, EdgeId), Vec<f64>>;

/// Gives each branch that has hardly any length a change of each neighbour that has few, and keeps the result if the
/// log-likelihood is higher once the branches around have adapted to it; in passes over the tree until one is in vain. Those
/// `in_vain` are left out as long as lengths around are the same. For linked and scaled branch lengths.
///
/// # Errors
/// The engine has failed.
pub(super) fn shift_changes(evaluator: &mut Evaluator, in_vain: &mut InVain) -> Result<()> {
    let changes = changes(evaluator);
    let mut lnl = evaluator.log_likelihood()?;
    for _ in 0..MAX_PASSES {
        let before = lnl;
        for to in depth_first(evaluator.tree()) {
            for from in neighbours(evaluator.tree(), to) {
                let [taking, giving] = [to, from].map(|edge| evaluator.tree().brlen(edge));
                let change = changes[from.index()];
                if taking >= NONE * change || !(ONE * change..MANY * change).contains(&giving) {
                    continue;
                }
                let around = lengths_within(evaluator.tree(), to, RADIUS);
                let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= CHANGED * change;
                let known = in_vain.get(&(to, from));
                if known.is_some_and(|then| around.iter().zip(then).all(is_same)) {
                    continue;
                }
                let before = lnl;
                lnl = try_shift(evaluator, [(to, giving), (from, taking)], lnl)?;
                if lnl <= before && giving > FEW * change {
                    let rest = giving - change;
                    lnl = try_shift(evaluator, [(to, change), (from, rest)], lnl)?;
                }
                if lnl <= before {
                    in_vain.insert((to, from), around);
                }
            }
        }
        if lnl <= before {
            break;
        }
    }
    Ok(())
}

/// Sets the lengths of two branches, lets those around adapt, and keeps the result if the log-likelihood is higher than
/// `lnl`. Returns the log-likelihood.
fn try_shift(evaluator: &mut Evaluator, lengths: [(EdgeId, f64); 2], lnl: f64) -> Result<f64> {
    let tree = evaluator.tree();
    let shifted = lengths.map(|(edge, _)| edge);
    let around = within(tree, shifted[0], RADIUS);
    let before: Vec<(EdgeId, f64)> = around.iter().map(|&edge| (edge, tree.brlen(edge))).collect();
    let others: Vec<EdgeId> =
        around.iter().copied().filter(|edge| !shifted.contains(edge)).collect();
    evaluator.set_brlens(&lengths);
    let mut now = evaluator.log_likelihood()?;
    let mut number = 0;
    let mut recovers = now >= lnl - FLOOR;
    while recovers && now < lnl && number < ADAPTING {
        let last = now;
        evaluator.optimize_edges(&others, TOLERANCE)?;
        now = evaluator.log_likelihood()?;
        number += 1;
        recovers = now - last > RECOVERED * (lnl - last);
    }
    if recovers || number > 1 {
        now = settle(evaluator, &around)?;
    }
    // Between optima that are as good as each other, the likelihood is nearly flat.
    let mut more = MORE_WHERE_FLAT;
    while (lnl - FLAT..lnl + FLAT).contains(&now) && more > 0 {
        let last = now;
        now = settle(evaluator, &around)?;
        more = if now - last < GAIN { 0 } else { more - 1 };
    }
    keep_if_better(evaluator, &before, lnl, now)
}

/// Where branch lengths from other starting values, after some sweeps, differ from the present ones by changes on other
/// branches: takes those of each such region of the tree if the log-likelihood is higher then. Regions have nothing to do
/// with each other, so that one start may be better in some, and another one in others. For linked and scaled branch
/// lengths.
///
/// # Errors
/// The engine has failed.
pub(super) fn take_regions(evaluator: &mut Evaluator, there: &[f64]) -> Result<()> {
    let changes = changes(evaluator);
    let mut lnl = evaluator.log_likelihood()?;
    for region in regions(evaluator.tree(), there, &changes) {
        let tree = evaluator.tree();
        let around = with_neighbours(tree, &region);
        let before: Vec<(EdgeId, f64)> =
            around.iter().map(|&edge| (edge, tree.brlen(edge))).collect();
        let lengths: Vec<(EdgeId, f64)> =
            region.iter().map(|&edge| (edge, there[edge.index()])).collect();
        evaluator.set_brlens(&lengths);
        let mut now = evaluator.log_likelihood()?;
        if now >= lnl - FLOOR {
            now = settle(evaluator, &around)?;
        }
        lnl = keep_if_better(evaluator, &before, lnl, now)?;
    }
    Ok(())
}

/// Connected groups of branches whose lengths differ from those `there`, in which one has hardly any length here but has it
/// there.
fn regions(tree: &Tree, there: &[f64], changes: &[f64]) -> Vec<Vec<EdgeId>> {
    let both = |edge: &EdgeId| [tree.brlen(*edge), there[edge.index()]];
    let differs = |edge: &EdgeId| {
        let [here, there] = both(edge);
        (here - there).abs() > SAME * changes[edge.index()]
    };
    let takes = |edge: &EdgeId| {
        let ([here, there], change) = (both(edge), changes[edge.index()]);
        here < NONE * change && there >= ONE * change
    };
    let mut seen = vec![false; tree.num_edges()];
    let mut regions = Vec::new();
    for first in tree.edges().filter(differs) {
        if std::mem::replace(&mut seen[first.index()], true) {
            continue;
        }
        let mut region = vec![first];
        let mut next = 0;
        while next < region.len() {
            for near in neighbours(tree, region[next]).into_iter().filter(differs) {
                if !std::mem::replace(&mut seen[near.index()], true) {
                    region.push(near);
                }
            }
            next += 1;
        }
        if region.iter().any(takes) {
            regions.push(region);
        }
    }
    regions
}

/// Optimises these branches. Returns the log-likelihood.
fn settle(evaluator: &mut Evaluator, edges: &[EdgeId]) -> Result<f64> {
    for _ in 0..SETTLING {
        evaluator.optimize_edges(edges, TOLERANCE)?;
    }
    evaluator.log_likelihood()
}

/// Restores the lengths `before` unless the log-likelihood `now` is higher than `lnl`. Returns the higher one.
fn keep_if_better(
    evaluator: &mut Evaluator,
    before: &[(EdgeId, f64)],
    lnl: f64,
    now: f64,
) -> Result<f64> {
    if now > lnl + GAIN {
        return Ok(now);
    }
    evaluator.set_brlens(before);
    Ok(lnl)
}

/// All edges, each after one that is near to it.
fn depth_first(tree: &Tree) -> Vec<EdgeId> {
    let first = tree.links(NodeId(0)).next();
    let (node, edge) = first.expect("every tip has an edge");
    tree.preorder(node, edge).into_iter().map(|(_, edge)| edge).collect()
}

/// The edges that share a node with this one.
fn neighbours(tree: &Tree, edge: EdgeId) -> Vec<EdgeId> {
    let ends = tree.ends(edge).into_iter().filter(|&end| !tree.is_tip(end));
    ends.flat_map(|end| tree.other_links(end, edge).map(|link| link.1)).collect()
}

/// The edges up to so many edges from this one, the nearest first.
fn within(tree: &Tree, edge: EdgeId, radius: usize) -> Vec<EdgeId> {
    let mut found = vec![edge];
    let mut begin = 0;
    for _ in 0..radius {
        let end = found.len();
        for i in begin..end {
            for near in neighbours(tree, found[i]) {
                if !found.contains(&near) {
                    found.push(near);
                }
            }
        }
        begin = end;
    }
    found
}

/// The lengths of the edges up to so many edges from this one.
fn lengths_within(tree: &Tree, edge: EdgeId, radius: usize) -> Vec<f64> {
    within(tree, edge, radius).into_iter().map(|near| tree.brlen(near)).collect()
}

/// These edges and their neighbours.
fn with_neighbours(tree: &Tree, edges: &[EdgeId]) -> Vec<EdgeId> {
    let mut found = edges.to_vec();
    for &edge in edges {
        for near in neighbours(tree, edge) {
            if !found.contains(&near) {
                found.push(near);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::rounds_tests::case;
    use super::*;
    use crate::likelihood::{BranchOptions, BrlenLinkage};
    use crate::model::Model;

    fn optimised() -> Evaluator {
        let models = ["HKY+FE+G4", "K80+FE+I+G4"].map(|text| Model::parse(text).unwrap());
        let mut evaluator = case(BrlenLinkage::Linked, &models);
        let options = BranchOptions { max_sweeps: 50, lnl_epsilon: 1e-6, gain_tolerance: 1e-8 };
        evaluator.optimize_branches(&options).unwrap();
        evaluator
    }

    #[test]
    fn lengths_that_are_not_better_are_given_back_with_the_same_bits() {
        let mut evaluator = optimised();
        let (lnl, here) = (evaluator.log_likelihood().unwrap(), evaluator.brlen_sets());
        let edge = EdgeId(2);
        let near = neighbours(evaluator.tree(), edge)[0];
        let there = [(edge, here[0][near.index()] + 3.0), (near, 1e-6)];
        assert_eq!(try_shift(&mut evaluator, there, lnl).unwrap(), lnl);
        assert_eq!(evaluator.brlen_sets(), here);
        assert_eq!(evaluator.log_likelihood().unwrap().to_bits(), lnl.to_bits());
    }

    #[test]
    fn a_region_takes_the_lengths_of_another_optimum() {
        let mut evaluator = optimised();
        let (best, there) = (evaluator.log_likelihood().unwrap(), evaluator.brlen_sets());
        let change = changes(&evaluator)[0];
        // The longest branch loses its length to a neighbour.
        let tree = evaluator.tree();
        let edge = tree.edges().max_by(|a, b| tree.brlen(*a).total_cmp(&tree.brlen(*b))).unwrap();
        let near = neighbours(tree, edge)[0];
        let both = tree.brlen(edge) + tree.brlen(near);
        evaluator.set_brlens(&[(edge, 1e-6), (near, both)]);
        let worse = evaluator.log_likelihood().unwrap();
        let found = regions(evaluator.tree(), &there[0], &vec![change; there[0].len()]);
        assert!(found.len() == 1 && found[0].contains(&edge), "{found:?}");
        take_regions(&mut evaluator, &there[0]).unwrap();
        let now = evaluator.log_likelihood().unwrap();
        assert!(worse < best - 1.0 && now > best - 0.01, "{worse} {now} {best}");
    }

    #[test]
    fn shifts_find_the_better_place_of_a_change_and_never_lower_the_likelihood() {
        let mut evaluator = optimised();
        let mut lnl = evaluator.log_likelihood().unwrap();
        shift_changes(&mut evaluator, &mut InVain::new()).unwrap();
        let mut num_found = 0;
        let best = evaluator.brlen_sets();
        assert!(evaluator.log_likelihood().unwrap() >= lnl);
        let changes = changes(&evaluator);
        for edge in evaluator.tree().edges() {
            for near in neighbours(evaluator.tree(), edge) {
                // The neighbour gets what this branch has, as if few sites had changed there.
                evaluator.set_brlen_sets(&best);
                let few = 3.0 * changes[near.index()];
                evaluator.set_brlens(&[(edge, 1e-6), (near, few)]);
                lnl = evaluator.log_likelihood().unwrap();
                let shift = [(edge, few), (near, 1e-6)];
                let now = try_shift(&mut evaluator, shift, lnl).unwrap();
                assert!(now >= lnl && evaluator.log_likelihood().unwrap() == now);
                num_found += usize::from(now > lnl + 1.0);
            }
        }
        assert!(num_found > 0);
    }

    #[test]
    fn a_shift_in_vain_is_tried_again_only_after_lengths_around_have_changed() {
        let mut evaluator = optimised();
        let mut in_vain = InVain::new();
        shift_changes(&mut evaluator, &mut in_vain).unwrap();
        let (best, known) = (evaluator.brlen_sets(), in_vain.clone());
        shift_changes(&mut evaluator, &mut in_vain).unwrap();
        assert_eq!((evaluator.brlen_sets(), &in_vain), (best.clone(), &known));
        // A branch that gives nothing in vain, as its neighbour already has it all.
        let change = changes(&evaluator)[0];
        let tree = evaluator.tree();
        let longest = tree.edges().max_by(|a, b| tree.brlen(*a).total_cmp(&tree.brlen(*b)));
        let to = longest.unwrap();
        let from = neighbours(tree, to)[0];
        let shifted = [(to, 1e-6), (from, 3.0 * change)];
        evaluator.set_brlens(&shifted);
        let damaged = evaluator.log_likelihood().unwrap();
        let around = lengths_within(evaluator.tree(), to, RADIUS);
        for (to, from) in evaluator.tree().edges().map(|edge| (to, edge)) {
            in_vain.insert((to, from), around.clone());
        }
        shift_changes(&mut evaluator, &mut in_vain.clone()).unwrap();
        let held = evaluator.log_likelihood().unwrap();
        evaluator.set_brlen_sets(&best);
        evaluator.set_brlens(&shifted);
        in_vain.values_mut().for_each(|around| around[0] += change);
        shift_changes(&mut evaluator, &mut in_vain).unwrap();
        let found = evaluator.log_likelihood().unwrap();
        assert!(held >= damaged && found > held + 1.0, "{damaged} {held} {found}");
    }
}
