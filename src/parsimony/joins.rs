//! Changes that a tree needs whose two parts, on both sides of an edge, are joined elsewhere: tree bisection and reconnection.
//!
//! ```text
//!        A  |  B             Without its edge a tree falls into two. They are joined again by an edge from the middle of one
//!    \      |      /         of A to the middle of one of B: the changes on it are the columns in which the sets of states at
//!     o --- cut --- o        both points have nothing in common. All other changes are within A and B, wherever they are
//!    /      |      \         joined.
//! ```

use super::data::{ParsimonyData, STATE_WORDS, StateBits};
use super::fitch::{BlockSweep, combine_block, join_cost_block};
use crate::tree::{EdgeId, Tree};

/// Changes on the joining edge for each pair of a place on the side of the first end of `cut`, an inner edge, and one on that
/// of the second, in the order of [`Tree::ends`]: those of the first place come first. Places are edges of a part, with
/// their numbers in [`Tree::prune`] of the other part.
pub(crate) fn joining_costs(
    tree: &Tree,
    data: &ParsimonyData,
    cut: EdgeId,
    places: [&[EdgeId]; 2],
) -> Vec<u64> {
    assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
    let mut sweep = BlockSweep::rooted_at(tree, cut, data);
    let roots = tree.ends(cut).map(|end| end.index());
    // Of each edge the end farther from the cut.
    let mut lower = vec![usize::MAX; tree.num_edges()];
    for step in &sweep.steps {
        step.children.iter().for_each(|&(child, edge)| lower[edge.index()] = child);
    }
    let nodes = places
        .map(|places| -> Vec<usize> { places.iter().map(|place| lower[place.index()]).collect() });
    let stride = data.blocks.iter().map(|block| block.range().len()).max().unwrap_or(0);
    // The set of all that is in the same part and not behind a node, and those in the middle of places.
    let mut above = vec![[0; STATE_WORDS]; stride * tree.num_nodes()];
    let mut middle = nodes.each_ref().map(|nodes| vec![[0; STATE_WORDS]; stride * nodes.len()]);
    let mut costs = vec![0; nodes[0].len() * nodes[1].len()];
    for (number, block) in data.blocks.iter().enumerate() {
        let num_states = block.range().len();
        let range = |at: usize| at * stride..at * stride + num_states;
        sweep.fill(data, number);
        let mut set = [[0; STATE_WORDS]; 64];
        for step in sweep.steps.iter().rev() {
            let [(first, _), (second, _)] = step.children;
            for (child, sibling) in [(first, second), (second, first)] {
                let beside = sweep.set(sibling, num_states);
                if roots.contains(&step.node) {
                    above[range(child)].copy_from_slice(beside);
                } else {
                    combine_block(&above[range(step.node)], beside, &mut set);
                    above[range(child)].copy_from_slice(&set[..num_states]);
                }
            }
        }
        for (nodes, middle) in nodes.iter().zip(&mut middle) {
            for (at, &node) in nodes.iter().enumerate() {
                let below = sweep.set(node, num_states);
                combine_block(&above[range(node)], below, &mut middle[range(at)]);
            }
        }
        let [first, second]: [Vec<&[StateBits]>; 2] =
            [0, 1].map(|side| (0..nodes[side].len()).map(|at| &middle[side][range(at)]).collect());
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
        for (cost, (a, b)) in costs.iter_mut().zip(pairs) {
            *cost += join_cost_block(a, b);
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
    fn costs_differ_like_the_scores_of_the_joined_trees() {
        let mut rng = stream(4, Purpose::Test, 0);
        for num_taxa in [4, 5, 12] {
            let sample = Sample::draw(num_taxa, &[4, 20, 2], 120, &mut rng);
            let data = sample.pack();
            let mut tree = random_tree(num_taxa, 0.1, &mut rng);
            let score = parsimony_score(&tree, &data);
            let inner: Vec<EdgeId> = tree.edges().filter(|&edge| !tree.is_terminal(edge)).collect();
            for cut in inner {
                let ends = tree.ends(cut);
                // The present place first.
                let places = ends.map(|end| {
                    let mut part = tree.clone();
                    let present = part.prune(end, cut).merged;
                    let others = part.edges_within(present, 99).into_iter().map(|one| one.0);
                    std::iter::once(present).chain(others).collect::<Vec<_>>()
                });
                let costs = joining_costs(&tree, &data, cut, [&places[0], &places[1]]);
                let mut costs_left = costs.iter();
                for &place in &places[0] {
                    let first = tree.prune(ends[0], cut);
                    let undo_first = tree.regraft(&first, place, [0.0; 2]);
                    for &place in &places[1] {
                        let second = tree.prune(ends[1], cut);
                        let undo_second = tree.regraft(&second, place, [0.0; 2]);
                        let cost = costs_left.next().expect("one for each pair");
                        assert_eq!(parsimony_score(&tree, &data) + costs[0], score + cost);
                        assert_eq!(sample.naive_score(&tree) + costs[0], score + cost);
                        tree.undo_regraft(&second, &undo_second);
                        tree.undo_prune(&second);
                    }
                    tree.undo_regraft(&first, &undo_first);
                    tree.undo_prune(&first);
                }
                assert_eq!(costs_left.next(), None);
            }
        }
    }
}
