//! UPGMA: average linkage (Sokal & Michener 1958), which assumes a molecular clock, by chains of nearest neighbours.

use super::cluster_rows::{ClusterRows, RowsInMemory};
use super::joined_tree::JoinedTree;
use super::square::{SquareMatrix, Stored};

/// The tree of a matrix by UPGMA. Of equally near neighbours, the first by its first taxon is taken, but the one from
/// which the chain came before all others. The matrix is used up.
///
/// # Panics
/// If there are fewer than two taxa.
pub fn upgma<T: Stored>(matrix: SquareMatrix<T>) -> JoinedTree {
    let Ok(tree) = link_averages(RowsInMemory::new(matrix));
    tree
}

/// The same, wherever the distances are.
///
/// # Errors
/// Rows that cannot be read or written.
pub(super) fn link_averages<R: ClusterRows>(mut rows: R) -> Result<JoinedTree, R::Fault> {
    let n = rows.len();
    assert!(n >= 2, "a tree of {n} taxa");
    // Of the clusters at their places: sizes and first taxa.
    let (mut sizes, mut first) = (vec![1.0; n], (0..n).collect::<Vec<usize>>());
    let mut chain: Vec<usize> = Vec::new();
    // First taxa of joined clusters, and half their distance.
    let mut found: Vec<(usize, usize, f64)> = Vec::with_capacity(n - 1);
    while first.len() > 1 {
        if chain.is_empty() {
            chain.extend((0..first.len()).min_by_key(|&place| first[place]));
        }
        let last = *chain.last().expect("some clusters are left");
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let row = rows.row(last)?;
        let mut nearest = before;
        let mut least = before.map_or(f64::INFINITY, |before| row[before].load());
        for other in (0..first.len()).filter(|&other| other != last && before != Some(other)) {
            let distance = row[other].load();
            let is_first = || nearest != before && nearest.is_none_or(|n| first[other] < first[n]);
            if nearest.is_none() || distance < least || (distance == least && is_first()) {
                (nearest, least) = (Some(other), distance);
            }
        }
        let nearest = nearest.expect("two clusters are left");
        if before != Some(nearest) {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        // The sums are made in the order of the first taxa.
        let ends = if first[last] < first[nearest] { [last, nearest] } else { [nearest, last] };
        let weights = ends.map(|place| sizes[place]);
        let mut row = rows.row(ends[0])?.to_vec();
        for (mean, second) in row.iter_mut().zip(rows.row(ends[1])?) {
            let sum = weights[0] * mean.load() + weights[1] * second.load();
            *mean = Stored::store(sum / (weights[0] + weights[1]));
        }
        found.push((first[ends[0]], first[ends[1]], 0.5 * least));
        let (a, b) = (last.min(nearest), last.max(nearest));
        (sizes[a], first[a]) = (weights[0] + weights[1], first[ends[0]]);
        rows.join(a, b, &row)?;
        sizes.swap_remove(b);
        first.swap_remove(b);
        let moved = first.len();
        chain.iter_mut().filter(|place| **place == moved).for_each(|place| *place = b);
    }
    Ok(in_order_of_height(n, found))
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
