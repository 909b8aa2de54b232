//! [`Drawing`]: a tree of any degrees as it is drawn, with labels at its branches, and its Newick text from any root.
//!
//! A label belongs to a branch, and so to a split, whatever the root. Newick text has no place for it but the node below
//! the branch; a program that moves the root and lets the labels stay at their nodes gives those on the path between
//! the old and the new root to other branches (Czech, Huerta-Cepas & Stamatakis 2017, Mol. Biol. Evol. 34:1535-1542).
//! A root in a branch divides it: both halves get its label. Names of nodes, such as those of ancestors, stay at their nodes.

use super::newick_write::{format_brlen, quote, sort_children, write_nested};
use super::topology::{EdgeId, Tree, to_length_grid};

/// A tree whose nodes `0..num_tips` are its tips.
#[derive(Debug, Clone)]
pub struct Drawing {
    pub(super) num_tips: usize,
    pub(super) branches: Vec<Branch>,
    /// `[node]`: its name, of inner nodes that have one; nodes behind the end have none.
    pub(super) node_names: Vec<Option<String>>,
}

/// A branch of a drawing.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// The nodes at its ends.
    pub ends: [u32; 2],
    /// Its length; none in a tree without lengths.
    pub length: Option<f64>,
    /// Its label; none if it leads to a tip.
    pub label: Option<String>,
    /// The nodes at its ends are drawn as one.
    pub is_left_out: bool,
}

/// A place in a branch, for a root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootPlace {
    /// The branch.
    pub(super) branch: usize,
    /// One of its ends, and the distance from there; of no meaning in a branch without a length.
    pub(super) from: u32,
    pub(super) distance: f64,
}

/// The text of a tree.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// One line of Newick text, without a line end.
    pub newick: String,
    /// The branches with labels, in the order of these; one with the root in it occurs twice.
    pub labelled: Vec<usize>,
}

/// A drawing as seen from a root: what hangs on every node.
pub(super) struct Hung {
    /// `[node]`: the nodes that hang on it, in the order of their smallest tips.
    pub children: Vec<Vec<u32>>,
    /// `[node]`: the branch on which it hangs.
    pub above: Vec<Option<usize>>,
    /// All nodes but the root, each after the one on which it hangs.
    pub order: Vec<u32>,
    root: u32,
}

impl Drawing {
    /// A binary tree with its lengths, and labels of inner branches. Branch i is edge i of the tree.
    pub fn of_tree(tree: &Tree, label: impl Fn(EdgeId) -> Option<String>) -> Self {
        let branch = |edge| {
            let is_inner = !tree.is_terminal(edge);
            Branch {
                ends: tree.ends(edge).map(|end| end.0),
                length: Some(tree.brlen(edge)),
                label: if is_inner { label(edge) } else { None },
                is_left_out: false,
            }
        };
        let branches = tree.edges().map(branch).collect();
        Drawing { num_tips: tree.num_tips(), branches, node_names: Vec::new() }
    }

    /// The same drawing with other labels of inner branches, by branch, and without names of nodes.
    pub fn relabelled(mut self, label: impl Fn(usize) -> Option<String>) -> Self {
        self.node_names.clear();
        for (number, branch) in self.branches.iter_mut().enumerate() {
            let is_inner = branch.ends.iter().all(|&end| end as usize >= self.num_tips);
            branch.label = if is_inner { label(number) } else { None };
        }
        self
    }

    /// The same drawing of a tree whose lengths are not known.
    pub fn without_lengths(mut self) -> Self {
        self.branches.iter_mut().for_each(|branch| branch.length = None);
        self
    }

    /// The same drawing without these inner branches, by their numbers: the nodes at their ends become one.
    pub fn without(mut self, is_left_out: impl Fn(usize) -> bool) -> Self {
        for (number, branch) in self.branches.iter_mut().enumerate() {
            let is_inner = branch.ends.iter().all(|&end| end as usize >= self.num_tips);
            branch.is_left_out = is_inner && is_left_out(number);
        }
        self
    }

    /// Number of inner branches that are not longer than this.
    pub fn count_short(&self, length: f64) -> usize {
        (0..self.branches.len()).filter(|&branch| self.is_short(branch, length)).count()
    }

    /// The tree as Newick text, rooted at a place, or else at the inner node next to tip 0. Subtrees stand in the order of
    /// their smallest tips; `names(i)` is the name of tip i. Inner branches that are not longer than `collapsed` are
    /// left out, so that the nodes at their ends become one.
    pub fn draw<'n>(
        &self,
        names: impl Fn(usize) -> &'n str,
        root: Option<RootPlace>,
        collapsed: Option<f64>,
    ) -> Drawn {
        let hung = self.hang(root, collapsed);
        let mut labelled = Vec::new();
        let newick = write_nested(&hung.children, hung.root, |node, text| {
            let is_tip = (node as usize) < self.num_tips;
            if is_tip {
                text.push_str(&quote(names(node as usize)));
            }
            let above = hung.above[node as usize];
            let label = above.and_then(|branch| self.branches[branch].label.as_deref());
            let name = self.node_names.get(node as usize).and_then(|name| name.as_deref());
            match (name, label.filter(|_| !is_tip)) {
                (Some(name), Some(label)) => text.push_str(&quote(&format!("{name}/{label}"))),
                (Some(one), None) | (None, Some(one)) => text.push_str(&quote(one)),
                (None, None) => {}
            }
            let Some(branch) = above else { return };
            if label.is_some() && !is_tip {
                labelled.push(branch);
            }
            if let Some(length) = self.length_above(node, branch, root) {
                text.push(':');
                text.push_str(&format_brlen(length));
            }
        });
        Drawn { newick, labelled }
    }

    /// The length of the branch on which a node hangs, or of its half of one with the root in it.
    fn length_above(&self, node: u32, branch: usize, root: Option<RootPlace>) -> Option<f64> {
        let length = self.branches[branch].length?;
        Some(match root.filter(|root| root.branch == branch) {
            None => length,
            Some(root) if root.from == node => root.distance,
            Some(root) => to_length_grid(length) - root.distance,
        })
    }

    /// The drawing from its root.
    pub(super) fn hang(&self, root: Option<RootPlace>, collapsed: Option<f64>) -> Hung {
        let links = self.links();
        let num_nodes = links.len();
        let (top, mut stack): (u32, Vec<(u32, usize, u32)>) = match root {
            None => {
                let top = links[0][0].0;
                (
                    top,
                    links[top as usize].iter().map(|&(next, branch)| (next, branch, top)).collect(),
                )
            }
            Some(place) => {
                let top = num_nodes as u32;
                (top, self.branches[place.branch].ends.map(|end| (end, place.branch, top)).to_vec())
            }
        };
        let mut hung = Hung {
            children: vec![Vec::new(); num_nodes + 1],
            above: vec![None; num_nodes + 1],
            order: Vec::with_capacity(num_nodes),
            root: top,
        };
        while let Some((node, branch, parent)) = stack.pop() {
            let is_left_out = self.branches[branch].is_left_out
                || collapsed.is_some_and(|length| self.is_short(branch, length));
            let mut on = parent;
            if !is_left_out {
                hung.children[parent as usize].push(node);
                hung.above[node as usize] = Some(branch);
                hung.order.push(node);
                on = node;
            }
            let others = links[node as usize].iter().filter(|link| link.1 != branch);
            stack.extend(others.map(|&(next, branch)| (next, branch, on)));
        }
        let inner = hung.order.iter().copied().filter(|&node| node as usize >= self.num_tips);
        sort_children(&mut hung.children, std::iter::once(hung.root).chain(inner));
        hung
    }

    /// Per node, the nodes at the other ends of its branches, with these.
    pub(super) fn links(&self) -> Vec<Vec<(u32, usize)>> {
        let last = self.branches.iter().flat_map(|branch| branch.ends).max().unwrap_or(0);
        let mut links = vec![Vec::new(); last as usize + 1];
        for (number, branch) in self.branches.iter().enumerate() {
            let [a, b] = branch.ends;
            links[a as usize].push((b, number));
            links[b as usize].push((a, number));
        }
        links
    }

    fn is_short(&self, branch: usize, length: f64) -> bool {
        let Branch { ends, length: own, .. } = &self.branches[branch];
        ends.iter().all(|&end| end as usize >= self.num_tips)
            && own.is_some_and(|own| own <= length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        NewickOptions, NewickTree, random_tree, read_newick, tree_splits, write_newick,
    };
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    fn names(num_tips: usize) -> Vec<String> {
        (0..num_tips).map(|i| format!("t{i}")).collect()
    }

    /// Names of the tips below every node of a text.
    fn tips_below(tree: &NewickTree) -> Vec<Vec<String>> {
        let mut tips: Vec<Vec<String>> = vec![Vec::new(); tree.num_nodes()];
        for node in tree.nodes().rev() {
            let children = node.children();
            let mut below: Vec<String> =
                children.flat_map(|child| tips[child.number() as usize].clone()).collect();
            if node.is_tip() {
                below.extend(node.name().map(String::from));
            }
            below.sort();
            tips[node.number() as usize] = below;
        }
        tips
    }

    /// Czech et al.'s test: every label is the split of its branch, and still is when the tree has another root.
    #[test]
    fn labels_stay_with_their_splits_whatever_the_root() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_tips in [3, 4, 5, 9, 40] {
            let mut tree = random_tree(num_tips, 0.1, &mut rng);
            let names = names(num_tips);
            for edge in tree.edges() {
                let is_short = rng.random_bool(0.3);
                tree.set_brlen(edge, if is_short { 1e-6 } else { 0.25 });
            }
            let mut split_of = vec![None; tree.num_edges()];
            for (edge, split) in tree_splits(&tree) {
                let tips: Vec<&str> = split.tips().map(|tip| names[tip].as_str()).collect();
                split_of[edge.index()] = Some(tips.join(" "));
            }
            let plain = Drawing::of_tree(&tree, |_| None).draw(|tip| &names[tip], None, None);
            let expected = write_newick(&tree, |tip| &names[tip], &NewickOptions::default());
            assert_eq!((plain.newick, plain.labelled), (expected, Vec::new()));
            let drawing = Drawing::of_tree(&tree, |edge| split_of[edge.index()].clone());
            let places = (0..tree.num_edges()).map(|branch| {
                Some(RootPlace { branch, from: drawing.branches[branch].ends[1], distance: 0.0 })
            });
            for place in std::iter::once(None).chain(places) {
                for collapsed in [None, Some(1e-5)] {
                    let drawn = drawing.draw(|tip| &names[tip], place, collapsed);
                    let read = &read_newick(&drawn.newick, "t").unwrap()[0];
                    let below = tips_below(read);
                    let mut found = 0;
                    for (node, tips) in read.nodes().zip(&below) {
                        let Some(label) = node.name().filter(|_| !node.is_tip()) else { continue };
                        let mut labelled: Vec<String> =
                            label.split(' ').map(String::from).collect();
                        labelled.sort();
                        let mut others = names.clone();
                        others.retain(|name| !labelled.contains(name));
                        others.sort();
                        assert!(*tips == labelled || *tips == others, "{}", drawn.newick);
                        found += 1;
                    }
                    assert_eq!(found, drawn.labelled.len());
                    let mut labelled = drawn.labelled.clone();
                    labelled.sort_unstable();
                    labelled.dedup();
                    let left = collapsed.map_or(0, |length| drawing.count_short(length));
                    assert_eq!(labelled.len(), num_tips - 3 - left, "{}", drawn.newick);
                }
            }
        }
    }

    #[test]
    fn a_root_in_a_branch_divides_it_and_branches_without_length_are_left_out() {
        let tree = Tree::from_edges(
            5,
            &[
                (0, 5, 0.1),
                (1, 5, 0.2),
                (5, 6, 1e-6),
                (2, 6, 0.4),
                (6, 7, 0.5),
                (3, 7, 1e-6),
                (4, 7, 0.7),
            ],
        );
        let label = |edge: EdgeId| Some(format!("e{}", edge.0));
        let drawing = Drawing::of_tree(&tree, label);
        let names = ["A", "B", "C", "D E", "F"];
        let draw = |root, collapsed| drawing.draw(|tip| names[tip], root, collapsed);
        let plain = draw(None, None);
        assert_eq!(plain.newick, "(A:0.1,B:0.2,(C:0.4,('D E':0.000001,F:0.7)e4:0.5)e2:0.000001);");
        assert_eq!(plain.labelled, [4, 2]);
        assert_eq!(
            draw(None, Some(2e-6)).newick,
            "(A:0.1,B:0.2,C:0.4,('D E':0.000001,F:0.7)e4:0.5);"
        );
        let polytomy =
            drawing.clone().without(|branch| branch < 5).draw(|tip| names[tip], None, None);
        assert_eq!(polytomy.newick, "(A:0.1,B:0.2,C:0.4,'D E':0.000001,F:0.7);");
        let inner = Some(RootPlace { branch: 4, from: 7, distance: 0.125 });
        let rooted = draw(inner, None);
        let text = "(((A:0.1,B:0.2)e2:0.000001,C:0.4)e4:0.375,('D E':0.000001,F:0.7)e4:0.125);";
        assert_eq!((rooted.newick.as_str(), rooted.labelled.as_slice()), (text, &[2, 4, 4][..]));
        let tip = Some(RootPlace { branch: 1, from: 1, distance: 0.125 });
        let text = "((A:0.1,C:0.4,('D E':0.000001,F:0.7)e4:0.5):0.075,B:0.125);";
        assert_eq!(draw(tip, Some(2e-6)).newick, text);
        // A root in a branch that is left out is at the node that remains.
        let short = Some(RootPlace { branch: 2, from: 5, distance: 0.0 });
        let text = "(A:0.1,B:0.2,C:0.4,('D E':0.000001,F:0.7)e4:0.5);";
        assert_eq!(draw(short, Some(2e-6)).newick, text);
    }
}
