//! Bootstopping: whether there are enough bootstrap replicates (Pattengale et al. 2010, J. Comput. Biol. 17:337).
//!
//! After every [`STEP`] replicates, the trees are halved at random many times. If nearly all pairs of halves say nearly
//! the same, more replicates would not change the support of the branches. What two halves say is compared by the
//! frequencies of their splits, or by their consensus trees.

use crate::rng::{Purpose, stream};
use crate::tree::{Split, SplitTable};
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Number of replicates between two tests, as published.
pub const STEP: usize = 50;
/// Share of the halvings that must agree, as published.
const SHARE: f64 = 0.99;
/// Least correlation of the split frequencies of halves that agree, as published.
pub const LEAST_CORRELATION: f64 = 0.99;
/// Greatest weighted Robinson-Foulds distance of the consensus trees of halves that agree, as published.
pub const DEFAULT_CUTOFF: f64 = 0.03;
/// Number of halvings if none is given: that of RAxML-NG.
pub const DEFAULT_HALVINGS: usize = 1000;

/// What is compared between the halves of the replicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootstopCriterion {
    /// Pearson's correlation between the frequencies of all splits (`autoFC`).
    Frequencies,
    /// Weighted Robinson-Foulds distance between the majority-rule consensus trees (`autoMR`).
    Majority,
    /// The same between the extended majority-rule consensus trees (`autoMRE`).
    ExtendedMajority,
}

impl BootstopCriterion {
    /// All of them, the usual one first.
    pub const ALL: [Self; 3] = [Self::ExtendedMajority, Self::Majority, Self::Frequencies];

    /// Its name in options and in the report.
    pub fn name(self) -> &'static str {
        match self {
            BootstopCriterion::Frequencies => "autoFC",
            BootstopCriterion::Majority => "autoMR",
            BootstopCriterion::ExtendedMajority => "autoMRE",
        }
    }
}

/// When to stop making replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstop {
    /// What is compared.
    pub criterion: BootstopCriterion,
    /// Greatest weighted Robinson-Foulds distance between halves that agree, in (0, 1); unused by `autoFC`.
    pub cutoff: f64,
    /// Number of halvings of each test.
    pub halvings: usize,
}

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstopTest {
    /// Number of replicates.
    pub replicates: usize,
    /// Mean correlation, or mean distance as a share, of all halvings.
    pub mean: f64,
    /// Number of halvings whose halves agree.
    pub agreeing: usize,
    /// True if there are enough replicates.
    pub is_enough: bool,
}

/// The splits of the replicates that are known so far.
#[derive(Debug, Clone)]
pub struct BootstopTrees {
    num_tips: usize,
    table: SplitTable,
    /// `[tree]`: numbers of its splits.
    trees: Vec<Vec<u32>>,
}

impl BootstopTrees {
    /// No trees yet, of so many tips.
    pub fn new(num_tips: usize) -> Self {
        BootstopTrees { num_tips, table: SplitTable::default(), trees: Vec::new() }
    }

    /// Adds the splits of a tree, in the order of the replicates. The order of its splits does not matter.
    pub fn push(&mut self, splits: impl IntoIterator<Item = Split>) {
        let mut splits: Vec<Split> = splits.into_iter().collect();
        splits.sort_unstable();
        self.trees.push(splits.into_iter().map(|split| self.table.insert(split)).collect());
    }

    /// Number of trees so far.
    pub fn num_trees(&self) -> usize {
        self.trees.len()
    }

    /// Tests whether the trees so far are enough. The halvings depend only on the seed and the number of trees.
    pub fn test(&self, bootstop: &Bootstop, seed: u64) -> BootstopTest {
        let replicates = self.trees.len();
        let halvings = Halvings::new(self);
        let value = |halving: usize| {
            let index = (replicates as u64) << 32 | halving as u64;
            let mut order: Vec<usize> = (0..replicates).collect();
            let mut rng = stream(seed, Purpose::Bootstopping, index);
            let (first, _) = order.partial_shuffle(&mut rng, replicates / 2);
            halvings.compare(first, bootstop.criterion)
        };
        let values: Vec<f64> = (0..bootstop.halvings).into_par_iter().map(value).collect();
        let agrees = |&&value: &&f64| match bootstop.criterion {
            BootstopCriterion::Frequencies => value >= LEAST_CORRELATION,
            _ => value <= bootstop.cutoff,
        };
        let agreeing = values.iter().filter(agrees).count();
        BootstopTest {
            replicates,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            agreeing,
            is_enough: agreeing as f64 >= SHARE * values.len() as f64,
        }
    }
}

/// What all halvings of the same trees need.
struct Halvings<'a> {
    all: &'a BootstopTrees,
    /// `[split]`: number of trees that have it.
    totals: Vec<u32>,
    /// Numbers of the splits in their fixed order, which decides between equally frequent ones.
    order: Vec<u32>,
}

impl<'a> Halvings<'a> {
    fn new(all: &'a BootstopTrees) -> Self {
        let splits = all.table.splits();
        let mut totals = vec![0; splits.len()];
        all.trees.iter().flatten().for_each(|&split| totals[split as usize] += 1);
        let mut order: Vec<u32> = (0..splits.len() as u32).collect();
        order.sort_unstable_by_key(|&split| &splits[split as usize]);
        Halvings { all, totals, order }
    }

    /// The correlation or distance between the trees with these numbers and all others.
    fn compare(&self, first: &[usize], criterion: BootstopCriterion) -> f64 {
        let mut counts = vec![0_u32; self.totals.len()];
        for &tree in first {
            self.all.trees[tree].iter().for_each(|&split| counts[split as usize] += 1);
        }
        let others = self.totals.iter().zip(&counts).map(|(total, count)| total - count).collect();
        let sizes = [first.len(), self.all.trees.len() - first.len()];
        let halves = [counts, others];
        match criterion {
            BootstopCriterion::Frequencies => correlation(&halves),
            _ => {
                let extended = criterion == BootstopCriterion::ExtendedMajority;
                let consensus = |half: usize| self.consensus(&halves[half], sizes[half], extended);
                weighted_distance([consensus(0), consensus(1)], &halves, sizes)
            }
        }
    }

    /// The splits of the consensus of `size` trees with these counts of splits; see [`crate::tree::ConsensusRule`].
    fn consensus(&self, counts: &[u32], size: usize, extended: bool) -> Vec<u32> {
        let is_majority = |&split: &u32| 2 * counts[split as usize] as usize > size;
        let mut kept: Vec<u32> = self.order.iter().copied().filter(is_majority).collect();
        let most = self.all.num_tips.saturating_sub(3);
        if !extended || kept.len() >= most {
            return kept;
        }
        let others = self.order.iter().copied().filter(|split| !is_majority(split));
        let mut others: Vec<u32> = others.filter(|&split| counts[split as usize] > 0).collect();
        others.sort_by_key(|&split| std::cmp::Reverse(counts[split as usize]));
        let splits = self.all.table.splits();
        let mut fitting: Vec<&Split> = kept.iter().map(|&split| &splits[split as usize]).collect();
        for number in others {
            let split = &splits[number as usize];
            match fitting.iter().position(|other| !split.is_compatible(other)) {
                // A split that has ruled out one often rules out the next.
                Some(place) => fitting.swap(0, place),
                None => {
                    kept.push(number);
                    fitting.push(split);
                }
            }
            if kept.len() == most {
                break;
            }
        }
        kept
    }
}

/// Pearson's correlation between the frequencies of the splits of two halves; where all splits are equally frequent, 1
/// if that is so in both, else 0.
fn correlation(halves: &[Vec<u32>; 2]) -> f64 {
    let number = halves[0].len() as f64;
    let means = [0, 1].map(|half| halves[half].iter().map(|&c| f64::from(c)).sum::<f64>() / number);
    let (mut products, mut squares) = (0.0, [0.0; 2]);
    for (&a, &b) in halves[0].iter().zip(&halves[1]) {
        let (a, b) = (f64::from(a) - means[0], f64::from(b) - means[1]);
        products += a * b;
        squares[0] += a * a;
        squares[1] += b * b;
    }
    match squares {
        [0.0, 0.0] => 1.0,
        [0.0, _] | [_, 0.0] => 0.0,
        [a, b] => products / (a * b).sqrt(),
    }
}

/// Weighted Robinson-Foulds distance between two consensus trees, as a share: a split of both contributes the
/// difference between its frequencies, a split of one its frequency there; the sum is divided by the number of splits
/// of both trees.
fn weighted_distance(trees: [Vec<u32>; 2], counts: &[Vec<u32>; 2], sizes: [usize; 2]) -> f64 {
    let number = trees[0].len() + trees[1].len();
    let frequency =
        |half: usize, split: u32| f64::from(counts[half][split as usize]) / sizes[half] as f64;
    let mut is_in_second = vec![false; counts[1].len()];
    trees[1].iter().for_each(|&split| is_in_second[split as usize] = true);
    let mut sum = 0.0;
    for &split in &trees[0] {
        if std::mem::take(&mut is_in_second[split as usize]) {
            sum += (frequency(0, split) - frequency(1, split)).abs();
        } else {
            sum += frequency(0, split);
        }
    }
    let only_second = trees[1].iter().filter(|&&split| is_in_second[split as usize]);
    sum += only_second.map(|&split| frequency(1, split)).sum::<f64>();
    if number == 0 { 0.0 } else { sum / number as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::tree::{ConsensusRule, consensus, random_tree};
    use crate::tree::{Tree, tree_splits};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Trees that share some splits: a few topologies, drawn many times.
    fn trees(num_tips: usize, num_topologies: usize, number: usize, seed: u64) -> Vec<Tree> {
        let mut rng: Rng = stream(seed, Purpose::Test, 0);
        let pool: Vec<Tree> =
            (0..num_topologies).map(|_| random_tree(num_tips, 0.1, &mut rng)).collect();
        (0..number).map(|i| pool[(i * i + i / 3) % num_topologies].clone()).collect()
    }

    fn extend(all: &mut BootstopTrees, trees: &[Tree]) {
        for tree in trees {
            all.push(tree_splits(tree).into_iter().map(|(_, split)| split));
        }
    }

    fn splits(trees: &[&Tree]) -> Vec<Vec<Split>> {
        trees.iter().map(|t| tree_splits(t).into_iter().map(|(_, split)| split).collect()).collect()
    }

    fn frequencies(trees: &[&Tree]) -> BTreeMap<Split, f64> {
        let mut found = BTreeMap::new();
        for split in splits(trees).into_iter().flatten() {
            *found.entry(split).or_insert(0.0) += 1.0 / trees.len() as f64;
        }
        found
    }

    /// The distance by its definition, from the consensus trees.
    fn naive_distance(halves: [&[&Tree]; 2], rule: ConsensusRule) -> f64 {
        let tree = |half: &[&Tree]| -> BTreeMap<Split, f64> {
            let splits = splits(half);
            let tree = consensus(half[0].num_tips(), splits.iter().map(Vec::as_slice), rule);
            tree.splits().iter().map(|(split, percent)| (split.clone(), percent / 100.0)).collect()
        };
        let [a, b] = halves.map(tree);
        let mut all: Vec<&Split> = a.keys().chain(b.keys()).collect();
        all.sort();
        all.dedup();
        let weight = |tree: &BTreeMap<Split, f64>, split| tree.get(split).copied().unwrap_or(0.0);
        let sum: f64 = all.iter().map(|split| (weight(&a, split) - weight(&b, split)).abs()).sum();
        if a.is_empty() && b.is_empty() { 0.0 } else { sum / (a.len() + b.len()) as f64 }
    }

    /// The textbook formula, from sums of products.
    fn naive_correlation(halves: [&[&Tree]; 2]) -> f64 {
        let [a, b] = halves.map(frequencies);
        let mut all: Vec<&Split> = a.keys().chain(b.keys()).collect();
        all.sort();
        all.dedup();
        let pairs =
            all.iter().map(|split| [&a, &b].map(|half| half.get(split).copied().unwrap_or(0.0)));
        let (n, mut sums) = (all.len() as f64, [0.0; 5]);
        for [x, y] in pairs {
            [x, y, x * x, y * y, x * y].iter().zip(&mut sums).for_each(|(term, sum)| *sum += term);
        }
        let [x, y, xx, yy, xy] = sums;
        let squares = [n * xx - x * x, n * yy - y * y];
        match squares.map(|square| square < 1e-9) {
            [true, true] => 1.0,
            [false, false] => (n * xy - x * y) / (squares[0] * squares[1]).sqrt(),
            _ => 0.0,
        }
    }

    proptest! {
        /// Every halving against the definitions.
        #[test]
        fn halves_are_compared_as_defined(
            num_tips in 4usize..20,
            num_topologies in 1usize..12,
            number in 2usize..40,
            seed in 0u64..1000,
        ) {
            let trees = trees(num_tips, num_topologies, number, seed);
            let mut all = BootstopTrees::new(num_tips);
            extend(&mut all, &trees[..number / 2]);
            extend(&mut all, &trees[number / 2..]);
            let halvings = Halvings::new(&all);
            let first: Vec<usize> = (0..number).filter(|i| i % 2 == 1).collect();
            let halves = [1, 0].map(|odd| {
                trees.iter().enumerate().filter(|(i, _)| i % 2 == odd).map(|(_, tree)| tree).collect::<Vec<_>>()
            });
            let halves = [halves[0].as_slice(), halves[1].as_slice()];
            for (criterion, naive) in [
                (BootstopCriterion::Majority, naive_distance(halves, ConsensusRule::Majority(0.5))),
                (BootstopCriterion::ExtendedMajority, naive_distance(halves, ConsensusRule::Extended)),
                (BootstopCriterion::Frequencies, naive_correlation(halves)),
            ] {
                let found = halvings.compare(&first, criterion);
                let is_same = (found - naive).abs() < 1e-9;
                prop_assert!(is_same, "{criterion:?}: {found} {naive}");
            }
        }
    }

    #[test]
    fn equal_trees_are_enough_and_the_test_depends_on_the_seed() {
        let rule = |criterion| Bootstop { criterion, cutoff: DEFAULT_CUTOFF, halvings: 100 };
        for criterion in BootstopCriterion::ALL {
            let mut same = BootstopTrees::new(9);
            extend(&mut same, &trees(9, 1, 50, 1));
            let test = same.test(&rule(criterion), 1);
            assert!(test.is_enough && test.agreeing == 100 && test.replicates == 50, "{test:?}");
            let mut different = BootstopTrees::new(9);
            let num_topologies = if criterion == BootstopCriterion::Frequencies { 3 } else { 2 };
            extend(&mut different, &trees(9, num_topologies, 50, 1));
            let test = different.test(&rule(criterion), 1);
            assert!(!test.is_enough, "{test:?}");
            assert_eq!(test, different.test(&rule(criterion), 1));
            assert_ne!(test.mean, different.test(&rule(criterion), 2).mean);
        }
    }

    #[test]
    fn trees_without_inner_branches_are_enough() {
        let mut trees = BootstopTrees::new(3);
        extend(&mut trees, &self::trees(3, 1, 50, 1));
        for criterion in BootstopCriterion::ALL {
            let rule = Bootstop { criterion, cutoff: DEFAULT_CUTOFF, halvings: 100 };
            assert!(trees.test(&rule, 1).is_enough, "{criterion:?}");
        }
    }
}
