//! Balanced minimum evolution: the tree whose length, estimated from the distances, is least among those that an exchange
//! of neighbouring subtrees or the move of a subtree to another branch makes of it.
//!
//! From the averages Δ between the four subtrees around a branch, AB|CD, an exchange to AC|BD changes the length of the tree
//! by (Δ_AC + Δ_BD - Δ_AB - Δ_CD) / 4 (Desper & Gascuel 2002, J. Comput. Biol. 9:687). First come exchanges, then moves
//! (`regraft`), each as long as the tree becomes shorter.

use super::balanced::{Averages, Rooted};
use super::joined_tree::JoinedTree;
use super::neighbor_joining::bionj;
use super::regraft::{apply_apart, regrafts};
use super::square::{SquareMatrix, Stored};

/// Most taxa: the averages of all pairs of branches take 32 bytes for each pair of taxa.
pub(super) const MOST_TAXA: usize = 4000;

/// A shorter tree is shorter by more than this share, which rounding does not reach.
const LEAST_GAIN: f64 = 1e-12;

/// The tree of balanced minimum evolution that exchanges and moves lead to from the tree of BIONJ.
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
    let mut now = Estimate::of(Rooted::new(&start.to_tree()), &matrix);
    loop {
        let exchanges = now.tree.exchanges(&now.averages);
        let mut useful: Vec<&Exchange> =
            exchanges.iter().filter(|one| one.gain > now.least_gain()).collect();
        // The branch decides between equal ones.
        useful.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.node.cmp(&b.node)));
        let after = |number: usize| {
            let mut next = now.tree.clone();
            next.apply_apart(&useful[..number]);
            next
        };
        match now.shorter(useful.len(), after, &matrix) {
            Some(next) => now = next,
            None => break,
        }
    }
    loop {
        let mut useful = regrafts(&now.tree, &now.averages, now.least_gain());
        useful.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.order().cmp(&b.order())));
        let after = |number: usize| apply_apart(&now.tree, &useful[..number]);
        match now.shorter(useful.len(), after, &matrix) {
            Some(next) => now = next,
            None => return now.tree.joined(&now.averages),
        }
    }
}

/// A tree with its averages and length.
struct Estimate {
    tree: Rooted,
    averages: Averages,
    length: f64,
}

impl Estimate {
    fn of<T: Stored>(tree: Rooted, matrix: &SquareMatrix<T>) -> Self {
        let averages = Averages::new(matrix, &tree);
        let length = tree.length(&averages);
        Estimate { tree, averages, length }
    }

    fn least_gain(&self) -> f64 {
        LEAST_GAIN * self.length.abs()
    }

    /// The tree after several changes apart from each other or, if that does not pay, only the best; `after` gives the tree
    /// after those among the first ones that are apart. `None` if neither is shorter.
    fn shorter<T: Stored>(
        &self,
        number: usize,
        after: impl Fn(usize) -> Rooted,
        matrix: &SquareMatrix<T>,
    ) -> Option<Self> {
        let numbers = [number, 1].into_iter().filter(|_| number > 0);
        let mut found = numbers.map(|number| Estimate::of(after(number), matrix));
        found.find(|next| next.length < self.length)
    }
}

/// A better neighbour of the tree: a child of a node changes places with the sibling of the node.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    node: usize,
    child: usize,
    gain: f64,
}

impl Rooted {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::{Tree, random_tree, same_topology};
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
    fn no_exchange_and_no_move_makes_the_tree_shorter() {
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
            let averages = Averages::new(&matrix, &rooted);
            assert!(regrafts(&rooted, &averages, 1e-10).is_empty(), "{n}");
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
