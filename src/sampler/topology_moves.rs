//! Proposals of other topologies. All branches keep their lengths, and terminal ones remain terminal.

use super::chain::Chain;
use crate::likelihood::Evaluator;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// Probability that an extending SPR goes one branch further, as in MrBayes.
const EXTENSION: f64 = 0.8;

/// A swap of two subtrees across an edge, as [`crate::likelihood::Evaluator::swap_subtrees`] needs it.
pub(super) type Swap = [EdgeId; 3];

/// A nearest-neighbour interchange across an inner branch, which is drawn by [`conflict`]: the fewer changes the data are
/// expected to have on it, the easier it gives way. No length changes, so the way back is as probable. Returns the swap.
pub(super) fn interchange(chain: &mut Chain, heat: f64) -> Vec<Swap> {
    let Chain { evaluator, rng, .. } = chain;
    let tree = evaluator.tree();
    let inner: Vec<EdgeId> =
        tree.edges().filter(|&edge| tree.ends(edge).iter().all(|&end| !tree.is_tip(end))).collect();
    let weights: Vec<f64> = inner.iter().map(|&edge| conflict(evaluator, edge, heat)).collect();
    let mut at = rng.random::<f64>() * weights.iter().sum::<f64>();
    let drawn = weights.iter().position(|weight| {
        at -= weight;
        at < 0.0
    });
    let Some(edge) = drawn.map(|at| inner[at]).or(inner.last().copied()) else { return Vec::new() };
    let [a, b] = tree.ends(edge);
    let second = tree.other_links(b, edge)[rng.random_range(0..2)].1;
    let swap = [edge, tree.other_links(a, edge)[0].1, second];
    evaluator.swap_subtrees(swap[0], swap[1], swap[2]);
    vec![swap]
}

/// How readily the data give up a branch: 1 / (1 + the expected number of changes on it). Where partitions have lengths of
/// their own, all branches count the same.
fn conflict(evaluator: &Evaluator, edge: EdgeId, heat: f64) -> f64 {
    if evaluator.linkage().has_own_lengths() {
        return 1.0;
    }
    let sites = |gene| evaluator.num_sites_of(gene) * evaluator.brlen_scaler(gene);
    let sites: f64 = (0..evaluator.num_genes()).map(sites).sum();
    1.0 / (1.0 + heat * sites * evaluator.tree().brlen(edge))
}

/// A random subtree moves along a random path, branch after branch, with the branches of the path (Lakner et al. 2008, Syst.
/// Biol. 57:86). Returns the swaps and the logarithm of the Hastings ratio; no swaps if there is no way.
///
/// Each step takes the subtree across one branch. The way back takes as many steps, each as probable as its counterpart;
/// only the probabilities of stopping differ: a path that has reached a tip must stop.
pub(super) fn extending_spr(chain: &mut Chain) -> (Vec<Swap>, f64) {
    let Chain { evaluator, rng, .. } = chain;
    let tree = evaluator.tree();
    if tree.num_tips() < 4 {
        return (Vec::new(), 0.0);
    }
    let (mut attach, pendant) = random_subtree(tree, rng);
    let [first, second] = tree.other_links(attach, pendant).map(|link| link.1);
    let is_first = rng.random_range(0..2) == 0;
    let (mut path, behind) = if is_first { (first, second) } else { (second, first) };
    let ln_stop_behind = ln_stop(tree, behind);
    if is_terminal(tree, path) {
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
        if is_terminal(tree, path) || rng.random::<f64>() >= EXTENSION {
            return (swaps, ln_stop_behind - ln_stop(tree, path));
        }
    }
}

/// A subtree by the inner node from which it hangs and the branch between, all with the same probability.
pub(super) fn random_subtree(tree: &Tree, rng: &mut Rng) -> (NodeId, EdgeId) {
    let num_inner = tree.num_nodes() - tree.num_tips();
    let attach = NodeId((tree.num_tips() + rng.random_range(0..num_inner)) as u32);
    (attach, one_of(tree.links(attach).map(|link| link.1).collect(), rng))
}

fn one_of(edges: Vec<EdgeId>, rng: &mut Rng) -> EdgeId {
    edges[rng.random_range(0..edges.len())]
}

fn is_terminal(tree: &Tree, edge: EdgeId) -> bool {
    tree.ends(edge).iter().any(|&end| tree.is_tip(end))
}

/// Logarithm of the probability that a path stops before a branch.
fn ln_stop(tree: &Tree, edge: EdgeId) -> f64 {
    if is_terminal(tree, edge) { 0.0 } else { libm::log(1.0 - EXTENSION) }
}
