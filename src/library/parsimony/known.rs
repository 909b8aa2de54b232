//! Rows that are kept from tree to tree: a chain of trees that differ little from each other meets the same subtrees again and
//! again, whose rows are then known.
//!
//! A row has a number, and the row of two others is found by theirs. Equal rows have the same number, so that a change of the
//! tree is not seen beyond the rows that it changes. What is returned does not depend on what is known.

use super::columns::{Block, Columns, STATE_WORDS, StateBits, active_blocks};
use super::data::ParsimonyData;
use super::fitch::{combine_block, insertion_cost_block, join_cost_block, quartet_costs_block};
use crate::tree::{EdgeId, NodeId, Tree};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Rows are forgotten when they take more bytes than this, and are more than [`MOST_PER_TAXON`] for a taxon.
const MOST_BYTES: usize = 4 << 20;

/// More than twice the three views of every inner node.
const MOST_PER_TAXON: usize = 8;

/// Rows of subtrees of trees over the same data.
#[derive(Debug, Clone, Default)]
pub struct KnownRows {
    /// One after the other. Their numbers follow those of the taxa.
    pool: Vec<StateBits>,
    num_rows: u32,
    /// By the numbers of two rows, see [`key`]: that of both together.
    of_pair: FxHashMap<u64, u32>,
    /// By a hash of its content: the number of a row of the pool.
    of_content: FxHashMap<u64, u32>,
    /// By the keys of the two pairs of rows of four subtrees: the costs of their three resolutions.
    quartets: FxHashMap<u128, [u64; 3]>,
}

/// The numbers of the views of a tree.
struct Views {
    /// By node: the edge towards the root; of a node that is not in the tree, none.
    upper: Vec<EdgeId>,
    /// By node: the row of what is behind it, seen from the root.
    below: Vec<u32>,
    /// By node: the row of all else.
    above: Vec<u32>,
}

impl Views {
    /// What is behind one end of an edge.
    fn behind(&self, end: NodeId, edge: EdgeId, tree: &Tree) -> u32 {
        match self.upper[end.index()] == edge {
            true => self.below[end.index()],
            false => self.above[tree.other_end(edge, end).index()],
        }
    }
}

impl KnownRows {
    /// Of each inner edge of a tree, the changes that its three resolutions need at its ends and on it, besides those within its four
    /// subtrees: the present one, and those in which the first subtree at one end swaps its place with the first, or with the
    /// second, at the other end (in the order of [`Tree::ends`] and [`Tree::other_links`]).
    pub(crate) fn resolution_costs(
        &mut self,
        tree: &Tree,
        data: &ParsimonyData,
    ) -> Vec<(EdgeId, [u64; 3])> {
        assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
        if tree.num_tips() < 4 {
            return Vec::new();
        }
        let columns = data.all_columns();
        self.forget_if_many(columns);
        let views = self.views(tree, EdgeId(0), false, columns);
        let inner = tree.edges().filter(|&edge| !tree.is_terminal(edge));
        let costs = inner.map(|edge| {
            let [[a, b], [c, d]] = tree.ends(edge).map(|end| {
                tree.other_links(end, edge).map(|(far, by)| views.behind(far, by, tree))
            });
            (edge, self.quartet_costs([a, b, c, d], columns))
        });
        costs.collect()
    }

    /// Changes that a subtree which is pruned from a tree, and hangs at `attach` by `pendant`, adds at each of some places.
    pub(crate) fn insertion_costs(
        &mut self,
        rest: &Tree,
        (attach, pendant): (NodeId, EdgeId),
        places: &[EdgeId],
        data: &ParsimonyData,
    ) -> Vec<u64> {
        let Some(&root) = places.first() else { return Vec::new() };
        let columns = data.all_columns();
        self.forget_if_many(columns);
        let views = self.views(rest, root, false, columns);
        let mut below = vec![0; rest.num_nodes()];
        let top = rest.other_end(pendant, attach);
        for &(node, edge) in rest.preorder(top, pendant).iter().rev() {
            below[node.index()] = self.row_below(node, edge, rest, &below, columns);
        }
        let subtree = self.row(below[top.index()], columns);
        let blocks = active_blocks(&columns.blocks, subtree);
        let cost = |&place: &EdgeId| {
            let [a, b] =
                rest.ends(place).map(|end| self.row(views.behind(end, place, rest), columns));
            let of_block = |&block: &u32| {
                let range = columns.blocks[block as usize].range();
                let [a, b, subtree] = [a, b, subtree].map(|row| &row[range.clone()]);
                u64::from(insertion_cost_block(a, b, subtree))
            };
            blocks.iter().map(of_block).sum()
        };
        places.iter().map(cost).collect()
    }

    /// Tree bisection and reconnection: without the inner edge `cut` a tree falls into two, which are joined again by an edge from the
    /// middle of an edge of one to the middle of an edge of the other. All changes but those on the joining edge are the
    /// same wherever they are joined. Returns the changes on it, the columns in which the sets of states at both points
    /// have nothing in common, for each pair of a place on the side of the first end of `cut` (in the order of
    /// [`Tree::ends`]) and one on that of the second; those of the first place come first. Places are edges of a part, with
    /// their numbers in [`Tree::prune`] of the other part.
    pub(crate) fn joining_costs(
        &mut self,
        tree: &Tree,
        cut: EdgeId,
        places: [&[EdgeId]; 2],
        data: &ParsimonyData,
    ) -> Vec<u64> {
        assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
        let columns = data.all_columns();
        self.forget_if_many(columns);
        let views = self.views(tree, cut, true, columns);
        let mut middle = |&place: &EdgeId| {
            let [a, b] = tree.ends(place);
            let lower = if views.upper[a.index()] == place { a } else { b }.index();
            self.combined(views.above[lower], views.below[lower], columns)
        };
        let middles: [Vec<u32>; 2] = places.map(|places| places.iter().map(&mut middle).collect());
        let [first, second] =
            middles.each_ref().map(|one| one.iter().map(|&number| self.row(number, columns)));
        let cost = |(a, b): (&[StateBits], &[StateBits])| {
            let of_block = |block: &Block| join_cost_block(&a[block.range()], &b[block.range()]);
            columns.blocks.iter().map(of_block).sum()
        };
        first.flat_map(|a| second.clone().map(move |b| (a, b))).map(cost).collect()
    }

    /// All views of a tree, or of the two into which it falls without the root.
    fn views(&mut self, tree: &Tree, root: EdgeId, is_cut: bool, columns: &Columns) -> Views {
        let order = tree.postorder(root);
        let mut upper = vec![EdgeId::NONE; tree.num_nodes()];
        let (mut below, mut above) = (vec![0; upper.len()], vec![0; upper.len()]);
        for &(node, edge) in &order {
            upper[node.index()] = edge;
            below[node.index()] = self.row_below(node, edge, tree, &below, columns);
        }
        let [a, b] = tree.ends(root).map(NodeId::index);
        (above[a], above[b]) = (below[b], below[a]);
        for &(node, edge) in order.iter().rev().filter(|(node, _)| !tree.is_tip(*node)) {
            let [a, b] = tree.other_links(node, edge).map(|(child, _)| child.index());
            (above[a], above[b]) = match is_cut && edge == root {
                true => (below[b], below[a]),
                false => [b, a]
                    .map(|beside| self.combined(above[node.index()], below[beside], columns))
                    .into(),
            };
        }
        Views { upper, below, above }
    }

    /// The row of what is behind a node, seen through an edge, from the rows of what is behind its children.
    fn row_below(
        &mut self,
        node: NodeId,
        edge: EdgeId,
        tree: &Tree,
        below: &[u32],
        columns: &Columns,
    ) -> u32 {
        if tree.is_tip(node) {
            return node.0;
        }
        let [a, b] = tree.other_links(node, edge).map(|(child, _)| below[child.index()]);
        self.combined(a, b, columns)
    }

    fn row<'a>(&'a self, number: u32, columns: &'a Columns) -> &'a [StateBits] {
        row_in(&self.pool, number, columns)
    }

    /// The row that combines two others.
    fn combined(&mut self, a: u32, b: u32, columns: &Columns) -> u32 {
        let pair = key([a.min(b), a.max(b)]);
        if let Some(&known) = self.of_pair.get(&pair) {
            return known;
        }
        let start = self.pool.len();
        self.pool.resize(start + columns.row_len, [0; STATE_WORDS]);
        let (known, made) = self.pool.split_at_mut(start);
        let [a, b] = [a, b].map(|number| row_in(known, number, columns));
        for block in &columns.blocks {
            let range = block.range();
            combine_block(&a[range.clone()], &b[range.clone()], &mut made[range]);
        }
        let new = columns.num_taxa() as u32 + self.num_rows;
        let same = *self.of_content.entry(xxh3_64(bytemuck::cast_slice(made))).or_insert(new);
        let is_known = same != new && self.row(same, columns) == &self.pool[start..];
        let number = if is_known { same } else { new };
        match is_known {
            true => self.pool.truncate(start),
            false => self.num_rows += 1,
        }
        self.of_pair.insert(pair, number);
        number
    }

    fn quartet_costs(&mut self, four: [u32; 4], columns: &Columns) -> [u64; 3] {
        let [a, b, c, d] = four;
        let pairs = u128::from(key([a, b])) << 64 | u128::from(key([c, d]));
        if let Some(known) = self.quartets.get(&pairs) {
            return *known;
        }
        let rows = four.map(|number| self.row(number, columns));
        let mut costs = [0; 3];
        for block in &columns.blocks {
            let found = quartet_costs_block(rows.map(|row| &row[block.range()]));
            costs.iter_mut().zip(found).for_each(|(cost, found)| *cost += found);
        }
        self.quartets.insert(pairs, costs);
        costs
    }

    /// Keeps memory within bounds. Not to be called while numbers of rows are in use.
    fn forget_if_many(&mut self, columns: &Columns) {
        let bytes = size_of::<StateBits>() * columns.row_len.max(1);
        let most = (MOST_BYTES / bytes).max(MOST_PER_TAXON * columns.num_taxa());
        if self.of_pair.len().max(self.quartets.len()) > most {
            self.pool.clear();
            self.num_rows = 0;
            self.of_pair.clear();
            self.of_content.clear();
            self.quartets.clear();
        }
    }
}

/// The row with a number.
fn row_in<'a>(pool: &'a [StateBits], number: u32, columns: &'a Columns) -> &'a [StateBits] {
    match (number as usize).checked_sub(columns.num_taxa()) {
        None => &columns.tips[number as usize],
        Some(place) => &pool[place * columns.row_len..][..columns.row_len],
    }
}

/// Two numbers in one, which takes less time to look up.
fn key([a, b]: [u32; 2]) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

#[cfg(test)]
mod tests {
    use super::super::naive::Sample;
    use super::super::{ParsimonyViews, parsimony_score};
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;
    use rand::RngExt;

    #[test]
    fn costs_differ_like_the_scores_of_the_trees() {
        let mut rng = stream(3, Purpose::Test, 0);
        for num_taxa in [4, 5, 20] {
            let data = Sample::draw(num_taxa, &[4, 20, 2], 150, &mut rng).pack();
            let mut tree = random_tree(num_taxa, 0.1, &mut rng);
            let score = parsimony_score(&tree, &data);
            let all = KnownRows::default().resolution_costs(&tree, &data);
            assert_eq!(all.len(), num_taxa - 3);
            for (edge, [present, first, second]) in all {
                for (number, cost) in [first, second].into_iter().enumerate() {
                    let [a, b] = tree.ends(edge);
                    let here = tree.other_links(a, edge)[0].1;
                    let there = tree.other_links(b, edge)[number].1;
                    tree.swap_subtrees(edge, here, there);
                    assert_eq!(parsimony_score(&tree, &data) + present, score + cost);
                    tree.swap_subtrees(edge, there, here);
                }
            }
        }
    }

    #[test]
    fn costs_differ_like_the_scores_of_the_joined_trees() {
        let mut rng = stream(4, Purpose::Test, 0);
        for num_taxa in [4, 5, 12] {
            let sample = Sample::draw(num_taxa, &[4, 20, 2], 120, &mut rng);
            let data = sample.pack();
            let mut tree = random_tree(num_taxa, 0.1, &mut rng);
            let mut known = KnownRows::default();
            let score = parsimony_score(&tree, &data);
            let inner: Vec<EdgeId> = tree.edges().filter(|&edge| !tree.is_terminal(edge)).collect();
            for cut in inner {
                let ends = tree.ends(cut);
                // The present place first.
                let places = ends.map(|end| {
                    let mut part = tree.clone();
                    let present = part.prune(end, cut).merged;
                    let others = part.edges_within(present, 99).into_iter().map(|one| one.0);
                    std::iter::once(present).chain(others).collect::<Vec<_>>()
                });
                let places = [places[0].as_slice(), places[1].as_slice()];
                let costs = known.joining_costs(&tree, cut, places, &data);
                let mut costs_left = costs.iter();
                for &place in places[0] {
                    let first = tree.prune(ends[0], cut);
                    let undo_first = tree.regraft(&first, place, [0.0; 2]);
                    for &place in places[1] {
                        let second = tree.prune(ends[1], cut);
                        let undo_second = tree.regraft(&second, place, [0.0; 2]);
                        let cost = costs_left.next().expect("one for each pair");
                        assert_eq!(parsimony_score(&tree, &data) + costs[0], score + cost);
                        assert_eq!(sample.naive_score(&tree) + costs[0], score + cost);
                        tree.undo_regraft(&second, &undo_second);
                        tree.undo_prune(&second);
                    }
                    tree.undo_regraft(&first, &undo_first);
                    tree.undo_prune(&first);
                }
                assert_eq!(costs_left.next(), None);
            }
        }
    }

    /// Over many trees, with what is known of the ones before, and when that is forgotten.
    #[test]
    fn what_is_known_makes_no_difference() {
        let mut rng = stream(3, Purpose::Test, 1);
        let data = Sample::draw(12, &[4, 2], 600, &mut rng).pack();
        let mut tree = random_tree(12, 0.1, &mut rng);
        let mut known = KnownRows::default();
        for round in 0..200 {
            let fresh = KnownRows::default().resolution_costs(&tree, &data);
            assert_eq!(known.resolution_costs(&tree, &data), fresh);
            let pendant = EdgeId(rng.random_range(0..tree.num_edges() as u32));
            let attach = tree.ends(pendant)[rng.random_range(0..2usize)];
            if tree.is_tip(attach) {
                continue;
            }
            let mut expected = Vec::new();
            let mut views = ParsimonyViews::new(&tree, &data);
            views.scan_insertions(&tree, attach, pendant, 99, |place, cost| {
                expected.extend(place.map(|place| (place, cost)));
                Some(u64::MAX)
            });
            let places: Vec<EdgeId> = expected.iter().map(|one| one.0).collect();
            let pruned = tree.prune(attach, pendant);
            let costs = known.insertion_costs(&tree, (attach, pendant), &places, &data);
            assert!(costs.iter().copied().eq(expected.iter().map(|one| one.1)));
            match places.is_empty() {
                true => tree.undo_prune(&pruned),
                false => {
                    let target = places[rng.random_range(0..places.len())];
                    tree.regraft(&pruned, target, [0.1, 0.1]);
                }
            }
            if round == 100 {
                // As if there were no more room.
                let bytes = size_of::<StateBits>() * data.all_columns().row_len;
                let more = MOST_BYTES / bytes + 1;
                known.quartets.extend((0..more as u128).map(|number| (number, [0; 3])));
                known.resolution_costs(&tree, &data);
                assert!(known.quartets.len() < more);
            }
        }
    }
}
