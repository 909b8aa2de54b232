//! From Newick syntax to the unrooted binary [`Tree`]: which label is which taxon, unrooting,
//! suppression of nodes of degree two, random resolution of multifurcations, default lengths.
//!
//! Characters are read in `newick_read.rs`. Labels of inner nodes are ignored.

use rand::RngExt;

use super::constraint::Constraint;
use super::newick_syntax::{NewickNode, NewickTree};
use super::resolution::resolve_canonically;
use super::topology::{EdgeId, NodeId, Tree};
use crate::error::{Error, Fault, Faults, Place, Result, short_number};
use crate::rng::Rng;
use crate::taxa::Taxa;

/// Length (expected substitutions per site) of branches that are written without one.
pub const DEFAULT_BRLEN: f64 = 0.1;

/// Length of the branches that resolve a multifurcation.
pub(super) const RESOLVED_BRLEN: f64 = 1e-6;

/// Longest length that is accepted: longer ones are probably not in substitutions per site.
pub(super) const MAX_READ_BRLEN: f64 = 1e5;

/// Greatest magnitude of a length of any unit: far above years, and far below what overflows on the grid of lengths.
const MAX_ANY_BRLEN: f64 = 1e15;

/// True for what can be a length in substitutions per site.
pub fn is_usable_brlen(length: f64) -> bool {
    (0.0..=MAX_READ_BRLEN).contains(&length)
}

/// A tree over some of the taxa, as [`NewickTree::to_tree_on_subset`] gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetTree {
    /// Taxon numbers of the tips, ascending: tip `i` of `tree` is taxon `taxa[i]`.
    pub taxa: Vec<usize>,
    /// The tree over these taxa.
    pub tree: Tree,
    /// True if every branch was written with a length.
    pub has_lengths: bool,
    /// The edges that resolve multifurcations.
    pub resolved: Vec<EdgeId>,
}

/// A child still to be linked: a node of the syntax tree, or one made by resolving.
enum Child {
    Syntax(u32),
    Made(NodeId),
}

impl NewickTree {
    /// The unrooted binary tree in which tip `i` is taxon `i`, and whether every branch had a length
    /// (those without get 0.1). The two branches at a root of degree two become one,
    /// their lengths added; so do those at any other node of degree two. Multifurcations are
    /// resolved by joining two random branches at a time, with `resolve` as the source of chance.
    ///
    /// # Errors
    /// All of: taxa that are unknown, twice in the tree or not in it, negative or huge lengths, and,
    /// if `resolve` is `None`, multifurcations.
    pub fn to_tree(
        &self,
        taxa: &Taxa,
        file: &str,
        resolve: Option<&mut Rng>,
    ) -> Result<(Tree, bool)> {
        let subset = self.convert(taxa, file, resolve, true)?;
        Ok((subset.tree, subset.has_lengths))
    }

    /// Like [`NewickTree::to_tree`]. Multifurcations are resolved so that the tree satisfies the constraint, if it can.
    ///
    /// # Errors
    /// As [`NewickTree::to_tree`].
    pub fn to_tree_under(
        &self,
        taxa: &Taxa,
        file: &str,
        resolve: Option<&mut Rng>,
        constraint: Option<&Constraint>,
    ) -> Result<(Tree, bool)> {
        let SubsetTree { mut tree, has_lengths, resolved, .. } =
            self.convert(taxa, file, resolve, true)?;
        if constraint.is_some_and(|constraint| constraint.violated(&tree).is_some()) {
            let mut unresolved = vec![false; tree.num_edges()];
            resolved.iter().for_each(|edge| unresolved[edge.index()] = true);
            tree = resolve_canonically(&tree, &unresolved, RESOLVED_BRLEN, 0.0, constraint);
        }
        Ok((tree, has_lengths))
    }

    /// Like [`NewickTree::to_tree`], but the tree may lack some of the taxa.
    ///
    /// # Errors
    /// As [`NewickTree::to_tree`], but for missing taxa.
    pub fn to_tree_on_subset(
        &self,
        taxa: &Taxa,
        file: &str,
        resolve: Option<&mut Rng>,
    ) -> Result<SubsetTree> {
        self.convert(taxa, file, resolve, false)
    }

    fn convert(
        &self,
        taxa: &Taxa,
        file: &str,
        resolve: Option<&mut Rng>,
        all_taxa: bool,
    ) -> Result<SubsetTree> {
        let mut faults = self.check_lengths(file);
        let (taxon_of, present) = self.match_taxa(taxa, file, all_taxa, &mut faults);
        if resolve.is_none() {
            self.check_binary(file, &mut faults);
        }
        if !faults.is_empty() {
            return Err(Error::Input(faults));
        }
        let mut tip_of_taxon = vec![u32::MAX; taxa.len()];
        for (tip, &taxon) in present.iter().enumerate() {
            tip_of_taxon[taxon] = tip as u32;
        }
        let tip_of = |node: u32| NodeId(tip_of_taxon[taxon_of[node as usize] as usize]);
        let (tree, resolved) = self.build(present.len(), tip_of, resolve);
        let has_lengths = self.nodes().skip(1).all(|node| node.length().is_some());
        Ok(SubsetTree { taxa: present, tree, has_lengths, resolved })
    }

    /// The taxon of every tip node, and all taxa of the tree in ascending order.
    pub(super) fn match_taxa(
        &self,
        taxa: &Taxa,
        file: &str,
        all_taxa: bool,
        faults: &mut Faults,
    ) -> (Vec<u32>, Vec<usize>) {
        let mut taxon_of = vec![u32::MAX; self.num_nodes()];
        let mut first_at: Vec<Option<u32>> = vec![None; taxa.len()];
        for node in self.nodes().filter(|node| node.is_tip()) {
            let name = node.name().unwrap_or_default();
            let place = place_of(node, file).named(name);
            let Some(taxon) = taxa.index(name) else {
                faults.push(Fault::new(place, "this taxon of the tree is not in the alignment"));
                continue;
            };
            taxon_of[node.number() as usize] = taxon as u32;
            if let Some(first) = first_at[taxon] {
                let first = self.node(first);
                let (line, column) = (first.line(), first.column());
                faults.push(Fault::new(
                    place,
                    format!(
                        "this taxon is in the tree twice, first at line {line}, column {column}"
                    ),
                ));
            } else {
                first_at[taxon] = Some(node.number());
            }
        }
        if all_taxa {
            for taxon in (0..taxa.len()).filter(|&t| first_at[t].is_none()) {
                let place = place_of(self.root(), file).named(taxa.name(taxon));
                faults.push(Fault::new(place, "this taxon of the alignment is not in the tree"));
            }
        }
        (taxon_of, (0..taxa.len()).filter(|&t| first_at[t].is_some()).collect())
    }

    pub(super) fn check_lengths(&self, file: &str) -> Faults {
        let mut faults = Faults::new();
        for node in self.nodes() {
            let message = match node.length() {
                Some(length) if self.any_lengths && length.abs() > MAX_ANY_BRLEN => format!(
                    "branch length {} is no length: expected at most {MAX_ANY_BRLEN}",
                    short_number(length)
                ),
                Some(_) if self.any_lengths => continue,
                Some(length) if length < 0.0 => {
                    format!(
                        "negative branch length {}; lengths must be 0 or more",
                        short_number(length)
                    )
                }
                Some(length) if length > MAX_READ_BRLEN => format!(
                    "branch length {} is more than {MAX_READ_BRLEN}; expected substitutions per site, not units of time",
                    short_number(length)
                ),
                _ => continue,
            };
            let mut place = place_of(node, file);
            place.name = node.name().map(String::from);
            faults.push(Fault::new(place, message));
        }
        faults
    }

    fn check_binary(&self, file: &str, faults: &mut Faults) {
        let root = self.first_branching();
        for node in self.nodes() {
            let is_root = node.number() == root;
            let num_children = node.children().count();
            if num_children > if is_root { 3 } else { 2 } {
                let message = format!(
                    "multifurcation with {} branches; a binary tree is needed here: a search with this tree as its \
                     constraint finds the best resolution",
                    num_children + usize::from(!is_root)
                );
                faults.push(Fault::new(place_of(node, file), message));
            }
        }
    }

    /// The root, or below a root with one child the first node that has more (or none).
    pub(super) fn first_branching(&self) -> u32 {
        let mut node = self.root();
        while let Some(only) = node.only_child() {
            node = only;
        }
        node.number()
    }

    /// For every node the first one at or below it that is not of degree two, and the length of all branches from there
    /// up to its parent, as far as they have one.
    pub(super) fn without_degree_two(&self) -> (Vec<u32>, Vec<Option<f64>>) {
        let mut below: Vec<u32> = (0..self.num_nodes() as u32).collect();
        let mut length: Vec<Option<f64>> = self.nodes().map(NewickNode::length).collect();
        for node in self.nodes().rev() {
            if let Some(only) = node.only_child() {
                let (i, only) = (node.number() as usize, only.number() as usize);
                below[i] = below[only];
                length[i] = add_lengths(length[i], length[only]);
            }
        }
        (below, length)
    }

    /// The tree, and the edges that resolve its multifurcations.
    fn build(
        &self,
        num_tips: usize,
        tip_of: impl Fn(u32) -> NodeId,
        mut resolve: Option<&mut Rng>,
    ) -> (Tree, Vec<EdgeId>) {
        let (below, length) = self.without_degree_two();
        let is_tip = |node: u32| self.node(node).is_tip();
        let children = |node: u32| -> Vec<(Child, Option<f64>)> {
            let children = self.node(node).children().map(|child| child.number() as usize);
            children.map(|child| (Child::Syntax(below[child]), length[child])).collect()
        };

        let mut tree = Tree::unconnected(num_tips);
        let mut start = self.first_branching();
        let mut start_children = children(start);
        if let [(Child::Syntax(a), length_a), (Child::Syntax(b), length_b)] = start_children[..] {
            let across = add_lengths(length_a, length_b);
            let (top, other) = if is_tip(a) { (b, a) } else { (a, b) };
            if is_tip(top) {
                tree.add_edge(tip_of(a), tip_of(b), normal(across));
                return (tree, Vec::new());
            }
            start = top;
            start_children = children(top);
            start_children.push((Child::Syntax(other), across));
        }
        if is_tip(start) {
            return (tree, Vec::new());
        }

        let mut resolved = Vec::new();
        let mut next_inner = num_tips as u32;
        let mut new_inner = || {
            next_inner += 1;
            NodeId(next_inner - 1)
        };
        let mut stack = vec![(new_inner(), start_children, 3)];
        while let Some((node, mut list, degree_left)) = stack.pop() {
            while list.len() > degree_left {
                let rng = resolve.as_deref_mut().expect("multifurcations were refused before");
                let mut take = || {
                    let chosen = rng.random_range(0..list.len() as u32);
                    list.swap_remove(chosen as usize)
                };
                let pair = vec![take(), take()];
                let joined = new_inner();
                list.push((Child::Made(joined), Some(RESOLVED_BRLEN)));
                stack.push((joined, pair, 2));
            }
            for (child, length) in list {
                let length = normal(length);
                match child {
                    Child::Made(made) => resolved.push(tree.add_edge(node, made, length)),
                    Child::Syntax(tip) if is_tip(tip) => {
                        tree.add_edge(node, tip_of(tip), length);
                    }
                    Child::Syntax(inner) => {
                        let made = new_inner();
                        stack.push((made, children(inner), 2));
                        tree.add_edge(node, made, length);
                    }
                }
            }
        }
        (tree, resolved)
    }
}

fn place_of(node: NewickNode, file: &str) -> Place {
    Place::file(file).at_line(node.line() as usize).at_column(node.column() as usize)
}

pub(super) fn add_lengths(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// The length with its default, and 0 for "-0".
fn normal(length: Option<f64>) -> f64 {
    length.unwrap_or(DEFAULT_BRLEN) + 0.0
}

#[cfg(test)]
mod tests {
    use super::super::{NewickOptions, read_newick, write_newick};
    use super::*;
    use crate::rng::{Purpose, stream};

    fn taxa(names: &str) -> Taxa {
        Taxa::new(names.chars().map(String::from).collect()).unwrap()
    }

    fn read(text: &str) -> NewickTree {
        read_newick(text, "t").unwrap().remove(0)
    }

    fn convert(text: &str, names: &str) -> (String, bool) {
        let taxa = taxa(names);
        let (tree, has_lengths) = read(text).to_tree(&taxa, "t", None).unwrap();
        tree.assert_integrity();
        (write_newick(&tree, |i| taxa.name(i), &NewickOptions::default()), has_lengths)
    }

    fn faults(result: Result<(Tree, bool)>) -> Vec<String> {
        match result {
            Err(Error::Input(faults)) => faults.kept().iter().map(Fault::to_string).collect(),
            other => panic!("expected faults, got {other:?}"),
        }
    }

    #[test]
    fn roots_and_other_nodes_of_degree_two_go_with_their_lengths_added() {
        let full = |s: &str| (s.to_string(), true);
        let five = full("(A:1,B:2,(C:4,(D:5,E:6):7):3);");
        assert_eq!(convert("(A:1,B:2,(C:4,(D:5,E:6)99:7)100:3);", "ABCDE"), five);
        assert_eq!(convert("((A:1,B:2):1,((E:6,D:5):7,C:4):2);", "ABCDE"), five);
        assert_eq!(convert("(((((A:1,B:2):1):2,C:4):7,D:5):2,E:4);", "ABCDE"), five);
        assert_eq!(convert("((((A:0.5):0.5,B:2,(C:4,((D:5,E:6):3):4):3):9):1);", "ABCDE"), five);
        assert_eq!(convert("(C:1,(A:1,B:2):3);", "ABC"), full("(A:1,B:2,C:4);"));
        assert_eq!(convert("(B:1,A:2);", "AB"), full("(A:3,B:0);"));
        assert_eq!(convert("(A:1);", "A"), full("A;"));
        assert_eq!(convert("A;", "A"), full("A;"));
        assert_eq!(convert("(A:-0,B,C);", "ABC"), ("(A:0,B:0.1,C:0.1);".into(), false));
        assert_eq!(
            convert("((A,B),(C,D));", "ABCD"),
            ("(A:0.1,B:0.1,(C:0.1,D:0.1):0.1);".into(), false)
        );
    }

    #[test]
    fn lengths_that_are_no_substitutions_are_read_where_they_are_only_written_again() {
        let taxa = taxa("ABCD");
        let text = "(A:-0.5,B:200000,(C:1,D:2):-1);";
        assert_eq!(faults(read(text).to_tree(&taxa, "t", None)).len(), 3);
        let mut any = read(text);
        any.accept_any_lengths();
        let (tree, _) = any.to_tree(&taxa, "t", None).unwrap();
        assert_eq!(write_newick(&tree, |i| taxa.name(i), &NewickOptions::default()), text);
        for huge in ["1e300", "-1e16"] {
            let mut huge = read(&format!("(A:{huge},B:1,(C:1,D:2):1);"));
            huge.accept_any_lengths();
            let faults = faults(huge.to_tree(&taxa, "t", None));
            assert!(faults[0].contains("'A': branch length"), "{faults:?}");
        }
        let mut raised = read("(A:-0.5,B:2,(C:1,D:2):-1);");
        raised.raise_negative_lengths();
        let (tree, _) = raised.to_tree(&taxa, "t", None).unwrap();
        let written = write_newick(&tree, |i| taxa.name(i), &NewickOptions::default());
        assert_eq!(written, "(A:0,B:2,(C:1,D:2):0);");
    }

    #[test]
    fn all_taxa_that_do_not_match_are_listed() {
        let tree = read("(A,\n(B,A),\n(X,(C:-1,Y)));");
        assert_eq!(
            faults(tree.to_tree(&taxa("ABCDE"), "t", None)),
            [
                "t, line 3, column 5, 'C': negative branch length -1; lengths must be 0 or more",
                "t, line 2, column 4, 'A': this taxon is in the tree twice, first at line 1, column 2",
                "t, line 3, column 2, 'X': this taxon of the tree is not in the alignment",
                "t, line 3, column 10, 'Y': this taxon of the tree is not in the alignment",
                "t, line 1, column 1, 'D': this taxon of the alignment is not in the tree",
                "t, line 1, column 1, 'E': this taxon of the alignment is not in the tree",
            ]
        );
        assert!(
            faults(read("(A:1e9,B,C);").to_tree(&taxa("ABC"), "t", None))[0]
                .contains("units of time")
        );
        let mut timed = read("(A:1e9,B,C);");
        timed.drop_lengths();
        timed.to_tree(&taxa("ABC"), "t", None).unwrap();
    }

    #[test]
    fn multifurcations_are_refused_or_resolved_by_seed() {
        let taxa = taxa("ABCDEFGH");
        let tree = read("(A:1,B:1,C:1,D:1,(E:1,F:1,G:1,H:1):2);");
        let found = faults(tree.to_tree(&taxa, "t", None));
        assert_eq!(found.len(), 2);
        assert!(
            found[1].starts_with("t, line 1, column 18: multifurcation with 5 branches"),
            "{found:?}"
        );
        let resolved = |index| {
            let mut rng = stream(1, Purpose::Test, index);
            let (tree, has_lengths) = tree.to_tree(&taxa, "t", Some(&mut rng)).unwrap();
            tree.assert_integrity();
            assert!(has_lengths);
            assert!((tree.total_length() - 10.0).abs() < 1e-5);
            write_newick(&tree, |i| taxa.name(i), &NewickOptions::default())
        };
        assert_eq!(resolved(0), resolved(0));
        let distinct: std::collections::BTreeSet<_> = (0..20).map(resolved).collect();
        assert!(distinct.len() > 10);
    }

    #[test]
    fn a_tree_may_hold_a_subset_of_the_taxa() {
        let subset =
            read("(D:1,(F:2,B:3):0.5);").to_tree_on_subset(&taxa("ABCDEF"), "t", None).unwrap();
        assert_eq!(subset.taxa, [1, 3, 5]);
        assert!(subset.has_lengths);
        let names = ["B", "D", "F"];
        let text = write_newick(&subset.tree, |i| names[i], &NewickOptions::default());
        assert_eq!(text, "(B:3,D:1.5,F:2);");
        assert!(read("(D,(Q,B));").to_tree_on_subset(&taxa("ABCD"), "t", None).is_err());
    }

    #[test]
    fn caterpillars_of_many_taxa_are_read_and_written_without_recursion() {
        let n = 100_000;
        let names: Vec<String> = (0..n).map(|i| format!("t{i}")).collect();
        let mut text = format!("{}t0:1", "(".repeat(n - 1));
        for name in &names[1..] {
            text += &format!(",{name}:1):1");
        }
        let taxa = Taxa::new(names).unwrap();
        let (tree, _) = read(&(text + ";")).to_tree(&taxa, "t", None).unwrap();
        assert_eq!(tree.num_edges(), 2 * n - 3);
        let written = write_newick(&tree, |i| taxa.name(i), &NewickOptions::default());
        let (again, _) = read(&written).to_tree(&taxa, "t", None).unwrap();
        assert_eq!(write_newick(&again, |i| taxa.name(i), &NewickOptions::default()), written);
    }
}
