//! Where the tree has changed since subtrees were scanned.

use super::schedule::CHANGE_RADIUS;
use crate::tree::{EdgeId, NodeId, Tree, edges_not_in};
use serde::{Deserialize, Serialize};

/// Inner nodes whose subtrees have to be scanned, because the tree has changed near them since their last scan.
/// For subtrees far from any change, the present position would be found to be the best again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    nodes: Vec<bool>,
}

impl Changed {
    /// All subtrees have to be scanned.
    pub fn all(tree: &Tree) -> Self {
        Changed { nodes: vec![true; tree.num_nodes()] }
    }

    /// No subtrees have to be scanned.
    pub fn none(tree: &Tree) -> Self {
        Changed { nodes: vec![false; tree.num_nodes()] }
    }

    /// True if no subtree has to be scanned.
    pub fn is_empty(&self) -> bool {
        !self.nodes.contains(&true)
    }

    /// Marks the nodes within [`CHANGE_RADIUS`] edges of the edge `place`.
    pub fn mark_around(&mut self, tree: &Tree, place: EdgeId) {
        self.mark_within(tree, place, CHANGE_RADIUS);
    }

    /// Marks the nodes within `radius` edges of the edge `place`.
    pub fn mark_within(&mut self, tree: &Tree, place: EdgeId, radius: usize) {
        for end in tree.ends(place) {
            let mut stack = vec![(end, place, 0)];
            while let Some((node, edge, depth)) = stack.pop() {
                self.nodes[node.index()] = true;
                if depth < radius && !tree.is_tip(node) {
                    stack.extend(tree.other_links(node, edge).map(|(n, e)| (n, e, depth + 1)));
                }
            }
        }
    }

    /// Marks the nodes within `radius` edges of one whose split `other` does not have.
    pub(super) fn mark_differences(&mut self, tree: &Tree, other: &Tree, radius: usize) {
        for edge in edges_not_in(tree, other) {
            self.mark_within(tree, edge, radius);
        }
    }

    /// Leaves out the nodes that are not within `radius` edges of one whose split `other` does not have.
    pub(super) fn keep_near_differences(&mut self, tree: &Tree, other: &Tree, radius: usize) {
        let mut near = Changed::none(tree);
        near.mark_differences(tree, other, radius);
        self.nodes.iter_mut().zip(near.nodes).for_each(|(own, near)| *own &= near);
    }

    /// True if there is an entry for each node of the tree.
    pub(super) fn fits(&self, tree: &Tree) -> bool {
        self.nodes.len() == tree.num_nodes()
    }

    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.nodes[node.index()]
    }

    pub(super) fn take(&mut self, node: NodeId) {
        self.nodes[node.index()] = false;
    }
}
