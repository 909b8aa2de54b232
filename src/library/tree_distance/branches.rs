//! Inner branches in which several trees over the same taxa differ, those without length left aside.

use crate::tree::{SplitTable, Tree, tree_splits};

/// How many inner branches of several trees differ. Branches without length are no branches here: they say nothing
/// about the relationships of the taxa.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchDifferences {
    /// Number of branches of one tree that are missing in another: the least over all pairs of trees, where the
    /// larger of the two numbers of a pair counts.
    pub fewest: usize,
    /// The same, the most over all pairs.
    pub most: usize,
    /// Number of branches of the tree that has most of them.
    pub branches: usize,
}

/// Compares all pairs of trees over the same tips. Inner branches of at most the length `none` (expected substitutions
/// per site) are left aside.
///
/// # Panics
/// If the trees differ in their number of tips.
pub fn branch_differences(trees: &[&Tree], none: f64) -> BranchDifferences {
    let mut table = SplitTable::default();
    let mut branches_of = |tree: &&Tree| {
        assert_eq!(tree.num_tips(), trees[0].num_tips(), "trees over the same tips");
        let splits = tree_splits(tree).into_iter().filter(|(edge, _)| tree.brlen(*edge) > none);
        let mut numbers: Vec<u32> = splits.map(|(_, split)| table.insert(split)).collect();
        numbers.sort_unstable();
        numbers
    };
    let branches: Vec<Vec<u32>> = trees.iter().map(&mut branches_of).collect();
    let missing = |from: &[u32], of: &[u32]| {
        of.iter().filter(|split| from.binary_search(split).is_err()).count()
    };
    let later = |i: usize| branches[i + 1..].iter().map(move |other| (i, other));
    let pairs = (0..branches.len()).flat_map(later);
    let differences: Vec<usize> = pairs
        .map(|(i, other)| missing(&branches[i], other).max(missing(other, &branches[i])))
        .collect();
    BranchDifferences {
        fewest: differences.iter().copied().min().unwrap_or(0),
        most: differences.iter().copied().max().unwrap_or(0),
        branches: branches.iter().map(Vec::len).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxa::Taxa;
    use crate::tree::read_newick;

    #[test]
    fn branches_without_length_are_left_aside() {
        let taxa = Taxa::new("ABCDEF".chars().map(String::from).collect()).unwrap();
        let text =
            "((A:1,B:1):1,C:1,(D:1,(E:1,F:1):0.1):1); ((A:1,B:1):1,C:1,((D:1,F:1):0.1,E:1):1);
                    ((A:1,C:1):1,B:1,((D:1,F:1):1,E:1):0.1);";
        let read = read_newick(text, "t").unwrap();
        let trees: Vec<Tree> =
            read.iter().map(|t| t.to_tree(&taxa, "t", None).unwrap().0).collect();
        let trees: Vec<&Tree> = trees.iter().collect();
        let found = |trees: &[&Tree], none| {
            let BranchDifferences { fewest, most, branches } = branch_differences(trees, none);
            [fewest, most, branches]
        };
        assert_eq!(found(&trees[..2], 0.01), [1, 1, 3]);
        assert_eq!(found(&trees, 0.01), [1, 2, 3]);
        assert_eq!(found(&trees[..2], 0.2), [0, 0, 2]);
        assert_eq!(found(&trees, 0.2), [0, 2, 2]);
        assert_eq!(found(&trees[..1], 0.2), [0, 0, 2]);
        assert_eq!(found(&[], 0.2), [0, 0, 0]);
    }
}
