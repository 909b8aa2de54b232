//! Starting trees.

use crate::parsimony::{ParsimonyData, parsimony_brlens, parsimony_spr, stepwise_addition};
use crate::rng::{Purpose, stream};
use crate::tree::{Tree, same_topology};

/// Radius of the parsimony SPR that follows stepwise addition, as in RAxML 8.
const PARSIMONY_RADIUS: usize = 20;

/// A parsimony tree made by randomised stepwise addition and parsimony SPR, with branch lengths from the numbers of
/// changes. `seed`, `purpose` and `index` determine the stream of random numbers, and thus the tree.
pub fn parsimony_start(data: &ParsimonyData, seed: u64, purpose: Purpose, index: u64) -> Tree {
    let mut rng = stream(seed, purpose, index);
    let mut tree = stepwise_addition(data, &mut rng);
    parsimony_spr(&mut tree, data, PARSIMONY_RADIUS, &mut rng);
    parsimony_brlens(&mut tree, data);
    tree
}

/// For each starting tree, the number of the first one that is the same but for lengths.
pub(super) fn same_starts(first: &Tree, others: &[Tree]) -> Vec<usize> {
    let trees: Vec<&Tree> = std::iter::once(first).chain(others).collect();
    let same = |number: usize| {
        let is_same = |&before: &usize| same_topology(trees[number], trees[before]);
        (0..number).find(is_same).unwrap_or(number)
    };
    (0..trees.len()).map(same).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::random_tree;

    #[test]
    fn starting_trees_that_differ_in_lengths_alone_are_the_same() {
        let tree = |number| random_tree(8, 0.1, &mut stream(1, Purpose::Test, number));
        let (one, other) = (tree(0), tree(1));
        let mut longer = one.clone();
        for edge in one.edges() {
            longer.set_brlen(edge, 0.5);
        }
        let others = [other.clone(), longer, tree(2), other];
        assert_eq!(same_starts(&one, &others), [0, 1, 0, 3, 1]);
    }
}
