//! Random trees for simulations.

use crate::rng::Rng;
use crate::tree::Tree;
use rand::RngExt;

/// A random tree: topology of a Yule process (each step splits a tip chosen uniformly; Yule 1924),
/// branch lengths exponential with the given mean (substitutions per site). Tips are numbered in a
/// random order, so neighbours in the tree are not neighbours in number.
///
/// # Panics
/// If `num_tips` is less than 3.
pub fn yule_tree(num_tips: usize, mean_brlen: f64, rng: &mut Rng) -> Tree {
    assert!(num_tips >= 3, "a random tree has at least 3 tips");
    let mut order: Vec<u32> = (0..num_tips as u32).collect();
    for i in (1..num_tips).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let mut next_inner = num_tips as u32;
    // (inner end, other end); edges 0.. that end in a tip are listed in `tip_edges`.
    let mut edges: Vec<[u32; 2]> = order[..3].iter().map(|&tip| [next_inner, tip]).collect();
    let mut tip_edges: Vec<usize> = vec![0, 1, 2];
    next_inner += 1;
    for &tip in &order[3..] {
        let chosen = rng.random_range(0..tip_edges.len());
        let edge = tip_edges[chosen];
        let sister = std::mem::replace(&mut edges[edge][1], next_inner);
        tip_edges[chosen] = edges.len();
        edges.push([next_inner, sister]);
        tip_edges.push(edges.len());
        edges.push([next_inner, tip]);
        next_inner += 1;
    }
    let with_lengths: Vec<(u32, u32, f64)> = edges
        .iter()
        .map(|&[a, b]| (a, b, -mean_brlen * libm::log(1.0 - rng.random::<f64>())))
        .collect();
    Tree::from_edges(num_tips, &with_lengths)
}

/// Names `t001`, `t002`, ... of equal width.
pub fn random_names(num_tips: usize) -> Vec<String> {
    let width = num_tips.to_string().len();
    (1..=num_tips).map(|i| format!("t{i:0width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn random_trees_are_whole_repeatable_and_have_the_mean_length() {
        for num_tips in [3, 4, 5, 50, 2000] {
            let draw = |seed| yule_tree(num_tips, 0.1, &mut stream(seed, Purpose::Test, 0));
            let tree = draw(1);
            tree.assert_integrity();
            assert!(tree == draw(1) && tree != draw(2));
            if num_tips == 2000 {
                let mean = tree.total_length() / tree.num_edges() as f64;
                assert!((mean - 0.1).abs() < 0.008, "{mean}");
            }
        }
        assert_eq!(random_names(100)[7], "t008");
    }
}
