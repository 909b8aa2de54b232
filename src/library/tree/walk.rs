//! Traversals of a tree: edges around an edge, its nearer end, all nodes bottom-up.

use super::topology::{EdgeId, NodeId, Tree};

impl Tree {
    /// Edges at most `radius` edges away from `edge` (its neighbours are at 1), with their distance,
    /// the nearest first; `edge` itself is not among them. Works on a pruned tree too.
    pub(crate) fn edges_within(&self, edge: EdgeId, radius: usize) -> Vec<(EdgeId, usize)> {
        // At most so many: few calls need space twice.
        let most = self.num_edges().min(4 << radius.min(usize::BITS as usize / 2));
        let mut found: Vec<(EdgeId, usize)> = Vec::with_capacity(most);
        // Where each found edge was left: the node farther from the start.
        let mut fronts: Vec<NodeId> = Vec::with_capacity(most);
        let step =
            |from: NodeId, by: EdgeId, distance: usize, found: &mut Vec<_>, fronts: &mut Vec<_>| {
                if distance <= radius && !self.is_tip(from) {
                    for (next, next_edge) in self.other_links(from, by) {
                        found.push((next_edge, distance));
                        fronts.push(next);
                    }
                }
            };
        for end in self.ends(edge) {
            step(end, edge, 1, &mut found, &mut fronts);
        }
        let mut at = 0;
        while at < found.len() {
            let (by, distance) = found[at];
            step(fronts[at], by, distance + 1, &mut found, &mut fronts);
            at += 1;
        }
        found
    }

    /// The end of an edge that is nearer to a node. Looks in both directions in turn, which takes little time if
    /// the node is close.
    pub(crate) fn nearer_end(&self, edge: EdgeId, node: NodeId) -> NodeId {
        // Nodes to visit, each with the edge by which it is reached and the end behind which it lies.
        let mut found: Vec<(NodeId, EdgeId, NodeId)> = Vec::with_capacity(32);
        found.extend(self.ends(edge).map(|end| (end, edge, end)));
        let mut at = 0;
        loop {
            let (next, by, end) = found[at];
            if next == node {
                return end;
            }
            if !self.is_tip(next) {
                found.extend(self.other_links(next, by).map(|(node, edge)| (node, edge, end)));
            }
            at += 1;
        }
    }

    /// All nodes with the edge towards `root`, children before parents; the two
    /// ends of `root` have `root` itself.
    pub fn postorder(&self, root: EdgeId) -> Vec<(NodeId, EdgeId)> {
        let mut order = Vec::with_capacity(self.num_nodes());
        for end in self.ends(root) {
            self.extend_preorder(&mut order, end, root);
        }
        order.reverse();
        order
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::random_tree;
    use super::*;
    use crate::rng::{Purpose, stream};

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
                (1, 5, 0.1),
                (5, 6, 0.1),
                (2, 6, 0.1),
                (6, 7, 0.1),
                (3, 7, 0.1),
                (4, 7, 0.1),
            ],
        )
    }

    #[test]
    fn edges_within_a_radius_come_with_their_distance() {
        let tree = five_tips();
        let within = |edge, radius| {
            let mut found: Vec<_> =
                tree.edges_within(EdgeId(edge), radius).iter().map(|&(e, d)| (e.0, d)).collect();
            assert!(found.is_sorted_by_key(|f| f.1));
            found.sort();
            found
        };
        assert_eq!(within(0, 0), []);
        assert_eq!(within(0, 1), [(1, 1), (2, 1)]);
        assert_eq!(within(0, 2), [(1, 1), (2, 1), (3, 2), (4, 2)]);
        assert_eq!(within(2, 9), [(0, 1), (1, 1), (3, 1), (4, 1), (5, 2), (6, 2)]);
        let mut pruned = tree.clone();
        let off = pruned.prune(NodeId(6), EdgeId(3));
        assert_eq!(pruned.edges_within(off.merged, 9).len(), 4);
    }

    #[test]
    fn one_end_of_an_edge_is_nearer() {
        let tree = five_tips();
        for (edge, node, end) in [(0, 0, 0), (0, 4, 5), (2, 1, 5), (2, 2, 6), (6, 5, 7)] {
            assert_eq!(tree.nearer_end(EdgeId(edge), NodeId(node)), NodeId(end), "{edge} {node}");
        }
    }

    #[test]
    fn postorder_meets_children_first_and_every_node_once() {
        let tree = random_tree(40, 0.1, &mut stream(1, Purpose::Test, 0));
        for root in tree.edges() {
            let order = tree.postorder(root);
            assert_eq!(order.len(), tree.num_nodes());
            let mut seen = vec![false; tree.num_nodes()];
            for &(node, edge) in &order {
                if !tree.is_tip(node) {
                    assert!(
                        tree.other_links(node, edge).iter().all(|(child, _)| seen[child.index()])
                    );
                }
                assert!(!std::mem::replace(&mut seen[node.index()], true));
            }
        }
    }
}
