//! Changes that the interchanges of all inner edges of a tree would bring.
//!
//! Block by block, the sets of both directions of every edge are computed, and with them those of the four subtrees around each
//! inner edge.

use super::data::{ParsimonyData, STATE_WORDS};
use super::fitch::{BlockSweep, combine_block, quartet_costs_block};
use crate::tree::{EdgeId, NodeId, Tree};

/// A set of states beside an edge.
#[derive(Clone, Copy)]
enum Side {
    /// What is behind this node, seen from the root.
    Below(usize),
    /// All that is not behind this node.
    Above(usize),
}

/// Of each inner edge of a tree, the changes that its three resolutions need at its ends and on it, besides those within its four
/// subtrees: the present one, and those in which the first subtree at one end swaps its place with the first, or with the
/// second, at the other end (in the order of [`Tree::ends`] and [`Tree::other_links`]).
pub(crate) fn resolution_costs(tree: &Tree, data: &ParsimonyData) -> Vec<(EdgeId, [u64; 3])> {
    assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
    if tree.num_tips() < 4 {
        return Vec::new();
    }
    let mut sweep = BlockSweep::new(tree, data);
    let mut upper = vec![sweep.root.0; tree.num_nodes()];
    for step in &sweep.steps {
        step.children.iter().for_each(|&(child, edge)| upper[child] = edge);
    }
    let sides_at = |end: NodeId, edge: EdgeId| {
        tree.other_links(end, edge).map(|(far, by)| match upper[end.index()] == by {
            true => Side::Above(end.index()),
            false => Side::Below(far.index()),
        })
    };
    let inner = tree.edges().filter(|&edge| !tree.is_terminal(edge));
    let quartets: Vec<(EdgeId, [[Side; 2]; 2])> =
        inner.map(|edge| (edge, tree.ends(edge).map(|end| sides_at(end, edge)))).collect();
    let mut costs: Vec<(EdgeId, [u64; 3])> = quartets.iter().map(|one| (one.0, [0; 3])).collect();
    let stride = data.blocks.iter().map(|block| block.range().len()).max().unwrap_or(0);
    let mut above = vec![[0; STATE_WORDS]; stride * tree.num_nodes()];
    for (number, block) in data.blocks.iter().enumerate() {
        let num_states = block.range().len();
        let range = |node: usize| node * stride..node * stride + num_states;
        sweep.fill(data, number);
        let [a, b] = sweep.root.1;
        for (node, other) in [(a, b), (b, a)] {
            above[range(node)].copy_from_slice(sweep.set(other, num_states));
        }
        let mut set = [[0; STATE_WORDS]; 64];
        for step in sweep.steps.iter().rev() {
            let [(first, _), (second, _)] = step.children;
            for (child, sibling) in [(first, second), (second, first)] {
                combine_block(&above[range(step.node)], sweep.set(sibling, num_states), &mut set);
                above[range(child)].copy_from_slice(&set[..num_states]);
            }
        }
        let set_of = |side: Side| match side {
            Side::Below(node) => sweep.set(node, num_states),
            Side::Above(node) => &above[range(node)],
        };
        for ((_, costs), (_, [[a, b], [c, d]])) in costs.iter_mut().zip(&quartets) {
            let found = quartet_costs_block([a, b, c, d].map(|side| set_of(*side)));
            costs.iter_mut().zip(found).for_each(|(cost, found)| *cost += found);
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::super::naive::Sample;
    use super::super::parsimony_score;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn costs_differ_like_the_scores_of_the_trees() {
        let mut rng = stream(3, Purpose::Test, 0);
        for num_taxa in [4, 5, 20] {
            let data = Sample::draw(num_taxa, &[4, 20, 2], 150, &mut rng).pack();
            let mut tree = random_tree(num_taxa, 0.1, &mut rng);
            let score = parsimony_score(&tree, &data);
            let all = resolution_costs(&tree, &data);
            assert_eq!(all.len(), num_taxa - 3);
            for (edge, [present, first, second]) in all {
                for (number, cost) in [first, second].into_iter().enumerate() {
                    let [a, b] = tree.ends(edge);
                    let here = tree.other_links(a, edge)[0].1;
                    let there = tree.other_links(b, edge)[number].1;
                    tree.swap_subtrees(edge, here, there);
                    assert_eq!(parsimony_score(&tree, &data) + present, score + cost);
                    tree.swap_subtrees(edge, there, here);
                }
            }
        }
    }
}
