//! Starting trees by stepwise addition: taxa in random order, each into the edge where it adds the
//! fewest changes.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::data::ParsimonyData;
use super::views::ParsimonyViews;
use crate::rng::Rng;
use crate::tree::{DEFAULT_BRLEN, EdgeId, NodeId, Tree};

/// A tree of all taxa by randomised stepwise addition. Among equally good edges one is drawn.
///
/// Lengths are the default's halves: see [`super::parsimony_brlens`].
pub fn stepwise_addition(data: &ParsimonyData, rng: &mut Rng) -> Tree {
    let num_taxa = data.num_taxa();
    let mut order: Vec<u32> = (0..num_taxa as u32).collect();
    order.shuffle(rng);
    if let Some(constraint) = data.constraint() {
        constraint.begin_with_origin(&mut order);
    }
    if num_taxa < 3 {
        let mut tree = Tree::unconnected(num_taxa);
        if num_taxa == 2 {
            tree.add_edge(NodeId(0), NodeId(1), DEFAULT_BRLEN);
        }
        return tree;
    }
    let (mut tree, mut views) = ParsimonyViews::of_three([order[0], order[1], order[2]], data);
    for (inner, &taxon) in (num_taxa as u32 + 1..).zip(&order[3..]) {
        let target = best_edge(&tree, &mut views, taxon as usize, rng);
        views.add_tip(&mut tree, NodeId(inner), NodeId(taxon), target);
    }
    tree
}

/// The best edge for a taxon.
fn best_edge(tree: &Tree, views: &mut ParsimonyViews, taxon: usize, rng: &mut Rng) -> EdgeId {
    let (mut best, mut best_cost, mut num_ties) = (EdgeId::NONE, u64::MAX, 0u32);
    views.tip_costs(tree, taxon, |edge, cost| {
        if cost < best_cost {
            (best, best_cost, num_ties) = (edge, cost, 1);
        } else if cost == best_cost {
            // The k-th of equals replaces the choice with chance 1/k: all are equally likely.
            num_ties += 1;
            if rng.random_range(0..num_ties) == 0 {
                best = edge;
            }
        }
        best_cost
    });
    best
}

#[cfg(test)]
mod tests {
    use super::super::naive::Sample;
    use super::super::parsimony_score;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn trees_are_whole_reproducible_and_better_than_random() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_taxa in [1, 2, 3, 4, 5, 40] {
            let data = Sample::draw(num_taxa, &[4, 2, 4], 200, &mut rng).pack();
            let build =
                |index| stepwise_addition(&data, &mut stream(7, Purpose::ParsimonyTree, index));
            let tree = build(0);
            tree.assert_integrity();
            assert_eq!(tree, build(0));
            let random = random_tree(num_taxa, 0.1, &mut rng);
            let (score, random_score) =
                (parsimony_score(&tree, &data), parsimony_score(&random, &data));
            assert!(score <= random_score);
            if num_taxa == 40 {
                assert!(score < random_score);
                assert_ne!(tree, build(1));
            }
        }
    }

    #[test]
    fn four_taxa_get_the_best_of_three_trees() {
        let mut rng = stream(1, Purpose::Test, 1);
        for index in 0..20 {
            let sample = Sample::draw(4, &[4], 30, &mut rng);
            let data = sample.pack();
            let score = parsimony_score(
                &stepwise_addition(&data, &mut stream(7, Purpose::ParsimonyTree, index)),
                &data,
            );
            let best = [(1, 2, 3), (2, 1, 3), (3, 1, 2)].map(|(a, b, c)| {
                let edges = [(0, 4, 0.1), (a, 4, 0.1), (4, 5, 0.1), (b, 5, 0.1), (c, 5, 0.1)];
                sample.naive_score(&Tree::from_edges(4, &edges))
            });
            assert_eq!(Some(&score), best.iter().min());
        }
    }
}
