//! [`Rooted`] and [`Averages`]: a tree and the balanced average distances between its subtrees.
//!
//! The balanced average distance of two subtrees weights the two halves of a subtree alike. The lengths of all branches follow
//! from those of the subtrees around them (Pauplin 2000, J. Mol. Evol. 51:41).

use super::joined_tree::JoinedTree;
use super::square::{SquareMatrix, Stored};
use crate::tree::Tree;

/// A tree that hangs on tip 0; a branch has the number of its lower node.
#[derive(Debug, Clone)]
pub(super) struct Rooted {
    pub(super) num_tips: usize,
    pub(super) parent: Vec<usize>,
    /// Of inner nodes.
    pub(super) children: Vec<[usize; 2]>,
    /// The node next to tip 0.
    pub(super) top: usize,
}

impl Rooted {
    pub(super) fn new(tree: &Tree) -> Self {
        let num_nodes = tree.num_nodes();
        let mut parent = vec![0; num_nodes];
        let mut children = vec![[usize::MAX; 2]; num_nodes];
        let root = crate::tree::NodeId(0);
        let (top, edge) = tree.links(root).next().expect("a tree of several tips");
        for (node, edge) in tree.preorder(top, edge) {
            parent[node.index()] = tree.other_end(edge, node).index();
            if !tree.is_tip(node) {
                children[node.index()] = tree.other_links(node, edge).map(|link| link.0.index());
            }
        }
        Rooted { num_tips: tree.num_tips(), parent, children, top: top.index() }
    }

    /// All nodes below tip 0, parents first.
    pub(super) fn preorder(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.parent.len());
        let mut stack = vec![self.top];
        while let Some(node) = stack.pop() {
            order.push(node);
            if node >= self.num_tips {
                stack.extend(self.children[node]);
            }
        }
        order
    }

    pub(super) fn sibling(&self, node: usize) -> usize {
        let [a, b] = self.children[self.parent[node]];
        if a == node { b } else { a }
    }

    /// Inner branches: their lower nodes.
    pub(super) fn inner_branches(&self) -> impl Iterator<Item = usize> + '_ {
        (self.num_tips..self.parent.len()).filter(|&node| node != self.top)
    }

    /// Length of the branch above a node.
    pub(super) fn branch(&self, node: usize, averages: &Averages) -> f64 {
        let d = |x: usize, y: usize| averages.get(x, y);
        let is_tip = node < self.num_tips;
        if node == self.top {
            let [a, b] = self.children[node];
            return 0.5 * (d(a, node) + d(b, node) - d(a, b));
        }
        let (c, above) = (self.sibling(node), self.parent[node]);
        if is_tip {
            return 0.5 * (d(node, c) + d(node, above) - d(c, above));
        }
        let [a, b] = self.children[node];
        0.25 * (d(a, c) + d(a, above) + d(b, c) + d(b, above)) - 0.5 * (d(a, b) + d(c, above))
    }

    pub(super) fn length(&self, averages: &Averages) -> f64 {
        self.preorder().into_iter().map(|node| self.branch(node, averages)).sum()
    }

    pub(super) fn joined(&self, averages: &Averages) -> JoinedTree {
        let mut tree = JoinedTree::new(self.num_tips);
        let mut joined: Vec<usize> = (0..self.parent.len()).collect();
        for node in self.preorder().into_iter().rev().filter(|&node| node >= self.num_tips) {
            let child = |child: usize| (joined[child], self.branch(child, averages));
            let [a, b] = self.children[node].map(child);
            joined[node] = match node == self.top {
                true => tree.join(&[(0, self.branch(node, averages)), a, b]),
                false => tree.join(&[a, b]),
            };
        }
        tree
    }

    /// The neighbours of all nodes; tips have only the first.
    pub(super) fn neighbors(&self) -> Vec<[usize; 3]> {
        let mut neighbors: Vec<[usize; 3]> = Vec::with_capacity(self.parent.len());
        neighbors.extend((0..self.num_tips).map(|tip| [self.parent[tip]; 3]));
        neighbors[0] = [self.top; 3];
        neighbors.extend((self.num_tips..self.parent.len()).map(|node| {
            let [a, b] = self.children[node];
            [a, b, self.parent[node]]
        }));
        neighbors
    }

    /// The tree with these neighbours.
    pub(super) fn of_neighbors(num_tips: usize, neighbors: &[[usize; 3]]) -> Self {
        let num_nodes = neighbors.len();
        let top = neighbors[0][0];
        let (mut parent, mut children) = (vec![0; num_nodes], vec![[usize::MAX; 2]; num_nodes]);
        let mut stack = vec![(top, 0)];
        while let Some((node, above)) = stack.pop() {
            parent[node] = above;
            if node >= num_tips {
                let [a, b, c] = neighbors[node];
                let below = if a == above {
                    [b, c]
                } else if b == above {
                    [a, c]
                } else {
                    [a, b]
                };
                children[node] = below;
                stack.extend(below.map(|child| (child, node)));
            }
        }
        Rooted { num_tips, parent, children, top }
    }

    /// The branch between two neighbours.
    #[inline(always)]
    pub(super) fn branch_between(&self, a: usize, b: usize) -> usize {
        if self.parent[a] == b && a != 0 { a } else { b }
    }
}

/// Balanced average distances between the subtrees at two branches that face away from each other: below both, or, where
/// one is above the other, below the lower one and above the upper one.
#[derive(Debug)]
pub(super) struct Averages {
    num_nodes: usize,
    /// `[lower node][upper node]` or, of nodes that are not above each other, in both orders.
    values: Vec<f64>,
    /// Times of entering and leaving the subtree of a node.
    times: Vec<[usize; 2]>,
}

impl Averages {
    pub(super) fn new<T: Stored>(matrix: &SquareMatrix<T>, tree: &Rooted) -> Self {
        let num_nodes = tree.parent.len();
        let order = tree.preorder();
        let mut values = vec![0.0; num_nodes * num_nodes];
        for &node in order.iter().rev() {
            let start = node * num_nodes;
            if node >= tree.num_tips {
                for other in 0..num_nodes {
                    let [a, b] = tree.children[node].map(|child| values[child * num_nodes + other]);
                    values[start + other] = 0.5 * (a + b);
                }
                continue;
            }
            let row = &mut values[start..][..num_nodes];
            for &other in order.iter().rev() {
                row[other] = match other < tree.num_tips {
                    true => matrix.get(node, other),
                    false => 0.5 * (row[tree.children[other][0]] + row[tree.children[other][1]]),
                };
            }
            // Branches above the tip, from the top to the tip, in the place of what was not meant there.
            let mut path = vec![node];
            while *path.last().expect("the path begins at the tip") != tree.top {
                path.push(tree.parent[*path.last().expect("it has not ended")]);
            }
            row[tree.top] = matrix.get(node, 0);
            for &upper in path.iter().rev().skip(1) {
                row[upper] = 0.5 * (row[tree.parent[upper]] + row[tree.sibling(upper)]);
            }
        }
        Averages { num_nodes, values, times: times(tree, &order) }
    }

    pub(super) fn get(&self, a: usize, b: usize) -> f64 {
        let is_above = self.times[a][0] <= self.times[b][0] && self.times[b][1] <= self.times[a][1];
        let (lower, upper) = if is_above { (b, a) } else { (a, b) };
        self.values[lower * self.num_nodes + upper]
    }
}

fn times(tree: &Rooted, preorder: &[usize]) -> Vec<[usize; 2]> {
    let mut times = vec![[0; 2]; tree.parent.len()];
    for (time, &node) in preorder.iter().enumerate() {
        times[node] = [time, time];
    }
    for &node in preorder.iter().rev().filter(|&&node| node >= tree.num_tips) {
        times[node][1] =
            tree.children[node].map(|child| times[child][1]).into_iter().max().unwrap_or(0);
    }
    times
}
