//! Moves of subtrees to other branches, with the change of the balanced length of the tree by each of them.
//!
//! A subtree v hangs at a node p, between a subtree B_0 and the rest. It moves over nodes at which the subtrees B_1, B_2, ...
//! hang: each step is an exchange with the next of them, so that the change is a sum (as in `minimum_evolution`)
//!
//! ```text
//!     v   B_1  B_2               (Δ(P_i, B_i) + Δ(v, A_i) - Δ(P_i, v) - Δ(B_i, A_i)) / 4   for i = 1, 2, ...
//!     |    |    |
//! B_0-p----+----+-- ...          P_1 = B_0,  P_(i+1) = P_i and B_i in equal parts;  A_i is what is ahead of B_i
//! ```
//!
//! Of what is behind, the averages of the tree as it is include v, with the weight 2^-i in the i-th step: they are Δ(P_i, X) +
//! 2^-i (Δ(v, X) - Δ(B_0, X)). So every step takes a few additions, and all moves of all subtrees the square of the number of
//! taxa (Desper & Gascuel 2002, J. Comput. Biol. 9:687; Lefort, Desper & Gascuel 2015, Mol. Biol. Evol. 32:2798).

use super::balanced::{Averages, Rooted};

/// A subtree moves to another branch.
#[derive(Debug, Clone)]
pub(super) struct Regraft {
    /// How much shorter the tree becomes.
    pub(super) gain: f64,
    /// Where the subtree hangs, and its first node.
    base: usize,
    subtree: usize,
    /// The nodes from the one beside `base` on the other side, over `base`, to the far end of the new branch.
    path: Vec<usize>,
}

impl Regraft {
    /// What decides between moves of the same gain.
    pub(super) fn order(&self) -> (usize, usize) {
        (self.base, self.subtree)
    }

    fn nodes(&self) -> impl Iterator<Item = &usize> {
        self.path.iter().chain([&self.subtree])
    }
}

/// A place on the way of a subtree.
#[derive(Debug, Clone, Copy)]
struct Step {
    node: usize,
    /// The step before it.
    before: usize,
    /// Δ(P, v).
    behind: f64,
    /// 2^-i.
    weight: f64,
    /// How much shorter the tree is if the subtree is on the branch before `node`.
    gain: f64,
}

/// Of each subtree the move that makes the tree shortest, if it becomes shorter by more than `least`.
pub(super) fn regrafts(tree: &Rooted, averages: &Averages, least: f64) -> Vec<Regraft> {
    let neighbors = tree.neighbors();
    let mut found = Vec::new();
    let mut steps = Vec::new();
    for base in tree.num_tips..neighbors.len() {
        for subtree in neighbors[base] {
            let mut best: Option<Regraft> = None;
            for other in neighbors[base].into_iter().filter(|&other| other != subtree) {
                walk(tree, averages, &neighbors, [base, subtree, other], &mut steps);
                let gain = |at: &usize| steps[*at].gain;
                // The first two places are where the subtree is.
                let last =
                    (2..steps.len()).max_by(|a, b| gain(a).total_cmp(&gain(b)).then(b.cmp(a)));
                let Some(at) = last.filter(|at| gain(at) > least) else { continue };
                if best.as_ref().is_some_and(|best| best.gain >= gain(&at)) {
                    continue;
                }
                let gain = gain(&at);
                best = Some(Regraft { gain, base, subtree, path: path_to(&steps, at, other) });
            }
            found.extend(best);
        }
    }
    found
}

/// All places that a subtree reaches from its base, away from the subtree `other`: the base itself, its neighbour, and
/// what is behind that.
fn walk(
    tree: &Rooted,
    averages: &Averages,
    neighbors: &[[usize; 3]],
    [base, subtree, other]: [usize; 3],
    steps: &mut Vec<Step>,
) {
    let branch = |a: usize, b: usize| tree.branch_between(a, b);
    let d = |a: usize, b: usize| averages.get(a, b);
    let (moved, first) = (branch(base, subtree), branch(base, other));
    let behind = d(moved, first);
    steps.clear();
    steps.push(Step { node: base, before: 0, behind, weight: 1.0, gain: 0.0 });
    let ahead = neighbors[base].into_iter().find(|&node| node != subtree && node != other);
    let ahead = ahead.expect("three neighbours");
    steps.push(Step { node: ahead, before: 0, behind, weight: 0.5, gain: 0.0 });
    let mut at = 1;
    while at < steps.len() {
        let Step { node, before, behind, weight, gain } = steps[at];
        if node >= tree.num_tips {
            let from = steps[before].node;
            let passed = branch(from, node);
            let [a, b] = match neighbors[node] {
                [x, a, b] if x == from => [a, b],
                [a, x, b] if x == from => [a, b],
                [a, b, _] => [a, b],
            };
            for (left, ahead) in [(a, b), (b, a)] {
                let (beside, onward) = (branch(node, left), branch(node, ahead));
                let to_beside = d(moved, beside);
                let behind_to_beside = d(passed, beside) + weight * (d(first, beside) - to_beside);
                let now = behind + d(beside, onward);
                let then = behind_to_beside + d(moved, onward);
                steps.push(Step {
                    node: ahead,
                    before: at,
                    behind: 0.5 * (behind + to_beside),
                    weight: 0.5 * weight,
                    gain: gain + 0.25 * (now - then),
                });
            }
        }
        at += 1;
    }
}

/// The nodes of the path from `other`, the third neighbour of the subtree's place, to the node of a step.
fn path_to(steps: &[Step], mut at: usize, other: usize) -> Vec<usize> {
    let mut path = vec![steps[at].node];
    while at > 0 {
        at = steps[at].before;
        path.push(steps[at].node);
    }
    path.push(other);
    path.reverse();
    path
}

/// The tree after moves, the best first, on paths that do not touch each other.
pub(super) fn apply_apart(tree: &Rooted, moves: &[Regraft]) -> Rooted {
    let mut neighbors = tree.neighbors();
    let mut is_touched = vec![false; neighbors.len()];
    for regraft in moves {
        if regraft.nodes().any(|&node| is_touched[node]) {
            continue;
        }
        regraft.nodes().for_each(|&node| is_touched[node] = true);
        let Regraft { base, subtree, ref path, .. } = *regraft;
        let mut replace = |node: usize, old: usize, new: usize| {
            let places = neighbors[node].iter_mut();
            places.filter(|place| **place == old).for_each(|place| *place = new);
        };
        let (before, after) = (path[0], path[2]);
        let [from, to] = [path[path.len() - 2], path[path.len() - 1]];
        replace(before, base, after);
        replace(after, base, before);
        replace(from, to, base);
        replace(to, from, base);
        neighbors[base] = [subtree, from, to];
    }
    Rooted::of_neighbors(tree.num_tips, &neighbors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::SquareMatrix;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;
    use rand::RngExt;

    #[test]
    fn the_gain_of_every_move_is_the_difference_of_the_lengths() {
        for n in [4, 5, 9, 16] {
            let mut rng = stream(n as u64, Purpose::Test, 21);
            let mut matrix = SquareMatrix::<f64>::zero(n);
            for a in 0..n {
                (0..a).for_each(|b| matrix.set(a, b, rng.random_range(0.5..1.5)));
            }
            let tree = Rooted::new(&random_tree(n, 0.1, &mut rng));
            let averages = Averages::new(&matrix, &tree);
            let (length, neighbors) = (tree.length(&averages), tree.neighbors());
            let mut number = 0;
            for base in n..neighbors.len() {
                for subtree in neighbors[base] {
                    for other in neighbors[base].into_iter().filter(|&node| node != subtree) {
                        let mut steps = Vec::new();
                        walk(&tree, &averages, &neighbors, [base, subtree, other], &mut steps);
                        for last in 2..steps.len() {
                            let (gain, path) = (steps[last].gain, path_to(&steps, last, other));
                            let moved = Regraft { gain, base, subtree, path };
                            let next = apply_apart(&tree, &[moved]);
                            let found = length - next.length(&Averages::new(&matrix, &next));
                            assert!((gain - found).abs() < 1e-10, "{n}: {gain} {found}");
                            number += 1;
                        }
                    }
                }
            }
            // Every pruned subtree leaves a tree, each of whose branches but one is a new place.
            assert!(number >= (n - 2) * 3, "{number}");
        }
    }
}
