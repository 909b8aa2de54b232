//! Which splits the chains had while proposals were adapted: proposals of topologies prefer resolutions that were seen (as the
//! conditional frequencies of clades in a pilot run do: Höhna & Drummond 2012, Syst. Biol. 61:1).
//!
//! A split is known by a number: those of the tips on one side, combined by XOR. Two splits with the same number would be taken
//! for one, which changes nothing but how often they are proposed.

use crate::tree::{EdgeId, NodeId, Tree};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Splits of trees, with the numbers of trees that had them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct SeenSplits {
    num_trees: u32,
    counts: FxHashMap<u64, u32>,
}

impl SeenSplits {
    pub(super) fn is_empty(&self) -> bool {
        self.num_trees == 0
    }

    /// Sees a tree.
    pub(super) fn see(&mut self, tree: &Tree) {
        let sides = Sides::of(tree);
        for edge in tree.edges().filter(|&edge| !tree.is_terminal(edge)) {
            let one = sides.behind(tree, (tree.ends(edge)[0], edge));
            *self.counts.entry(sides.split(one)).or_default() += 1;
        }
        self.num_trees += 1;
    }

    /// Forgets all trees.
    pub(super) fn forget(&mut self) {
        *self = SeenSplits::default();
    }

    /// Of each of these inner branches the frequencies of its three resolutions, in the order of
    /// [`KnownRows::resolution_costs`](crate::parsimony::KnownRows::resolution_costs): the present one, and those that the
    /// swaps of the first branch at one end with the first and the second at the other lead to.
    pub(super) fn of_resolutions(
        &self,
        tree: &Tree,
        edges: impl Iterator<Item = EdgeId>,
    ) -> Vec<[f64; 3]> {
        if self.is_empty() {
            return edges.map(|_| [0.0; 3]).collect();
        }
        let sides = Sides::of(tree);
        let frequency = |side: u64| {
            let count = self.counts.get(&sides.split(side)).copied().unwrap_or(0);
            f64::from(count) / f64::from(self.num_trees)
        };
        let of_branch = |edge: EdgeId| {
            let [[a, _], [c, d]] = tree
                .ends(edge)
                .map(|end| tree.other_links(end, edge).map(|link| sides.behind(tree, link)));
            [frequency(c ^ d), frequency(a ^ d), frequency(a ^ c)]
        };
        edges.map(of_branch).collect()
    }
}

/// The numbers of all sides of the splits of a tree.
struct Sides {
    /// Of each node what lies on its side of the branch to its parent, seen from tip 0, and this branch.
    below: Vec<(u64, Option<EdgeId>)>,
    all: u64,
}

impl Sides {
    fn of(tree: &Tree) -> Self {
        let mut below = vec![(0, None); tree.num_nodes()];
        let root = NodeId(0);
        for (node, edge) in tree.links(root) {
            for (node, edge) in tree.preorder(node, edge).into_iter().rev() {
                let own = &mut below[node.index()];
                if tree.is_tip(node) {
                    own.0 = number_of(node);
                }
                own.1 = Some(edge);
                let number = own.0;
                below[tree.other_end(edge, node).index()].0 ^= number;
            }
        }
        let all = below[root.index()].0 ^ number_of(root);
        Sides { below, all }
    }

    /// The number of what lies behind a branch that leads to a node.
    fn behind(&self, tree: &Tree, (node, edge): (NodeId, EdgeId)) -> u64 {
        match self.below[node.index()] {
            (number, Some(parent)) if parent == edge => number,
            _ => self.all ^ self.below[tree.other_end(edge, node).index()].0,
        }
    }

    /// The number of a split by that of one of its sides.
    fn split(&self, side: u64) -> u64 {
        side.min(self.all ^ side)
    }
}

/// The number of a tip, which looks random.
fn number_of(tip: NodeId) -> u64 {
    xxh3_64(&tip.0.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    /// The frequencies of resolutions are those with which trees were seen that have them.
    #[test]
    fn resolutions_have_the_frequencies_of_their_splits() {
        let mut rng = stream(44, Purpose::Test, 0);
        for num_tips in [4, 5, 12] {
            let tree = random_tree(num_tips, 0.1, &mut rng);
            let inner: Vec<EdgeId> = tree.edges().filter(|&edge| !tree.is_terminal(edge)).collect();
            for &edge in &inner {
                let [a, b] = tree.ends(edge);
                let mut seen = SeenSplits::default();
                (0..5).for_each(|_| seen.see(&tree));
                for (number, times) in [(0, 1), (1, 2)] {
                    let mut other = tree.clone();
                    let first = tree.other_links(a, edge)[0].1;
                    other.swap_subtrees(edge, first, tree.other_links(b, edge)[number].1);
                    (0..times).for_each(|_| seen.see(&other));
                }
                let found = seen.of_resolutions(&tree, inner.iter().copied());
                for (one, found) in inner.iter().zip(found) {
                    let expected = if *one == edge { [5.0, 1.0, 2.0] } else { [8.0, 0.0, 0.0] };
                    assert_eq!(found, expected.map(|count| count / 8.0));
                }
                seen.forget();
                assert!(seen.is_empty());
            }
        }
    }
}
