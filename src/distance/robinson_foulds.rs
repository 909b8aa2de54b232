//! Robinson-Foulds distances between trees over the same taxa, over their splits.
//!
//! Robinson & Foulds 1981, Math. Biosci. 53:131: the number of splits that are in only one of the two
//! trees; the relative distance is divided by the maximum, 2(n-3).

use rayon::prelude::*;

use crate::tree::{Split, SplitTable, Tree, tree_splits};

/// Distance of two trees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RfDistance {
    /// Number of splits in exactly one of the two trees.
    pub absolute: u32,
    /// That number over 2(n-3); 0 for trees of fewer than four tips.
    pub relative: f64,
}

impl RfDistance {
    fn new(absolute: u32, num_tips: usize) -> Self {
        let most = 2 * num_tips.saturating_sub(3);
        let relative = if most == 0 { 0.0 } else { absolute as f64 / most as f64 };
        RfDistance { absolute, relative }
    }
}

/// The distance of two trees over the same tips.
pub fn rf_distance(a: &Tree, b: &Tree) -> RfDistance {
    assert_eq!(a.num_tips(), b.num_tips(), "trees over the same tips");
    let sorted = |tree| {
        let mut splits: Vec<Split> = tree_splits(tree).into_iter().map(|s| s.1).collect();
        splits.sort_unstable();
        splits
    };
    RfDistance::new(count_unshared(&sorted(a), &sorted(b)), a.num_tips())
}

/// Number of elements that are in one of two ascending lists only.
fn count_unshared<T: Ord>(a: &[T], b: &[T]) -> u32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    (a.len() + b.len() - 2 * shared) as u32
}

/// All distances among many trees.
#[derive(Debug, Clone, PartialEq)]
pub struct RfMatrix {
    num_tips: usize,
    num_trees: usize,
    num_unique: usize,
    /// Row by row the distances to the trees behind it: (0,1), (0,2), ..., (1,2), ...
    absolute: Vec<u32>,
}

/// All distances among trees over the same tips; computed in parallel, the same for any number of threads.
pub fn rf_matrix(trees: &[Tree]) -> RfMatrix {
    let num_tips = trees.first().map_or(0, Tree::num_tips);
    assert!(trees.iter().all(|t| t.num_tips() == num_tips), "trees over the same tips");
    // Splits become numbers once, so that each of the many comparisons is over integers.
    let mut table = SplitTable::default();
    let numbers: Vec<Vec<u32>> = trees
        .iter()
        .map(|tree| {
            let mut list: Vec<u32> =
                tree_splits(tree).into_iter().map(|(_, split)| table.insert(split)).collect();
            list.sort_unstable();
            list
        })
        .collect();
    let rows: Vec<Vec<u32>> = (0..trees.len())
        .into_par_iter()
        .map(|i| numbers[i + 1..].iter().map(|other| count_unshared(&numbers[i], other)).collect())
        .collect();
    let mut distinct: Vec<&Vec<u32>> = numbers.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    RfMatrix {
        num_tips,
        num_trees: trees.len(),
        num_unique: distinct.len(),
        absolute: rows.concat(),
    }
}

impl RfMatrix {
    /// Number of trees.
    pub fn num_trees(&self) -> usize {
        self.num_trees
    }

    /// Number of distinct topologies.
    pub fn num_unique(&self) -> usize {
        self.num_unique
    }

    /// The distance of trees `i` and `j`.
    pub fn get(&self, i: usize, j: usize) -> RfDistance {
        let (i, j) = (i.min(j), i.max(j));
        assert!(j < self.num_trees, "tree {j} of {}", self.num_trees);
        let row_start = i * (2 * self.num_trees - i - 1) / 2;
        let absolute = if i == j { 0 } else { self.absolute[row_start + j - i - 1] };
        RfDistance::new(absolute, self.num_tips)
    }

    /// Mean absolute distance over all pairs of different trees; 0 if there is no pair.
    pub fn mean_absolute(&self) -> f64 {
        let sum: u64 = self.absolute.iter().map(|&d| u64::from(d)).sum();
        sum as f64 / self.absolute.len().max(1) as f64
    }

    /// Mean relative distance over all pairs of different trees; 0 if there is no pair.
    pub fn mean_relative(&self) -> f64 {
        self.mean_absolute() / (2 * self.num_tips.saturating_sub(3)).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::taxa::Taxa;
    use crate::tree::{random_tree, read_newick};

    fn read(text: &str) -> Vec<Tree> {
        let taxa = Taxa::new("ABCDEF".chars().map(String::from).collect()).unwrap();
        let trees = read_newick(text, "t").unwrap();
        trees.iter().map(|t| t.to_tree(&taxa, "t", None).unwrap().0).collect()
    }

    #[test]
    fn distances_count_the_splits_of_one_tree_only() {
        // Splits: {AB, ABC, EF}, {AB, ABD, EF}, {AC, ABC, EF}, and the first again, rooted elsewhere.
        let trees = read(
            "((A,B),C,(D,(E,F))); ((A,B),D,(C,(E,F))); ((A,C),B,(D,(E,F))); (((E,F),D),(C,(B,A)));",
        );
        let matrix = rf_matrix(&trees);
        let expected = [[0, 2, 2, 0], [2, 0, 4, 2], [2, 4, 0, 2], [0, 2, 2, 0]];
        for i in 0..4 {
            for j in 0..4 {
                assert_eq!(matrix.get(i, j).absolute, expected[i][j]);
                assert_eq!(rf_distance(&trees[i], &trees[j]), matrix.get(i, j));
            }
        }
        assert_eq!(matrix.get(1, 2).relative, 4.0 / 6.0);
        assert_eq!(matrix.num_unique(), 3);
        assert_eq!(matrix.mean_absolute(), 2.0);
        assert_eq!(matrix.mean_relative(), 2.0 / 6.0);
    }

    #[test]
    fn one_tree_small_trees_and_no_tree() {
        let mut rng = stream(1, Purpose::Test, 0);
        let small = [random_tree(3, 0.1, &mut rng), random_tree(3, 0.1, &mut rng)];
        assert_eq!(rf_distance(&small[0], &small[1]), RfDistance { absolute: 0, relative: 0.0 });
        assert_eq!(rf_matrix(&small).mean_relative(), 0.0);
        assert_eq!((rf_matrix(&small[..1]).mean_absolute(), rf_matrix(&[]).num_unique()), (0.0, 0));
    }

    #[test]
    fn the_matrix_equals_the_pairs() {
        let mut rng = stream(1, Purpose::Test, 1);
        let trees: Vec<Tree> = (0..9).map(|_| random_tree(70, 0.1, &mut rng)).collect();
        let matrix = rf_matrix(&trees);
        for i in 0..9 {
            for j in 0..9 {
                assert_eq!(matrix.get(i, j), rf_distance(&trees[i], &trees[j]));
            }
        }
    }
}
