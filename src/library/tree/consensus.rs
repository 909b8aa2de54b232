//! Consensus of many trees over the same taxa: strict, majority rule and extended majority rule.

use super::drawing::{Branch, Drawing};
use super::multifurcating::Multifurcating;
use super::newick_write::support_label;
use super::splits::{Split, SplitTable};
use super::topology::to_length_grid;

/// Which splits a consensus keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConsensusRule {
    /// Those in every tree.
    Strict,
    /// Those in more than half of the trees, or, for a threshold above 0.5, in at least that share.
    Majority(f64),
    /// Those in more than half of the trees, then the others from frequent to rare, each if it is
    /// compatible with all before it (equally frequent ones in the fixed order of [`Split`]).
    Extended,
}

/// A rooted picture of an unrooted tree of any degrees, with the share of trees for each split.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsensusTree {
    num_tips: usize,
    /// Nodes 0..n are tips, n is the root next to tip 0, the others stand for one split each.
    children: Vec<Vec<u32>>,
    /// Kept splits with their support in percent: that of node n+1+i is the i-th.
    splits: Vec<(Split, f64)>,
    /// By node, the length of the branch above it, where one is known.
    lengths: Vec<Option<f64>>,
}

/// The consensus of trees over `num_tips` taxa, each given by its non-trivial splits.
///
/// Majority rule: Margush & McMorris 1981, Bull. Math. Biol. 43:239. A threshold below 0.5 counts as 0.5:
/// only above it are all kept splits compatible.
pub fn consensus<'a>(
    num_tips: usize,
    trees: impl IntoIterator<Item = &'a [Split]>,
    rule: ConsensusRule,
) -> ConsensusTree {
    let mut table = SplitTable::default();
    let mut counts: Vec<usize> = Vec::new();
    let mut num_trees = 0;
    for splits in trees {
        num_trees += 1;
        for split in splits {
            let number = table.insert(split.clone()) as usize;
            counts.resize(table.splits().len(), 0);
            counts[number] += 1;
        }
    }
    let is_kept = |count: usize| match rule {
        ConsensusRule::Strict => count == num_trees,
        // 0.55 of 100 trees is 55.00000000000001 in binary, hence the tolerance.
        ConsensusRule::Majority(t) if t > 0.5 => count as f64 + 1e-9 >= t * num_trees as f64,
        ConsensusRule::Majority(_) | ConsensusRule::Extended => 2 * count > num_trees,
    };
    let mut candidates: Vec<(usize, &Split)> = counts.into_iter().zip(table.splits()).collect();
    candidates.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let mut kept: Vec<(Split, f64)> = Vec::new();
    for (count, split) in candidates {
        let fits = is_kept(count)
            || (rule == ConsensusRule::Extended
                && kept.iter().all(|(other, _)| split.is_compatible(other)));
        if fits {
            kept.push((split.clone(), 100.0 * count as f64 / num_trees as f64));
        }
        if kept.len() + 3 >= num_tips {
            break;
        }
    }
    ConsensusTree::from_splits(num_tips, kept)
}

impl ConsensusTree {
    /// The tree that has exactly these pairwise compatible splits.
    fn from_splits(num_tips: usize, mut splits: Vec<(Split, f64)>) -> Self {
        // From large to small: the last set seen around a tip is the smallest that holds it.
        splits.sort_by_key(|(split, _)| std::cmp::Reverse(split.num_tips()));
        let root = num_tips as u32;
        let mut children = vec![Vec::new(); num_tips + 1 + splits.len()];
        let mut innermost = vec![root; num_tips];
        let mut smallest: Vec<u32> = (0..=root).collect();
        for (node, (split, _)) in (root + 1..).zip(&splits) {
            let first = split.tips().next().expect("a split has tips");
            children[innermost[first] as usize].push(node);
            smallest.push(first as u32);
            for tip in split.tips() {
                innermost[tip] = node;
            }
        }
        for (tip, &parent) in innermost.iter().enumerate() {
            children[parent as usize].push(tip as u32);
        }
        for list in &mut children {
            list.sort_by_key(|&child| smallest[child as usize]);
        }
        let lengths = vec![None; children.len()];
        ConsensusTree { num_tips, children, splits, lengths }
    }

    /// Gives every branch its mean length over those of the trees that have the branch with a length.
    ///
    /// # Panics
    /// If a tree does not have all taxa.
    pub fn set_mean_lengths(&mut self, trees: &[Multifurcating]) {
        let mut table = SplitTable::default();
        self.splits.iter().for_each(|(split, _)| _ = table.insert(split.clone()));
        let mut sums = vec![(0.0, 0u32); self.lengths.len()];
        let mut add = |node: usize, length: Option<f64>| {
            if let Some(length) = length {
                sums[node].0 += length;
                sums[node].1 += 1;
            }
        };
        for tree in trees {
            assert_eq!(tree.tips().len(), self.num_tips, "every tree has all taxa");
            let tips = tree.tip_lengths();
            tips.into_iter().enumerate().for_each(|(tip, length)| add(tip, length));
            for (node, split) in tree.splits() {
                if let Some(number) = table.number(&split) {
                    add(self.num_tips + 1 + number as usize, tree.length(node));
                }
            }
        }
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        self.lengths = sums.into_iter().map(mean).collect();
    }

    /// Gives the terminal branches these lengths, by tip, and the others those of their splits.
    pub(crate) fn set_lengths(&mut self, tips: &[f64], of_split: impl Fn(&Split) -> Option<f64>) {
        let inner = self.splits.iter().map(|(split, _)| of_split(split));
        let tips = tips.iter().map(|length| Some(*length));
        self.lengths = tips.chain([None]).chain(inner).collect();
    }

    /// The branches of the splits (in their order) and of the tips: lengths that were set.
    #[cfg(test)]
    fn lengths(&self) -> (&[Option<f64>], &[Option<f64>]) {
        (&self.lengths[self.num_tips + 1..], &self.lengths[..self.num_tips])
    }

    /// The splits of the tree with their support in percent.
    pub fn splits(&self) -> &[(Split, f64)] {
        &self.splits
    }

    /// For each branch of its [drawing](ConsensusTree::drawing) the number of its split; `None` for those to tips.
    pub fn splits_of_branches(&self) -> Vec<Option<usize>> {
        let split = |&child: &u32| (child as usize).checked_sub(self.num_tips + 1);
        self.children.iter().flatten().map(split).collect()
    }

    /// As Newick text with the support as node labels, and with the lengths that are known; `names(i)` names taxon i.
    pub fn to_newick<'n>(&self, names: impl Fn(usize) -> &'n str) -> String {
        self.drawing().draw(names, None, None).newick
    }

    /// The tree with the support as labels, and with the lengths that are known.
    pub fn drawing(&self) -> Drawing {
        self.drawing_with(support_label)
    }

    /// The same with other labels, made from the support in percent.
    pub fn drawing_with(&self, label: impl Fn(f64) -> String) -> Drawing {
        let label = |node: u32| {
            let split = (node as usize).checked_sub(self.num_tips + 1)?;
            Some(label(self.splits[split].1))
        };
        let on = |(node, children): (usize, &Vec<u32>)| -> Vec<Branch> {
            let branch = |&child: &u32| {
                let length = self.lengths[child as usize].map(to_length_grid);
                Branch {
                    ends: [node as u32, child],
                    length,
                    label: label(child),
                    is_left_out: false,
                }
            };
            children.iter().map(branch).collect()
        };
        let branches = self.children.iter().enumerate().flat_map(on).collect();
        Drawing { num_tips: self.num_tips, branches, node_names: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::random_tree;
    use super::super::{NewickOptions, Tree, read_newick, tree_splits, write_newick};
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::taxa::Taxa;

    const NAMES: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];

    fn splits_of(tree: &Tree) -> Vec<Split> {
        tree_splits(tree).into_iter().map(|s| s.1).collect()
    }

    fn text_of(trees: &str, rule: ConsensusRule) -> String {
        let trees = read_newick(trees, "t").unwrap();
        let tips = trees[0].nodes().filter(|node| node.is_tip()).count();
        let taxa = Taxa::new(NAMES[..tips].iter().map(|s| s.to_string()).collect()).unwrap();
        let trees: Vec<Vec<Split>> =
            trees.iter().map(|t| splits_of(&t.to_tree(&taxa, "t", None).unwrap().0)).collect();
        consensus(tips, trees.iter().map(Vec::as_slice), rule).to_newick(|i| NAMES[i])
    }

    #[test]
    fn strict_majority_and_extended() {
        let trees = "((A,B),C,((D,E),(F,G))); ((A,B),C,((D,E),(F,G))); ((A,B),D,((C,E),(F,G))); ((A,C),F,(B,(G,(D,E))));";
        assert_eq!(text_of(trees, ConsensusRule::Strict), "(A,B,C,D,E,F,G);");
        assert_eq!(text_of(trees, ConsensusRule::Majority(0.5)), "(A,B,(C,(D,E)75,(F,G)75)75);");
        assert_eq!(text_of(trees, ConsensusRule::Majority(0.75)), "(A,B,(C,(D,E)75,(F,G)75)75);");
        assert_eq!(text_of(trees, ConsensusRule::Majority(0.8)), "(A,B,C,D,E,F,G);");
        assert_eq!(text_of(trees, ConsensusRule::Extended), "(A,B,(C,((D,E)75,(F,G)75)50)75);");
        assert_eq!(
            text_of("(A,B,(C,D)); (A,C,(B,D));", ConsensusRule::Majority(0.5)),
            "(A,B,C,D);"
        );
        assert_eq!(text_of("(A,B,C);", ConsensusRule::Extended), "(A,B,C);");
    }

    #[test]
    fn lengths_are_means_over_the_trees_that_have_the_branch() {
        let trees = read_newick(
            "((A:1,B:2):3,C:4,(D:1,E:1):1); ((E:3,D:1):2,(A:3,B:2):4,C:1); ((A:8,C:1):1,B:2,(D,E));",
            "t",
        );
        let taxa = Taxa::new(NAMES[..5].iter().map(|s| s.to_string()).collect()).unwrap();
        let trees: Vec<Multifurcating> = trees
            .unwrap()
            .iter()
            .map(|tree| tree.to_multifurcating(&taxa, "t", true).unwrap())
            .collect();
        let splits: Vec<Vec<Split>> =
            trees.iter().map(|tree| tree.splits().into_iter().map(|s| s.1).collect()).collect();
        let rule = ConsensusRule::Majority(0.5);
        let mut tree = consensus(5, splits.iter().map(Vec::as_slice), rule);
        assert_eq!(tree.to_newick(|i| NAMES[i]), "(A,B,(C,(D,E)100)67);");
        tree.set_mean_lengths(&trees);
        // DE and its tips have no length in the third tree, AB does not exist there.
        assert_eq!(
            tree.lengths(),
            (&[Some(3.5), Some(1.5)][..], &[4.0, 2.0, 2.0, 1.0, 2.0].map(Some)[..])
        );
        let text = tree.to_newick(|i| NAMES[i]);
        assert_eq!(text, "(A:4,B:2,(C:2,(D:1,E:2)100:1.5)67:3.5);");
    }

    #[test]
    fn the_consensus_of_one_tree_is_that_tree() {
        let mut rng = stream(1, Purpose::Test, 0);
        let names: Vec<String> = (0..70).map(|i| format!("t{i}")).collect();
        let tree = random_tree(70, 0.1, &mut rng);
        let splits = splits_of(&tree);
        for rule in [ConsensusRule::Strict, ConsensusRule::Majority(0.5), ConsensusRule::Extended] {
            let text = consensus(70, [splits.as_slice()], rule).to_newick(|i| &names[i]);
            let options = NewickOptions { brlens: false, ..NewickOptions::default() };
            assert_eq!(text.replace(")100", ")"), write_newick(&tree, |i| &names[i], &options));
        }
    }

    #[test]
    fn extended_consensus_of_random_trees_is_as_resolved_as_its_splits_allow() {
        let mut rng = stream(1, Purpose::Test, 1);
        let trees: Vec<Vec<Split>> =
            (0..30).map(|_| splits_of(&random_tree(12, 0.1, &mut rng))).collect();
        let tree = consensus(12, trees.iter().map(Vec::as_slice), ConsensusRule::Extended);
        let kept = tree.splits();
        assert!(kept.iter().all(|(a, _)| kept.iter().all(|(b, _)| a.is_compatible(b))));
        for split in trees.iter().flatten() {
            let fits = kept.iter().all(|(other, _)| split.is_compatible(other));
            assert!(!fits || kept.iter().any(|(other, _)| other == split));
        }
    }
}
