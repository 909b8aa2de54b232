//! Internode certainty: how far a set of trees agrees with a branch, given what else they have in its place (Salichos,
//! Stamatakis & Rokas 2014, Mol. Biol. Evol. 31:1261; Salichos & Rokas 2013, Nature 497:327).

use super::support::count_splits;
use crate::tree::{Multifurcating, Split, SplitTable, Tree, tree_splits};
use rayon::prelude::*;

/// Share of the trees above which further conflicting splits count for ICA: the 5 % of the publication of 2014, applied as
/// by RAxML, which its authors wrote for it.
const LEAST_SHARE: f64 = 0.05;

/// Internode certainty of a tree's branches, by edge; `None` for edges to tips, and without trees.
#[derive(Debug, Clone, PartialEq)]
pub struct InternodeCertainty {
    /// IC: 1 if no tree has anything else, 0 if as many trees have the most frequent conflicting split, negative if more
    /// have that.
    pub ic: Vec<Option<f64>>,
    /// ICA: the same with further conflicting splits: those in more than 5 % of the trees, as far as all exclude each other.
    pub ica: Vec<Option<f64>>,
}

/// The internode certainty of the branches of `best` in trees of the same tips.
///
/// # Panics
/// If a tree has another number of tips.
pub fn internode_certainty(best: &Tree, trees: &[Multifurcating]) -> InternodeCertainty {
    let mut found =
        InternodeCertainty { ic: vec![None; best.num_edges()], ica: vec![None; best.num_edges()] };
    if trees.is_empty() {
        return found;
    }
    let splits = tree_splits(best);
    let wanted: Vec<&Split> = splits.iter().map(|(_, split)| split).collect();
    let counted = count_splits(trees.iter().map(|tree| {
        assert_eq!(tree.tips().len(), best.num_tips(), "all trees must have the same tips");
        tree.splits().into_iter().map(|(_, split)| split)
    }));
    let certainties = certainties(&wanted, &counted, trees.len());
    for ((edge, _), [ic, ica]) in splits.iter().zip(certainties) {
        found.ic[edge.index()] = Some(ic);
        found.ica[edge.index()] = Some(ica);
    }
    found
}

/// IC and ICA of splits in trees of any degrees, each given by its splits.
pub fn certainty_of_splits(splits: &[&Split], trees: &[Vec<Split>]) -> Vec<[f64; 2]> {
    let counted = count_splits(trees.iter().map(|splits| splits.iter().cloned()));
    certainties(splits, &counted, trees.len())
}

/// IC and ICA of splits, with the splits of so many trees and their numbers.
fn certainties(
    splits: &[&Split],
    (table, counts): &(SplitTable, Vec<u32>),
    num_trees: usize,
) -> Vec<[f64; 2]> {
    let mut frequent: Vec<(u32, &Split)> = counts.iter().copied().zip(table.splits()).collect();
    frequent.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let is_frequent = |count: u32| f64::from(count) > LEAST_SHARE * num_trees as f64;
    let certainty = |split: &&Split| {
        let own = table.number(split).map_or(0, |number| counts[number as usize]);
        // The most frequent conflict counts in any case.
        let mut conflicts: Vec<(u32, &Split)> = Vec::new();
        for &(count, other) in &frequent {
            if !conflicts.is_empty() && !is_frequent(count) {
                break;
            }
            let excludes = |one: &Split| !one.is_compatible(other);
            if excludes(split) && conflicts.iter().all(|(_, before)| excludes(before)) {
                conflicts.push((count, other));
            }
        }
        let all: Vec<u32> =
            [own].into_iter().chain(conflicts.iter().map(|conflict| conflict.0)).collect();
        let is_rarer = all.get(1).is_some_and(|&first| first > own);
        let sign = if is_rarer { -1.0 } else { 1.0 };
        [sign * agreement(&all[..all.len().min(2)]), sign * agreement(&all)]
    };
    splits.par_iter().map(certainty).collect()
}

/// 1 minus the entropy of the shares of these numbers, in units of the largest entropy that so many shares can have.
fn agreement(counts: &[u32]) -> f64 {
    let sum: u32 = counts.iter().sum();
    if counts.len() < 2 || sum == 0 {
        return 1.0;
    }
    let shares = counts.iter().filter(|&&count| count > 0);
    let shares = shares.map(|&count| f64::from(count) / f64::from(sum));
    1.0 + shares.map(|share| share * libm::log(share)).sum::<f64>() / libm::log(counts.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxa::Taxa;
    use crate::tree::read_newick;

    fn read(text: &str) -> (Vec<Tree>, Vec<Multifurcating>) {
        let taxa = Taxa::new("ABCDE".chars().map(String::from).collect()).unwrap();
        let trees = read_newick(text, "t").unwrap();
        let binary = trees.iter().map(|t| t.to_tree(&taxa, "t", None).unwrap().0).collect();
        (binary, trees.iter().map(|t| t.to_multifurcating(&taxa, "t", true).unwrap()).collect())
    }

    #[test]
    fn entropies_have_the_units_of_their_number() {
        assert_eq!(agreement(&[7]), 1.0);
        assert_eq!(agreement(&[7, 0]), 1.0);
        assert_eq!(agreement(&[7, 7]), 0.0);
        assert!(agreement(&[4, 4, 4]).abs() < 1e-15);
        // 1 + 0.75 log2 0.75 + 0.25 log2 0.25.
        assert!((agreement(&[9, 3]) - 0.188_721_875_540_867_14).abs() < 1e-14);
    }

    #[test]
    fn a_branch_is_certain_if_nothing_conflicts() {
        let (binary, trees) = read(&format!(
            "{}{}{}",
            "((A,B),C,(D,E));".repeat(6),
            "((A,C),B,(D,E));".repeat(3),
            "((B,C),A,(D,E));"
        ));
        let found = internode_certainty(&binary[0], &trees);
        let of = |values: &[Option<f64>]| {
            let mut values: Vec<f64> = values.iter().flatten().copied().collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let [ic, ica] = [of(&found.ic), of(&found.ica)];
        assert!((ic[0] - agreement(&[6, 3])).abs() < 1e-15 && ic[1] == 1.0);
        assert!((ica[0] - agreement(&[6, 3, 1])).abs() < 1e-15 && ica[1] == 1.0);
        // For the rarest resolution, both are negative.
        let rare = internode_certainty(&binary[9], &trees);
        assert!((of(&rare.ic)[0] + agreement(&[1, 6])).abs() < 1e-15);
        assert!((of(&rare.ica)[0] + agreement(&[1, 6, 3])).abs() < 1e-15);
        assert!(internode_certainty(&binary[0], &[]).ic.iter().all(Option::is_none));
    }
}
