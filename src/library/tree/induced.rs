//! T|g: a tree restricted to the taxa that have data in partition g, and where every edge of the whole
//! ("global") tree lies on it.
//!
//! ```text
//!   global tree, taxa a..e;            restricted to a, c, d:
//!   b has no data, nor has e
//!
//!      a \   b     e  / c                 a ------ x ------ c
//!         u --- v --- x                            |
//!               |      \ d                         d
//!              ...
//! ```
//!
//! If all taxa have data, T|g is the whole tree, with its own numbers of inner nodes and edges. A map is
//! then brought up to date at the edges that have changed; other maps are made anew.
//!
//! The map is total. A global edge with taxa of g on both sides lies *on* one induced edge. One with
//! taxa of g on one side only *hangs* off an induced path: it belongs to the point where its branch
//! leaves that path (the edges to b and e above). Tip i of T|g is the i-th taxon of g.

use super::topology::{EdgeId, NodeId, Tree};

/// Where one global edge lies on T|g. All lengths are exact: they are sums on the length grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Image {
    /// The induced edge.
    pub edge: EdgeId,
    /// The end of that edge from which `position` is measured (a node of T|g). If T|g is the whole tree, the
    /// place of the first end of the global edge.
    pub from: NodeId,
    /// Distance along the induced edge: for an edge on the path, of its end `near`; for a hanging
    /// one, of the point where its branch leaves the path.
    pub position: f64,
    /// For a hanging edge, distance from the path to its end `near`; `None` on the path.
    pub hang: Option<f64>,
    /// The end of the global edge that `position` or `hang` leads to (a node of the global tree).
    pub near: NodeId,
}

const NOWHERE: Image = Image {
    edge: EdgeId::NONE,
    from: NodeId::NONE,
    position: 0.0,
    hang: Some(0.0),
    near: NodeId::NONE,
};

/// The map from the global tree to T|g, for one set of taxa.
#[derive(Debug, Clone)]
pub struct Restriction {
    taxa: Vec<usize>,
    images: Vec<Image>,
    /// Per global node, seen from taxon 0 of the set: the first node of T|g at or behind it.
    node_image: Vec<NodeId>,
    /// Distance from that node's place to this one.
    distance: Vec<f64>,
    /// The edge from each global node towards taxon 0 of the set.
    above: Vec<EdgeId>,
}

impl Restriction {
    /// The map and T|g, both built afresh. `taxa` are tips of `global`, ascending.
    pub fn new(global: &Tree, taxa: &[usize]) -> (Self, Tree) {
        let mut restriction = Restriction {
            taxa: taxa.to_vec(),
            images: vec![NOWHERE; global.num_edges()],
            node_image: vec![NodeId::NONE; global.num_nodes()],
            distance: vec![0.0; global.num_nodes()],
            above: vec![EdgeId::NONE; global.num_nodes()],
        };
        let mut local = Tree::unconnected(taxa.len());
        if taxa.len() >= 2 {
            restriction.build(global, &mut local);
            restriction.update(global, &local);
        }
        (restriction, local)
    }

    /// The taxa of the set, ascending; tip i of T|g is `taxa()[i]`.
    pub fn taxa(&self) -> &[usize] {
        &self.taxa
    }

    /// True if all taxa of the global tree are in the set.
    pub fn is_complete(&self, global: &Tree) -> bool {
        self.taxa.len() == global.num_tips()
    }

    /// Where a global edge lies. Meaningless for sets of fewer than two taxa.
    pub(crate) fn image(&self, edge: EdgeId) -> &Image {
        &self.images[edge.index()]
    }

    /// True if the edge has taxa of the set on both sides.
    pub fn is_on_path(&self, edge: EdgeId) -> bool {
        self.images[edge.index()].hang.is_none()
    }

    fn root(&self, global: &Tree) -> (NodeId, NodeId, EdgeId) {
        let root = NodeId(self.taxa[0] as u32);
        let (first, edge) = global.links(root).next().expect("a tip has a neighbour");
        (root, first, edge)
    }

    /// Makes the nodes and edges of T|g in post-order from the first taxon.
    fn build(&mut self, global: &Tree, local: &mut Tree) {
        let (_, first, root_edge) = self.root(global);
        let mut next = self.taxa.len() as u32;
        self.node_image.fill(NodeId::NONE);
        for (i, &taxon) in self.taxa.iter().enumerate() {
            self.node_image[taxon] = NodeId(i as u32);
            self.distance[taxon] = 0.0;
        }
        for (node, edge) in global.preorder(first, root_edge).into_iter().rev() {
            if global.is_tip(node) {
                continue;
            }
            let behind = global.other_links(node, edge).map(|(child, up)| {
                let length = self.distance[child.index()] + global.brlen(up);
                (self.node_image[child.index()], length)
            });
            match behind {
                [(NodeId::NONE, _), (NodeId::NONE, _)] => {}
                [(image, length), (NodeId::NONE, _)] | [(NodeId::NONE, _), (image, length)] => {
                    self.node_image[node.index()] = image;
                    self.distance[node.index()] = length;
                }
                [(a, length_a), (b, length_b)] => {
                    let made = NodeId(next);
                    next += 1;
                    local.add_edge(a, made, length_a);
                    local.add_edge(b, made, length_b);
                    self.node_image[node.index()] = made;
                    self.distance[node.index()] = 0.0;
                }
            }
        }
        let length = self.distance[first.index()] + global.brlen(root_edge);
        local.add_edge(NodeId(0), self.node_image[first.index()], length);
    }

    /// Brings the map up to date after the global tree, and T|g with it, has changed. Returns the
    /// length of every edge of T|g as the sum of the global lengths on its path.
    pub fn update(&mut self, global: &Tree, local: &Tree) -> Vec<f64> {
        let mut lengths = vec![0.0; local.num_edges()];
        if self.taxa.len() < 2 {
            return lengths;
        }
        // T|g seen from its tip 0: the edge that leads from each node to the root.
        let (root_neighbour, root_edge) =
            local.links(NodeId(0)).next().expect("a tip has a neighbour");
        let mut up = vec![EdgeId::NONE; local.num_nodes()];
        for (node, edge) in local.preorder(root_neighbour, root_edge) {
            up[node.index()] = edge;
        }
        let (_, first, global_root_edge) = self.root(global);
        self.node_image.fill(NodeId::NONE);
        for (i, &taxon) in self.taxa.iter().enumerate() {
            self.node_image[taxon] = NodeId(i as u32);
            self.distance[taxon] = 0.0;
        }
        let order = global.preorder(first, global_root_edge);
        for &(node, edge) in order.iter().rev() {
            if !global.is_tip(node) {
                let behind = global
                    .other_links(node, edge)
                    .map(|(child, up)| (self.node_image[child.index()], child, global.brlen(up)));
                let (image, distance) = match behind {
                    [(NodeId::NONE, ..), (NodeId::NONE, ..)] => (NodeId::NONE, 0.0),
                    [(image, child, length), (NodeId::NONE, ..)]
                    | [(NodeId::NONE, ..), (image, child, length)] => {
                        (image, self.distance[child.index()] + length)
                    }
                    [(a, ..), (b, ..)] => {
                        let above = local.other_end(up[a.index()], a);
                        debug_assert_eq!(above, local.other_end(up[b.index()], b));
                        (above, 0.0)
                    }
                };
                self.node_image[node.index()] = image;
                self.distance[node.index()] = distance;
            }
            let from = self.node_image[node.index()];
            if from != NodeId::NONE {
                let position = self.distance[node.index()];
                let image = up[from.index()];
                self.images[edge.index()] =
                    Image { edge: image, from, position, hang: None, near: node };
                // Edges nearer to the root come later and overwrite with the longer sum.
                lengths[image.index()] = position + global.brlen(edge);
            }
        }
        for &(node, edge) in &order {
            self.above[node.index()] = edge;
            if self.node_image[node.index()] != NodeId::NONE {
                continue;
            }
            let above = global.other_end(edge, node);
            let from = self.node_image[above.index()];
            self.images[edge.index()] = if from != NodeId::NONE {
                let position = self.distance[above.index()];
                Image { edge: up[from.index()], from, position, hang: Some(0.0), near: above }
            } else {
                let above_edge = self.above[above.index()];
                let parent = self.images[above_edge.index()];
                let hang = parent.hang.map(|hang| hang + global.brlen(above_edge));
                Image { hang, near: above, ..parent }
            };
        }
        if self.is_complete(global) {
            // Any end would do, but this one is known without a walk through the tree.
            for edge in global.edges() {
                let near = global.ends(edge)[0];
                let image = &mut self.images[edge.index()];
                (image.from, image.near) = (self.node_image[near.index()], near);
            }
        }
        lengths
    }

    /// For a set of all taxa: brings the map up to date at a global edge that has other ends than before, after
    /// the same change was made in T|g. Returns the edge of T|g.
    pub(crate) fn update_edge(&mut self, global: &Tree, local: &Tree, edge: EdgeId) -> EdgeId {
        debug_assert!(self.is_complete(global));
        let [near, far] = global.ends(edge);
        let [from, to] = [near, far].map(|end| self.node_image[end.index()]);
        let (_, image) =
            local.links(from).find(|link| link.0 == to).expect("T|g is the whole tree");
        self.images[edge.index()] = Image { edge: image, from, position: 0.0, hang: None, near };
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    ///  0 \        2    3     / 4
    ///     6 ----- 7 -- 8 -- 9
    ///  1 /                   \ 5
    /// ```
    fn six_tips() -> Tree {
        Tree::from_edges(
            6,
            &[
                (0, 6, 1.0),
                (1, 6, 2.0),
                (6, 7, 4.0),
                (2, 7, 8.0),
                (7, 8, 16.0),
                (3, 8, 32.0),
                (8, 9, 64.0),
                (4, 9, 128.0),
                (5, 9, 256.0),
            ],
        )
    }

    #[test]
    fn path_lengths_are_sums() {
        let (_, local) = Restriction::new(&six_tips(), &[0, 4, 5]);
        local.assert_integrity();
        let at = |tip: u32| local.brlen(local.links(NodeId(tip)).next().unwrap().1);
        assert_eq!([at(0), at(1), at(2)], [1.0 + 4.0 + 16.0 + 64.0, 128.0, 256.0]);
    }

    #[test]
    fn every_edge_has_a_place() {
        let tree = six_tips();
        let (restriction, local) = Restriction::new(&tree, &[0, 4, 5]);
        let long = local.links(NodeId(0)).next().unwrap().1;
        // Tip 3 hangs off the long edge at node 8; seen from node 9, that is 64 away.
        let image = restriction.image(EdgeId(5));
        assert_eq!((image.edge, image.position, image.hang), (long, 64.0, Some(0.0)));
        // Edge 7-8 lies on it, and starts 64 away.
        let image = restriction.image(EdgeId(4));
        assert_eq!((image.edge, image.position, image.hang), (long, 64.0, None));
        assert!(restriction.is_on_path(EdgeId(7)) && !restriction.is_on_path(EdgeId(1)));
    }

    #[test]
    fn a_hanging_subtree_keeps_its_distance() {
        let tree = six_tips();
        let (restriction, _) = Restriction::new(&tree, &[0, 1, 2]);
        // Everything behind node 8 hangs off tip 2's edge at node 7 (8 away from the tip).
        for (edge, hang) in [(4, 0.0), (5, 16.0), (6, 16.0), (7, 80.0)] {
            let image = restriction.image(EdgeId(edge));
            assert_eq!(image.hang, Some(hang), "edge {edge}");
        }
    }

    #[test]
    fn two_taxa_and_one() {
        let tree = six_tips();
        let (restriction, local) = Restriction::new(&tree, &[1, 3]);
        assert_eq!(local.brlen(EdgeId(0)), 2.0 + 4.0 + 16.0 + 32.0);
        assert!(tree.edges().all(|edge| restriction.image(edge).edge == EdgeId(0)));
        let (restriction, local) = Restriction::new(&tree, &[1]);
        assert_eq!((restriction.taxa().len(), local.num_edges()), (1, 0));
    }
}
