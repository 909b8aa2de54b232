//! Terraces against their definition: all trees of a few taxa, and those of each partition.

use super::*;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::{Split, Tree, random_tree, tree_splits};
use proptest::prelude::*;
use rand::RngExt;
use std::collections::BTreeSet;

/// All unrooted binary trees of so many taxa, each as the sides of its branches without taxon 0.
fn all_trees(num_taxa: usize) -> Vec<Vec<BTreeSet<usize>>> {
    let mut trees = vec![vec![BTreeSet::from([1]), BTreeSet::from([2]), BTreeSet::from([1, 2])]];
    for taxon in 3..num_taxa {
        let mut more = Vec::new();
        for tree in &trees {
            for branch in tree {
                // The taxon joins this branch: sides that contain it whole grow by the taxon.
                let mut sides: Vec<BTreeSet<usize>> = tree
                    .iter()
                    .map(|side| {
                        let mut side = side.clone();
                        if side.is_superset(branch) && side != *branch {
                            side.insert(taxon);
                        }
                        side
                    })
                    .collect();
                let mut both = branch.clone();
                both.insert(taxon);
                sides.extend([both, BTreeSet::from([taxon])]);
                more.push(sides);
            }
        }
        trees = more;
    }
    trees
}

/// The branches that a tree has among some taxa, as the sides without the first of these.
fn restricted(sides: &[BTreeSet<usize>], taxa: &[usize]) -> BTreeSet<Vec<usize>> {
    let of = |side: &BTreeSet<usize>| -> Option<Vec<usize>> {
        let inside: Vec<usize> = taxa.iter().copied().filter(|t| side.contains(t)).collect();
        let outside: Vec<usize> = taxa.iter().copied().filter(|t| !side.contains(t)).collect();
        let is_split = inside.len() >= 2 && outside.len() >= 2;
        is_split.then_some(if inside.contains(&taxa[0]) { outside } else { inside })
    };
    sides.iter().filter_map(of).collect()
}

fn sides_of(tree: &Tree) -> Vec<BTreeSet<usize>> {
    tree_splits(tree).iter().map(|(_, split)| split.tips().collect()).collect()
}

fn presence(
    num_taxa: usize,
    partitions: usize,
    comprehensive: bool,
    rng: &mut Rng,
) -> Vec<Vec<usize>> {
    let partition = |_| {
        let present = (0..num_taxa)
            .filter(|&taxon| (comprehensive && taxon == num_taxa / 2) || rng.random_bool(0.6));
        present.collect()
    };
    (0..partitions).map(partition).collect()
}

fn sorted_splits(tree: &Tree) -> Vec<Split> {
    let mut splits: Vec<Split> = tree_splits(tree).into_iter().map(|one| one.1).collect();
    splits.sort();
    splits
}

#[test]
fn there_are_as_many_trees_as_there_should_be() {
    assert_eq!([3, 4, 5, 6, 7].map(|n| all_trees(n).len()), [1, 3, 15, 105, 945]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn terraces_are_those_of_the_definition(
        num_taxa in 4..8_usize, partitions in 0..5_usize, comprehensive: bool, seed in 0..u64::MAX
    ) {
        let mut rng = stream(seed, Purpose::Test, 0);
        let tree = random_tree(num_taxa, 0.1, &mut rng);
        let presence = presence(num_taxa, partitions, comprehensive, &mut rng);
        let own = sides_of(&tree);
        let on_terrace = all_trees(num_taxa).into_iter().filter(|sides| {
            presence.iter().filter(|taxa| taxa.len() >= 4).all(|taxa| {
                restricted(sides, taxa) == restricted(&own, taxa)
            })
        });
        let mut expected: Vec<Vec<Split>> = on_terrace
            .map(|sides| {
                let inner = sides.iter().filter(|side| (2..=num_taxa - 2).contains(&side.len()));
                let splits = inner.map(|side| Split::from_tips(num_taxa, side.iter().copied()));
                let mut splits: Vec<Split> = splits.collect();
                splits.sort();
                splits
            })
            .collect();
        expected.sort();
        let listed = list_terrace(&tree, &presence, 100_000, 100_000);
        prop_assert!(listed.is_complete);
        let mut found: Vec<Vec<Split>> = listed.trees.iter().map(sorted_splits).collect();
        found.sort();
        prop_assert_eq!(&found, &expected);
        if let Some(taxon) = comprehensive_taxon(num_taxa, &presence) {
            let counted = count_terrace(&tree, &presence, taxon, 1_000_000);
            let number = expected.len() as u128;
            prop_assert_eq!(counted, Counted { trees: number, is_exact: true });
            // A bound never says too much.
            let least = count_terrace(&tree, &presence, taxon, 1 + seed % 4);
            prop_assert!(least.trees <= number && least.trees > 0);
            prop_assert!(!least.is_exact || least.trees == number);
        }
        let some = list_terrace(&tree, &presence, 1, 2);
        prop_assert_eq!((some.trees.len(), some.number), (1, expected.len().min(2)));
        prop_assert_eq!(some.is_complete, expected.len() <= 2);
    }
}

#[test]
fn large_terraces_are_counted_without_making_their_trees() {
    let mut rng = stream(1, Purpose::Test, 0);
    let tree = random_tree(60, 0.1, &mut rng);
    // Two partitions that share only taxon 0.
    let partitions = [(0..30).collect::<Vec<_>>(), [0].into_iter().chain(30..60).collect()];
    let taxon = comprehensive_taxon(60, &partitions).unwrap();
    let counted = count_terrace(&tree, &partitions, taxon, 1_000_000);
    assert!(counted.trees > 1_000_000, "{counted:?}");
    let listed = list_terrace(&tree, &partitions, 50, 50);
    assert_eq!((listed.trees.len(), listed.is_complete), (50, false));
    assert!(listed.trees.iter().map(sorted_splits).collect::<BTreeSet<_>>().len() == 50);
    assert_eq!(comprehensive_taxon(60, &[vec![0, 1, 2, 3], vec![4, 5, 6, 7]]), None);
}
