//! Neighbor joining and BIONJ, exactly.
//!
//! Of r clusters, those two are joined for which D_ij - u_i - u_j is smallest, with u_i = Σ_x D_ix / (r - 2) (Saitou & Nei
//! 1987, Mol. Biol. Evol. 4:406; Studier & Keppler 1988, Mol. Biol. Evol. 5:729). Of equal ones, as in PHYLIP, the pair
//! whose later cluster comes first is joined, then that whose earlier one does; a cluster is at the place of its first
//! taxon. BIONJ weights the distances of the two by their variances (Gascuel 1997, Mol. Biol. Evol. 14:685).
//!
//! Not all pairs are looked at. When a row was looked at last, the least D_ij - u_j of its pairs was kept. Since then each
//! u_j has grown by no more than the sum of the largest growths of all steps, which gives a bound for the row; rows whose
//! bound is above the best pair so far are left out. The result is the same as if all were looked at.

use super::joined_tree::JoinedTree;
use super::square::{SquareMatrix, Stored};

/// The tree of a matrix by neighbor joining, with its lengths, some of which may be negative. The matrix is used up.
///
/// # Examples
///
/// ```
/// use mlsearch::distance::{SquareMatrix, neighbor_joining};
///
/// // The path lengths of ((A:1,B:2):1,C:3,D:4).
/// let mut matrix = SquareMatrix::<f64>::zero(4);
/// for (a, b, distance) in [(0, 1, 3.0), (0, 2, 5.0), (0, 3, 6.0), (1, 2, 6.0), (1, 3, 7.0), (2, 3, 7.0)] {
///     matrix.set(a, b, distance);
/// }
/// assert_eq!(neighbor_joining(matrix).total_length(), 11.0);
/// ```
///
/// # Panics
/// If there are fewer than two taxa.
pub fn neighbor_joining<T: Stored>(matrix: SquareMatrix<T>) -> JoinedTree {
    Joining::new(matrix, None).run()
}

/// The same by BIONJ.
///
/// # Panics
/// If there are fewer than two taxa.
pub fn bionj<T: Stored>(matrix: SquareMatrix<T>) -> JoinedTree {
    let variances = matrix.clone();
    Joining::new(matrix, Some(variances)).run()
}

/// One cluster.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    /// Its node in the tree.
    node: usize,
    /// Its first taxon.
    first: u32,
    /// Sum of its distances from all others.
    sum: f64,
    /// `sum` / (number of clusters - 2).
    mean: f64,
    /// Least distance minus mean of the other cluster when the row was last looked at, or less.
    least: f64,
    /// The sum of growths then.
    growth: f64,
}

/// A pair with the value that is to be smallest, and what decides between equal ones.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    value: f64,
    order: (u32, u32),
    pair: (usize, usize),
}

struct Joining<T> {
    distances: SquareMatrix<T>,
    variances: Option<SquareMatrix<T>>,
    /// The clusters at the first places of the matrix.
    clusters: Vec<Cluster>,
    /// The means of the clusters, for the loops.
    means: Vec<f64>,
    /// Sum of the largest growths of a mean in all steps.
    growth: f64,
    tree: JoinedTree,
}

impl<T: Stored> Joining<T> {
    fn new(distances: SquareMatrix<T>, variances: Option<SquareMatrix<T>>) -> Self {
        let n = distances.size();
        assert!(n >= 2, "a tree of {n} taxa");
        let cluster = |taxon: usize| {
            let sum = distances.row(taxon, n).iter().map(|distance| distance.load()).sum();
            let (first, least) = (taxon as u32, f64::NEG_INFINITY);
            Cluster { node: taxon, first, sum, mean: 0.0, least, growth: 0.0 }
        };
        let clusters: Vec<Cluster> = (0..n).map(cluster).collect();
        let tree = JoinedTree::new(n);
        let means = vec![0.0; n];
        Joining { distances, variances, clusters, means, growth: 0.0, tree }
    }

    fn run(mut self) -> JoinedTree {
        while self.clusters.len() > 3 {
            self.update_means();
            let (a, b) = self.best_pair();
            self.join(a, b);
        }
        self.finish()
    }

    fn update_means(&mut self) {
        let divisor = (self.clusters.len() - 2) as f64;
        let mut growth = f64::NEG_INFINITY;
        for (cluster, mean) in self.clusters.iter_mut().zip(&mut self.means) {
            let new = cluster.sum / divisor;
            growth = growth.max(new - cluster.mean);
            cluster.mean = new;
            *mean = new;
        }
        self.growth += growth;
    }

    /// No pair of this row is below. Rounding must not lift it above the value of a pair.
    fn bound(&self, row: usize) -> f64 {
        const ROUNDING: f64 = 1e-9;
        let cluster = &self.clusters[row];
        let bound = cluster.least - (self.growth - cluster.growth) - cluster.mean;
        bound - ROUNDING * (1.0 + self.growth.abs() + cluster.mean.abs())
    }

    fn best_pair(&mut self) -> (usize, usize) {
        let bounds: Vec<f64> = (0..self.clusters.len()).map(|row| self.bound(row)).collect();
        let mut first = 0;
        for (row, bound) in bounds.iter().enumerate() {
            if *bound < bounds[first] {
                first = row;
            }
        }
        let mut best = self.best_of_row(first);
        for row in (0..bounds.len()).filter(|&row| row != first) {
            if bounds[row] <= best.value {
                let found = self.best_of_row(row);
                if (found.value, found.order) < (best.value, best.order) {
                    best = found;
                }
            }
        }
        best.pair
    }

    /// The best pair of a row; keeps its least value.
    fn best_of_row(&mut self, row: usize) -> Candidate {
        let width = self.clusters.len();
        let distances = self.distances.row(row, width);
        let means = &self.means[..width];
        // Lane by lane, so that the compiler uses vectors; the least of all is the same in any order.
        let mut lanes = [f64::INFINITY; 8];
        let value = |at: usize| distances[at].load() - means[at];
        let take = |lanes: &mut [f64; 8], range: std::ops::Range<usize>| {
            let mut at = range.start;
            while at + 8 <= range.end {
                let (distances, means) = (&distances[at..at + 8], &means[at..at + 8]);
                for i in 0..8 {
                    let value = distances[i].load() - means[i];
                    lanes[i] = if value < lanes[i] { value } else { lanes[i] };
                }
                at += 8;
            }
            for at in at..range.end {
                lanes[0] = lanes[0].min(value(at));
            }
        };
        take(&mut lanes, 0..row);
        take(&mut lanes, row + 1..width);
        let least = lanes.into_iter().fold(f64::INFINITY, f64::min);
        let own = self.clusters[row].first;
        let order = |other: u32| (own.max(other), own.min(other));
        let mut best: Option<((u32, u32), usize)> = None;
        for at in (0..width).filter(|&at| at != row) {
            if value(at) == least {
                let order = order(self.clusters[at].first);
                if best.is_none_or(|best| order < best.0) {
                    best = Some((order, at));
                }
            }
        }
        let (order, other) = best.expect("there are several clusters");
        // The same operations in the same order for both rows of a pair.
        let (a, b) = (row.min(other), row.max(other));
        let means = self.clusters[a].mean + self.clusters[b].mean;
        let value = self.distances.get(a, b) - means;
        self.clusters[row].least = least;
        self.clusters[row].growth = self.growth;
        Candidate { value, order, pair: (a, b) }
    }

    fn join(&mut self, a: usize, b: usize) {
        let count = self.clusters.len();
        let between = self.distances.get(a, b);
        let (left, right) = (self.clusters[a], self.clusters[b]);
        let left_length = 0.5 * (between + (left.mean - right.mean));
        let right_length = between - left_length;
        let node = self.tree.join(&[(left.node, left_length), (right.node, right_length)]);
        let weight = self.weight(a, b);
        if let Some(variances) = &mut self.variances {
            let own = weight * (1.0 - weight) * variances.get(a, b);
            for other in (0..count).filter(|&other| other != a && other != b) {
                let mixed =
                    weight * variances.get(a, other) + (1.0 - weight) * variances.get(b, other);
                variances.set(a, other, mixed - own);
            }
            variances.copy(count - 1, b, count - 1);
        }
        let mut sum = 0.0;
        let mut least = f64::INFINITY;
        for other in (0..count).filter(|&other| other != a && other != b) {
            let (to_left, to_right) = (self.distances.get(a, other), self.distances.get(b, other));
            let new = weight * (to_left - left_length) + (1.0 - weight) * (to_right - right_length);
            self.distances.set(a, other, new);
            let new = self.distances.get(a, other);
            sum += new;
            least = least.min(new - self.clusters[other].mean);
            self.clusters[other].sum += new - to_left - to_right;
        }
        self.distances.copy(count - 1, b, count - 1);
        let first = left.first.min(right.first);
        self.clusters[a] = Cluster {
            node,
            first,
            sum,
            mean: sum / (count - 2).max(1) as f64,
            least,
            growth: self.growth,
        };
        let mean = self.clusters[a].mean;
        self.clusters.swap_remove(b);
        let count = self.clusters.len();
        for other in (0..count).filter(|&other| other != a) {
            let new = self.distances.get(a, other) - mean;
            let (growth, cluster) = (self.growth, &mut self.clusters[other]);
            // The bound is kept as of now.
            cluster.least = (cluster.least - (growth - cluster.growth)).min(new);
            cluster.growth = growth;
        }
    }

    /// The weight of the first of two clusters in the distances of the joined one.
    fn weight(&self, a: usize, b: usize) -> f64 {
        let Some(variances) = &self.variances else { return 0.5 };
        let count = self.clusters.len();
        let between = variances.get(a, b);
        if between <= 0.0 {
            return 0.5;
        }
        let others = (0..count).filter(|&other| other != a && other != b);
        let difference: f64 =
            others.map(|other| variances.get(b, other) - variances.get(a, other)).sum();
        (0.5 + difference / (2.0 * (count - 2) as f64 * between)).clamp(0.0, 1.0)
    }

    /// Joins the last two or three clusters.
    fn finish(mut self) -> JoinedTree {
        let d = |a: usize, b: usize| self.distances.get(a, b);
        let lengths = match self.clusters.len() {
            2 => vec![d(0, 1), 0.0],
            3 => vec![
                0.5 * (d(0, 1) + d(0, 2) - d(1, 2)),
                0.5 * (d(0, 1) + d(1, 2) - d(0, 2)),
                0.5 * (d(0, 2) + d(1, 2) - d(0, 1)),
            ],
            _ => unreachable!("joining goes on until three clusters are left"),
        };
        let nodes = self.clusters.iter().map(|cluster| cluster.node);
        let last: Vec<(usize, f64)> = nodes.zip(lengths).collect();
        self.tree.join(&last);
        self.tree
    }
}

#[cfg(test)]
mod tests {
    use super::super::upgma;
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use crate::tree::{EdgeId, random_tree, same_topology};
    use rand::RngExt;

    /// The definition, with all pairs looked at.
    fn by_definition(mut d: Vec<Vec<f64>>) -> JoinedTree {
        let mut tree = JoinedTree::new(d.len());
        let mut nodes: Vec<usize> = (0..d.len()).collect();
        while d.len() > 3 {
            let r = d.len();
            let u: Vec<f64> =
                d.iter().map(|row| row.iter().sum::<f64>() / (r - 2) as f64).collect();
            let pairs = (0..r).flat_map(|b| (0..b).map(move |a| (a, b)));
            let value = |&(a, b): &(usize, usize)| d[a][b] - u[a] - u[b];
            let (a, b) = pairs.min_by(|x, y| value(x).total_cmp(&value(y))).unwrap();
            let length = 0.5 * (d[a][b] + u[a] - u[b]);
            let rest = d[a][b] - length;
            nodes[a] = tree.join(&[(nodes[a], length), (nodes[b], rest)]);
            for x in (0..r).filter(|&x| x != a && x != b) {
                d[a][x] = 0.5 * (d[a][x] + d[b][x] - d[a][b]);
                d[x][a] = d[a][x];
            }
            nodes.remove(b);
            d.remove(b);
            for row in &mut d {
                row.remove(b);
            }
        }
        let length = |a: usize, b: usize, c: usize| 0.5 * (d[a][b] + d[a][c] - d[b][c]);
        tree.join(&[
            (nodes[0], length(0, 1, 2)),
            (nodes[1], length(1, 0, 2)),
            (nodes[2], length(2, 0, 1)),
        ]);
        tree
    }

    /// Path lengths of a random tree, each changed by up to `noise`.
    fn matrix(n: usize, noise: f64, rng: &mut Rng) -> (crate::tree::Tree, Vec<Vec<f64>>) {
        let mut tree = random_tree(n, 0.1, rng);
        let edges: Vec<EdgeId> = tree.edges().collect();
        for edge in edges {
            tree.set_brlen(edge, rng.random_range(0.01..0.3));
        }
        let mut d = vec![vec![0.0; n]; n];
        let starts: Vec<usize> = (0..n).collect();
        for a in starts {
            let start = crate::tree::NodeId(a as u32);
            let mut stack = vec![(start, EdgeId::NONE, 0.0)];
            while let Some((node, from, length)) = stack.pop() {
                if tree.is_tip(node) && node.index() > a {
                    let changed = length * (1.0 + noise * rng.random_range(-1.0..1.0));
                    (d[a][node.index()], d[node.index()][a]) = (changed, changed);
                }
                let next = tree.links(node).filter(|link| link.1 != from);
                stack.extend(next.map(|(to, edge)| (to, edge, length + tree.brlen(edge))));
            }
        }
        (tree, d)
    }

    fn square(d: &[Vec<f64>]) -> SquareMatrix<f64> {
        let mut matrix = SquareMatrix::zero(d.len());
        for (a, row) in d.iter().enumerate() {
            row[..a].iter().enumerate().for_each(|(b, &distance)| matrix.set(a, b, distance));
        }
        matrix
    }

    #[test]
    fn the_tree_of_path_lengths_is_found_again() {
        let mut rng = stream(1, Purpose::Test, 0);
        for n in [3, 4, 5, 17, 90] {
            let (tree, d) = matrix(n, 0.0, &mut rng);
            for found in [neighbor_joining(square(&d)), bionj(square(&d))] {
                assert!(same_topology(&found.to_tree(), &tree), "{n}");
                assert!((found.total_length() - tree.total_length()).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn rows_that_are_left_out_change_nothing() {
        let mut rng = stream(2, Purpose::Test, 0);
        for n in [4, 6, 30, 120] {
            for noise in [0.01, 0.3, 1.0] {
                let (_, d) = matrix(n, noise, &mut rng);
                let (found, expected) = (neighbor_joining(square(&d)), by_definition(d));
                assert!(same_topology(&found.to_tree(), &expected.to_tree()), "{n} {noise}");
                assert!((found.total_length() - expected.total_length()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn equal_distances_are_joined_in_the_order_of_the_taxa() {
        let mut matrix = SquareMatrix::<f64>::zero(5);
        for a in 0..5 {
            (0..a).for_each(|b| matrix.set(a, b, 1.0));
        }
        let names = ["A", "B", "C", "D", "E"];
        let text = neighbor_joining(matrix.clone()).newick(|taxon| names[taxon]);
        assert_eq!(text, "(((A:0.5,B:0.5):0,C:0.5):0,D:0.5,E:0.5);");
        let text = upgma(matrix).newick(|taxon| names[taxon]);
        assert_eq!(text, "((((A:0.5,B:0.5):0,C:0.5):0,D:0.5):0,E:0.5);");
    }

    #[test]
    fn upgma_finds_clusters_by_their_mean_distance() {
        // Heights 1 (AB), 2 (CD), 3.5: the mean of 6, 8, 6, 8 is 7.
        let d = [
            vec![0.0, 2.0, 6.0, 8.0],
            vec![2.0, 0.0, 6.0, 8.0],
            vec![6.0, 6.0, 0.0, 4.0],
            vec![8.0, 8.0, 4.0, 0.0],
        ];
        let tree = upgma(square(&d));
        let names = ["A", "B", "C", "D"];
        assert_eq!(tree.newick(|taxon| names[taxon]), "((A:1,B:1):2.5,(C:2,D:2):1.5);");
        assert_eq!(tree.to_tree().total_length(), 10.0);
    }
}
