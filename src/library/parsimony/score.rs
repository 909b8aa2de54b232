//! The number of changes that a tree needs.

use super::data::ParsimonyData;
use super::orders::Order;
use crate::tree::Tree;
use std::borrow::Cow;

/// The least number of changes the tree needs, over all columns and with their weights.
pub fn parsimony_score(tree: &Tree, data: &ParsimonyData) -> u64 {
    assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
    let fixed: u64 = data.tip_changes.iter().sum();
    if tree.num_tips() < 2 {
        return fixed;
    }
    fixed + data.sum(Order::Score(Cow::Borrowed(tree)))[0]
}

#[cfg(test)]
mod tests {
    use super::super::naive::Sample;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn scores_equal_the_textbook_at_every_column() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_taxa in [1, 2, 3, 4, 7, 30] {
            for num_states in [&[4][..], &[2, 20, 4, 4], &[64, 5]] {
                let sample = Sample::draw(num_taxa, num_states, 150, &mut rng);
                let data = sample.pack();
                for _ in 0..3 {
                    let tree = random_tree(num_taxa, 0.1, &mut rng);
                    assert_eq!(
                        parsimony_score(&tree, &data),
                        sample.naive_score(&tree),
                        "{num_taxa} taxa"
                    );
                }
            }
        }
    }
}
