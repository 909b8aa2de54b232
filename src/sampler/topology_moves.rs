//! Proposals of other topologies. All branches keep their lengths, and terminal ones remain terminal.

use super::chain::{Block, Chain, is_terminal};
use crate::likelihood::Evaluator;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// Probability that an extending SPR goes one branch further, as in MrBayes.
const EXTENSION: f64 = 0.8;

/// Proposals of a block of interchanges across a branch and changes of lengths around it.
pub(super) const AROUND: u32 = 6;

/// Share of subtrees that are drawn around a weak branch.
const LOOSE: f64 = 0.9;

/// A swap of two subtrees across an edge, as [`crate::likelihood::Evaluator::swap_subtrees`] needs it.
pub(super) type Swap = [EdgeId; 3];

/// A nearest-neighbour interchange across the inner branch of the block, or else across a [`weak_branch`], with which a block
/// begins. No length changes, so the way back is as probable. Returns the swap.
pub(super) fn interchange(chain: &mut Chain) -> Vec<Swap> {
    let Chain { evaluator, rng, block, .. } = chain;
    let (edge, left) = match *block {
        Block::Around(edge, left @ 1..) => (edge, left - 1),
        _ => {
            let Some(edge) = weak_branch(evaluator, rng) else { return Vec::new() };
            // The lengths around the branch are those of the partitions where each has its own.
            let is_block = !evaluator.linkage().has_own_lengths();
            (edge, if is_block { AROUND - 1 } else { 0 })
        }
    };
    *block = Block::Around(edge, left);
    let tree = evaluator.tree();
    let [a, b] = tree.ends(edge);
    let second = tree.other_links(b, edge)[rng.random_range(0..2)].1;
    let swap = [edge, tree.other_links(a, edge)[0].1, second];
    evaluator.swap_subtrees(swap[0], swap[1], swap[2]);
    vec![swap]
}

/// An inner branch, drawn by its weight among the [`conflicts`]; `None` if there is none.
fn weak_branch(evaluator: &Evaluator, rng: &mut Rng) -> Option<EdgeId> {
    let weights = conflicts(evaluator);
    let mut at = rng.random::<f64>() * weights.iter().map(|one| one.1).sum::<f64>();
    let drawn = weights.iter().find(|(_, weight)| {
        at -= weight;
        at < 0.0
    });
    drawn.or(weights.last()).map(|one| one.0)
}

/// Logarithm of the probability with which [`weak_branch`] draws an inner branch.
pub(super) fn ln_weakness(evaluator: &Evaluator, edge: EdgeId) -> f64 {
    libm::log(share_of(&conflicts(evaluator), &[edge]))
}

/// A subtree by the inner node from which it hangs and the branch between: mostly one of the four around a [`weak_branch`].
pub(super) fn loose_subtree(evaluator: &Evaluator, rng: &mut Rng) -> (NodeId, EdgeId) {
    let tree = evaluator.tree();
    if rng.random::<f64>() < LOOSE
        && let Some(edge) = weak_branch(evaluator, rng)
    {
        let attach = tree.ends(edge)[rng.random_range(0..2)];
        return (attach, tree.other_links(attach, edge)[rng.random_range(0..2)].1);
    }
    random_subtree(tree, rng)
}

/// Logarithm of the probability with which [`loose_subtree`] draws a subtree.
pub(super) fn ln_looseness(evaluator: &Evaluator, attach: NodeId, pendant: EdgeId) -> f64 {
    let tree = evaluator.tree();
    let weights = conflicts(evaluator);
    let of_all = 1.0 / (3 * (tree.num_nodes() - tree.num_tips())) as f64;
    if weights.is_empty() {
        return libm::log(of_all);
    }
    let beside = tree.other_links(attach, pendant).map(|link| link.1);
    libm::log((1.0 - LOOSE) * of_all + LOOSE * 0.25 * share_of(&weights, &beside))
}

/// The share of some branches in the sum of all weights; 0 of those without one.
fn share_of(weights: &[(EdgeId, f64)], edges: &[EdgeId]) -> f64 {
    let (mut own, mut all) = (0.0, 0.0);
    for (edge, weight) in weights {
        all += weight;
        own += if edges.contains(edge) { *weight } else { 0.0 };
    }
    own / all
}

/// How readily the data give up each inner branch: 1 / (1 + the expected number of changes on it). Where partitions have
/// lengths of their own, all branches count the same.
fn conflicts(evaluator: &Evaluator) -> Vec<(EdgeId, f64)> {
    let tree = evaluator.tree();
    let sites = if evaluator.linkage().has_own_lengths() { 0.0 } else { num_sites(evaluator) };
    let inner = tree.edges().filter(|&edge| !is_terminal(tree, edge));
    inner.map(|edge| (edge, 1.0 / (1.0 + sites * tree.brlen(edge)))).collect()
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

/// Logarithm of the probability that a path stops before a branch.
fn ln_stop(tree: &Tree, edge: EdgeId) -> f64 {
    if is_terminal(tree, edge) { 0.0 } else { libm::log(1.0 - EXTENSION) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{data, evaluator};
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    /// Branches and subtrees are drawn as often as is said, and nothing else is drawn.
    #[test]
    fn weak_branches_and_loose_subtrees_have_their_probabilities() {
        const DRAWS: usize = 40_000;
        let data = data(6, "JC");
        let mut rng = stream(42, Purpose::Test, 0);
        let mut tree = random_tree(6, 0.1, &mut rng);
        for edge in tree.edges() {
            tree.set_brlen(edge, 0.5 * rng.random::<f64>());
        }
        let evaluator = evaluator(&data.0, &data.1, tree);
        let tree = evaluator.tree();
        let assert_share = |ln_expected: f64, drawn: usize| {
            let (expected, found) = (libm::exp(ln_expected), drawn as f64 / DRAWS as f64);
            assert!((found - expected).abs() < 0.012, "{found}, not {expected}");
        };
        let drawn: Vec<EdgeId> = (0..DRAWS)
            .map(|_| weak_branch(&evaluator, &mut rng).expect("there are some"))
            .collect();
        for edge in tree.edges() {
            let number = drawn.iter().filter(|one| **one == edge).count();
            assert_share(ln_weakness(&evaluator, edge), number);
        }
        let drawn: Vec<(NodeId, EdgeId)> =
            (0..DRAWS).map(|_| loose_subtree(&evaluator, &mut rng)).collect();
        let mut all = 0.0;
        for attach in tree.nodes().filter(|&node| !tree.is_tip(node)) {
            for (_, pendant) in tree.links(attach) {
                let ln_expected = ln_looseness(&evaluator, attach, pendant);
                all += libm::exp(ln_expected);
                assert_share(
                    ln_expected,
                    drawn.iter().filter(|one| **one == (attach, pendant)).count(),
                );
            }
        }
        assert!((all - 1.0).abs() < 1e-12, "{all}");
    }
}
