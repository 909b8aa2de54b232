//! Regions in which two trees of the same taxa differ.
//!
//! If only the splits that both trees have are kept, each tree collapses to the same tree with polytomies (their
//! strict consensus). A region is such a polytomy: the trees resolve it differently. The resolution of one tree can
//! replace that of the other, region by region, whatever the rest of the trees.

use super::splits::{Split, tree_splits};
use super::topology::{EdgeId, NodeId, Tree};
use std::collections::{BTreeMap, HashMap};

/// A region of a tree, with its resolution in another tree.
#[derive(Debug, Clone)]
pub struct Region {
    /// The edges of the region, with their ends and length according to the other tree.
    inner: Vec<(EdgeId, [NodeId; 2], f64)>,
    /// The edges around the region, with their end in it according to the other tree.
    around: Vec<(EdgeId, NodeId)>,
    /// The nodes of the region, in ascending order.
    nodes: Vec<NodeId>,
}

/// A tree seen from tip 0, together with the numbers of its edges that are shared with another tree.
struct Seen {
    /// All edges with their nearer and farther node; parents come before children.
    edges: Vec<(EdgeId, [NodeId; 2])>,
    /// By node: the nearest shared edge on the way from it to tip 0, as its number in the first tree.
    above: Vec<EdgeId>,
    /// By edge: its number in the first tree, or none if that has no such split.
    shared: Vec<EdgeId>,
}

impl Seen {
    fn new(tree: &Tree, shared: Vec<EdgeId>) -> Self {
        let mut seen =
            Seen { edges: Vec::new(), above: vec![EdgeId::NONE; tree.num_nodes()], shared };
        let Some((first, edge)) = tree.links(NodeId(0)).next() else { return seen };
        for (node, edge) in tree.preorder(first, edge) {
            let parent = tree.other_end(edge, node);
            let own = seen.shared[edge.index()];
            seen.above[node.index()] =
                if own == EdgeId::NONE { seen.above[parent.index()] } else { own };
            seen.edges.push((edge, [parent, node]));
        }
        seen
    }
}

/// The regions in which `tree` differs from `other`, a tree of the same taxa: in the order of their shared edge
/// towards tip 0.
pub fn regions(tree: &Tree, other: &Tree) -> Vec<Region> {
    let mut shared = [tree, other].map(|tree| vec![EdgeId::NONE; tree.num_edges()]);
    for [own, others] in shared_edges(tree, other) {
        shared[0][own.index()] = own;
        shared[1][others.index()] = own;
    }
    let [shared, others_shared] = shared;
    let (own, others) = (Seen::new(tree, shared), Seen::new(other, others_shared));
    // Inner nodes and edges by region, that is by the shared edge above.
    let mut nodes: Vec<[Vec<NodeId>; 2]> = vec![Default::default(); tree.num_edges()];
    let mut free: Vec<Vec<EdgeId>> = vec![Vec::new(); tree.num_edges()];
    for (side, (seen, tree)) in [(&own, tree), (&others, other)].into_iter().enumerate() {
        for &(_, [_, node]) in seen.edges.iter().filter(|(_, [_, node])| !tree.is_tip(*node)) {
            nodes[seen.above[node.index()].index()][side].push(node);
        }
    }
    for &(edge, [_, node]) in &own.edges {
        if own.shared[edge.index()] == EdgeId::NONE {
            free[own.above[node.index()].index()].push(edge);
        }
    }
    // The node of `tree` that takes the place of a node of `other`.
    let mut place = vec![NodeId::NONE; other.num_nodes()];
    for [own, others] in &nodes {
        own.iter().zip(others).for_each(|(&own, &other)| place[other.index()] = own);
    }
    let mut found: BTreeMap<EdgeId, Region> = BTreeMap::new();
    for (region, _) in free.iter().enumerate().filter(|(_, edges)| !edges.is_empty()) {
        let mut nodes = nodes[region][0].clone();
        nodes.sort();
        let region = EdgeId(region as u32);
        found.insert(region, Region { inner: Vec::new(), around: Vec::new(), nodes });
    }
    for &(edge, [parent, node]) in &others.edges {
        let [upper, lower] = [parent, node].map(|node| others.above[node.index()]);
        match others.shared[edge.index()] {
            EdgeId::NONE => {
                let region = found.get_mut(&lower).expect("both trees have the region");
                let edge_here = free[lower.index()][region.inner.len()];
                let ends = [parent, node].map(|node| place[node.index()]);
                region.inner.push((edge_here, ends, other.brlen(edge)));
            }
            shared => {
                if let Some(region) = found.get_mut(&upper) {
                    region.around.push((shared, place[parent.index()]));
                }
                if let Some(region) = found.get_mut(&lower) {
                    region.around.push((shared, place[node.index()]));
                }
            }
        }
    }
    found.into_values().collect()
}

/// Sets the length of each edge of `tree` whose split `other` has, too, to its length there.
pub fn adopt_shared_brlens(tree: &mut Tree, other: &Tree) {
    for [edge, others] in shared_edges(tree, other) {
        tree.set_brlen(edge, other.brlen(others));
    }
}

/// The edges of `tree` whose splits `other`, a tree of the same taxa, does not have.
pub fn edges_not_in(tree: &Tree, other: &Tree) -> Vec<EdgeId> {
    let mut is_shared = vec![false; tree.num_edges()];
    shared_edges(tree, other).iter().for_each(|[edge, _]| is_shared[edge.index()] = true);
    tree.edges().filter(|edge| !is_shared[edge.index()]).collect()
}

/// The edges of two trees of the same taxa that have the same split, in pairs; those to tips come first.
fn shared_edges(tree: &Tree, other: &Tree) -> Vec<[EdgeId; 2]> {
    let to_tip = |tree: &Tree, tip| tree.links(tip).next().expect("a tip has an edge").1;
    let tips = (0..tree.num_tips() as u32).map(NodeId);
    let mut pairs: Vec<[EdgeId; 2]> =
        tips.map(|tip| [to_tip(tree, tip), to_tip(other, tip)]).collect();
    // Only looked up, not iterated: its order does not reach a result.
    let of_other: HashMap<Split, EdgeId> =
        tree_splits(other).into_iter().map(|(edge, split)| (split, edge)).collect();
    let same = |(edge, split)| Some([edge, *of_other.get(&split)?]);
    pairs.extend(tree_splits(tree).into_iter().filter_map(same));
    pairs
}

impl Region {
    /// True if a branch of the region is longer than this in the other tree: otherwise that has a polytomy there.
    pub fn has_longer(&self, brlen: f64) -> bool {
        self.inner.iter().any(|inner| inner.2 > brlen)
    }

    /// The edges of the region and around it.
    pub fn edges(&self) -> impl Iterator<Item = EdgeId> + '_ {
        let around = self.around.iter().map(|(edge, _)| *edge);
        self.inner.iter().map(|(edge, ..)| *edge).chain(around)
    }

    /// `tree` with the other tree's resolution of this region, and its lengths of the edges within. All edges and
    /// nodes keep their numbers, so other regions of the same tree remain valid.
    pub fn resolve(&self, tree: &Tree) -> Tree {
        let ends = |edge: EdgeId| tree.ends(edge).map(|node| node.0);
        let mut edges: Vec<(u32, u32, f64)> =
            tree.edges().map(|edge| (ends(edge)[0], ends(edge)[1], tree.brlen(edge))).collect();
        for &(edge, [a, b], brlen) in &self.inner {
            edges[edge.index()] = (a.0, b.0, brlen);
        }
        for &(edge, node) in &self.around {
            let (a, b, _) = &mut edges[edge.index()];
            let is_first = self.nodes.binary_search(&NodeId(*a)).is_ok();
            *(if is_first { a } else { b }) = node.0;
        }
        Tree::from_edges(tree.num_tips(), &edges)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::random_tree;
    use super::super::splits::same_topology;
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use rand::RngExt;

    /// The tree after a few random subtree moves.
    fn shaken(tree: &Tree, moves: usize, rng: &mut Rng) -> Tree {
        let mut tree = tree.clone();
        for _ in 0..moves {
            let attach = NodeId(rng.random_range(tree.num_tips() as u32..tree.num_nodes() as u32));
            let (_, pendant) = tree.links(attach).nth(rng.random_range(0..3)).unwrap();
            let pruned = tree.prune(attach, pendant);
            let targets = tree.edges_within(pruned.merged, 4);
            let target = match targets.is_empty() {
                true => pruned.merged,
                false => targets[rng.random_range(0..targets.len())].0,
            };
            let half = tree.brlen(target) / 2.0;
            tree.regraft(&pruned, target, [half, half]);
        }
        tree
    }

    #[test]
    fn all_regions_resolved_give_the_other_tree() {
        let mut rng = stream(1, Purpose::Test, 0);
        for case in 0..200 {
            let num_tips = rng.random_range(4..60);
            let tree = random_tree(num_tips, 0.1, &mut rng);
            let other = shaken(&tree, case % 7, &mut rng);
            let found = regions(&tree, &other);
            assert_eq!(found.is_empty(), same_topology(&tree, &other));
            let mut now = tree.clone();
            let mut left = found.len();
            for region in &found {
                now = region.resolve(&now);
                now.assert_integrity();
                left -= 1;
                assert_eq!(regions(&now, &other).len(), left);
            }
            assert!(same_topology(&now, &other));
        }
    }

    #[test]
    fn equal_trees_have_no_regions() {
        let tree = random_tree(30, 0.1, &mut stream(1, Purpose::Test, 1));
        assert!(regions(&tree, &tree).is_empty());
    }
}
