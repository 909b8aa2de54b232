//! Quartet distance between trees of any degrees (Estabrook, McMorris & Meacham 1985, Syst. Zool. 34:193), by counting
//! over pairs of inner nodes, as in Christiansen et al. 2006, Algorithms Mol. Biol. 1:16.
//!
//! A quartet ab|cd of a tree is *claimed* by two of its nodes: where the path between a and b meets the others, and
//! where that between c and d does. At the first, a and b are in different subtrees around the node, and c and d in a
//! third. With the table M of a node of either tree, whose entry M(i,j) is the number of taxa that are in subtree i of
//! the one and in subtree j of the other, all quartets that both nodes claim are counted from sums over the table.
//! Over all pairs of nodes the tables have as many entries as the square of the number of branches.

use crate::tree::Multifurcating;

/// Number of sets of four of so many taxa.
pub(super) fn num_quartets(num_tips: usize) -> u64 {
    if num_tips < 4 {
        return 0;
    }
    let n = num_tips as u64;
    n * (n - 1) / 2 * ((n - 2) * (n - 3) / 2) / 6
}

/// How the sets of four taxa of two trees compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuartetComparison {
    /// Resolved in both trees, in the same way.
    pub same: u64,
    /// Resolved in both trees, in different ways.
    pub different: u64,
    /// Resolved in the first tree only.
    pub first_only: u64,
    /// Resolved in the second tree only.
    pub second_only: u64,
    /// Resolved in none.
    pub unresolved: u64,
}

impl QuartetComparison {
    /// The quartet distance: all that are not the same in both trees.
    pub fn distance(&self) -> u64 {
        self.different + self.first_only + self.second_only
    }
}

/// Compares the quartets of two trees over the same taxa, in time and memory that grow as the square of their number.
///
/// # Panics
/// If the trees have different taxa, or more than 30 000, whose counts would not fit.
pub fn quartet_distance(first: &Multifurcating, second: &Multifurcating) -> QuartetComparison {
    assert_eq!(first.tips(), second.tips(), "trees over the same taxa");
    let num_tips = first.tips().len();
    assert!(num_tips <= 30_000, "quartets of at most 30000 taxa can be counted");
    let all = num_quartets(num_tips);
    if all == 0 {
        return QuartetComparison::default();
    }
    let (first, second) = (Rooted::new(first), Rooted::new(second));
    let both_binary = first.is_binary && second.is_binary;
    let (same, different) = count_common(&first, &second, both_binary);
    let different = if both_binary { all - same } else { different };
    let [of_first, of_second] = [&first, &second].map(Rooted::num_resolved);
    let resolved_in_both = same + different;
    QuartetComparison {
        same,
        different,
        first_only: of_first - resolved_in_both,
        second_only: of_second - resolved_in_both,
        unresolved: all + resolved_in_both - of_first - of_second,
    }
}

/// A tree, rooted in its first tip.
struct Rooted {
    num_tips: usize,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Number of tips behind every node.
    sizes: Vec<i64>,
    is_binary: bool,
}

impl Rooted {
    fn new(tree: &Multifurcating) -> Self {
        let (num_tips, num_nodes) = (tree.tips().len(), tree.num_nodes());
        let parents: Vec<Option<usize>> = (0..num_nodes).map(|node| tree.parent(node)).collect();
        let mut children = vec![Vec::new(); num_nodes];
        let mut sizes = vec![0; num_nodes];
        sizes[1..num_tips].fill(1);
        // Tips first, then inner nodes from the last: each after all those behind it.
        for node in (1..num_tips).chain((num_tips..num_nodes).rev()) {
            let parent = parents[node].expect("only the first tip has no parent");
            children[parent].push(node);
            sizes[parent] += sizes[node];
        }
        Rooted { num_tips, parents, children, sizes, is_binary: tree.is_binary() }
    }

    fn inner_nodes(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        self.num_tips..self.parents.len()
    }

    /// Number of quartets that the tree resolves: half of the claims of its nodes.
    fn num_resolved(&self) -> u64 {
        let n = self.num_tips as i64;
        let claims = |node: usize| {
            let behind = self.children[node].iter().map(|&child| self.sizes[child]);
            let around: Vec<i64> = behind.chain([n - self.sizes[node]]).collect();
            let squares: i64 = around.iter().map(|size| size * size).sum();
            let claim = |size: &i64| {
                let others = n - size;
                size * (size - 1) / 2 * ((others * others - squares + size * size) / 2)
            };
            around.iter().map(claim).sum::<i64>()
        };
        self.inner_nodes().map(|node| claims(node) as u64).sum::<u64>() / 2
    }

    /// For every node, if this tip is behind it.
    fn add_tip(&self, tip: usize, counts: &mut [u32]) {
        let mut node = Some(tip);
        while let Some(one) = node.filter(|&one| one != 0) {
            counts[one] += 1;
            node = self.parents[one];
        }
    }
}

/// Number of quartets resolved in both trees in the same way, and in different ways (not counted for binary trees).
fn count_common(first: &Rooted, second: &Rooted, both_binary: bool) -> (u64, u64) {
    let num_nodes = second.parents.len();
    // By node of the first tree, for every node of the second: number of tips that are behind both.
    let mut behind: Vec<Option<Vec<u32>>> = vec![None; first.parents.len()];
    let (mut same, mut different) = (0u64, 0u64);
    let mut table = Table::default();
    for node in first.inner_nodes().rev() {
        let of_child = |&child: &usize| {
            behind[child].take().unwrap_or_else(|| {
                let mut counts = vec![0; num_nodes];
                second.add_tip(child, &mut counts);
                counts
            })
        };
        let rows: Vec<Vec<u32>> = first.children[node].iter().map(of_child).collect();
        let mut sum = vec![0u32; num_nodes];
        for row in &rows {
            sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        for other in second.inner_nodes() {
            table.fill(first, node, second, other, &rows, &sum);
            table.sum_up();
            same += table.shared_claims() as u64;
            if !both_binary {
                different += table.conflicting_claims() as u64;
            }
        }
        behind[node] = Some(sum);
    }
    // A quartet that is the same has two pairs of nodes with the same claim; one that differs has four pairs of claims
    // that have one taxon of the four together in both trees.
    (same / 2, different / 4)
}

/// Numbers of taxa that two subtrees have in common, around a node of either tree, and sums over them.
#[derive(Default)]
struct Table {
    rows: usize,
    columns: usize,
    /// Row by row.
    cells: Vec<i64>,
    of_row: Vec<Sums>,
    of_column: Vec<Sums>,
    /// Number of taxa.
    total: i64,
    /// Sums of the squares of all rows' sums, of all columns', and of all cells.
    squares: [i64; 3],
}

/// Sums over a row, or a column.
#[derive(Clone, Copy, Default)]
struct Sums {
    plain: i64,
    /// Of the squares of the cells.
    squares: i64,
    /// Of the cells, each times the sum of the column (of the row) in which it is.
    crossed: i64,
}

impl Table {
    /// The table of a node of either tree. `rows` has, for the children of the first, and `sum` for that node itself,
    /// the number of tips that are also behind each node of the second tree.
    fn fill(
        &mut self,
        first: &Rooted,
        node: usize,
        second: &Rooted,
        other: usize,
        rows: &[Vec<u32>],
        sum: &[u32],
    ) {
        let children = &second.children[other];
        (self.rows, self.columns) = (rows.len() + 1, children.len() + 1);
        self.total = first.num_tips as i64;
        self.cells.clear();
        for (row, &child) in rows.iter().zip(&first.children[node]) {
            self.cells.extend(children.iter().map(|&column| i64::from(row[column])));
            self.cells.push(first.sizes[child] - i64::from(row[other]));
        }
        // What is not behind the node.
        let outside = |column: usize| second.sizes[column] - i64::from(sum[column]);
        self.cells.extend(children.iter().map(|&column| outside(column)));
        self.cells.push(self.total - first.sizes[node] - outside(other));
    }

    fn cell(&self, row: usize, column: usize) -> i64 {
        self.cells[row * self.columns + column]
    }

    fn sum_up(&mut self) {
        self.of_row.clear();
        self.of_row.resize(self.rows, Sums::default());
        self.of_column.clear();
        self.of_column.resize(self.columns, Sums::default());
        for (at, &cell) in self.cells.iter().enumerate() {
            let (row, column) = (at / self.columns, at % self.columns);
            for sums in [&mut self.of_row[row], &mut self.of_column[column]] {
                sums.plain += cell;
                sums.squares += cell * cell;
            }
        }
        for (at, &cell) in self.cells.iter().enumerate() {
            let (row, column) = (at / self.columns, at % self.columns);
            self.of_row[row].crossed += cell * self.of_column[column].plain;
            self.of_column[column].crossed += cell * self.of_row[row].plain;
        }
        let of = |sums: &[Sums]| sums.iter().map(|sums| sums.plain * sums.plain).sum();
        let cells = self.of_row.iter().map(|sums| sums.squares).sum();
        self.squares = [of(&self.of_row), of(&self.of_column), cells];
    }

    /// Number of quartets that both nodes claim: two taxa in the same row and column, and two of other rows and columns
    /// that are in different ones.
    fn shared_claims(&self) -> i64 {
        let mut claims = 0;
        for (i, row) in self.of_row.iter().enumerate() {
            for (j, column) in self.of_column.iter().enumerate() {
                let cell = self.cell(i, j);
                let rest = self.total - row.plain - column.plain + cell;
                let [rows, columns, cells] = self.squares;
                // The same sums of squares without the row and the column.
                let row_rest = row.plain - cell;
                let rows = rows - 2 * column.crossed + column.squares - row_rest * row_rest;
                let column_rest = column.plain - cell;
                let columns = columns - 2 * row.crossed + row.squares - column_rest * column_rest;
                let cells = cells - row.squares - column.squares + cell * cell;
                claims += cell * (cell - 1) / 2 * ((rest * rest - rows - columns + cells) / 2);
            }
        }
        claims
    }

    /// Number of pairs of claims on the same four taxa that exclude each other. With u in row i and column j: z in the
    /// same row, y in the same column, and x in rows and columns of none of them. The first tree has uz|xy, the second
    /// uy|xz.
    fn conflicting_claims(&self) -> i64 {
        let cubes = self.times_transposed_times();
        let mut claims = 0;
        for (i, row) in self.of_row.iter().enumerate() {
            for (j, column) in self.of_column.iter().enumerate() {
                let cell = self.cell(i, j);
                let square = cell * cell;
                let (y, z) = (column.plain - cell, row.plain - cell);
                let rest = self.total - row.plain - column.plain + cell;
                // Over all y and z, the number of x: `rest` without the row of y and the column of z.
                let in_row_of_y = column.crossed - cell * row.plain;
                let in_column_of_z = row.crossed - cell * column.plain;
                let in_both = cubes[i * self.columns + j] - cell * (row.squares + column.squares)
                    + cell * square;
                let sum = rest * y * z - z * in_row_of_y - y * in_column_of_z
                    + y * (row.squares - square)
                    + z * (column.squares - square)
                    + in_both;
                claims += cell * sum;
            }
        }
        claims
    }

    /// The product of the table, its transpose and the table.
    fn times_transposed_times(&self) -> Vec<i64> {
        let (rows, columns) = (self.rows, self.columns);
        let mut product = vec![0; rows * columns];
        if rows <= columns {
            for i in 0..rows {
                for k in 0..rows {
                    let gram: i64 = (0..columns).map(|l| self.cell(i, l) * self.cell(k, l)).sum();
                    (0..columns).for_each(|j| product[i * columns + j] += gram * self.cell(k, j));
                }
            }
        } else {
            for l in 0..columns {
                for j in 0..columns {
                    let gram: i64 = (0..rows).map(|k| self.cell(k, l) * self.cell(k, j)).sum();
                    (0..rows).for_each(|i| product[i * columns + j] += self.cell(i, l) * gram);
                }
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use crate::taxa::Taxa;
    use crate::tree::{Split, random_tree, read_newick};
    use proptest::prelude::*;
    use rand::RngExt;

    /// A tree of any degrees: tips are added to random nodes or into random branches, at first to a root.
    fn random_multifurcating(
        num_tips: usize,
        share_of_joins: f64,
        rng: &mut Rng,
    ) -> Multifurcating {
        // By node its taxon, parent and children; the first is the root.
        let mut nodes: Vec<(Option<usize>, usize, Vec<usize>)> = vec![(None, 0, Vec::new())];
        for taxon in 0..num_tips {
            let inner: Vec<usize> = (0..nodes.len()).filter(|&n| nodes[n].0.is_none()).collect();
            let mut at = inner[rng.random_range(0..inner.len())];
            if taxon >= 3 && !rng.random_bool(share_of_joins) {
                // Into the branch above any node but the root.
                let below = rng.random_range(1..nodes.len());
                let above = nodes[below].1;
                at = nodes.len();
                nodes.push((None, above, vec![below]));
                nodes[above].2.retain(|&child| child != below);
                nodes[above].2.push(at);
                nodes[below].1 = at;
            }
            let tip = nodes.len();
            nodes[at].2.push(tip);
            nodes.push((Some(taxon), at, Vec::new()));
        }
        let taxa = Taxa::new((0..num_tips).map(|i| format!("t{i}")).collect()).unwrap();
        let text = format!("{};", written(&nodes, 0));
        read_newick(&text, "t").unwrap()[0].to_multifurcating(&taxa, "t", true).unwrap()
    }

    fn written(nodes: &[(Option<usize>, usize, Vec<usize>)], node: usize) -> String {
        let (taxon, _, children) = &nodes[node];
        let below: Vec<String> = children.iter().map(|&child| written(nodes, child)).collect();
        taxon.map_or_else(|| format!("({})", below.join(",")), |taxon| format!("t{taxon}"))
    }

    /// How a tree resolves four taxa: the partner of the first, if one split separates two of them from the others.
    fn relationship(splits: &[(usize, Split)], taxa: [usize; 4]) -> Option<usize> {
        splits.iter().find_map(|(_, split)| {
            let side = taxa.map(|taxon| split.contains(taxon));
            let partners: Vec<usize> = (1..4).filter(|&i| side[i] == side[0]).collect();
            (partners.len() == 1).then(|| partners[0])
        })
    }

    /// The definition, for every set of four taxa.
    fn by_definition(first: &Multifurcating, second: &Multifurcating) -> QuartetComparison {
        let n = first.tips().len();
        let splits = [first.splits(), second.splits()];
        let mut counts = QuartetComparison::default();
        for a in 0..n {
            for b in a + 1..n {
                for c in b + 1..n {
                    for d in c + 1..n {
                        let [first, second] =
                            [0, 1].map(|tree| relationship(&splits[tree], [a, b, c, d]));
                        let count = match (first, second) {
                            (Some(a), Some(b)) if a == b => &mut counts.same,
                            (Some(_), Some(_)) => &mut counts.different,
                            (Some(_), None) => &mut counts.first_only,
                            (None, Some(_)) => &mut counts.second_only,
                            (None, None) => &mut counts.unresolved,
                        };
                        *count += 1;
                    }
                }
            }
        }
        counts
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn counts_are_those_of_the_definition(
            num_tips in 3..17_usize, joins in 0.0..1.0_f64, seed in 0..u64::MAX
        ) {
            let mut rng = stream(seed, Purpose::Test, 0);
            let mut trees = vec![
                random_multifurcating(num_tips, joins, &mut rng),
                random_multifurcating(num_tips, 0.3, &mut rng),
            ];
            trees.extend((0..2).map(|_| (&random_tree(num_tips, 0.1, &mut rng)).into()));
            for a in &trees {
                for b in &trees {
                    prop_assert_eq!(quartet_distance(a, b), by_definition(a, b));
                }
            }
        }
    }

    #[test]
    fn many_taxa_have_the_number_of_quartets_that_they_should() {
        assert_eq!([3, 4, 5, 100].map(num_quartets), [0, 1, 5, 3_921_225]);
        let mut rng = stream(1, Purpose::Test, 0);
        let trees: Vec<Multifurcating> =
            (0..2).map(|_| (&random_tree(300, 0.1, &mut rng)).into()).collect();
        assert_eq!(quartet_distance(&trees[0], &trees[0]).same, num_quartets(300));
        let [first, second] = [(0, 1), (1, 0)].map(|(a, b)| quartet_distance(&trees[a], &trees[b]));
        assert_eq!(first, second);
        // Two random trees agree in a third of the quartets.
        let share = first.same as f64 / num_quartets(300) as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.1, "{share}");
    }
}
