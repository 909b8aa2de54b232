//! The views of a tree over some columns, which one thread computes with.

use super::super::columns::{Columns, Row, STATE_WORDS, StateBits, active_blocks};
use super::super::fitch::combine_block;
use super::ahead::Ahead;
use super::path::Path;
use super::row_work::{Combine, Insertion};
use super::tally::Counting;
use super::walk::{End, Place, Step};
use crate::instructions::{Instructions, prefetch};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, Tree};
use std::sync::Arc;

/// Views of one tree over these columns.
pub(super) struct ColumnViews {
    columns: Arc<Columns>,
    instructions: Instructions,
    /// The two ends of each edge, in any order, and the row of what lies behind them: below
    /// the number of taxa that of the taxon, else one of the pool.
    row_of: Vec<[(NodeId, u32); 2]>,
    /// Rows one after the other, and how many they are.
    pool: Vec<StateBits>,
    num_rows: u32,
    free: Vec<u32>,
    /// A row that is being made.
    made: Row,
    /// Rows by depth, for [`ColumnViews::count`].
    scratch: Vec<Row>,
    every_block: Vec<u32>,
}

const NO_ROW: u32 = u32::MAX;

impl ColumnViews {
    /// Computes all views. The tree may still be growing: tips without an edge are left out.
    pub(super) fn new(tree: &Tree, columns: Arc<Columns>) -> Self {
        let num_taxa = columns.num_taxa();
        let mut views = ColumnViews {
            row_of: vec![[(NodeId::NONE, NO_ROW); 2]; (2 * num_taxa).saturating_sub(3)],
            pool: Vec::with_capacity(3 * num_taxa * columns.row_len),
            num_rows: 0,
            free: Vec::new(),
            made: columns.empty_row(),
            scratch: Vec::new(),
            every_block: (0..columns.blocks.len() as u32).collect(),
            instructions: Instructions::best(),
            columns,
        };
        views.look_at(tree);
        views
    }

    fn look_at(&mut self, tree: &Tree) {
        if tree.num_edges() == 0 {
            return;
        }
        for edge in tree.edges() {
            self.row_of[edge.index()] = tree.ends(edge).map(|end| (end, NO_ROW));
        }
        let order = tree.postorder(EdgeId(0));
        for &(node, edge) in &order {
            if tree.is_tip(node) {
                self.set_view((edge, node), node.0);
            } else {
                let [a, b] =
                    tree.other_links(node, edge).map(|(child, edge)| self.view((edge, child)));
                let row = self.new_row(a, b);
                self.set_view((edge, node), row);
            }
        }
        for &(node, edge) in order.iter().rev().filter(|(node, _)| !tree.is_tip(*node)) {
            let above = self.view((edge, tree.other_end(edge, node)));
            let [a, b] = tree.other_links(node, edge);
            for ((_, edge), (sibling, sibling_edge)) in [(a, b), (b, a)] {
                let row = self.new_row(above, self.view((sibling_edge, sibling)));
                self.set_view((edge, node), row);
            }
        }
    }

    fn view(&self, (edge, end): End) -> u32 {
        let [first, second] = self.row_of[edge.index()];
        if first.0 == end { first.1 } else { second.1 }
    }

    fn set_view(&mut self, (edge, end): End, row: u32) {
        let [first, second] = &mut self.row_of[edge.index()];
        if first.0 == end { first.1 = row } else { second.1 = row }
    }

    fn row(&self, number: u32) -> &[StateBits] {
        match number < self.columns.num_taxa() as u32 {
            true => &self.columns.tips[number as usize],
            false => &self.pool[self.start(number)..][..self.columns.row_len],
        }
    }

    /// The state sets of what lies behind an end of an edge.
    pub(super) fn row_at(&self, end: End) -> &[StateBits] {
        self.row(self.view(end))
    }

    /// Number of rows that are views of inner nodes.
    #[cfg(test)]
    pub(super) fn num_in_use(&self) -> usize {
        self.num_rows as usize - self.free.len()
    }

    /// Where a row of the pool begins.
    fn start(&self, number: u32) -> usize {
        (number as usize - self.columns.num_taxa()) * self.columns.row_len
    }

    /// A row that combines two others.
    fn new_row(&mut self, a: u32, b: u32) -> u32 {
        let mut made = std::mem::take(&mut self.made);
        let blocks = &self.columns.blocks;
        let [a, b] = [a, b].map(|number| self.row(number));
        self.instructions.compute(Combine { blocks, a, b, out: &mut made });
        let number = match self.free.pop() {
            Some(number) => {
                let start = self.start(number);
                self.pool[start..start + made.len()].copy_from_slice(&made);
                number
            }
            None => {
                self.pool.extend_from_slice(&made);
                self.num_rows += 1;
                self.columns.num_taxa() as u32 + self.num_rows - 1
            }
        };
        self.made = made;
        number
    }

    /// Counts the changes that a taxon which is not in the tree adds in these edges.
    pub(super) fn count_tip(
        &self,
        taxon: usize,
        edges: impl Iterator<Item = EdgeId>,
        mut counting: impl Counting,
    ) {
        let Columns { blocks, tips, active, .. } = &*self.columns;
        let (active, subtree) = (&active[taxon][..], &tips[taxon][..]);
        let with_rows = |edge: EdgeId| {
            (edge, self.row_of[edge.index()].map(|(_, row)| self.prefetched(row, active)))
        };
        let mut edges = Ahead::of(edges.map(with_rows));
        while let Some(tally) = counting.begin() {
            let Some((edge, [a, b])) = edges.next() else { return };
            let at = Insertion { blocks, active, a, b, subtree, tally };
            counting.end(Some(edge), self.instructions.compute(at));
        }
    }

    /// Counts the changes that a subtree adds at its place and at the steps of a walk.
    pub(super) fn count(
        &mut self,
        place: Place,
        steps: impl Iterator<Item = Step>,
        counting: impl Counting,
    ) {
        let mut path = Path::new(std::mem::take(&mut self.scratch));
        self.walk(&mut path, place, steps, counting);
        self.scratch = path.into_rows();
    }

    fn walk<'a>(
        &'a self,
        path: &mut Path<'a>,
        place: Place,
        steps: impl Iterator<Item = Step>,
        mut counting: impl Counting,
    ) {
        let blocks = &self.columns.blocks[..];
        let subtree = self.row_at(place.subtree);
        let active = &active_blocks(blocks, subtree)[..];
        let Some(tally) = counting.begin() else { return };
        let [a, b] = place.between.map(|end| self.row_at(end));
        let here = Insertion { blocks, active, a, b, subtree, tally };
        counting.end(None, self.instructions.compute(here));
        let with_rows = |step: Step| {
            (step, [step.edge, step.beside].map(|end| self.prefetched(self.view(end), active)))
        };
        let mut steps = Ahead::of(steps.map(with_rows));
        while let Some(tally) = counting.begin() {
            let Some((step, [far, beside])) = steps.next() else { return };
            let Step { edge, distance, above, .. } = step;
            // At a distance of more, it is not asked for.
            let above = if distance == 1 { self.row_at(above) } else { &[] };
            path.go_to(distance, above, beside, &self.columns);
            let at = path.insertion(blocks, active, [far, subtree], tally);
            counting.end(Some(edge.0), self.instructions.compute(at));
        }
    }

    /// A row of which the first of these blocks is on its way into the cache. (Rows of large trees lie in memory, and most places are
    /// found to be bad after one block.)
    fn prefetched(&self, number: u32, active: &[u32]) -> &[StateBits] {
        let row = self.row(number);
        if let Some(&first) = active.first() {
            prefetch(&row[self.columns.blocks[first as usize].range()]);
        }
        row
    }

    /// A subtree was pruned from this place; `tree` is without it.
    pub(super) fn take_off(&mut self, tree: &Tree, place: Place, pruned: &PrunedSubtree) {
        let PrunedSubtree { attach, merged, .. } = *pruned;
        let [(edge_a, a), (edge_b, b)] = place.between;
        let [row_a, row_b] = place.between.map(|end| self.view(end));
        let [from_a, from_b] = [edge_a, edge_b].map(|edge| self.view((edge, attach)));
        self.row_of[merged.index()] = [(a, row_a), (b, row_b)];
        self.spread(tree, (merged, a), self.changed_blocks(from_a, row_b));
        self.spread(tree, (merged, b), self.changed_blocks(from_b, row_a));
        self.free.extend([from_a, from_b]);
    }

    /// A subtree that was off the tree was put into an edge that had these ends; `tree` has it.
    pub(super) fn put_in(
        &mut self,
        tree: &Tree,
        pruned: &PrunedSubtree,
        target: EdgeId,
        [c, d]: [NodeId; 2],
    ) {
        let PrunedSubtree { attach, pendant, spare, .. } = *pruned;
        let top = tree.other_end(pendant, attach);
        let [subtree, before] = [top, attach].map(|end| self.view((pendant, end)));
        let [row_c, row_d] = [c, d].map(|end| self.view((target, end)));
        let (to_c, to_d) = (self.new_row(row_d, subtree), self.new_row(row_c, subtree));
        let to_subtree = self.new_row(row_c, row_d);
        self.row_of[target.index()] = [(c, row_c), (attach, to_c)];
        self.row_of[spare.index()] = [(attach, to_d), (d, row_d)];
        self.row_of[pendant.index()] = [(attach, to_subtree), (top, subtree)];
        self.spread(tree, (target, c), self.changed_blocks(row_d, to_c));
        self.spread(tree, (spare, d), self.changed_blocks(row_c, to_d));
        if before != NO_ROW {
            self.spread(tree, (pendant, top), self.changed_blocks(before, to_subtree));
            self.free.push(before);
        }
    }

    /// Gives a tip that is not in the tree its view, through the edge to the node it will hang on.
    pub(super) fn add_tip(&mut self, pendant: EdgeId, attach: NodeId, tip: NodeId) {
        self.row_of[pendant.index()] = [(attach, NO_ROW), (tip, tip.0)];
    }

    fn changed_blocks(&self, before: u32, after: u32) -> Vec<u32> {
        let (before, after) = (self.row(before), self.row(after));
        let differs = |&block: &u32| {
            let range = self.columns.blocks[block as usize].range();
            before[range.clone()] != after[range]
        };
        self.every_block.iter().copied().filter(differs).collect()
    }

    /// What is seen through an edge from one of its ends has changed in these blocks: updates all views that
    /// look through that end and on, as far as they change.
    fn spread(&mut self, tree: &Tree, from: End, blocks: Vec<u32>) {
        let mut stack = vec![(from, blocks)];
        while let Some(((edge, into), blocks)) = stack.pop() {
            if blocks.is_empty() || tree.is_tip(into) {
                continue;
            }
            let input = self.view((edge, tree.other_end(edge, into)));
            let [first, second] = tree.other_links(into, edge);
            for ((next, next_edge), (beside, beside_edge)) in [(first, second), (second, first)] {
                let other_input = self.view((beside_edge, beside));
                let start = self.start(self.view((next_edge, into)));
                // The view is not among its inputs.
                let (mut changed, mut set) = (Vec::new(), [[0; STATE_WORDS]; 64]);
                for &block in &blocks {
                    let range = self.columns.blocks[block as usize].range();
                    let set = &mut set[..range.len()];
                    combine_block(
                        &self.row(input)[range.clone()],
                        &self.row(other_input)[range.clone()],
                        set,
                    );
                    let row = &mut self.pool[start + range.start..start + range.end];
                    if row != set {
                        row.copy_from_slice(set);
                        changed.push(block);
                    }
                }
                stack.push(((next_edge, next), changed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::naive::Sample;
    use super::super::tally::Alone;
    use super::super::walk::Walk;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn all_instructions_count_the_same_up_to_any_limit() {
        let mut rng = stream(6, Purpose::Test, 0);
        let data = Sample::draw(15, &[4, 20, 2, 7], 700, &mut rng).pack();
        let tree = random_tree(15, 0.1, &mut rng);
        let columns = &data.columns[0];
        let of = |instructions| {
            let views = ColumnViews::new(&tree, Arc::clone(columns));
            ColumnViews { instructions, ..views }
        };
        let costs = |views: &mut ColumnViews, limit: u64| {
            let mut costs = Vec::new();
            for pendant in tree.edges() {
                for attach in tree.ends(pendant).into_iter().filter(|&end| !tree.is_tip(end)) {
                    let walk = Walk::new(&tree, None, attach, pendant, 99);
                    let visit = |edge: Option<EdgeId>, cost: u64| {
                        // The present place has no limit.
                        costs.push(if edge.is_some() { cost.min(limit + 1) } else { cost });
                        Some(limit)
                    };
                    views.count(walk.place(), walk, Alone::new(visit));
                }
            }
            costs
        };
        let mut scalar = of(Instructions::Scalar);
        let all = costs(&mut scalar, u64::MAX - 1);
        let middle = all[all.len() / 2];
        for instructions in Instructions::all() {
            let mut views = of(instructions);
            assert!(views.pool == scalar.pool, "{}", instructions.name());
            assert_eq!(costs(&mut views, u64::MAX - 1), all);
            for limit in [0, 1, middle / 2, middle] {
                assert_eq!(costs(&mut views, limit), costs(&mut scalar, limit), "up to {limit}");
                let exact = all.iter().zip(costs(&mut views, limit));
                assert!(exact.clone().all(|(all, cost)| *all == cost || cost == limit + 1));
            }
        }
    }
}
