//! Splits (bipartitions of the taxa) as bitsets, and the splits of a tree.
//!
//! The splits that trees have in common are counted in the rooms above (distances, support) and in
//! `consensus.rs`.

use std::collections::HashMap;

use super::topology::{EdgeId, NodeId, Tree};

/// One side of a bipartition of the taxa: always the side without taxon 0, so that equal splits are
/// equal values. The order is that of the bit words, of use only as a fixed one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Split {
    words: Box<[u64]>,
}

impl Split {
    /// The split between these tips and the rest.
    pub fn from_tips(num_tips: usize, tips: impl IntoIterator<Item = usize>) -> Self {
        let mut words = vec![0u64; num_tips.div_ceil(64)];
        for tip in tips {
            assert!(tip < num_tips, "tip {tip} of {num_tips}");
            words[tip / 64] |= 1 << (tip % 64);
        }
        if words.first().is_some_and(|w| w & 1 == 1) {
            for word in &mut words {
                *word = !*word;
            }
            if !num_tips.is_multiple_of(64) {
                *words.last_mut().expect("there is a word") &= (1 << (num_tips % 64)) - 1;
            }
        }
        Split { words: words.into() }
    }

    /// The split whose side without taxon 0 has these bits.
    pub(super) fn of_words(words: &[u64]) -> Self {
        debug_assert!(
            words.first().is_none_or(|word| word & 1 == 0),
            "taxon 0 is on the other side"
        );
        Split { words: words.into() }
    }

    /// The split, of the taxa that are present, between those of a part and the others: the side without the first taxon
    /// that is present. Both sets are in bits.
    pub fn among(part: &[u64], present: &[u64]) -> Self {
        let first = present.iter().enumerate().find(|(_, word)| **word != 0);
        let flip = first.is_some_and(|(at, word)| part[at] >> word.trailing_zeros() & 1 == 1);
        let side =
            |(part, present): (&u64, &u64)| if flip { !part & present } else { part & present };
        Split { words: part.iter().zip(present).map(side).collect() }
    }

    /// True if the tip is on the side without taxon 0.
    pub fn contains(&self, tip: usize) -> bool {
        self.words[tip / 64] >> (tip % 64) & 1 == 1
    }

    /// Number of tips on the side without taxon 0.
    pub fn num_tips(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The tips on the side without taxon 0, ascending.
    pub fn tips(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let rest = std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)));
            rest.take_while(|&w| w != 0).map(move |w| 64 * i + w.trailing_zeros() as usize)
        })
    }

    /// True if one tree can have both splits.
    pub fn is_compatible(&self, other: &Split) -> bool {
        // The sides with taxon 0 always meet; so one of the three other meetings must be empty.
        let (mut both, mut only_self, mut only_other) = (false, false, false);
        for (a, b) in self.words.iter().zip(&other.words) {
            both |= a & b != 0;
            only_self |= a & !b != 0;
            only_other |= b & !a != 0;
            if both && only_self && only_other {
                return false;
            }
        }
        true
    }
}

/// The splits of the inner edges (both sides have two taxa or more), n-3 of them, with their edges.
pub fn tree_splits(tree: &Tree) -> Vec<(EdgeId, Split)> {
    let num_tips = tree.num_tips();
    if num_tips < 4 {
        return Vec::new();
    }
    let (inner, edge) = tree.links(NodeId(0)).next().expect("a tip has a neighbour");
    let num_words = num_tips.div_ceil(64);
    let mut words = vec![0u64; tree.num_nodes() * num_words];
    let mut splits = Vec::with_capacity(num_tips - 3);
    // Seen from tip 0 the far side of every edge lacks taxon 0: nothing is left to normalise.
    for &(node, edge) in tree.preorder(inner, edge).iter().rev() {
        let at = node.index() * num_words;
        if tree.is_tip(node) {
            words[at + node.index() / 64] |= 1 << (node.index() % 64);
            continue;
        }
        for (child, _) in tree.other_links(node, edge) {
            for word in 0..num_words {
                words[at + word] |= words[child.index() * num_words + word];
            }
        }
        if node != inner {
            splits.push((edge, Split { words: words[at..at + num_words].into() }));
        }
    }
    splits
}

/// Distinct splits, numbered in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct SplitTable {
    splits: Vec<Split>,
    // Only ever looked up, never iterated: its order must not reach a result.
    numbers: HashMap<Split, u32>,
}

impl SplitTable {
    /// The number of a split, a new one if it was not there yet.
    pub fn insert(&mut self, split: Split) -> u32 {
        let next = self.splits.len() as u32;
        *self.numbers.entry(split).or_insert_with_key(|split| {
            self.splits.push(split.clone());
            next
        })
    }

    /// The number of a split that is there.
    pub fn number(&self, split: &Split) -> Option<u32> {
        self.numbers.get(split).copied()
    }

    /// All splits in the order of their numbers.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }
}

/// True if two trees of the same tips have the same topology, whatever their numbering of inner nodes.
pub fn same_topology(a: &Tree, b: &Tree) -> bool {
    let sorted = |tree: &Tree| {
        let mut splits: Vec<Split> =
            tree_splits(tree).into_iter().map(|(_, split)| split).collect();
        splits.sort();
        splits
    };
    a.num_tips() == b.num_tips() && sorted(a) == sorted(b)
}

/// For every tree the number of the first one with the same topology, its own if there is none before it. All trees
/// have the same tips.
pub fn first_of_topology(trees: &[&Tree]) -> Vec<usize> {
    // Only ever looked up.
    let mut first = HashMap::new();
    let number = |(number, tree): (usize, &&Tree)| {
        let mut splits: Vec<Split> =
            tree_splits(tree).into_iter().map(|(_, split)| split).collect();
        splits.sort_unstable();
        *first.entry(splits).or_insert(number)
    };
    trees.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::random::random_tree;
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn both_sides_give_the_same_split() {
        for n in [5, 64, 65, 130] {
            let split = Split::from_tips(n, [1, n - 1]);
            assert_eq!(split, Split::from_tips(n, (0..n).filter(|&t| t != 1 && t != n - 1)));
            assert_eq!(split.tips().collect::<Vec<_>>(), [1, n - 1]);
            assert_eq!(split.num_tips(), 2);
            assert!(split.contains(1) && !split.contains(0));
        }
    }

    #[test]
    fn compatibility() {
        let split = |tips: &[usize]| Split::from_tips(6, tips.iter().copied());
        assert!(split(&[1, 2]).is_compatible(&split(&[3, 4])));
        assert!(split(&[1, 2]).is_compatible(&split(&[1, 2, 3])));
        assert!(split(&[1, 2, 3]).is_compatible(&split(&[0, 1, 2, 3])), "within the other side");
        assert!(!split(&[1, 2]).is_compatible(&split(&[2, 3])));
        assert!(!split(&[0, 1]).is_compatible(&split(&[1, 2])));
    }

    #[test]
    fn splits_of_a_tree_are_the_tips_behind_its_inner_edges() {
        let mut rng = stream(1, Purpose::Test, 0);
        for n in [1, 2, 3, 4, 5, 70, 200] {
            let tree = random_tree(n, 0.1, &mut rng);
            let splits = tree_splits(&tree);
            assert_eq!(splits.len(), n.saturating_sub(3));
            for (edge, split) in &splits {
                let behind = tree.preorder(tree.ends(*edge)[0], *edge);
                let tips =
                    behind.iter().map(|v| v.0).filter(|&v| tree.is_tip(v)).map(NodeId::index);
                assert_eq!(split, &Split::from_tips(n, tips));
                assert!((2..=n - 2).contains(&split.num_tips()));
                assert!(splits.iter().all(|(_, other)| split.is_compatible(other)));
            }
        }
    }

    #[test]
    fn the_table_numbers_in_order_of_arrival() {
        let mut table = SplitTable::default();
        let (a, b) = (Split::from_tips(5, [1, 2]), Split::from_tips(5, [3, 4]));
        assert_eq!(
            [table.insert(b.clone()), table.insert(a.clone()), table.insert(b.clone())],
            [0, 1, 0]
        );
        assert_eq!(table.splits(), [b, a.clone()]);
        assert_eq!(table.number(&a), Some(1));
        assert_eq!(table.number(&Split::from_tips(5, [1, 4])), None);
    }
}
