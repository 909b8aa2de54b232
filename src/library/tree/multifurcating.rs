//! Unrooted trees of any degrees over some or all taxa, for what compares trees: their splits and lengths.
//!
//! Trees on which likelihoods are computed are binary and have all taxa: those are in `topology.rs`.

use super::newick_syntax::NewickTree;
use super::newick_tree::add_lengths;
use super::splits::Split;
use super::topology::{NodeId, Tree};
use crate::error::{Error, Result};
use crate::taxa::Taxa;

/// Stands for "no node".
const NONE: u32 = u32::MAX;

/// An unrooted tree whose inner nodes have three neighbours or more. As a picture it is rooted in its first tip.
///
/// Nodes are numbered: first the tips, in the order of their taxa, then the inner nodes, each before those behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Multifurcating {
    num_taxa: usize,
    tips: Vec<u32>,
    /// By node, the next one towards the first tip; `NONE` for the first tip itself.
    parents: Vec<u32>,
    /// By node, the length of the branch to its parent, where it has one.
    lengths: Vec<Option<f64>>,
}

/// The neighbours of every node, with the lengths of the branches to them.
type Links = Vec<Vec<(u32, Option<f64>)>>;

impl Multifurcating {
    /// Number of taxa that are numbered; the tree may lack some of them.
    pub fn num_taxa(&self) -> usize {
        self.num_taxa
    }

    /// Taxon numbers of the tips, ascending.
    pub fn tips(&self) -> &[u32] {
        &self.tips
    }

    /// Number of nodes, tips and inner ones.
    pub(crate) fn num_nodes(&self) -> usize {
        self.parents.len()
    }

    /// The next node towards the first tip; `None` for the first tip.
    pub(crate) fn parent(&self, node: usize) -> Option<usize> {
        Some(self.parents[node]).filter(|&parent| parent != NONE).map(|parent| parent as usize)
    }

    /// Length of the branch of a node towards the first tip, where it has one.
    pub fn length(&self, node: usize) -> Option<f64> {
        self.lengths[node]
    }

    /// Length of the branch to every tip, where it has one; of two tips, both have that of the only branch.
    pub(crate) fn tip_lengths(&self) -> Vec<Option<f64>> {
        let beside_first = (0..self.num_nodes()).find(|&node| self.parents[node] == 0);
        let of_first = beside_first.and_then(|node| self.lengths[node]);
        let mut lengths = self.lengths[..self.tips.len()].to_vec();
        lengths[0] = of_first;
        lengths
    }

    /// True if every branch has a length.
    pub fn has_lengths(&self) -> bool {
        self.lengths.iter().skip(1).all(Option::is_some)
    }

    /// True if no inner node has more than three neighbours.
    pub fn is_binary(&self) -> bool {
        self.num_nodes() == (2 * self.tips.len()).saturating_sub(2).max(self.tips.len())
    }

    /// The splits of the inner branches with the nodes behind them, in the order of these. A split is the side
    /// without the first tip.
    pub fn splits(&self) -> Vec<(usize, Split)> {
        let first_inner = self.tips.len();
        let num_words = self.num_taxa.div_ceil(64);
        let mut words = vec![0u64; self.num_nodes() * num_words];
        for (tip, &taxon) in self.tips.iter().enumerate().skip(1) {
            let at = self.parents[tip] as usize * num_words;
            words[at + taxon as usize / 64] |= 1 << (taxon % 64);
        }
        let mut splits = Vec::new();
        for node in (first_inner + 1..self.num_nodes()).rev() {
            let (behind, from) = (self.parents[node] as usize * num_words, node * num_words);
            for word in 0..num_words {
                words[behind + word] |= words[from + word];
            }
            splits.push((node, Split::of_words(&words[from..from + num_words])));
        }
        splits.reverse();
        splits
    }

    /// The tree with these links of the tips (the first nodes) and inner nodes, numbered anew.
    fn from_links(num_taxa: usize, tips: Vec<u32>, links: &Links) -> Self {
        let mut tree = Multifurcating {
            num_taxa,
            parents: vec![NONE; tips.len()],
            lengths: vec![None; tips.len()],
            tips,
        };
        // Nodes to be visited: as it is linked, the one before it by either number, and the length between them.
        let mut stack = vec![(0u32, NONE, NONE, None)];
        while let Some((node, from, parent, length)) = stack.pop() {
            let number = if (node as usize) < tree.tips.len() {
                tree.parents[node as usize] = parent;
                tree.lengths[node as usize] = length;
                node
            } else {
                tree.parents.push(parent);
                tree.lengths.push(length);
                tree.parents.len() as u32 - 1
            };
            let next = links[node as usize].iter().rev().filter(|link| link.0 != from);
            stack.extend(next.map(|&(next, length)| (next, node, number, length)));
        }
        tree
    }
}

impl From<&Tree> for Multifurcating {
    fn from(tree: &Tree) -> Self {
        let links_of = |node: NodeId| {
            let links = tree.links(node);
            links.map(|(other, edge)| (other.0, Some(tree.brlen(edge)))).collect()
        };
        let links: Links = tree.nodes().map(links_of).collect();
        let num_tips = tree.num_tips();
        Multifurcating::from_links(num_tips, (0..num_tips as u32).collect(), &links)
    }
}

impl NewickTree {
    /// The unrooted tree of any degrees, over all taxa or, without `all_taxa`, over some. Nodes of degree two go,
    /// the lengths of their branches added.
    ///
    /// # Errors
    /// All of: taxa that are unknown, twice in the tree or, with `all_taxa`, not in it, negative or huge lengths.
    pub fn to_multifurcating(
        &self,
        taxa: &Taxa,
        file: &str,
        all_taxa: bool,
    ) -> Result<Multifurcating> {
        let mut faults = self.check_lengths(file);
        let (taxon_of, present) = self.match_taxa(taxa, file, all_taxa, &mut faults);
        if !faults.is_empty() {
            return Err(Error::Input(faults));
        }
        let (below, lengths) = self.without_degree_two();
        let is_tip = |node: u32| self.node(node).is_tip();
        let mut links: Links = vec![Vec::new(); present.len()];
        let mut numbers = vec![NONE; self.num_nodes()];
        let mut tip_of_taxon = vec![NONE; taxa.len()];
        for (tip, &taxon) in present.iter().enumerate() {
            tip_of_taxon[taxon] = tip as u32;
        }
        let root = self.first_branching();
        let mut number_of = |node: u32, links: &mut Links| {
            let number = &mut numbers[node as usize];
            if *number == NONE && is_tip(node) {
                *number = tip_of_taxon[taxon_of[node as usize] as usize];
            } else if *number == NONE {
                *number = links.len() as u32;
                links.push(Vec::new());
            }
            *number
        };
        let mut link = |a: u32, b: u32, length: Option<f64>| {
            let [a, b] = [a, b].map(|node| number_of(node, &mut links));
            links[a as usize].push((b, length));
            links[b as usize].push((a, length));
        };
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            let children = self.node(node).children().map(|child| child.number() as usize);
            match children.map(|child| (below[child], lengths[child])).collect::<Vec<_>>()[..] {
                [(a, first), (b, second)] if node == root => {
                    link(a, b, add_lengths(first, second));
                    stack.extend([b, a]);
                }
                ref all => {
                    for &(below, length) in all {
                        link(node, below, length);
                    }
                    stack.extend(all.iter().rev().map(|child| child.0));
                }
            }
        }
        let tips = present.iter().map(|&taxon| taxon as u32).collect();
        Ok(Multifurcating::from_links(taxa.len(), tips, &links))
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::random_tree;
    use super::super::{NewickOptions, read_newick, tree_splits, write_newick};
    use super::*;
    use crate::rng::{Purpose, stream};

    fn taxa() -> Taxa {
        Taxa::new("ABCDEFG".chars().map(String::from).collect()).unwrap()
    }

    fn read(text: &str) -> Multifurcating {
        read_newick(text, "t").unwrap()[0].to_multifurcating(&taxa(), "t", false).unwrap()
    }

    fn splits(tree: &Multifurcating) -> Vec<(String, Option<f64>)> {
        let name = |split: &Split| split.tips().map(|tip| taxa().name(tip).to_string()).collect();
        let splits = tree.splits();
        let mut named: Vec<(String, Option<f64>)> =
            splits.iter().map(|(node, split)| (name(split), tree.length(*node))).collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        named
    }

    #[test]
    fn a_tree_is_the_same_wherever_it_is_rooted() {
        for text in [
            "((A:1,B:2):3,C:4,D:5,(E:6,F:7,G:8):9);",
            "((C:4,D:5,(E:6,F:7,G:8):9):1,(A:1,B:2):2);",
            "(((((E:6,(F:7):0,G:8):5):4,(A:1,B:2):3,C:4,D:5):1):2);",
        ] {
            let tree = read(text);
            assert_eq!(splits(&tree), [("CDEFG".into(), Some(3.0)), ("EFG".into(), Some(9.0))]);
            let lengths: Vec<f64> = tree.tip_lengths().into_iter().flatten().collect();
            assert_eq!(lengths, [1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
            assert!(tree.has_lengths() && !tree.is_binary());
        }
    }

    #[test]
    fn trees_may_lack_taxa_and_lengths() {
        let tree = read("(D,(G:1,E),(C,F));");
        assert_eq!(tree.tips(), [2, 3, 4, 5, 6]);
        assert_eq!(splits(&tree), [("DEG".into(), None), ("EG".into(), None)]);
        assert!(tree.is_binary() && !tree.has_lengths());
        for (text, nodes) in [("B;", 1), ("(B);", 1), ("(B,C);", 2), ("(B,C,D);", 4)] {
            let tree = read(text);
            assert_eq!((tree.num_nodes(), tree.splits().len()), (nodes, 0), "{text}");
            assert!(tree.is_binary(), "{text}");
        }
        let parsed = &read_newick("(A:-1,(B,X));", "t").unwrap()[0];
        let Error::Input(faults) = parsed.to_multifurcating(&taxa(), "t", true).unwrap_err() else {
            panic!("faults were expected")
        };
        assert_eq!(faults.len(), 7, "a length, X, and five taxa that are missing");
    }

    #[test]
    fn binary_trees_keep_their_splits_and_lengths() {
        let mut rng = stream(1, Purpose::Test, 0);
        for n in [1, 2, 3, 4, 70, 130] {
            let tree = random_tree(n, 0.1, &mut rng);
            let names: Vec<String> = (0..n).map(|i| format!("t{i}")).collect();
            let text = write_newick(&tree, |i| &names[i], &NewickOptions::default());
            let taxa = Taxa::new(names).unwrap();
            let read = read_newick(&text, "t").unwrap().remove(0);
            for same in [(&tree).into(), read.to_multifurcating(&taxa, "t", true).unwrap()] {
                let mut expected: Vec<(Split, Option<f64>)> = tree_splits(&tree)
                    .into_iter()
                    .map(|(edge, split)| (split, Some(tree.brlen(edge))))
                    .collect();
                expected.sort_by(|a, b| a.0.cmp(&b.0));
                let splits = same.splits();
                let mut found: Vec<(Split, Option<f64>)> =
                    splits.into_iter().map(|(node, split)| (split, same.length(node))).collect();
                found.sort_by(|a, b| a.0.cmp(&b.0));
                for ((split, length), (own, own_length)) in found.iter().zip(&expected) {
                    // Lengths of trees with likelihoods lie on a grid.
                    let difference = length.unwrap() - own_length.unwrap();
                    assert!(split == own && difference.abs() < 1e-10);
                }
                assert_eq!(found.len(), expected.len());
                assert!(same.is_binary());
                let parents: Vec<_> = (n..same.num_nodes()).map(|v| same.parent(v)).collect();
                assert!(parents.iter().zip(n..).all(|(parent, v)| parent.unwrap() < v));
            }
        }
    }
}
