//! Distances among many trees over the same taxa. Splits become numbers once for each tree, so that each of the many
//! comparisons is one of integers; only the rows that are asked for are in memory.

use super::metric::TreeMetric;
use super::quartets::quartet_distance;
use crate::tree::{Multifurcating, SplitTable};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;

/// Trees over the same taxa, prepared for being compared.
///
/// # Examples
///
/// ```
/// use mlsearch_library::tree_distance::{Comparison, TreeMetric};
/// use mlsearch_library::rng::{Purpose, stream};
/// use mlsearch_library::tree::{Multifurcating, random_tree};
///
/// let random = |i| Multifurcating::from(&random_tree(20, 0.1, &mut stream(1, Purpose::RandomTree, i)));
/// let trees: Vec<Multifurcating> = (0..3).map(random).collect();
/// let comparison = Comparison::new(&trees);
/// assert_eq!(comparison.row(TreeMetric::RobinsonFoulds, 1, 1..2), [0.0]);
/// assert_eq!(comparison.row(TreeMetric::Quartet, 0, 0..3).len(), 3);
/// ```
#[derive(Debug)]
pub struct Comparison<'a> {
    trees: &'a [Multifurcating],
    /// For each tree the numbers of its splits, ascending, with their lengths (0 where there is none).
    splits: Vec<Vec<(u32, f64)>>,
    /// Lengths of the branches to the tips.
    tip_lengths: Vec<Vec<f64>>,
    /// Number of distinct splits of all trees.
    num_splits: usize,
}

impl<'a> Comparison<'a> {
    /// Prepares trees.
    ///
    /// # Panics
    /// If the trees are not all over the same taxa.
    pub fn new(trees: &'a [Multifurcating]) -> Self {
        let same = |tree: &Multifurcating| tree.tips() == trees[0].tips();
        assert!(trees.iter().all(same), "the trees have the same taxa");
        let mut table = SplitTable::default();
        let numbered = |tree: &Multifurcating| {
            let splits = tree.splits().into_iter();
            let splits =
                splits.map(|(node, split)| (table.insert(split), tree.length(node).unwrap_or(0.0)));
            let mut splits: Vec<(u32, f64)> = splits.collect();
            splits.sort_unstable_by_key(|split| split.0);
            splits
        };
        let splits = trees.iter().map(numbered).collect();
        let tip_lengths = |tree: &Multifurcating| {
            // The two tips of the smallest tree share their branch.
            let num_branches = if tree.tips().len() == 2 { 1 } else { tree.tips().len() };
            let lengths = tree.tip_lengths().into_iter().take(num_branches);
            lengths.map(|length| length.unwrap_or(0.0)).collect()
        };
        Comparison {
            trees,
            splits,
            tip_lengths: trees.iter().map(tip_lengths).collect(),
            num_splits: table.splits().len(),
        }
    }

    /// Number of trees.
    pub fn num_trees(&self) -> usize {
        self.trees.len()
    }

    /// Number of taxa.
    pub fn num_tips(&self) -> usize {
        self.trees.first().map_or(0, |tree| tree.tips().len())
    }

    /// Number of distinct topologies.
    pub fn num_topologies(&self) -> usize {
        let numbers = |splits: &Vec<(u32, f64)>| splits.iter().map(|split| split.0).collect();
        let mut topologies: Vec<Vec<u32>> = self.splits.iter().map(numbers).collect();
        topologies.sort_unstable();
        topologies.dedup();
        topologies.len()
    }

    /// The distances of a tree from others.
    pub fn row(&self, metric: TreeMetric, tree: usize, others: Range<usize>) -> Vec<f64> {
        match metric {
            TreeMetric::RobinsonFoulds => self.count_unshared(tree, others),
            TreeMetric::Weighted => {
                let distance = |other| self.sum_differences(tree, other, f64::abs);
                others.map(distance).collect()
            }
            TreeMetric::BranchScore => {
                let distance = |other| self.sum_differences(tree, other, |length| length * length);
                others.map(distance).map(f64::sqrt).collect()
            }
            TreeMetric::Quartet => {
                let distance =
                    |other| quartet_distance(&self.trees[tree], &self.trees[other]).distance();
                others.map(|other| distance(other) as f64).collect()
            }
        }
    }

    /// The distances of these trees from all of `others` or, without them, from all trees after each: row by row,
    /// computed in parallel.
    pub fn rows(
        &self,
        metric: TreeMetric,
        trees: Range<usize>,
        others: Option<Range<usize>>,
    ) -> Vec<Vec<f64>> {
        let of = |tree| others.clone().unwrap_or(tree + 1..self.num_trees());
        trees.into_par_iter().map(|tree| self.row(metric, tree, of(tree))).collect()
    }

    fn count_unshared(&self, tree: usize, others: Range<usize>) -> Vec<f64> {
        let mut is_of_tree = vec![false; self.num_splits];
        self.splits[tree].iter().for_each(|split| is_of_tree[split.0 as usize] = true);
        let distance = |other: usize| {
            let of_other = &self.splits[other];
            let shared = of_other.iter().filter(|split| is_of_tree[split.0 as usize]).count();
            (self.splits[tree].len() + of_other.len() - 2 * shared) as f64
        };
        others.map(distance).collect()
    }

    /// The sum over all splits of `of` the difference of their lengths in the two trees.
    fn sum_differences(&self, a: usize, b: usize, of: impl Fn(f64) -> f64) -> f64 {
        let tips = self.tip_lengths[a].iter().zip(&self.tip_lengths[b]);
        let mut sum: f64 = tips.map(|(a, b)| of(a - b)).sum();
        let (mut a, mut b) = (self.splits[a].iter().peekable(), self.splits[b].iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(a), Some(b)) => a.0.cmp(&b.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return sum,
            };
            let mut length = 0.0;
            if order != Ordering::Greater {
                length += a.next().map_or(0.0, |split| split.1);
            }
            if order != Ordering::Less {
                length -= b.next().map_or(0.0, |split| split.1);
            }
            sum += of(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::taxa::Taxa;
    use crate::tree::random_tree;
    use crate::tree::{Split, Tree, read_newick};
    use crate::tree_distance::rf_distance;
    use TreeMetric::{BranchScore, Quartet, RobinsonFoulds, Weighted};

    fn read(text: &str) -> Vec<Multifurcating> {
        let taxa = Taxa::new("ABCDEF".chars().map(String::from).collect()).unwrap();
        let trees = read_newick(text, "t").unwrap();
        trees.iter().map(|tree| tree.to_multifurcating(&taxa, "t", true).unwrap()).collect()
    }

    #[test]
    fn robinson_foulds_distances_count_the_splits_of_one_tree_only() {
        // Splits: {AB, ABC, EF}, {AB, ABD, EF}, {AC, ABC, EF}, the first again, rooted elsewhere, and {AB}.
        let trees = read(
            "((A,B),C,(D,(E,F))); ((A,B),D,(C,(E,F))); ((A,C),B,(D,(E,F))); (((E,F),D),(C,(B,A))); (A,B,(C,D,E,F));",
        );
        let comparison = Comparison::new(&trees);
        let expected =
            [[0, 2, 2, 0, 2], [2, 0, 4, 2, 2], [2, 4, 0, 2, 4], [0, 2, 2, 0, 2], [2, 2, 4, 2, 0]];
        for (tree, expected) in expected.iter().enumerate() {
            assert_eq!(comparison.row(RobinsonFoulds, tree, 0..5), expected.map(f64::from));
        }
        assert_eq!(comparison.num_topologies(), 4);
        assert_eq!(RobinsonFoulds.relative(4.0, 6), Some(4.0 / 6.0));
        let rows = comparison.rows(RobinsonFoulds, 0..5, None);
        assert_eq!(rows[..3], [vec![2.0, 2.0, 0.0, 2.0], vec![4.0, 2.0, 2.0], vec![2.0, 4.0]]);
    }

    #[test]
    fn lengths_of_all_splits_count() {
        let trees = read(
            "((A:1,B:1):2,C:1,(D:1,(E:1,F:1):3):4); ((A:1,C:2):2,B:1,((D:1,(E:1,F:1):1):4):1.5);",
        );
        let comparison = Comparison::new(&trees);
        // Differences: tip C 1, AB 2, AC 2, EF 2, DEF 1.5.
        assert_eq!(comparison.row(Weighted, 0, 0..2), [0.0, 8.5]);
        assert_eq!(comparison.row(BranchScore, 1, 0..1), [f64::sqrt(1.0 + 12.0 + 2.25)]);
        assert_eq!(Weighted.relative(8.5, 6), None);
    }

    #[test]
    fn small_trees_and_no_tree() {
        for (text, length) in [("B;", 0.0), ("(B:1,C:2);(B:2,C:2);", 1.0), ("(B:1,C:1,D:1);", 0.0)]
        {
            let taxa = Taxa::new("BCD".chars().map(String::from).collect()).unwrap();
            let trees = read_newick(text, "t").unwrap();
            let trees: Vec<Multifurcating> = trees
                .iter()
                .map(|tree| tree.to_multifurcating(&taxa, "t", false).unwrap())
                .collect();
            let comparison = Comparison::new(&trees);
            let last = trees.len() - 1;
            for (metric, expected) in
                [(RobinsonFoulds, 0.0), (Weighted, length), (BranchScore, length), (Quartet, 0.0)]
            {
                assert_eq!(comparison.row(metric, 0, last..last + 1), [expected], "{text}");
                assert!(
                    metric.relative(0.0, trees[0].tips().len()).is_none_or(|share| share == 0.0)
                );
            }
        }
        let none = Comparison::new(&[]);
        assert_eq!((none.num_trees(), none.num_tips(), none.num_topologies()), (0, 0, 0));
        assert!(none.rows(Quartet, 0..0, None).is_empty());
    }

    /// The definition: over the union of the splits of both trees, those of single tips included.
    fn by_definition(a: &Tree, b: &Tree) -> [f64; 3] {
        let lengths = |tree: &Tree| -> Vec<(Split, f64)> {
            let side = |edge| {
                let tips = tree.preorder(tree.ends(edge)[0], edge).into_iter().map(|node| node.0);
                let tips = tips.filter(|&node| tree.is_tip(node)).map(|node| node.index());
                (Split::from_tips(tree.num_tips(), tips), tree.brlen(edge))
            };
            tree.edges().map(side).collect()
        };
        let (a, b) = (lengths(a), lengths(b));
        let of = |all: &[(Split, f64)], split: &Split| {
            all.iter().find(|one| one.0 == *split).map_or(0.0, |one| one.1)
        };
        let mut union: Vec<&Split> = a.iter().chain(&b).map(|one| &one.0).collect();
        union.sort();
        union.dedup();
        let difference = |split: &&Split| of(&a, split) - of(&b, split);
        let differences: Vec<f64> = union.iter().map(difference).collect();
        let has = |all: &[(Split, f64)], split: &Split| all.iter().any(|one| one.0 == *split);
        let unshared = union.iter().filter(|split| has(&a, split) != has(&b, split)).count();
        let squares: f64 = differences.iter().map(|d| d * d).sum();
        [unshared as f64, differences.iter().map(|d| d.abs()).sum(), squares.sqrt()]
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let mut rng = stream(1, Purpose::Test, 1);
        let mut trees: Vec<Tree> = (0..6).map(|_| random_tree(70, 0.1, &mut rng)).collect();
        for i in 0..20 {
            let edges: Vec<_> = trees[0].edges().collect();
            trees[1] = if i == 0 { trees[0].clone() } else { trees[1].clone() };
            let edge = edges[5 * i];
            trees[1].set_brlen(edge, 0.01 * i as f64);
        }
        let compared: Vec<Multifurcating> = trees.iter().map(Multifurcating::from).collect();
        let comparison = Comparison::new(&compared);
        for i in 0..trees.len() {
            for j in 0..trees.len() {
                let expected = by_definition(&trees[i], &trees[j]);
                for (metric, expected) in
                    [RobinsonFoulds, Weighted, BranchScore].iter().zip(expected)
                {
                    let found = comparison.row(*metric, i, j..j + 1)[0];
                    assert!((found - expected).abs() < 1e-9, "{metric:?}: {found} {expected}");
                }
                let rf = rf_distance(&trees[i], &trees[j]);
                assert_eq!(comparison.row(RobinsonFoulds, i, j..j + 1), [f64::from(rf.absolute)]);
            }
        }
    }
}
