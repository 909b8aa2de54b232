//! UPGMA: average linkage (Sokal & Michener 1958), which assumes a molecular clock, by chains of nearest neighbours.

use super::joined_tree::JoinedTree;
use super::square::{SquareMatrix, Stored};

/// The tree of a matrix by UPGMA. Of equally near neighbours, the first by its first taxon is taken, but the one from
/// which the chain came before all others. The matrix is used up.
///
/// # Panics
/// If there are fewer than two taxa.
pub fn upgma<T: Stored>(mut matrix: SquareMatrix<T>) -> JoinedTree {
    let n = matrix.size();
    assert!(n >= 2, "a tree of {n} taxa");
    let mut sizes = vec![1.0; n];
    let mut is_active = vec![true; n];
    let mut chain: Vec<usize> = Vec::new();
    // Places of the first taxa of joined clusters, and half their distance.
    let mut found: Vec<(usize, usize, f64)> = Vec::with_capacity(n - 1);
    while found.len() + 1 < n {
        if chain.is_empty() {
            chain.extend(is_active.iter().position(|active| *active));
        }
        let last = *chain.last().expect("some clusters are left");
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let mut nearest = before;
        let mut least = before.map_or(f64::INFINITY, |before| matrix.get(last, before));
        for other in (0..n).filter(|&other| is_active[other] && other != last) {
            let distance = matrix.get(last, other);
            if nearest.is_none() || distance < least {
                (nearest, least) = (Some(other), distance);
            }
        }
        let nearest = nearest.expect("two clusters are left");
        if before != Some(nearest) {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (a, b) = (last.min(nearest), last.max(nearest));
        for other in (0..n).filter(|&other| is_active[other] && other != a && other != b) {
            let sum = sizes[a] * matrix.get(a, other) + sizes[b] * matrix.get(b, other);
            matrix.set(a, other, sum / (sizes[a] + sizes[b]));
        }
        sizes[a] += sizes[b];
        is_active[b] = false;
        found.push((a, b, 0.5 * least));
    }
    in_order_of_height(n, found)
}

/// Chains find joins in any order; here they are made in that of their heights.
fn in_order_of_height(n: usize, mut found: Vec<(usize, usize, f64)>) -> JoinedTree {
    found.sort_by(|a, b| a.2.total_cmp(&b.2));
    let mut tree = JoinedTree::new(n);
    // For the place of each taxon, the place of the cluster that it was joined with, its node and height.
    let mut into: Vec<usize> = (0..n).collect();
    let mut nodes: Vec<(usize, f64)> = (0..n).map(|tip| (tip, 0.0)).collect();
    let cluster = |into: &[usize], mut place: usize| {
        while into[place] != place {
            place = into[place];
        }
        place
    };
    for (a, b, height) in found {
        let (a, b) = (cluster(&into, a), cluster(&into, b));
        let children = [a, b].map(|place| (nodes[place].0, height - nodes[place].1));
        nodes[a] = (tree.join(&children), height);
        into[b] = a;
    }
    tree
}
