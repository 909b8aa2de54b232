//! The unrooted binary tree as index arrays, with branch lengths.
//!
//! ```text
//!   tip 0 \            / tip 2          nodes 0..n are tips (node i = taxon i of the tree's list),
//!          4 -------- 5                 nodes n..2n-2 are inner, each with exactly three neighbours,
//!   tip 1 /            \ tip 3          edges 0..2n-3.
//! ```
//!
//! A tree of two tips has one edge and no inner node; a tree of one tip has no edge.
//! Structure is changed only by [`Tree::prune`] and [`Tree::regraft`] (and while building), so that
//! node and edge numbers keep their meaning: the two edges that a prune merges and a regraft makes
//! are the same two numbers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of a node; tips come first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeId(pub u32);

/// Number of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EdgeId(pub u32);

impl NodeId {
    /// "No node": fills unused places.
    pub const NONE: NodeId = NodeId(u32::MAX);
    /// As an array index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    /// "No edge": fills unused places.
    pub const NONE: EdgeId = EdgeId(u32::MAX);
    /// As an array index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE { write!(f, "n-") } else { write!(f, "n{}", self.0) }
    }
}

impl fmt::Debug for EdgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE { write!(f, "e-") } else { write!(f, "e{}", self.0) }
    }
}

/// Spacing of the grid on which branch lengths lie: sums of lengths along a path are then exact in
/// any order, so a length kept up to date equals one computed afresh, bit for bit.
const GRID: f64 = 1.0 / (1u64 << 34) as f64;

/// The nearest length on the grid (spacing 2^-34, about 6e-11 substitutions per site).
pub fn to_length_grid(length: f64) -> f64 {
    (length * (1u64 << 34) as f64).round_ties_even() * GRID
}

/// An unrooted binary tree with branch lengths (expected substitutions per site).
#[derive(Clone, PartialEq)]
pub struct Tree {
    pub(super) num_tips: usize,
    /// Up to three (neighbour, edge) pairs per node; `NONE` where there is no neighbour.
    pub(super) links: Vec<[(NodeId, EdgeId); 3]>,
    pub(super) ends: Vec<[NodeId; 2]>,
    pub(super) brlens: Vec<f64>,
}

const NO_LINK: (NodeId, EdgeId) = (NodeId::NONE, EdgeId::NONE);

/// A pruned subtree: what [`Tree::regraft`] needs to insert it anywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrunedSubtree {
    /// The inner node that moves with the subtree.
    pub attach: NodeId,
    /// The edge between `attach` and the subtree.
    pub pendant: EdgeId,
    /// The edge that was merged out of two; it keeps the number of the first.
    pub merged: EdgeId,
    /// The number that is free while the subtree is off.
    pub spare: EdgeId,
    /// Ends of `merged` that were neighbours of `attach` by `merged` and by `spare`.
    pub old_neighbours: [NodeId; 2],
    /// Lengths of `merged` and `spare` before the prune.
    pub old_brlens: [f64; 2],
    /// Ends of `merged` and `spare`, and links of `attach`, in their order.
    pub(super) old_ends: [[NodeId; 2]; 2],
    pub(super) old_links: [(NodeId, EdgeId); 3],
}

/// What takes back one [`Tree::regraft`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegraftUndo {
    /// The edge the subtree was put into.
    pub target: EdgeId,
    /// Its two ends before.
    pub target_ends: [NodeId; 2],
    /// Its length before.
    pub target_brlen: f64,
}

impl Tree {
    /// A tree of `num_tips` tips without any edge: to be filled by [`Tree::add_edge`].
    pub(crate) fn unconnected(num_tips: usize) -> Self {
        let num_nodes = if num_tips < 3 { num_tips } else { 2 * num_tips - 2 };
        let num_edges = if num_tips < 2 { 0 } else { 2 * num_tips - 3 };
        Tree {
            num_tips,
            links: vec![[NO_LINK; 3]; num_nodes],
            ends: Vec::with_capacity(num_edges),
            brlens: Vec::with_capacity(num_edges),
        }
    }

    /// Number of tips.
    pub fn num_tips(&self) -> usize {
        self.num_tips
    }

    /// Number of nodes: 2n-2, or n when n < 3.
    pub fn num_nodes(&self) -> usize {
        self.links.len()
    }

    /// Number of edges: 2n-3, or 0 when n < 2.
    pub fn num_edges(&self) -> usize {
        self.ends.len()
    }

    /// All edges in order of their numbers.
    pub fn edges(&self) -> impl Iterator<Item = EdgeId> + use<> {
        (0..self.ends.len() as u32).map(EdgeId)
    }

    /// All nodes in order of their numbers.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.links.len() as u32).map(NodeId)
    }

    /// True for tips.
    pub fn is_tip(&self, node: NodeId) -> bool {
        node.index() < self.num_tips
    }

    /// The two ends of an edge.
    pub fn ends(&self, edge: EdgeId) -> [NodeId; 2] {
        self.ends[edge.index()]
    }

    /// True if an edge leads to a tip.
    pub fn is_terminal(&self, edge: EdgeId) -> bool {
        self.ends(edge).iter().any(|&end| self.is_tip(end))
    }

    /// The end of `edge` that is not `node`.
    pub fn other_end(&self, edge: EdgeId, node: NodeId) -> NodeId {
        let [a, b] = self.ends(edge);
        if a == node {
            b
        } else {
            debug_assert_eq!(b, node);
            a
        }
    }

    /// (neighbour, edge) pairs of a node: one for a tip, three for an inner node.
    pub fn links(&self, node: NodeId) -> impl Iterator<Item = (NodeId, EdgeId)> + '_ {
        self.links[node.index()].iter().copied().filter(|l| l.1 != EdgeId::NONE)
    }

    /// The two links of an inner node that do not use `edge`.
    pub fn other_links(&self, node: NodeId, edge: EdgeId) -> [(NodeId, EdgeId); 2] {
        let [a, b, c] = self.links[node.index()];
        if a.1 == edge {
            [b, c]
        } else if b.1 == edge {
            [a, c]
        } else {
            debug_assert_eq!(c.1, edge);
            [a, b]
        }
    }

    /// Length of an edge.
    pub fn brlen(&self, edge: EdgeId) -> f64 {
        self.brlens[edge.index()]
    }

    /// Sets a length, rounded to the grid; returns the one before.
    pub fn set_brlen(&mut self, edge: EdgeId, length: f64) -> f64 {
        std::mem::replace(&mut self.brlens[edge.index()], to_length_grid(length))
    }

    /// Lifts lengths below `min` to it and cuts those above `max`; how many were lifted and cut. A bound
    /// between two points of the grid is the nearer of them.
    pub fn clamp_brlens(&mut self, min: f64, max: f64) -> (usize, usize) {
        let (min, max) = (to_length_grid(min), to_length_grid(max));
        let (mut lifted, mut cut) = (0, 0);
        for length in &mut self.brlens {
            lifted += usize::from(*length < min);
            cut += usize::from(*length > max);
            *length = length.clamp(min, max);
        }
        (lifted, cut)
    }

    /// Sum of all lengths.
    pub fn total_length(&self) -> f64 {
        // The sum of no lengths would be -0.
        self.brlens.iter().sum::<f64>() + 0.0
    }

    /// Adds an edge while a tree is being built.
    pub(crate) fn add_edge(&mut self, a: NodeId, b: NodeId, length: f64) -> EdgeId {
        let edge = EdgeId(self.ends.len() as u32);
        self.ends.push([a, b]);
        self.brlens.push(to_length_grid(length));
        for (node, other) in [(a, b), (b, a)] {
            let free = self.links[node.index()]
                .iter_mut()
                .find(|l| l.1 == EdgeId::NONE)
                .expect("a node has at most three neighbours");
            *free = (other, edge);
        }
        edge
    }

    /// Builds a tree from its edges. Tips are nodes 0..`num_tips`.
    pub fn from_edges(num_tips: usize, edges: &[(u32, u32, f64)]) -> Self {
        let mut tree = Tree::unconnected(num_tips);
        for &(a, b, length) in edges {
            tree.add_edge(NodeId(a), NodeId(b), length);
        }
        tree.assert_integrity();
        tree
    }

    fn relink(&mut self, node: NodeId, old_edge: EdgeId, neighbour: NodeId, edge: EdgeId) {
        let link = self.links[node.index()]
            .iter_mut()
            .find(|l| l.1 == old_edge)
            .expect("the edge leaves this node");
        *link = (neighbour, edge);
    }

    /// Connects a tip with an inner node of its own, for a tree that grows: like a subtree that was pruned.
    pub(crate) fn hang_on_new_node(
        &mut self,
        inner: NodeId,
        tip: NodeId,
        brlen: f64,
    ) -> PrunedSubtree {
        let pendant = self.add_edge(inner, tip, brlen);
        // A loop, until the regraft gives this edge its ends.
        let spare = self.add_edge(inner, inner, 0.0);
        PrunedSubtree {
            attach: inner,
            pendant,
            merged: EdgeId::NONE,
            spare,
            old_neighbours: [NodeId::NONE; 2],
            old_brlens: [0.0; 2],
            old_ends: [[NodeId::NONE; 2]; 2],
            old_links: [NO_LINK; 3],
        }
    }

    /// Takes off the subtree on the far side of `pendant` seen from `attach`, together with `attach`.
    /// The other two edges of `attach` become one, whose length is their sum.
    ///
    /// ```text
    ///        S                           S
    ///        | pendant                   | pendant
    ///   A -- attach -- B    ==>        attach     A --- B
    ///    merged  spare                              merged
    /// ```
    pub fn prune(&mut self, attach: NodeId, pendant: EdgeId) -> PrunedSubtree {
        debug_assert!(!self.is_tip(attach));
        let [(a, merged), (b, spare)] = self.other_links(attach, pendant);
        let old_brlens = [self.brlen(merged), self.brlen(spare)];
        let old_ends = [self.ends(merged), self.ends(spare)];
        let old_links = self.links[attach.index()];
        self.relink(a, merged, b, merged);
        self.relink(b, spare, a, merged);
        self.ends[merged.index()] = [a, b];
        self.ends[spare.index()] = [NodeId::NONE; 2];
        self.brlens[merged.index()] = old_brlens[0] + old_brlens[1];
        let old_neighbours = [a, b];
        PrunedSubtree {
            attach,
            pendant,
            merged,
            spare,
            old_neighbours,
            old_brlens,
            old_ends,
            old_links,
        }
    }

    /// Puts a pruned subtree into `target`, which becomes two edges with the given lengths:
    /// `target` from its first end to `attach`, `spare` from `attach` to its second end.
    pub fn regraft(
        &mut self,
        pruned: &PrunedSubtree,
        target: EdgeId,
        brlens: [f64; 2],
    ) -> RegraftUndo {
        let [c, d] = self.ends(target);
        let undo = RegraftUndo { target, target_ends: [c, d], target_brlen: self.brlen(target) };
        self.insert_between(pruned, target, [c, d], [target, pruned.spare], brlens);
        undo
    }

    /// Takes back a regraft: the subtree is off again.
    pub(crate) fn undo_regraft(&mut self, pruned: &PrunedSubtree, undo: &RegraftUndo) {
        let [c, d] = undo.target_ends;
        self.relink(c, undo.target, d, undo.target);
        self.relink(d, pruned.spare, c, undo.target);
        self.ends[undo.target.index()] = [c, d];
        self.ends[pruned.spare.index()] = [NodeId::NONE; 2];
        self.brlens[undo.target.index()] = undo.target_brlen;
    }

    /// Takes back a prune: the subtree is where it was, with the lengths it had, and all edges and nodes have their ends and
    /// links in the order that they had: halves of a length differ by it in the last digit of the grid.
    pub(crate) fn undo_prune(&mut self, pruned: &PrunedSubtree) {
        let PrunedSubtree { merged, spare, old_neighbours, old_brlens, .. } = *pruned;
        self.insert_between(pruned, merged, old_neighbours, [merged, spare], old_brlens);
        [self.ends[merged.index()], self.ends[spare.index()]] = pruned.old_ends;
        self.links[pruned.attach.index()] = pruned.old_links;
    }

    fn insert_between(
        &mut self,
        pruned: &PrunedSubtree,
        target: EdgeId,
        [c, d]: [NodeId; 2],
        [to_c, to_d]: [EdgeId; 2],
        brlens: [f64; 2],
    ) {
        let attach = pruned.attach;
        self.relink(c, target, attach, to_c);
        self.relink(d, target, attach, to_d);
        let subtree = self.other_end(pruned.pendant, attach);
        self.links[attach.index()] = [(subtree, pruned.pendant), (c, to_c), (d, to_d)];
        self.ends[to_c.index()] = [c, attach];
        self.ends[to_d.index()] = [attach, d];
        self.brlens[to_c.index()] = to_length_grid(brlens[0]);
        self.brlens[to_d.index()] = to_length_grid(brlens[1]);
    }

    /// Swaps two subtrees across an inner edge: those behind `first` and `second`, which meet `edge` at its two ends.
    /// All edges keep their numbers and lengths; to swap again takes it back.
    ///
    /// ```text
    ///   first \        / second         second \        / first
    ///          o ---- o         ==>             o ---- o
    ///         /  edge  \                       /  edge  \
    /// ```
    pub(crate) fn swap_subtrees(&mut self, edge: EdgeId, first: EdgeId, second: EdgeId) {
        let [mut a, mut b] = self.ends(edge);
        if !self.ends(first).contains(&a) {
            (a, b) = (b, a);
        }
        let [behind_first, behind_second] =
            [(first, a), (second, b)].map(|(e, n)| self.other_end(e, n));
        self.relink(a, first, behind_second, second);
        self.relink(b, second, behind_first, first);
        self.relink(behind_first, first, b, first);
        self.relink(behind_second, second, a, second);
        for (moved, from, to) in [(first, a, b), (second, b, a)] {
            let end = usize::from(self.ends(moved)[1] == from);
            self.ends[moved.index()][end] = to;
        }
    }

    /// Nodes on `node`'s side of `edge` in pre-order, each with the edge by which it was reached.
    pub fn preorder(&self, node: NodeId, edge: EdgeId) -> Vec<(NodeId, EdgeId)> {
        let mut order = Vec::new();
        self.extend_preorder(&mut order, node, edge);
        order
    }

    /// Appends [`Tree::preorder`].
    pub(super) fn extend_preorder(
        &self,
        order: &mut Vec<(NodeId, EdgeId)>,
        node: NodeId,
        edge: EdgeId,
    ) {
        // The branch of a caterpillar to which the walk returns is one; few trees need more than this.
        let mut stack = Vec::with_capacity(32);
        stack.push((node, edge));
        while let Some((node, edge)) = stack.pop() {
            order.push((node, edge));
            if !self.is_tip(node) {
                let [first, second] = self.other_links(node, edge);
                stack.push(second);
                stack.push(first);
            }
        }
    }

    /// Panics if the arrays do not describe one unrooted binary tree, which would be a bug of the program.
    pub fn assert_integrity(&self) {
        let n = self.num_tips;
        assert_eq!(self.ends.len(), if n < 2 { 0 } else { 2 * n - 3 }, "number of edges");
        for node in self.nodes() {
            let degree = self.links(node).count();
            let expected = match (self.is_tip(node), n) {
                (true, 1) => 0,
                (true, _) => 1,
                (false, _) => 3,
            };
            assert_eq!(degree, expected, "degree of {node:?}");
            for (neighbour, edge) in self.links(node) {
                let ends = self.ends(edge);
                assert!(
                    ends == [node, neighbour] || ends == [neighbour, node],
                    "{edge:?} must join {node:?} and {neighbour:?}, but joins {ends:?}"
                );
            }
        }
        for edge in self.edges() {
            let length = self.brlen(edge);
            assert!(length >= 0.0 && length.is_finite(), "length of {edge:?} is {length}");
            assert_eq!(length, to_length_grid(length), "length of {edge:?} lies on the grid");
        }
        if n > 1 {
            let [a, b] = self.ends(EdgeId(0));
            let reached = self.preorder(a, EdgeId(0)).len() + self.preorder(b, EdgeId(0)).len();
            assert_eq!(reached, self.num_nodes(), "the tree is connected");
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({} tips;", self.num_tips)?;
        for edge in self.edges() {
            let [a, b] = self.ends(edge);
            write!(f, " {edge:?}:{a:?}-{b:?}:{}", self.brlen(edge))?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    ///  0 \        2        / 3
    ///     5 ----- 6 ----- 7
    ///  1 /                 \ 4
    /// ```
    fn five_tips() -> Tree {
        Tree::from_edges(
            5,
            &[
                (0, 5, 0.1),
                (1, 5, 0.2),
                (5, 6, 0.3),
                (2, 6, 0.4),
                (6, 7, 0.5),
                (3, 7, 0.6),
                (4, 7, 0.7),
            ],
        )
    }

    #[test]
    fn lengths_outside_the_bounds_are_lifted_and_cut() {
        let mut tree = five_tips();
        for (edge, length) in [(0, 0.0), (1, 9e-7), (2, 1e-6), (3, 100.0), (4, 1e5)] {
            tree.set_brlen(EdgeId(edge), length);
        }
        assert_eq!(tree.clamp_brlens(1e-6, 100.0), (2, 1));
        let lengths: Vec<f64> = tree.edges().map(|edge| tree.brlen(edge)).collect();
        let least = to_length_grid(1e-6);
        assert_eq!(lengths[..5], [least, least, least, 100.0, 100.0]);
        assert_eq!(lengths[5..], [0.6, 0.7].map(to_length_grid));
        assert_eq!(tree.clamp_brlens(1e-6, 100.0), (0, 0));
        tree.assert_integrity();
    }

    #[test]
    fn prune_regraft_and_undo_restore_every_bit() {
        let start = five_tips();
        let mut tree = start.clone();
        for attach in [5, 6, 7].map(NodeId) {
            let pendants: Vec<EdgeId> = start.links(attach).map(|link| link.1).collect();
            for pendant in pendants {
                let sum = tree.other_links(attach, pendant).map(|(_, edge)| tree.brlen(edge));
                let pruned = tree.prune(attach, pendant);
                assert_eq!(tree.brlen(pruned.merged), sum[0] + sum[1]);
                let behind = tree.other_end(pendant, attach);
                let subtree: Vec<EdgeId> =
                    tree.preorder(behind, pendant).into_iter().map(|(_, edge)| edge).collect();
                let is_there = |edge: &EdgeId| *edge != pruned.spare && !subtree.contains(edge);
                for target in start.edges().filter(is_there) {
                    let half = tree.brlen(target) / 2.0;
                    let undo = tree.regraft(&pruned, target, [half, half]);
                    tree.assert_integrity();
                    tree.undo_regraft(&pruned, &undo);
                }
                tree.undo_prune(&pruned);
                tree.assert_integrity();
                assert!(tree == start, "{attach:?}, {pendant:?}");
            }
        }
    }

    #[test]
    fn one_and_two_tips_are_trees_too() {
        Tree::unconnected(1).assert_integrity();
        Tree::from_edges(2, &[(0, 1, 0.25)]).assert_integrity();
        Tree::from_edges(3, &[(0, 3, 0.1), (1, 3, 0.1), (2, 3, 0.1)]).assert_integrity();
    }

    #[test]
    #[should_panic(expected = "degree")]
    fn assert_integrity_catches_a_missing_link() {
        let mut tree = five_tips();
        tree.links[6][1] = NO_LINK;
        tree.assert_integrity();
    }

    #[test]
    #[should_panic(expected = "must join")]
    fn assert_integrity_catches_a_wrong_end() {
        let mut tree = five_tips();
        tree.ends[2] = [NodeId(5), NodeId(7)];
        tree.assert_integrity();
    }
}
