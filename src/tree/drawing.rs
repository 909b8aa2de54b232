//! [`Drawing`]: a tree of any degrees as it is drawn.

use super::newick_write::{format_brlen, quote, write_nested};
use super::topology::Tree;

/// A tree whose nodes `0..num_tips` are its tips.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    num_tips: usize,
    branches: Vec<Branch>,
}

/// A branch of a drawing.
#[derive(Debug, Clone)]
struct Branch {
    /// The nodes at its ends.
    ends: [u32; 2],
    length: f64,
}

/// A drawing as seen from a root: what hangs on every node.
struct Hung {
    /// `[node]`: the nodes that hang on it, in the order of their smallest tips.
    children: Vec<Vec<u32>>,
    /// `[node]`: the branch on which it hangs.
    above: Vec<Option<usize>>,
    /// All nodes but the root, each after the one on which it hangs.
    order: Vec<u32>,
    root: u32,
}

impl Drawing {
    /// A binary tree of at least three tips.
    pub(crate) fn of_tree(tree: &Tree) -> Self {
        let branch =
            |edge| Branch { ends: tree.ends(edge).map(|end| end.0), length: tree.brlen(edge) };
        Drawing { num_tips: tree.num_tips(), branches: tree.edges().map(branch).collect() }
    }

    /// Number of inner branches that are not longer than this.
    pub(crate) fn count_short(&self, length: f64) -> usize {
        (0..self.branches.len()).filter(|&branch| self.is_short(branch, length)).count()
    }

    /// The tree as Newick text without a line end, rooted at the inner node next to tip 0. Subtrees stand in the order
    /// of their smallest tips; `names(i)` is the name of tip i. Inner branches that are not longer than `collapsed` are
    /// left out, so that the nodes at their ends become one.
    pub(crate) fn draw<'n>(
        &self,
        names: impl Fn(usize) -> &'n str,
        collapsed: Option<f64>,
    ) -> String {
        let hung = self.hang(collapsed);
        write_nested(&hung.children, hung.root, |node, text| {
            if (node as usize) < self.num_tips {
                text.push_str(&quote(names(node as usize)));
            }
            if let Some(branch) = hung.above[node as usize] {
                text.push(':');
                text.push_str(&format_brlen(self.branches[branch].length));
            }
        })
    }

    /// The drawing from its root.
    fn hang(&self, collapsed: Option<f64>) -> Hung {
        let links = self.links();
        let root = links[0][0].0;
        let mut hung = Hung {
            children: vec![Vec::new(); links.len()],
            above: vec![None; links.len()],
            order: Vec::with_capacity(links.len()),
            root,
        };
        // Nodes still to be hung: on which branch, and on which node.
        let first = links[root as usize].iter();
        let mut stack: Vec<_> = first.map(|&(next, branch)| (next, branch, root)).collect();
        while let Some((node, branch, parent)) = stack.pop() {
            let is_left_out = collapsed.is_some_and(|length| self.is_short(branch, length));
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
        hung.sort();
        hung
    }

    /// Per node, the nodes at the other ends of its branches, with these.
    fn links(&self) -> Vec<Vec<(u32, usize)>> {
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
        let Branch { ends, length: own } = &self.branches[branch];
        ends.iter().all(|&end| end as usize >= self.num_tips) && *own <= length
    }
}

impl Hung {
    /// Puts what hangs on each node into the order of the smallest tips.
    fn sort(&mut self) {
        let mut smallest: Vec<u32> = (0..self.children.len() as u32).collect();
        let nodes = std::iter::once(&self.root).chain(&self.order);
        for &node in nodes.rev() {
            let children = &mut self.children[node as usize];
            children.sort_unstable_by_key(|&child| smallest[child as usize]);
            if let Some(&first) = children.first() {
                smallest[node as usize] = smallest[first as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewickOptions, Split, random_tree, read_newick, tree_splits, write_newick};
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn branches_without_length_are_left_out_but_not_those_of_tips() {
        let edges = [(0, 5, 0.1), (1, 5, 0.2), (5, 6, 1e-6), (2, 6, 0.4), (6, 7, 0.5)];
        let tips = [(3, 7, 1e-6), (4, 7, 0.7)];
        let tree = Tree::from_edges(5, &[&edges[..], &tips].concat());
        let drawing = Drawing::of_tree(&tree);
        let names = ["A", "B", "C", "D E", "F"];
        let draw = |collapsed| drawing.draw(|tip| names[tip], collapsed);
        assert_eq!(draw(None), "(A:0.1,B:0.2,(C:0.4,('D E':0.000001,F:0.7):0.5):0.000001);");
        assert_eq!(draw(Some(2e-6)), "(A:0.1,B:0.2,C:0.4,('D E':0.000001,F:0.7):0.5);");
        assert_eq!(draw(Some(1.0)), "(A:0.1,B:0.2,C:0.4,'D E':0.000001,F:0.7);");
        assert_eq!([0.0, 2e-6, 1.0].map(|length| drawing.count_short(length)), [0, 1, 2]);
    }

    /// The splits of a text: for every inner node but the root, the tips below it.
    fn splits_of(text: &str, num_tips: usize) -> Vec<Split> {
        let tree = &read_newick(text, "t").unwrap()[0];
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
        let mut splits = Vec::new();
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let of_children = node.children.iter().flat_map(|&child| below[child as usize].clone());
            let mut tips: Vec<usize> = of_children.collect();
            if i > 0 && !node.children.is_empty() {
                splits.push(Split::from_tips(num_tips, tips.iter().copied()));
            }
            if let Some(name) = node.name.as_ref().filter(|_| node.children.is_empty()) {
                tips.push(name[1..].parse().unwrap());
            }
            below[i] = tips;
        }
        splits.sort();
        splits
    }

    #[test]
    fn the_other_splits_remain() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_tips in [3, 4, 5, 9, 40, 200] {
            let mut tree = random_tree(num_tips, 0.1, &mut rng);
            let names: Vec<String> = (0..num_tips).map(|i| format!("t{i}")).collect();
            for edge in tree.edges() {
                let is_short = rng.random_bool(0.4);
                tree.set_brlen(edge, if is_short { 1e-6 } else { 0.25 });
            }
            let drawing = Drawing::of_tree(&tree);
            let mut kept: Vec<Split> = tree_splits(&tree)
                .into_iter()
                .filter(|(edge, _)| tree.brlen(*edge) > 1e-5)
                .map(|(_, split)| split)
                .collect();
            kept.sort();
            let text = drawing.draw(|tip| &names[tip], Some(1e-5));
            assert_eq!(splits_of(&text, num_tips), kept, "{text}");
            assert_eq!(drawing.count_short(1e-5), num_tips - 3 - kept.len());
            let whole = write_newick(&tree, |tip| &names[tip], &NewickOptions::default());
            assert_eq!(drawing.draw(|tip| &names[tip], None), whole);
        }
    }
}
