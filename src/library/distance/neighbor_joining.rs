//! Neighbor joining and BIONJ, exactly.
//!
//! Of r clusters, those two are joined for which D_ij - u_i - u_j is smallest, with u_i = Σ_x D_ix / (r - 2) (Saitou & Nei
//! 1987, Mol. Biol. Evol. 4:406; Studier & Keppler 1988, Mol. Biol. Evol. 5:729). Of equal ones, as in PHYLIP, the pair
//! whose later cluster comes first is joined, then that whose earlier one does; a cluster is at the place of its first
//! taxon. BIONJ weights the distances of the two by their variances (Gascuel 1997, Mol. Biol. Evol. 14:685). Of four
//! clusters, the two pairs on both sides of a split are always equal, which rounding must not hide.
//!
//! Not all pairs are looked at (Simonsen, Mailund & Pedersen 2008, LNCS 5251:113, do it with sorted rows). Every pair is
//! known to the row of one of its two clusters, the one whose row was read last. A row keeps the [`NEAR`] pairs with the
//! least D_ij - u_j, and that all its others had at least a certain value then. Since then each u_j has grown by no more
//! than the sum of the largest growths of all steps, which gives a bound for the others: a row is read again only if this
//! bound is not above the best pair that is found among those kept. The result is the same as if all pairs were looked at.
//! With 10 000 simulated taxa, 2.8 rows are read per join, besides those of the two clusters; this is what makes
//! distances in a file (`row_file`) fast enough.

use super::cluster_rows::{ClusterRows, RowsInMemory};
use super::joined_tree::JoinedTree;
use super::square::{SquareMatrix, Stored};

/// Pairs that a row keeps. Of 10 000 simulated taxa, 3.3 rows are read per join with 16, 2.8 with 32, and 2.4 with 64.
const NEAR: usize = 32;

/// The tree of a matrix by neighbor joining, with its lengths, some of which may be negative. The matrix is used up.
///
/// # Examples
///
/// ```
/// use mlsearch_library::distance::{SquareMatrix, neighbor_joining};
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
    let Ok(tree) = join_neighbors(RowsInMemory::new(matrix));
    tree
}

/// The same by BIONJ.
///
/// # Panics
/// If there are fewer than two taxa.
pub fn bionj<T: Stored>(matrix: SquareMatrix<T>) -> JoinedTree {
    let Ok(tree) = join_neighbors_by_variance(RowsInMemory::new(matrix));
    tree
}

/// Neighbor joining, wherever the distances are.
///
/// # Errors
/// Rows that cannot be read or written.
pub(super) fn join_neighbors<R: ClusterRows>(distances: R) -> Result<JoinedTree, R::Fault> {
    Joining::new(distances, None)?.run()
}

/// BIONJ, wherever the distances are.
///
/// # Errors
/// Rows that cannot be read or written.
pub(super) fn join_neighbors_by_variance<R: ClusterRows>(
    distances: R,
) -> Result<JoinedTree, R::Fault> {
    let variances = distances.copy()?;
    Joining::new(distances, Some(variances))?.run()
}

/// One cluster.
#[derive(Debug, Clone)]
struct Cluster<T> {
    /// Its node in the tree.
    node: usize,
    /// Its first taxon.
    first: u32,
    /// Sum of its distances from all others.
    sum: f64,
    /// Pairs of its row: the node of the other cluster, and the distance.
    near: Vec<(u32, T)>,
}

/// A pair with the value that is to be smallest, and what decides between equal ones.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    value: f64,
    order: (u32, u32),
    pair: (usize, usize),
}

impl Candidate {
    const NONE: Candidate =
        Candidate { value: f64::INFINITY, order: (u32::MAX, u32::MAX), pair: (0, 0) };

    fn improve(&mut self, other: Candidate) {
        if (other.value, other.order) < (self.value, self.order) {
            *self = other;
        }
    }
}

/// What a row keeps, while it is read: the values D_ij - u_j and their places.
#[derive(Debug, Default)]
struct Nearest {
    found: Vec<(f64, u32)>,
}

struct Joining<R: ClusterRows> {
    distances: R,
    variances: Option<R>,
    /// The clusters at their places.
    clusters: Vec<Cluster<R::Value>>,
    /// `[place]`: the sum of the cluster / (number of clusters - 2).
    means: Vec<f64>,
    /// `[place]`: least D_ij - u_j of the pairs kept when they were looked at last, or less, plus `growth` then.
    least_near: Vec<f64>,
    /// `[place]`: the same of the pairs that the row knows and does not keep.
    least_far: Vec<f64>,
    /// `[node]`: the place of this cluster, or `GONE`.
    place_of: Vec<u32>,
    /// Sum of the largest growths of a mean in all steps.
    growth: f64,
    tree: JoinedTree,
    nearest: Nearest,
    /// Space for the rows of the two clusters that are joined.
    rows: [Vec<R::Value>; 2],
}

/// The place of a cluster that was joined.
const GONE: u32 = u32::MAX;

impl<R: ClusterRows> Joining<R> {
    fn new(mut distances: R, variances: Option<R>) -> Result<Self, R::Fault> {
        let n = distances.len();
        assert!(n >= 2, "a tree of {n} taxa");
        let mut clusters = Vec::with_capacity(n);
        for taxon in 0..n {
            let row = distances.row(taxon)?;
            let others = || row[..taxon].iter().chain(&row[taxon + 1..]);
            let sum = others().map(|distance| distance.load()).sum();
            clusters.push(Cluster { node: taxon, first: taxon as u32, sum, near: Vec::new() });
        }
        Ok(Joining {
            distances,
            variances,
            clusters,
            means: vec![0.0; n],
            least_near: vec![f64::INFINITY; n],
            // Every row is read at first.
            least_far: vec![f64::NEG_INFINITY; n],
            place_of: (0..2 * n as u32).collect(),
            growth: 0.0,
            tree: JoinedTree::new(n),
            nearest: Nearest::default(),
            rows: [Vec::new(), Vec::new()],
        })
    }

    fn run(mut self) -> Result<JoinedTree, R::Fault> {
        while self.clusters.len() > 3 {
            self.update_means();
            let (a, b) = match self.clusters.len() {
                4 => self.best_of_four()?,
                _ => self.best_pair()?,
            };
            self.join(a, b)?;
        }
        self.finish()
    }

    fn update_means(&mut self) {
        let divisor = (self.clusters.len() - 2) as f64;
        let mut growth = f64::NEG_INFINITY;
        for (cluster, mean) in self.clusters.iter().zip(&mut self.means) {
            let new = cluster.sum / divisor;
            growth = growth.max(new - *mean);
            *mean = new;
        }
        self.growth += growth;
    }

    /// No pair of a row with this least value is below. Rounding must not lift it above the value of a pair.
    #[inline(always)]
    fn bound(&self, least: f64, row: usize) -> f64 {
        const ROUNDING: f64 = 1e-9;
        let bound = least - self.growth - self.means[row];
        bound - ROUNDING * (1.0 + self.growth.abs() + self.means[row].abs())
    }

    fn best_pair(&mut self) -> Result<(usize, usize), R::Fault> {
        let count = self.clusters.len();
        let mut first = 0;
        let mut lowest = f64::INFINITY;
        for row in 0..count {
            let bound = self.bound(self.least_near[row], row);
            if bound < lowest {
                (first, lowest) = (row, bound);
            }
        }
        let mut best = self.best_near(first);
        for row in (0..count).filter(|&row| row != first) {
            if self.bound(self.least_near[row], row) <= best.value {
                best.improve(self.best_near(row));
            }
        }
        for row in 0..count {
            if self.bound(self.least_far[row], row) <= best.value {
                self.read_row(row)?;
                best.improve(self.best_near(row));
            }
        }
        Ok(best.pair)
    }

    /// The pair that is joined when four clusters are left.
    fn best_of_four(&mut self) -> Result<(usize, usize), R::Fault> {
        let mut best = Candidate::NONE;
        let mut distances = [[0.0; 4]; 4];
        for (place, row) in distances.iter_mut().enumerate() {
            for (distance, found) in row.iter_mut().zip(self.distances.row(place)?) {
                *distance = found.load();
            }
        }
        for split in [[(0, 1), (2, 3)], [(0, 2), (1, 3)], [(0, 3), (1, 2)]] {
            let value = split.iter().map(|&(a, b)| distances[a][b]).sum();
            for pair in split {
                let [a, b] = [pair.0, pair.1].map(|place: usize| self.clusters[place].first);
                best.improve(Candidate { value, order: (a.max(b), a.min(b)), pair });
            }
        }
        Ok(best.pair)
    }

    /// The best of the pairs that a row keeps; those with clusters that are gone are left out from now on.
    fn best_near(&mut self, row: usize) -> Candidate {
        let mut near = std::mem::take(&mut self.clusters[row].near);
        near.retain(|&(node, _)| self.place_of[node as usize] != GONE);
        let (own, own_mean) = (self.clusters[row].first, self.means[row]);
        let (mut best, mut least) = (Candidate::NONE, f64::INFINITY);
        for &(node, distance) in &near {
            let other = self.place_of[node as usize] as usize;
            let (distance, mean) = (distance.load(), self.means[other]);
            least = least.min(distance - mean);
            // The sum of the means is the same from both rows of a pair.
            let value = distance - (own_mean + mean);
            if value <= best.value {
                let first = self.clusters[other].first;
                let order = (own.max(first), own.min(first));
                best.improve(Candidate { value, order, pair: (row.min(other), row.max(other)) });
            }
        }
        self.clusters[row].near = near;
        self.least_near[row] = least + self.growth;
        best
    }

    /// Reads the row of a cluster anew.
    fn read_row(&mut self, place: usize) -> Result<(), R::Fault> {
        let row = self.distances.row(place)?;
        self.nearest.find(row, &self.means, place);
        let found = self.nearest.found.iter();
        let near = &mut self.clusters[place].near;
        near.clear();
        near.extend(found.map(|&(_, other)| (other, row[other as usize])));
        self.keep(place);
        Ok(())
    }

    /// The row of a cluster keeps what was found; the places of the pairs become nodes.
    fn keep(&mut self, place: usize) {
        let mut near = std::mem::take(&mut self.clusters[place].near);
        near.iter_mut().for_each(|pair| pair.0 = self.clusters[pair.0 as usize].node as u32);
        self.clusters[place].near = near;
        let (least, most) = self.nearest.ends();
        self.least_near[place] = least + self.growth;
        let is_all = self.nearest.found.len() + 1 == self.clusters.len();
        self.least_far[place] = if is_all { f64::INFINITY } else { most + self.growth };
    }

    fn join(&mut self, a: usize, b: usize) -> Result<(), R::Fault> {
        let count = self.clusters.len();
        let [mut row, mut right_row] = std::mem::take(&mut self.rows);
        let weight = match &mut self.variances {
            None => 0.5,
            Some(variances) => {
                copy_row(variances, a, &mut row)?;
                copy_row(variances, b, &mut right_row)?;
                let weight = weight(&row, &right_row, a, b);
                let own = weight * (1.0 - weight) * row[b].load();
                for other in (0..count).filter(|&other| other != a && other != b) {
                    let mixed =
                        weight * row[other].load() + (1.0 - weight) * right_row[other].load();
                    row[other] = Stored::store(mixed - own);
                }
                variances.join(a, b, &row)?;
                weight
            }
        };
        copy_row(&mut self.distances, a, &mut row)?;
        copy_row(&mut self.distances, b, &mut right_row)?;
        let between = row[b].load();
        let [left, right] = [a, b].map(|place| self.clusters[place].node);
        let left_length = 0.5 * (between + (self.means[a] - self.means[b]));
        let right_length = between - left_length;
        let node = self.tree.join(&[(left, left_length), (right, right_length)]);
        let mut sum = 0.0;
        for other in (0..count).filter(|&other| other != a && other != b) {
            let (to_left, to_right) = (row[other].load(), right_row[other].load());
            let new = weight * (to_left - left_length) + (1.0 - weight) * (to_right - right_length);
            row[other] = Stored::store(new);
            let new = row[other].load();
            sum += new;
            self.clusters[other].sum += new - to_left - to_right;
        }
        self.distances.join(a, b, &row)?;
        self.replace(a, b, node, sum);
        row[b] = row[count - 1];
        row.truncate(count - 1);
        // The new row knows all its pairs.
        self.nearest.find(&row, &self.means, a);
        let found = self.nearest.found.iter();
        self.clusters[a].near = found.map(|&(_, other)| (other, row[other as usize])).collect();
        self.keep(a);
        self.rows = [row, right_row];
        Ok(())
    }

    /// A new cluster is at the first of two places, the last one at the second.
    fn replace(&mut self, a: usize, b: usize, node: usize, sum: f64) {
        let places = [a, b].map(|place| self.clusters[place].node);
        places.iter().for_each(|&node| self.place_of[node] = GONE);
        let first = self.clusters[a].first.min(self.clusters[b].first);
        self.means[a] = sum / (self.clusters.len() - 2) as f64;
        self.clusters[a] = Cluster { node, first, sum, near: Vec::new() };
        self.place_of[node] = a as u32;
        self.clusters.swap_remove(b);
        self.means.swap_remove(b);
        self.least_near.swap_remove(b);
        self.least_far.swap_remove(b);
        if let Some(moved) = self.clusters.get(b) {
            self.place_of[moved.node] = b as u32;
        }
    }

    /// Joins the last two or three clusters.
    fn finish(mut self) -> Result<JoinedTree, R::Fault> {
        let mut d = Vec::new();
        for place in 0..self.clusters.len() {
            let row = self.distances.row(place)?;
            d.push(row.iter().map(|distance| distance.load()).collect::<Vec<f64>>());
        }
        let lengths = match d.len() {
            2 => vec![d[0][1], 0.0],
            3 => vec![
                0.5 * (d[0][1] + d[0][2] - d[1][2]),
                0.5 * (d[0][1] + d[1][2] - d[0][2]),
                0.5 * (d[0][2] + d[1][2] - d[0][1]),
            ],
            _ => unreachable!("joining goes on until three clusters are left"),
        };
        let nodes = self.clusters.iter().map(|cluster| cluster.node);
        let last: Vec<(usize, f64)> = nodes.zip(lengths).collect();
        self.tree.join(&last);
        Ok(self.tree)
    }
}

impl Nearest {
    /// Finds the pairs of a row with the least values; `own` is no pair.
    fn find<T: Stored>(&mut self, row: &[T], means: &[f64], own: usize) {
        const BLOCK: usize = 64;
        let found = &mut self.found;
        found.clear();
        let mut limit = f64::INFINITY;
        for (block, (row, means)) in row.chunks(BLOCK).zip(means.chunks(BLOCK)).enumerate() {
            // Lane by lane, so that the compiler uses vectors; most blocks have nothing near.
            let mut least = [f64::INFINITY; 8];
            let (row_lanes, mean_lanes) = (row.as_chunks::<8>(), means.as_chunks::<8>());
            for (row, means) in row_lanes.0.iter().zip(mean_lanes.0) {
                for i in 0..8 {
                    let value = row[i].load() - means[i];
                    least[i] = if value < least[i] { value } else { least[i] };
                }
            }
            for (distance, mean) in row_lanes.1.iter().zip(mean_lanes.1) {
                least[0] = least[0].min(distance.load() - mean);
            }
            if least.iter().all(|&least| least >= limit) {
                continue;
            }
            for (i, (distance, mean)) in row.iter().zip(means).enumerate() {
                let (value, at) = (distance.load() - mean, block * BLOCK + i);
                if value < limit && at != own {
                    found.push((value, at as u32));
                }
            }
            if found.len() >= 2 * NEAR {
                limit = keep_least(found);
            }
        }
        if found.len() > NEAR {
            keep_least(found);
        }
    }

    /// The least and the largest value that was found.
    fn ends(&self) -> (f64, f64) {
        let values = || self.found.iter().map(|found| found.0);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// Keeps the least values; the largest of these.
fn keep_least(found: &mut Vec<(f64, u32)>) -> f64 {
    let by_value = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    let (_, last, _) = found.select_nth_unstable_by(NEAR - 1, by_value);
    let limit = last.0;
    found.truncate(NEAR);
    limit
}

fn copy_row<R: ClusterRows>(
    rows: &mut R,
    place: usize,
    to: &mut Vec<R::Value>,
) -> Result<(), R::Fault> {
    to.clear();
    to.extend_from_slice(rows.row(place)?);
    Ok(())
}

/// The weight of the first of two clusters in the distances of the joined one, by the rows of their variances.
fn weight<T: Stored>(left: &[T], right: &[T], a: usize, b: usize) -> f64 {
    let between = left[b].load();
    if between <= 0.0 {
        return 0.5;
    }
    let others = (0..left.len()).filter(|&other| other != a && other != b);
    let difference: f64 = others.map(|other| right[other].load() - left[other].load()).sum();
    (0.5 + difference / (2.0 * (left.len() - 2) as f64 * between)).clamp(0.0, 1.0)
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
    fn rounding_does_not_decide_between_equal_pairs() {
        let mut rng = stream(3, Purpose::Test, 0);
        for n in [4, 5, 9] {
            let (_, d) = matrix(n, 0.3, &mut rng);
            let expected = bionj(square(&d)).to_tree();
            for _ in 0..50 {
                let mut other = square(&d);
                for (a, row) in d.iter().enumerate() {
                    for (b, distance) in row[..a].iter().enumerate() {
                        other.set(a, b, distance * (1.0 + 1e-15 * rng.random_range(-1.0..1.0)));
                    }
                }
                let found = bionj(other).to_tree();
                assert!(same_topology(&found, &expected));
                assert!((found.total_length() - expected.total_length()).abs() < 1e-12, "{n}");
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
