//! Balanced minimum evolution: the tree whose length, estimated from the distances, is least among those that one exchange
//! of neighbouring subtrees makes of it.
//!
//! The balanced average distance of two subtrees weights the two halves of a subtree alike. From the averages Δ between the
//! four subtrees around a branch, AB|CD, an exchange to AC|BD changes the length of the tree by
//! (Δ_AC + Δ_BD - Δ_AB - Δ_CD) / 4, and the lengths of all branches follow (Pauplin 2000, J. Mol. Evol. 51:41; Desper &
//! Gascuel 2002, J. Comput. Biol. 9:687).

use super::joined_tree::JoinedTree;
use super::neighbor_joining::bionj;
use super::square::{SquareMatrix, Stored};
use crate::tree::Tree;

/// Most taxa: the averages of all pairs of branches take 32 bytes for each pair of taxa.
pub(super) const MOST_TAXA: usize = 4000;

/// A shorter tree is shorter by more than this share, which rounding does not reach.
const LEAST_GAIN: f64 = 1e-12;

/// The tree of balanced minimum evolution that exchanges lead to from the tree of BIONJ.
///
/// # Panics
/// If there are fewer than two taxa or more than 4000.
pub fn minimum_evolution<T: Stored>(matrix: SquareMatrix<T>) -> JoinedTree {
    let n = matrix.size();
    assert!(n <= MOST_TAXA, "a tree of {n} taxa");
    let start = bionj(matrix.clone());
    if n < 3 {
        return start;
    }
    let mut tree = Rooted::new(&start.to_tree());
    let mut averages = Averages::new(&matrix, &tree);
    let mut length = tree.length(&averages);
    loop {
        let exchanges = tree.exchanges(&averages);
        let least = LEAST_GAIN * length.abs();
        let mut useful: Vec<&Exchange> = exchanges.iter().filter(|one| one.gain > least).collect();
        // The branch decides between equal ones.
        useful.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.node.cmp(&b.node)));
        let Some(&best) = useful.first() else { return tree.joined(&averages) };
        // Exchanges around branches apart from each other at once; if that does not pay, only the best.
        let mut next = tree.clone();
        next.apply_apart(&useful);
        let mut found = Averages::new(&matrix, &next);
        let mut shorter = next.length(&found);
        if shorter >= length {
            next = tree.clone();
            next.apply(best);
            found = Averages::new(&matrix, &next);
            shorter = next.length(&found);
            if shorter >= length {
                return tree.joined(&averages);
            }
        }
        (tree, averages, length) = (next, found, shorter);
    }
}

/// A tree that hangs on tip 0; a branch has the number of its lower node.
#[derive(Debug, Clone)]
struct Rooted {
    num_tips: usize,
    parent: Vec<usize>,
    /// Of inner nodes.
    children: Vec<[usize; 2]>,
    /// The node next to tip 0.
    top: usize,
}

/// A better neighbour of the tree: a child of a node changes places with the sibling of the node.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    node: usize,
    child: usize,
    gain: f64,
}

impl Rooted {
    fn new(tree: &Tree) -> Self {
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
    fn preorder(&self) -> Vec<usize> {
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

    fn sibling(&self, node: usize) -> usize {
        let [a, b] = self.children[self.parent[node]];
        if a == node { b } else { a }
    }

    /// Inner branches: their lower nodes.
    fn inner_branches(&self) -> impl Iterator<Item = usize> + '_ {
        (self.num_tips..self.parent.len()).filter(|&node| node != self.top)
    }

    /// For each inner branch the better of its two exchanges.
    fn exchanges(&self, averages: &Averages) -> Vec<Exchange> {
        let exchange = |node: usize| {
            let ([a, b], c, above) = (self.children[node], self.sibling(node), self.parent[node]);
            let d = |x: usize, y: usize| averages.get(x, y);
            let now = d(a, b) + d(c, above);
            // The child that stays is joined with the sibling.
            let keep_a = d(a, c) + d(b, above);
            let keep_b = d(b, c) + d(a, above);
            let (child, then) = if keep_a <= keep_b { (b, keep_a) } else { (a, keep_b) };
            Exchange { node, child, gain: 0.25 * (now - then) }
        };
        self.inner_branches().map(exchange).collect()
    }

    fn apply(&mut self, exchange: &Exchange) {
        let Exchange { node, child, .. } = *exchange;
        let (sibling, above) = (self.sibling(node), self.parent[node]);
        let replace = |places: &mut [usize; 2], old: usize, new: usize| {
            places.iter_mut().filter(|place| **place == old).for_each(|place| *place = new);
        };
        replace(&mut self.children[node], child, sibling);
        replace(&mut self.children[above], sibling, child);
        (self.parent[child], self.parent[sibling]) = (above, node);
    }

    /// Applies exchanges, the best first, around branches that do not touch each other.
    fn apply_apart(&mut self, exchanges: &[&Exchange]) {
        let mut is_touched = vec![false; self.parent.len()];
        for exchange in exchanges {
            let ends = [exchange.node, self.parent[exchange.node]];
            if ends.iter().all(|&end| !is_touched[end]) {
                ends.iter().for_each(|&end| is_touched[end] = true);
                self.apply(exchange);
            }
        }
    }

    /// Length of the branch above a node.
    fn branch(&self, node: usize, averages: &Averages) -> f64 {
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

    fn length(&self, averages: &Averages) -> f64 {
        self.preorder().into_iter().map(|node| self.branch(node, averages)).sum()
    }

    fn joined(&self, averages: &Averages) -> JoinedTree {
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
}

/// Balanced average distances between the subtrees at two branches that face away from each other: below both, or, where
/// one is above the other, below the lower one and above the upper one.
#[derive(Debug)]
struct Averages {
    num_nodes: usize,
    /// `[lower node][upper node]` or, of nodes that are not above each other, in both orders.
    values: Vec<f64>,
    /// Times of entering and leaving the subtree of a node.
    times: Vec<[usize; 2]>,
}

impl Averages {
    fn new<T: Stored>(matrix: &SquareMatrix<T>, tree: &Rooted) -> Self {
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

    fn get(&self, a: usize, b: usize) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::{random_tree, same_topology};
    use rand::RngExt;

    fn random_matrix(n: usize, seed: u64) -> SquareMatrix<f64> {
        let mut rng = stream(seed, Purpose::Test, 3);
        let mut matrix = SquareMatrix::zero(n);
        for a in 0..n {
            (0..a).for_each(|b| matrix.set(a, b, rng.random_range(0.5..1.5)));
        }
        matrix
    }

    /// Pauplin's formula: the sum of D_ij 2^(1 - branches between i and j) over all pairs.
    fn length_by_definition(tree: &Tree, matrix: &SquareMatrix<f64>) -> f64 {
        let mut sum = 0.0;
        for a in 0..tree.num_tips() {
            let mut stack = vec![(crate::tree::NodeId(a as u32), crate::tree::EdgeId::NONE, 2.0)];
            while let Some((node, from, weight)) = stack.pop() {
                if tree.is_tip(node) && node.index() > a {
                    sum += weight * matrix.get(a, node.index());
                }
                let next = tree.links(node).filter(|link| link.1 != from);
                stack.extend(next.map(|(to, edge)| (to, edge, 0.5 * weight)));
            }
        }
        sum
    }

    #[test]
    fn lengths_and_gains_are_those_of_the_definition() {
        for n in [4, 5, 9, 30] {
            let matrix = random_matrix(n, n as u64);
            let tree = random_tree(n, 0.1, &mut stream(1, Purpose::Test, n as u64));
            let rooted = Rooted::new(&tree);
            let averages = Averages::new(&matrix, &rooted);
            let length = length_by_definition(&tree, &matrix);
            assert!((rooted.length(&averages) - length).abs() < 1e-10);
            assert!((rooted.joined(&averages).total_length() - length).abs() < 1e-10);
            for exchange in rooted.exchanges(&averages) {
                let mut other = rooted.clone();
                other.apply(&exchange);
                let tree = other.joined(&Averages::new(&matrix, &other)).to_tree();
                let gain = length - length_by_definition(&tree, &matrix);
                assert!((exchange.gain - gain).abs() < 1e-10, "{n}: {} {gain}", exchange.gain);
            }
        }
    }

    #[test]
    fn no_exchange_makes_the_tree_shorter() {
        for n in [3, 4, 8, 40] {
            let matrix = random_matrix(n, 7);
            let found = minimum_evolution(matrix.clone());
            let start = bionj(matrix.clone()).to_tree();
            let length = length_by_definition(&found.to_tree(), &matrix);
            assert!((found.total_length() - length).abs() < 1e-10);
            assert!(length <= length_by_definition(&start, &matrix) + 1e-12);
            let rooted = Rooted::new(&found.to_tree());
            let exchanges = rooted.exchanges(&Averages::new(&matrix, &rooted));
            assert!(exchanges.iter().all(|one| one.gain < 1e-10), "{n}");
        }
        assert_eq!(minimum_evolution(random_matrix(2, 1)).num_tips(), 2);
    }

    #[test]
    fn the_tree_of_path_lengths_is_found_again() {
        let tree = random_tree(25, 0.5, &mut stream(5, Purpose::Test, 0));
        let mut matrix = SquareMatrix::<f64>::zero(25);
        for a in 0..25 {
            let mut stack = vec![(crate::tree::NodeId(a as u32), crate::tree::EdgeId::NONE, 0.0)];
            while let Some((node, from, length)) = stack.pop() {
                if tree.is_tip(node) && node.index() != a {
                    matrix.set(a, node.index(), length);
                }
                let next = tree.links(node).filter(|link| link.1 != from);
                stack.extend(next.map(|(to, edge)| (to, edge, length + tree.brlen(edge))));
            }
        }
        let found = minimum_evolution(matrix);
        assert!(same_topology(&found.to_tree(), &tree));
        assert!((found.total_length() - tree.total_length()).abs() < 1e-8);
    }
}
