//! Parsimony search: rounds over all subtrees, each moved to the best place within a radius.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::data::ParsimonyData;
use super::score::parsimony_score;
use super::views::ParsimonyViews;
use crate::rng::Rng;
use crate::tree::{EdgeId, Tree};

/// Improves a tree by subtree pruning and regrafting until a round over all subtrees, in random
/// order, finds no move that saves a change; among equally good places one is drawn. Returns the
/// score reached.
pub fn parsimony_spr(tree: &mut Tree, data: &ParsimonyData, radius: usize, rng: &mut Rng) -> u64 {
    let mut views = ParsimonyViews::new(tree, data);
    let mut subtrees: Vec<(EdgeId, usize)> =
        tree.edges().flat_map(|edge| [(edge, 0), (edge, 1)]).collect();
    let mut improved = true;
    while improved {
        improved = false;
        subtrees.shuffle(rng);
        for &(pendant, side) in &subtrees {
            let attach = tree.ends(pendant)[side];
            if tree.is_tip(attach) {
                continue;
            }
            // Only a position that costs less than the present one can become the best.
            let (mut best, mut best_cost, mut num_ties) = (None, 0, 1u32);
            views.scan_insertions(tree, attach, pendant, radius, |edge, cost| {
                if edge.is_none() || cost < best_cost {
                    (best, best_cost, num_ties) = (edge, cost, 1);
                } else if cost == best_cost && best.is_some() {
                    num_ties += 1;
                    if rng.random_range(0..num_ties) == 0 {
                        best = edge;
                    }
                }
                // A position without a cost is optimal.
                (edge.is_some() || cost > 0).then_some(best_cost)
            });
            if let Some(target) = best {
                views.spr(tree, attach, pendant, target);
                improved = true;
            }
        }
    }
    parsimony_score(tree, data)
}

#[cfg(test)]
mod tests {
    use super::super::naive::Sample;
    use super::super::stepwise_addition;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn a_round_ends_where_no_move_within_the_radius_saves_a_change() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_taxa in [2, 3, 4, 20] {
            let sample = Sample::draw(num_taxa, &[4, 4], 200, &mut rng);
            let data = sample.pack();
            let start = random_tree(num_taxa, 0.1, &mut rng);
            let mut tree = start.clone();
            let score =
                parsimony_spr(&mut tree, &data, 4, &mut stream(1, Purpose::ParsimonyTree, 0));
            tree.assert_integrity();
            assert_eq!(score, sample.naive_score(&tree));
            assert!(score <= parsimony_score(&start, &data));
            let mut again = start.clone();
            parsimony_spr(&mut again, &data, 4, &mut stream(1, Purpose::ParsimonyTree, 0));
            assert_eq!(again, tree);
            for pendant in tree.edges() {
                for attach in tree.ends(pendant).into_iter().filter(|&end| !start.is_tip(end)) {
                    let pruned = tree.prune(attach, pendant);
                    for (target, _) in tree.edges_within(pruned.merged, 4) {
                        let undo = tree.regraft(&pruned, target, [0.0; 2]);
                        assert!(parsimony_score(&tree, &data) >= score);
                        tree.undo_regraft(&pruned, &undo);
                    }
                    tree.undo_prune(&pruned);
                }
            }
        }
    }

    #[test]
    fn a_wide_radius_finds_a_perfect_tree_again() {
        // Columns that are the splits of a tree, each twice: the tree is the only one of that score.
        let mut rng = stream(1, Purpose::Test, 1);
        let truth = random_tree(30, 0.1, &mut rng);
        let splits: Vec<_> = crate::tree::tree_splits(&truth).into_iter().map(|s| s.1).collect();
        let codes: Vec<Vec<crate::alphabet::Code>> =
            (0..30).map(|t| splits.iter().map(|s| u16::from(s.contains(t))).collect()).collect();
        let part = super::super::data::ParsimonyPart {
            num_states: 2,
            tip_taxa: &(0..30).collect::<Vec<_>>(),
            codes: &codes,
            code_masks: &[1, 2],
            weights: &vec![2; splits.len()],
        };
        let data = ParsimonyData::new(30, &[part]);
        assert_eq!(parsimony_score(&truth, &data), 2 * 27);
        let mut tree = stepwise_addition(&data, &mut rng);
        assert_eq!(parsimony_spr(&mut tree, &data, 99, &mut rng), 2 * 27);
    }
}
