//! Proposals of other topologies by swaps of subtrees. All branches keep their lengths, but for LOCAL, and terminal ones remain
//! terminal.

use super::chain::{Block, Chain};
use super::conflicts::{Drawn, Guide, KnownConflicts, random_subtree};
use super::length_moves::ln_factor;
use super::lengths::LengthSet;
use super::proposal::{Proposal, Swap, Undo};
use crate::likelihood::Evaluator;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// Probability that an extending SPR or TBR goes one branch further, as in MrBayes.
const EXTENSION: f64 = 0.8;

/// Proposals of a block of interchanges across a branch and changes of lengths around it.
pub(super) const AROUND: u32 = 6;

/// A nearest-neighbour interchange across the inner branch of the block, or else across one that is drawn by its weight among
/// the [`Conflicts`](super::conflicts::Conflicts), with which a block begins. No length changes. `None` if there is no inner
/// branch.
pub(super) fn interchange(chain: &mut Chain, guide: &Guide) -> Option<Proposal> {
    let Chain { evaluator, rng, block, conflicts, .. } = chain;
    let known = conflicts.get(evaluator.tree(), guide);
    let (edge, left) = match *block {
        Block::Around(edge, left @ 1..) => (edge, left - 1),
        _ => {
            let edge = known.draw(rng)?;
            // The lengths around the branch are those of the partitions where each has its own.
            let is_block = !evaluator.linkage().has_own_lengths();
            (edge, if is_block { AROUND - 1 } else { 0 })
        }
    };
    *block = Block::Around(edge, left);
    let (number, ln_resolution) = known.draw_resolution(guide, edge, rng);
    let tree = evaluator.tree();
    let drawn = Drawn::Branch(edge);
    let ln_before = known.ln_chance(tree, drawn);
    let [a, b] = tree.ends(edge);
    let swap = [edge, tree.other_links(a, edge)[0].1, tree.other_links(b, edge)[number].1];
    evaluator.swap_subtrees(swap[0], swap[1], swap[2]);
    conflicts.renew();
    let undo = Undo::Swaps(vec![swap], Vec::new());
    Some(Proposal { undo, ln_ratio: ln_resolution - ln_before, drawn: Some(drawn) })
}

/// Number of sites, those of each partition times its scaler: expected changes for a unit of length.
pub(super) fn num_sites(evaluator: &Evaluator) -> f64 {
    let sites = |partition| evaluator.num_sites_of(partition) * evaluator.brlen_scaler(partition);
    (0..evaluator.num_partitions()).map(sites).sum()
}

/// LOCAL, for trees without a clock (Larget & Simon 1999, Mol. Biol. Evol. 16:750): the lengths of three branches on a path are
/// multiplied by c, and one of the two subtrees that hang from it comes to a uniformly distributed point of the path. The
/// topology changes if it passes the other. The branch in the middle is drawn as for [`interchange`].
///
/// ```text
///      b     d                     d  b
///      |     |                     |  |
///   ---+-----+-----     ==>   -----+--+----------
///         m                           c * m
/// ```
///
/// Where b comes to another point and d keeps its share of the path, the determinant of the change of the point of d and of m
/// is c * c, and the densities of the point of b are 1 / (c * m) on the way there and 1 / m on the way back: the Hastings ratio
/// is c^3 (Holder et al. 2005, Syst. Biol. 54:961).
///
/// It needs lengths that all partitions share: the path of a partition of its own need not have three branches.
pub(super) fn local(chain: &mut Chain, guide: &Guide, step_size: f64) -> Option<Proposal> {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let known = conflicts.get(evaluator.tree(), guide);
    let edge = known.draw(rng)?;
    let tree = evaluator.tree();
    let drawn = Drawn::Branch(edge);
    let ln_before = known.ln_chance(tree, drawn);
    let [[first, beside_first], [last, beside_last]] = tree.ends(edge).map(|end| {
        let number = rng.random_range(0..2);
        let links = tree.other_links(end, edge);
        [links[number].1, links[1 - number].1]
    });
    let before = [first, edge, last].map(|edge| (edge, tree.brlen(edge)));
    let ln_factor = ln_factor(rng, step_size);
    let [x, y, z] = before.map(|(_, length)| libm::exp(ln_factor) * length);
    let whole = x + y + z;
    let mut points = [x, x + y];
    points[rng.random_range(0..2)] = rng.random::<f64>() * whole;
    let passes = points[0] > points[1];
    points.sort_by(f64::total_cmp);
    let [near, far] = points;
    let after = [(first, near), (edge, far - near), (last, whole - far)];
    if !passes {
        LengthSet::Shared.move_roots(evaluator, edge);
        evaluator.set_brlens(&after);
        let undo = Undo::Lengths(LengthSet::Shared, before.to_vec());
        return Some((undo, 3.0 * ln_factor).into());
    }
    let swap = [edge, beside_first, beside_last];
    evaluator.swap_subtrees(swap[0], swap[1], swap[2]);
    evaluator.set_brlens(&after);
    conflicts.renew();
    let undo = Undo::Swaps(vec![swap], before.to_vec());
    Some(Proposal { undo, ln_ratio: 3.0 * ln_factor - ln_before, drawn: Some(drawn) })
}

/// A random subtree [slides](slide) along a random path (Lakner et al. 2008, Syst. Biol. 57:86). Returns the swaps and the
/// logarithm of the Hastings ratio; no swaps if there is no way.
pub(super) fn extending_spr(chain: &mut Chain) -> (Vec<Swap>, f64) {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let tree = evaluator.tree();
    if tree.num_tips() < 4 {
        return (Vec::new(), 0.0);
    }
    let (attach, pendant) = random_subtree(tree, rng);
    let moved = slide(evaluator, (attach, pendant), rng);
    tell(conflicts, &moved.0);
    moved
}

/// Both ends of a random inner branch [slide](slide) along random paths, or one of them if there is no way for the other
/// (Lakner et al. 2008). Returns the swaps and the logarithm of the Hastings ratio; no swaps if neither has a way.
///
/// What is on one side of the branch decides alone how its end slides, and whether it does: the probability that it stays
/// is the same on the way back. So the ratio is the product of those of both sides.
pub(super) fn extending_tbr(chain: &mut Chain) -> (Vec<Swap>, f64) {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let tree = evaluator.tree();
    let inner: Vec<EdgeId> = tree.edges().filter(|&edge| !tree.is_terminal(edge)).collect();
    if inner.is_empty() {
        return (Vec::new(), 0.0);
    }
    let edge = inner[rng.random_range(0..inner.len())];
    let ends = tree.ends(edge);
    let (mut swaps, mut ln_ratio) = (Vec::new(), 0.0);
    for end in ends {
        let (of_end, ln_ratio_of_end) = slide(evaluator, (end, edge), rng);
        swaps.extend(of_end);
        ln_ratio += ln_ratio_of_end;
    }
    tell(conflicts, &swaps);
    (swaps, ln_ratio)
}

/// The tree has another topology if there were swaps.
fn tell(conflicts: &mut KnownConflicts, swaps: &[Swap]) {
    if !swaps.is_empty() {
        conflicts.renew();
    }
}

/// A subtree moves along a random path, branch after branch, with the branches of the path. Returns the swaps and the logarithm
/// of the Hastings ratio; no swaps if the path would begin with a terminal branch.
///
/// Each step takes the subtree across one branch. The way back takes as many steps, each as probable as its counterpart;
/// only the probabilities of stopping differ: a path that has reached a tip must stop.
fn slide(
    evaluator: &mut Evaluator,
    (mut attach, pendant): (NodeId, EdgeId),
    rng: &mut Rng,
) -> (Vec<Swap>, f64) {
    let tree = evaluator.tree();
    let [first, second] = tree.other_links(attach, pendant).map(|link| link.1);
    let is_first = rng.random_range(0..2) == 0;
    let (mut path, behind) = if is_first { (first, second) } else { (second, first) };
    let ln_stop_behind = ln_stop(tree, behind);
    if tree.is_terminal(path) {
        return (Vec::new(), 0.0);
    }
    let mut swaps = Vec::new();
    loop {
        let tree = evaluator.tree();
        let far = tree.other_end(path, attach);
        let ends = tree.other_links(far, path).map(|link| link.1);
        let forward = rng.random_range(0..2);
        let swap = [path, pendant, ends[1 - forward]];
        evaluator.swap_subtrees(swap[0], swap[1], swap[2]);
        swaps.push(swap);
        (attach, path) = (far, ends[forward]);
        let tree = evaluator.tree();
        if tree.is_terminal(path) || rng.random::<f64>() >= EXTENSION {
            return (swaps, ln_stop_behind - ln_stop(tree, path));
        }
    }
}

/// Logarithm of the probability that a path stops before a branch.
fn ln_stop(tree: &Tree, edge: EdgeId) -> f64 {
    if tree.is_terminal(edge) { 0.0 } else { libm::log(1.0 - EXTENSION) }
}
