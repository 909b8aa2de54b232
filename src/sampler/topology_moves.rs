//! Proposals of other topologies. All branches keep their lengths, and terminal ones remain terminal.

use super::chain::{Block, Chain};
use super::conflicts::{Guide, random_subtree};
use crate::likelihood::Evaluator;
use crate::tree::{EdgeId, Tree};
use rand::RngExt;

/// Probability that an extending SPR goes one branch further, as in MrBayes.
const EXTENSION: f64 = 0.8;

/// Proposals of a block of interchanges across a branch and changes of lengths around it.
pub(super) const AROUND: u32 = 6;

/// A swap of two subtrees across an edge, as [`crate::likelihood::Evaluator::swap_subtrees`] needs it.
pub(super) type Swap = [EdgeId; 3];

/// A nearest-neighbour interchange across the inner branch of the block, or else across one that is drawn by its weight among the
/// [`Conflicts`](super::conflicts::Conflicts), with which a block begins. No length changes. Returns the swap and the logarithm
/// of the Hastings ratio; no swap if there is no inner branch.
pub(super) fn interchange(chain: &mut Chain, guide: &Guide) -> (Vec<Swap>, f64) {
    let Chain { evaluator, rng, block, conflicts, .. } = chain;
    let known = conflicts.get(evaluator.tree(), guide);
    let (edge, left) = match *block {
        Block::Around(edge, left @ 1..) => (edge, left - 1),
        _ => {
            let Some(edge) = known.draw(rng) else { return (Vec::new(), 0.0) };
            // The lengths around the branch are those of the partitions where each has its own.
            let is_block = !evaluator.linkage().has_own_lengths();
            (edge, if is_block { AROUND - 1 } else { 0 })
        }
    };
    *block = Block::Around(edge, left);
    let (number, ln_resolution) = known.draw_resolution(guide, edge, rng);
    let ln_before = known.ln_chance(edge);
    let tree = evaluator.tree();
    let [a, b] = tree.ends(edge);
    let swap = [edge, tree.other_links(a, edge)[0].1, tree.other_links(b, edge)[number].1];
    evaluator.swap_subtrees(swap[0], swap[1], swap[2]);
    conflicts.renew();
    let ln_after = conflicts.get(evaluator.tree(), guide).ln_chance(edge);
    (vec![swap], ln_resolution + ln_after - ln_before)
}

/// Number of sites, those of each partition times its scaler: expected changes for a unit of length.
pub(super) fn num_sites(evaluator: &Evaluator) -> f64 {
    let sites = |gene| evaluator.num_sites_of(gene) * evaluator.brlen_scaler(gene);
    (0..evaluator.num_genes()).map(sites).sum()
}

/// A random subtree moves along a random path, branch after branch, with the branches of the path (Lakner et al. 2008, Syst.
/// Biol. 57:86). Returns the swaps and the logarithm of the Hastings ratio; no swaps if there is no way.
///
/// Each step takes the subtree across one branch. The way back takes as many steps, each as probable as its counterpart;
/// only the probabilities of stopping differ: a path that has reached a tip must stop.
pub(super) fn extending_spr(chain: &mut Chain) -> (Vec<Swap>, f64) {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let tree = evaluator.tree();
    if tree.num_tips() < 4 {
        return (Vec::new(), 0.0);
    }
    let (mut attach, pendant) = random_subtree(tree, rng);
    let [first, second] = tree.other_links(attach, pendant).map(|link| link.1);
    let is_first = rng.random_range(0..2) == 0;
    let (mut path, behind) = if is_first { (first, second) } else { (second, first) };
    let ln_stop_behind = ln_stop(tree, behind);
    if tree.is_terminal(path) {
        return (Vec::new(), 0.0);
    }
    let mut swaps = Vec::new();
    conflicts.renew();
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
