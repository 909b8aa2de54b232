//! T|g with the state of its CLVs: the direction of each one, and whether it is up to date.
//!
//! Two invariants hold between calls. (1) Following `toward` from any inner node leads to the virtual
//! root. (2) All CLVs on the path from a stale CLV to the virtual root are stale, so the search for stale
//! CLVs stops at the first valid one.

use crate::likelihood::engine::{Clv, SweepOperation};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// One partition's tree and the state of its CLVs.
#[derive(Debug, Clone)]
pub(super) struct PartitionTree {
    tree: Tree,
    /// Per node (used for inner nodes): the edge towards which its CLV points.
    toward: Vec<EdgeId>,
    valid: Vec<bool>,
    root: EdgeId,
}

impl PartitionTree {
    /// A tree with all CLVs stale and edge 0, if there is an edge, as the virtual root.
    pub(super) fn new(tree: Tree) -> Self {
        let root = if tree.num_edges() > 0 { EdgeId(0) } else { EdgeId::NONE };
        PartitionTree::rooted(tree, root)
    }

    /// A tree with all CLVs stale and this virtual root.
    fn rooted(tree: Tree, root: EdgeId) -> Self {
        let mut toward = vec![EdgeId::NONE; tree.num_nodes()];
        if root != EdgeId::NONE {
            for end in tree.ends(root) {
                for (node, edge) in tree.preorder(end, root) {
                    toward[node.index()] = edge;
                }
            }
        }
        PartitionTree { toward, valid: vec![false; tree.num_nodes()], root, tree }
    }

    /// Replaces the tree by another of the same taxa, with edge 0, if there is an edge, as the virtual root. CLVs remain valid if
    /// all that is behind them is the same in both trees.
    pub(super) fn set_tree(&mut self, tree: Tree) {
        self.keep_what_is_in(PartitionTree::new(tree));
    }

    /// The same with this virtual root.
    pub(super) fn set_rooted_tree(&mut self, tree: Tree, root: EdgeId) {
        self.keep_what_is_in(PartitionTree::rooted(tree, root));
    }

    /// Becomes another tree of the same taxa; CLVs of what is in both remain valid.
    fn keep_what_is_in(&mut self, new: PartitionTree) {
        let before = std::mem::replace(self, new);
        if self.root == EdgeId::NONE {
            return;
        }
        let tree = &self.tree;
        for (node, edge) in tree.postorder(self.root) {
            if !tree.is_tip(node) && before.is_valid(node) && before.toward(node) == edge {
                let is_same = |(child, edge): (NodeId, EdgeId)| {
                    before.tree.links(node).any(|link| link == (child, edge))
                        && before.tree.brlen(edge) == tree.brlen(edge)
                        && (tree.is_tip(child) || self.valid[child.index()])
                };
                self.valid[node.index()] = tree.other_links(node, edge).into_iter().all(is_same);
            }
        }
    }

    /// Topology and branch lengths.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The virtual root.
    pub(super) fn root(&self) -> EdgeId {
        self.root
    }

    /// The edge towards which a node's CLV points (the only edge of a tip).
    pub(super) fn toward(&self, node: NodeId) -> EdgeId {
        self.toward[node.index()]
    }

    /// True if a node's CLV is up to date.
    pub(super) fn is_valid(&self, node: NodeId) -> bool {
        self.valid[node.index()]
    }

    /// The stored CLV of a node.
    pub(super) fn clv(&self, node: NodeId) -> Clv {
        match node.0.checked_sub(self.tree.num_tips() as u32) {
            None => Clv::Tip(node.0),
            Some(slot) => Clv::Stored(slot),
        }
    }

    /// True if no CLV is stale.
    pub(super) fn is_up_to_date(&self) -> bool {
        // By invariant (2), the two CLVs at the virtual root are stale if any is.
        let is_valid = |node: NodeId| self.tree.is_tip(node) || self.is_valid(node);
        self.root == EdgeId::NONE || self.tree.ends(self.root).into_iter().all(is_valid)
    }

    /// Marks all CLVs as stale.
    pub(super) fn invalidate(&mut self) {
        self.valid.fill(false);
    }

    /// Sets a branch length; CLVs that depend on it become stale. Returns whether it changed.
    pub(super) fn set_brlen(&mut self, edge: EdgeId, length: f64) -> bool {
        let before = self.tree.set_brlen(edge, length);
        if before == self.tree.brlen(edge) {
            return false;
        }
        if edge != self.root {
            self.set_stale_behind(edge);
        }
        true
    }

    /// Sets a branch length that a sweep has optimised. The sweep has also updated the CLVs.
    pub(super) fn adopt_brlen(&mut self, edge: EdgeId, length: f64) {
        self.tree.set_brlen(edge, length);
    }

    /// The end of an edge (other than the virtual root) that is nearer to the virtual root.
    pub(super) fn near_end(&self, edge: EdgeId) -> NodeId {
        let [a, b] = self.tree.ends(edge);
        if self.tree.is_tip(a) || self.toward(a) == edge { b } else { a }
    }

    /// Marks the CLVs as stale that depend on the length of an edge other than the virtual root.
    pub(super) fn set_stale_behind(&mut self, edge: EdgeId) {
        self.invalidate_from(self.near_end(edge));
    }

    fn invalidate_from(&mut self, mut node: NodeId) {
        while self.valid[node.index()] {
            self.valid[node.index()] = false;
            let edge = self.toward(node);
            if edge == self.root {
                break;
            }
            node = self.tree.other_end(edge, node);
            if self.tree.is_tip(node) {
                break;
            }
        }
    }

    /// Moves the virtual root. The CLVs between the old and the new one change direction and become stale.
    pub(super) fn move_root(&mut self, edge: EdgeId) {
        if edge == self.root {
            return;
        }
        let mut node = self.near_end(edge);
        let mut incoming = edge;
        loop {
            let outgoing = std::mem::replace(&mut self.toward[node.index()], incoming);
            self.valid[node.index()] = false;
            if outgoing == self.root {
                break;
            }
            node = self.tree.other_end(outgoing, node);
            incoming = outgoing;
        }
        self.root = edge;
    }

    /// Appends the updates of all stale CLVs, children before parents, and marks these CLVs as valid.
    pub(super) fn take_stale(&mut self, operations: &mut Vec<SweepOperation>) {
        if self.root == EdgeId::NONE {
            return;
        }
        let start = operations.len();
        let mut stack: Vec<NodeId> = Vec::with_capacity(32);
        stack.extend(self.tree.ends(self.root));
        while let Some(node) = stack.pop() {
            if self.tree.is_tip(node) || self.valid[node.index()] {
                continue;
            }
            self.valid[node.index()] = true;
            let children = self.tree.other_links(node, self.toward(node));
            operations.push(SweepOperation {
                parent: self.clv(node),
                children: children.map(|(child, _)| self.clv(child)),
                edges: children.map(|(_, edge)| edge.0),
            });
            stack.extend(children.map(|(child, _)| child));
        }
        // The traversal visits parents first, and the updates need children first.
        operations[start..].reverse();
    }

    /// The two CLVs at the virtual root.
    pub(super) fn root_ends(&self) -> [Clv; 2] {
        self.tree.ends(self.root).map(|node| self.clv(node))
    }

    /// Regrafts the subtree behind `pendant` (seen from `attach`) into `target`; see [`Tree::prune`].
    /// Afterwards, the pendant edge is the virtual root.
    pub(super) fn move_subtree(
        &mut self,
        attach: NodeId,
        pendant: EdgeId,
        target: EdgeId,
        brlens: [f64; 2],
    ) -> (PrunedSubtree, RegraftUndo) {
        self.move_root(pendant);
        let pruned = self.prune(attach, pendant);
        self.turn_to(pruned.merged, target);
        let undo = self.tree.regraft(&pruned, target, brlens);
        self.after_insertion(&pruned, undo.target_ends, [target, pruned.spare]);
        (pruned, undo)
    }

    /// Undoes [`PartitionTree::move_subtree`], including the lengths of the edges that it joined and split.
    pub(super) fn undo_move(&mut self, pruned: &PrunedSubtree, undo: &RegraftUndo) {
        self.move_root(pruned.pendant);
        self.tree.undo_regraft(pruned, undo);
        self.set_toward(undo.target_ends[1], undo.target);
        self.turn_to(undo.target, pruned.merged);
        self.tree.undo_prune(pruned);
        self.after_insertion(pruned, pruned.old_neighbours, [pruned.merged, pruned.spare]);
    }

    /// Swaps two subtrees across an edge; see [`Tree::swap_subtrees`]. Afterwards, the edge is the virtual root.
    pub(super) fn swap_subtrees(&mut self, edge: EdgeId, first: EdgeId, second: EdgeId) {
        self.move_root(edge);
        self.tree.swap_subtrees(edge, first, second);
        for end in self.tree.ends(edge) {
            self.valid[end.index()] = false;
        }
    }

    fn prune(&mut self, attach: NodeId, pendant: EdgeId) -> PrunedSubtree {
        let pruned = self.tree.prune(attach, pendant);
        self.set_toward(pruned.old_neighbours[1], pruned.merged);
        pruned
    }

    /// While a subtree is pruned: changes the edge towards which the CLVs of the rest point.
    fn turn_to(&mut self, from: EdgeId, to: EdgeId) {
        let root = std::mem::replace(&mut self.root, from);
        self.move_root(to);
        self.root = root;
    }

    fn after_insertion(&mut self, pruned: &PrunedSubtree, ends: [NodeId; 2], edges: [EdgeId; 2]) {
        for (end, edge) in ends.into_iter().zip(edges) {
            self.set_toward(end, edge);
        }
        self.toward[pruned.attach.index()] = pruned.pendant;
        self.valid[pruned.attach.index()] = false;
    }

    fn set_toward(&mut self, node: NodeId, edge: EdgeId) {
        self.toward[node.index()] = edge;
    }
}
