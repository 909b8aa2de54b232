//! The canonical resolution of polytomies: one that depends on the taxa alone.
//!
//! Where inner edges have no length, the data do not tell how the subtrees around them are related, and many
//! resolutions are equally good. Each connected group of such edges is a *polytomy*: one point at which several
//! subtrees meet. Its canonical resolution is a ladder. First come tips at this very point, so that identical
//! sequences are a clade, then the other subtrees, both in the order of their smallest tip:
//!
//! ```text
//!   s1 \     s3    s4     s5     / s7        s1, s2, ...: the subtrees in this order
//!       o --- o --- o --- o --- o
//!   s2 /                         \ s6
//! ```

//!
//! A constraint may demand splits within a polytomy. The subtrees of such a clade are a ladder of their own, which is one
//! subtree of the polytomy. Free subtrees, which have no taxa of the constraint, are in none of these clades.

use super::constraint::{Constraint, ConstraintNode};
use super::constraint_view::ConstraintView;
use super::topology::{EdgeId, NodeId, Tree};
use std::collections::BTreeMap;

/// The tree with the canonical resolution of all polytomies. `unresolved[e]` tells whether edge `e`, if it is an inner
/// one, belongs to a polytomy; all these edges get the length `brlen`. A tip is at the point of the polytomy if its
/// branch is not longer than `no_length`. If the tree satisfies a constraint, so does the result.
///
/// Nodes and edges keep their numbers; an edge that does not belong to a polytomy keeps its length and its split.
pub fn resolve_canonically(
    tree: &Tree,
    unresolved: &[bool],
    brlen: f64,
    no_length: f64,
    constraint: Option<&Constraint>,
) -> Tree {
    let mut edges: Vec<_> = tree.edges().map(|edge| (tree.ends(edge), tree.brlen(edge))).collect();
    let below = smallest_tips(tree);
    let view = constraint.map(|constraint| ConstraintView::new(constraint, tree));
    let mut is_done = vec![false; tree.num_nodes()];
    for node in tree.nodes().filter(|&node| !tree.is_tip(node)) {
        if is_done[node.index()] {
            continue;
        }
        let polytomy = Polytomy::at(tree, node, unresolved);
        let branches = polytomy.subtrees.iter().map(|&(near, edge)| {
            let far = tree.other_end(edge, near);
            let is_elsewhere = !tree.is_tip(far) || tree.brlen(edge) > no_length;
            // Seen from tip 0, which is in the only subtree that is not below the polytomy.
            let (smallest, above) = below[far.index()];
            let smallest = if above == edge { smallest } else { 0 };
            Branch { rank: (is_elsewhere, smallest), end: End::Subtree(near, edge) }
        });
        let ladders = match &view {
            Some(view) if !polytomy.edges.is_empty() => clades(tree, view, branches),
            _ => vec![branches.collect()],
        };
        polytomy.lay_out(tree, ladders, brlen, &mut edges);
        polytomy.nodes.iter().for_each(|node| is_done[node.index()] = true);
    }
    let mut resolved = Tree::unconnected(tree.num_tips());
    for ([a, b], length) in edges {
        resolved.add_edge(a, b, length);
    }
    resolved
}

/// What meets at a polytomy.
#[derive(Debug, Clone, Copy)]
struct Branch {
    /// Its place in the order of a ladder: whether it is more than a tip at the point of the polytomy, and its smallest
    /// tip.
    rank: (bool, u32),
    end: End,
}

#[derive(Debug, Clone, Copy)]
enum End {
    /// An edge that leads away from the polytomy, with its end in it.
    Subtree(NodeId, EdgeId),
    /// A clade within the polytomy, by its number.
    Clade(usize),
}

/// The clades that the constraint demands within a polytomy, each as its branches; clades come before those that contain
/// them. The last one is the polytomy itself.
fn clades(
    tree: &Tree,
    view: &ConstraintView,
    branches: impl Iterator<Item = Branch>,
) -> Vec<Vec<Branch>> {
    let mut outermost = Vec::new();
    // By node of the constraint: the branches that meet there, and the number of their taxa.
    let mut meeting: BTreeMap<ConstraintNode, (Vec<Branch>, u32)> = BTreeMap::new();
    let mut meet = |meeting: &mut BTreeMap<_, (Vec<Branch>, u32)>, branch, place| match place {
        None => outermost.push(branch),
        Some((node, count)) => {
            let (branches, sum) = meeting.entry(node).or_default();
            branches.push(branch);
            *sum += count;
        }
    };
    for branch in branches {
        let End::Subtree(near, edge) = branch.end else { unreachable!("there are no clades yet") };
        meet(&mut meeting, branch, view.meeting_point(tree, near, edge));
    }
    let mut found: Vec<Vec<Branch>> = Vec::new();
    // Nodes of the constraint have larger numbers than those above them.
    while let Some((node, (branches, count))) = meeting.pop_last() {
        match view.above_clade(node, count) {
            Some(above) => {
                let smallest = branches.iter().map(|branch| branch.rank.1).min();
                let smallest = smallest.expect("branches meet here");
                let clade = Branch { rank: (true, smallest), end: End::Clade(found.len()) };
                found.push(branches);
                meet(&mut meeting, clade, Some((above, count)));
            }
            // The rest of the clade is outside.
            None => branches.into_iter().for_each(|branch| meet(&mut meeting, branch, None)),
        }
    }
    if let [_, Branch { end: End::Clade(_), .. }] = outermost[..] {
        // The other side of this clade is outside, so the edge to it is not one of the polytomy.
        outermost.pop();
        outermost.extend(found.pop().expect("it is the last of the clades"));
    }
    found.push(outermost);
    found
}

/// Per node: the smallest tip on its side of the edge towards tip 0, and that edge.
fn smallest_tips(tree: &Tree) -> Vec<(u32, EdgeId)> {
    let mut below: Vec<_> = (0..tree.num_nodes() as u32).map(|node| (node, EdgeId::NONE)).collect();
    if let Some((first, edge)) = tree.links(NodeId(0)).next() {
        for (node, edge) in tree.preorder(first, edge).into_iter().rev() {
            if !tree.is_tip(node) {
                let children = tree.other_links(node, edge);
                let smallest = children.map(|(child, _)| below[child.index()].0);
                below[node.index()].0 = smallest[0].min(smallest[1]);
            }
            below[node.index()].1 = edge;
        }
    }
    below
}

/// A connected group of unresolved edges, or a single node.
struct Polytomy {
    /// Its nodes and edges, ascending.
    nodes: Vec<NodeId>,
    edges: Vec<EdgeId>,
    /// The edges that lead away from it, each with its end in the polytomy.
    subtrees: Vec<(NodeId, EdgeId)>,
}

impl Polytomy {
    /// The polytomy to which an inner node belongs.
    fn at(tree: &Tree, node: NodeId, unresolved: &[bool]) -> Self {
        let (mut nodes, mut edges, mut subtrees) = (Vec::new(), Vec::new(), Vec::new());
        let mut stack = vec![(node, EdgeId::NONE)];
        while let Some((node, from)) = stack.pop() {
            nodes.push(node);
            for (next, edge) in tree.links(node).filter(|&(_, edge)| edge != from) {
                if unresolved[edge.index()] && !tree.is_tip(next) {
                    edges.push(edge);
                    stack.push((next, edge));
                } else {
                    subtrees.push((node, edge));
                }
            }
        }
        nodes.sort_unstable();
        edges.sort_unstable();
        Polytomy { nodes, edges, subtrees }
    }

    /// Makes the ladders of its clades, each given as its branches; the last one is that of the polytomy itself. `edges`
    /// are the ends and lengths of all edges of the tree.
    fn lay_out(
        &self,
        tree: &Tree,
        ladders: Vec<Vec<Branch>>,
        brlen: f64,
        edges: &mut [([NodeId; 2], f64)],
    ) {
        let mut free_nodes = self.nodes.iter().copied();
        let mut free_edges = self.edges.iter().copied();
        let mut join = |edges: &mut [([NodeId; 2], f64)], ends| {
            let edge = free_edges.next().expect("an edge for each node but one");
            edges[edge.index()] = (ends, brlen);
        };
        // The last node of each ladder, from which its clade hangs.
        let mut tops: Vec<NodeId> = Vec::new();
        let outermost = ladders.len() - 1;
        for (number, mut ladder) in ladders.into_iter().enumerate() {
            ladder.sort_unstable_by_key(|branch| branch.rank);
            // Nothing is above the outermost ladder: its last node has two branches, too.
            let num_steps = ladder.len() - 1 - usize::from(number == outermost);
            let steps: Vec<NodeId> = free_nodes.by_ref().take(num_steps).collect();
            for (place, branch) in ladder.iter().enumerate() {
                let step = steps[place.saturating_sub(1).min(num_steps - 1)];
                match branch.end {
                    // The other end may belong to another polytomy.
                    End::Subtree(near, edge) => {
                        let end = usize::from(tree.ends(edge)[1] == near);
                        edges[edge.index()].0[end] = step;
                    }
                    End::Clade(clade) => join(edges, [tops[clade], step]),
                }
            }
            steps.windows(2).for_each(|pair| join(edges, [pair[0], pair[1]]));
            tops.push(steps[num_steps - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::to_length_grid;
    use super::super::{
        NewickOptions, Split, random_tree, same_topology, tree_splits, write_newick,
    };
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use rand::RngExt;

    fn min() -> f64 {
        to_length_grid(1e-6)
    }

    fn marks(tree: &Tree) -> Vec<bool> {
        tree.edges().map(|edge| tree.brlen(edge) <= min()).collect()
    }

    /// A random tree in which a share of the branches, terminal ones among them, has no length, and all others have
    /// different lengths.
    fn tree_with_polytomies(num_tips: usize, share: f64, rng: &mut Rng) -> Tree {
        let mut tree = random_tree(num_tips, 0.0, rng);
        for edge in tree.edges() {
            let is_empty = rng.random_bool(share);
            tree.set_brlen(edge, if is_empty { min() } else { 0.1 + 0.001 * f64::from(edge.0) });
        }
        tree.clamp_brlens(min(), 1.0);
        tree
    }

    /// Swaps subtrees across random inner edges without length, and numbers nodes and edges anew.
    fn shuffled(tree: &Tree, rng: &mut Rng) -> Tree {
        let mut tree = tree.clone();
        for _ in 0..10 * tree.num_edges() {
            let edge = EdgeId(rng.random_range(0..tree.num_edges() as u32));
            let ends = tree.ends(edge);
            if tree.brlen(edge) > min() || ends.iter().any(|&end| tree.is_tip(end)) {
                continue;
            }
            let [(_, x), (_, y)] =
                ends.map(|end| tree.other_links(end, edge)[rng.random_range(0..2)]);
            tree.swap_subtrees(edge, x, y);
            let mut edges: Vec<_> = tree.edges().map(|e| (tree.ends(e), tree.brlen(e))).collect();
            let first = rng.random_range(0..edges.len());
            edges.rotate_left(first);
            let last = 2 * tree.num_tips() as u32 - 3 + tree.num_tips() as u32;
            let anew = |node: NodeId| if tree.is_tip(node) { node.0 } else { last - node.0 };
            let edges: Vec<_> = edges.iter().map(|&([a, b], l)| (anew(a), anew(b), l)).collect();
            tree = Tree::from_edges(tree.num_tips(), &edges);
        }
        tree
    }

    fn text(tree: &Tree) -> String {
        let names: Vec<String> = (0..tree.num_tips()).map(|i| i.to_string()).collect();
        write_newick(tree, |i| &names[i], &NewickOptions::default())
    }

    fn long_splits(tree: &Tree) -> Vec<(Split, u64)> {
        let splits = tree_splits(tree).into_iter().filter(|(edge, _)| !marks(tree)[edge.index()]);
        let mut splits: Vec<_> = splits.map(|(e, s)| (s, tree.brlen(e).to_bits())).collect();
        splits.sort();
        splits
    }

    #[test]
    fn the_resolution_does_not_depend_on_the_one_before() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_tips in [4, 5, 8, 30, 100] {
            for share in [0.0, 0.2, 0.6, 0.9, 1.0] {
                let tree = tree_with_polytomies(num_tips, share, &mut rng);
                let resolved = resolve_canonically(&tree, &marks(&tree), min(), min(), None);
                resolved.assert_integrity();
                assert_eq!(long_splits(&resolved), long_splits(&tree));
                for _ in 0..3 {
                    let other = shuffled(&tree, &mut rng);
                    let again = resolve_canonically(&other, &marks(&other), min(), min(), None);
                    assert_eq!(text(&again), text(&resolved), "{num_tips} tips, {share}");
                }
                let again = resolve_canonically(&resolved, &marks(&resolved), min(), min(), None);
                assert!(same_topology(&again, &resolved));
            }
        }
    }

    #[test]
    fn edges_outside_polytomies_keep_their_numbers_lengths_and_splits() {
        let mut rng = stream(1, Purpose::Test, 1);
        let tree = tree_with_polytomies(40, 0.5, &mut rng);
        let marks = marks(&tree);
        let resolved = resolve_canonically(&tree, &marks, min(), min(), None);
        let [before, after] = [&tree, &resolved].map(|tree| {
            let mut splits = tree_splits(tree);
            splits.retain(|(edge, _)| !marks[edge.index()]);
            splits.sort();
            splits
        });
        assert_eq!(before, after);
        assert!(tree.edges().all(|edge| tree.brlen(edge) == resolved.brlen(edge)));
        let far = |tree: &Tree, tip| tree.links(NodeId(tip)).next().unwrap().1;
        assert!((0..40).all(|tip| far(&tree, tip) == far(&resolved, tip)));
    }

    #[test]
    fn tips_at_the_polytomy_are_a_clade() {
        // One polytomy of all six tips, of which 1, 3 and 5 are at its point.
        let edge = |a, b, length| (a, b, length);
        let edges = [
            edge(0, 6, 0.1),
            edge(3, 6, min()),
            edge(6, 7, min()),
            edge(1, 7, min()),
            edge(7, 8, min()),
            edge(4, 8, 0.2),
            edge(8, 9, min()),
            edge(5, 9, min()),
            edge(2, 9, 0.3),
        ];
        let tree = Tree::from_edges(6, &edges);
        let resolved = resolve_canonically(&tree, &marks(&tree), min(), min(), None);
        let options = NewickOptions { brlens: false, ..NewickOptions::default() };
        let text = write_newick(&resolved, |i| ["a", "b", "c", "d", "e", "f"][i], &options);
        assert_eq!(text, "(a,((b,d),f),(c,e));");
    }
}
