//! Random trees: uniform topologies.

use rand::RngExt;

use super::topology::Tree;
use crate::rng::Rng;

/// A topology drawn uniformly from all unrooted binary ones on `num_tips` tips: tip after tip is put
/// into an edge drawn uniformly. Every branch has the length `brlen`.
pub fn random_tree(num_tips: usize, brlen: f64, rng: &mut Rng) -> Tree {
    let mut ends: Vec<[u32; 2]> = Vec::with_capacity((2 * num_tips).saturating_sub(3));
    for tip in 1..num_tips as u32 {
        if tip == 1 {
            ends.push([0, 1]);
            continue;
        }
        let inner = num_tips as u32 + tip - 2;
        let target = rng.random_range(0..ends.len() as u32) as usize;
        let [a, b] = ends[target];
        ends[target] = [a, inner];
        ends.extend([[inner, b], [inner, tip]]);
    }
    let edges: Vec<_> = ends.iter().map(|&[a, b]| (a, b, brlen)).collect();
    Tree::from_edges(num_tips, &edges)
}

#[cfg(test)]
mod tests {
    use super::super::{NewickOptions, write_newick};
    use super::*;
    use crate::rng::{Purpose, stream};
    use std::collections::BTreeMap;

    #[test]
    fn all_fifteen_topologies_of_five_tips_are_equally_frequent() {
        let mut rng = stream(3, Purpose::Test, 0);
        let mut counts = BTreeMap::new();
        let names = ["A", "B", "C", "D", "E"];
        for _ in 0..15_000 {
            let tree = random_tree(5, 0.1, &mut rng);
            *counts
                .entry(write_newick(&tree, |i| names[i], &NewickOptions::default()))
                .or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 15);
        // Five standard deviations of a binomial count of mean 1000.
        assert!(counts.values().all(|&c: &i32| (c - 1000).abs() < 155), "{counts:?}");
    }

    #[test]
    fn small_trees_exist() {
        let mut rng = stream(3, Purpose::Test, 1);
        for n in 0..4 {
            random_tree(n, 0.1, &mut rng).assert_integrity();
        }
    }
}
