//! The views of a tree: for both ends of every edge the state sets of all that lies behind it.
//!
//! With them the cost of inserting a tip into any edge is computed at that edge alone. After a change of
//! the tree only views that change are recomputed, in the blocks in which one of their inputs changed; the
//! update ends where the result is the same as before.

use super::data::{ParsimonyData, Row, StateBits, active_blocks};
use super::fitch::{combine_block, insertion_cost_block};
use crate::tree::{ConstraintView, EdgeId, NodeId, PrunedSubtree, Tree};

/// Views of one tree over the data. The caller keeps tree and views together: after a move that was
/// neither taken back nor made by [`ParsimonyViews::spr`] in a tree with the same numbers they must be built anew.
pub struct ParsimonyViews<'d> {
    data: &'d ParsimonyData,
    /// The tree as the constraint of the data sees it.
    constraint: Option<ConstraintView<'d>>,
    /// The two ends of each edge, in any order, and the row of what lies behind them: below
    /// `num_taxa` that of the taxon, else one of the pool.
    row_of: Vec<[(NodeId, u32); 2]>,
    /// Rows one after the other, and how many they are.
    pool: Vec<StateBits>,
    num_rows: u32,
    free: Vec<u32>,
    /// A row that is being made.
    made: Row,
    /// Rows by depth, for the walk of [`ParsimonyViews::cheapest_insertions`].
    scratch: Vec<Row>,
    every_block: Vec<u32>,
}

const NO_ROW: u32 = u32::MAX;

impl<'d> ParsimonyViews<'d> {
    /// Computes all views. The tree may still be growing: tips without an edge are left out.
    pub fn new(tree: &Tree, data: &'d ParsimonyData) -> Self {
        assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
        let mut views = ParsimonyViews {
            data,
            constraint: data.constraint().map(|constraint| ConstraintView::new(constraint, tree)),
            row_of: vec![[(NodeId::NONE, NO_ROW); 2]; (2 * data.num_taxa()).saturating_sub(3)],
            pool: Vec::with_capacity(3 * data.num_taxa() * data.row_len),
            num_rows: 0,
            free: Vec::new(),
            made: data.empty_row(),
            scratch: Vec::new(),
            every_block: (0..data.blocks.len() as u32).collect(),
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
                self.set_view(edge, node, node.0);
            } else {
                let [a, b] =
                    tree.other_links(node, edge).map(|(child, edge)| self.view(edge, child));
                let row = self.new_row(a, b);
                self.set_view(edge, node, row);
            }
        }
        for &(node, edge) in order.iter().rev().filter(|(node, _)| !tree.is_tip(*node)) {
            let above = self.view(edge, tree.other_end(edge, node));
            let [a, b] = tree.other_links(node, edge);
            for ((_, edge), (sibling, sibling_edge)) in [(a, b), (b, a)] {
                let row = self.new_row(above, self.view(sibling_edge, sibling));
                self.set_view(edge, node, row);
            }
        }
    }

    fn view(&self, edge: EdgeId, end: NodeId) -> u32 {
        let [first, second] = self.row_of[edge.index()];
        if first.0 == end { first.1 } else { second.1 }
    }

    fn set_view(&mut self, edge: EdgeId, end: NodeId, row: u32) {
        let [first, second] = &mut self.row_of[edge.index()];
        if first.0 == end { first.1 = row } else { second.1 = row }
    }

    fn row(&self, number: u32) -> &[StateBits] {
        match number < self.data.num_taxa() as u32 {
            true => &self.data.tips[number as usize],
            false => &self.pool[self.start(number)..][..self.data.row_len],
        }
    }

    /// Where a row of the pool begins.
    fn start(&self, number: u32) -> usize {
        (number as usize - self.data.num_taxa()) * self.data.row_len
    }

    /// A row that combines two others.
    fn new_row(&mut self, a: u32, b: u32) -> u32 {
        let mut made = std::mem::take(&mut self.made);
        self.combine(self.row(a), self.row(b), &self.every_block, &mut made);
        let number = match self.free.pop() {
            Some(number) => {
                let start = self.start(number);
                self.pool[start..start + made.len()].copy_from_slice(&made);
                number
            }
            None => {
                self.pool.extend_from_slice(&made);
                self.num_rows += 1;
                self.data.num_taxa() as u32 + self.num_rows - 1
            }
        };
        self.made = made;
        number
    }

    fn combine(&self, a: &[StateBits], b: &[StateBits], blocks: &[u32], out: &mut [StateBits]) {
        for &block in blocks {
            let range = self.data.blocks[block as usize].range();
            combine_block(&a[range.clone()], &b[range.clone()], &mut out[range]);
        }
    }

    /// Changes that `subtree` adds between a and b, or some number above `limit` if it is more.
    fn insertion_cost(
        &self,
        a: &[StateBits],
        b: &[StateBits],
        subtree: &[StateBits],
        blocks: &[u32],
        limit: u64,
    ) -> u64 {
        let mut cost = 0;
        for &block in blocks {
            let range = self.data.blocks[block as usize].range();
            cost += u64::from(insertion_cost_block(
                &a[range.clone()],
                &b[range.clone()],
                &subtree[range],
            ));
            if cost > limit {
                break;
            }
        }
        cost
    }

    /// Changes that a taxon which is not in the tree adds in an edge, or some number above `limit`.
    pub(super) fn tip_cost(&self, edge: EdgeId, taxon: usize, limit: u64) -> u64 {
        let [a, b] = self.row_of[edge.index()].map(|(_, row)| self.row(row));
        self.insertion_cost(a, b, &self.data.tips[taxon], &self.data.active[taxon], limit)
    }

    /// The `count` edges at most `radius` away where the subtree behind `pendant`, hanging at `attach`,
    /// costs least, with the changes it would add; the cheapest first, of equal ones that which the
    /// walk meets first. Its present place is not among them, nor are those that the constraint forbids.
    pub(crate) fn cheapest_insertions(
        &mut self,
        tree: &Tree,
        attach: NodeId,
        pendant: EdgeId,
        radius: usize,
        count: usize,
    ) -> Vec<(EdgeId, u64)> {
        let mut cheapest: Vec<(EdgeId, u64)> = Vec::new();
        if count == 0 {
            return cheapest;
        }
        self.scan_insertions(tree, attach, pendant, radius, |edge, cost| {
            if let Some(edge) = edge {
                let at = cheapest.partition_point(|known| known.1 <= cost);
                if at < count {
                    cheapest.truncate(count - 1);
                    cheapest.insert(at, (edge, cost));
                }
            }
            // Above the last of a full list, one more change counts as any greater number.
            Some(if cheapest.len() == count { cheapest[count - 1].1 } else { u64::MAX })
        });
        cheapest
    }

    /// The walk behind [`ParsimonyViews::cheapest_insertions`], over the places at most `radius` edges away
    /// (edges next to the one that a prune would merge are at 1; numbers are those of the pruned tree) that the
    /// constraint allows. `visit` gets the place (`None` for the present one, which comes first) and its cost, and says
    /// up to which cost the next places matter: a cost above that may be too low. `None` ends the walk.
    pub(crate) fn scan_insertions(
        &mut self,
        tree: &Tree,
        attach: NodeId,
        pendant: EdgeId,
        radius: usize,
        mut visit: impl FnMut(Option<EdgeId>, u64) -> Option<u64>,
    ) {
        let subtree = self.row(self.view(pendant, tree.other_end(pendant, attach)));
        let blocks = active_blocks(&self.data.blocks, subtree);
        let [(a, edge_a), (b, edge_b)] = tree.other_links(attach, pendant);
        let (row_a, row_b) = (self.view(edge_a, a), self.view(edge_b, b));
        let here =
            self.insertion_cost(self.row(row_a), self.row(row_b), subtree, &blocks, u64::MAX);
        let Some(mut limit) = visit(None, here) else {
            return;
        };

        // To visit: an edge with its far end, the edge beside it with its far end, the distance, and
        // the row of what lies behind the edge by which their common node was reached (at distance
        // 1; else that row is `scratch[distance - 1]`, where no other edge has been since).
        let mut stack = Vec::new();
        let home = self.constraint.as_ref().and_then(|view| view.home(tree, attach, pendant));
        let may_pass = |views: &Self, node, by| match (&views.constraint, home) {
            (Some(view), Some(home)) => view.may_pass(tree, home, node, by),
            _ => true,
        };
        let push = |views: &Self,
                    stack: &mut Vec<_>,
                    node: NodeId,
                    by: EdgeId,
                    distance: usize,
                    above: u32| {
            if distance <= radius && !tree.is_tip(node) && may_pass(views, node, by) {
                let [first, second] = tree.other_links(node, by);
                stack.push((second, first, distance, above));
                stack.push((first, second, distance, above));
            }
        };
        push(self, &mut stack, b, edge_b, 1, row_a);
        push(self, &mut stack, a, edge_a, 1, row_b);
        while let Some(((far, edge), (beside, beside_edge), distance, above)) = stack.pop() {
            if self.scratch.len() <= distance {
                self.scratch.resize_with(distance + 1, || self.data.empty_row());
            }
            let mut up = std::mem::take(&mut self.scratch[distance]);
            let above = if distance == 1 { self.row(above) } else { &self.scratch[distance - 1] };
            self.combine(above, self.row(self.view(beside_edge, beside)), &blocks, &mut up);
            let subtree = self.row(self.view(pendant, tree.other_end(pendant, attach)));
            let cost =
                self.insertion_cost(self.row(self.view(edge, far)), &up, subtree, &blocks, limit);
            self.scratch[distance] = up;
            match visit(Some(edge), cost) {
                Some(next) => limit = next,
                None => return,
            }
            push(self, &mut stack, far, edge, distance + 1, NO_ROW);
        }
    }

    /// Moves the subtree behind `pendant` at `attach` into `target` (an edge of the pruned tree), in
    /// the tree and in its views. The target's length is halved.
    pub fn spr(&mut self, tree: &mut Tree, attach: NodeId, pendant: EdgeId, target: EdgeId) {
        let [(a, edge_a), (b, edge_b)] = tree.other_links(attach, pendant);
        let [row_a, row_b] = [self.view(edge_a, a), self.view(edge_b, b)];
        let [from_a, from_b] = [edge_a, edge_b].map(|edge| self.view(edge, attach));
        let pruned = tree.prune(attach, pendant);
        self.row_of[pruned.merged.index()] = [(a, row_a), (b, row_b)];
        self.spread(tree, pruned.merged, a, self.changed_blocks(from_a, row_b));
        self.spread(tree, pruned.merged, b, self.changed_blocks(from_b, row_a));
        self.free.extend([from_a, from_b]);
        self.insert(tree, &pruned, target);
    }

    /// Puts a subtree that is off the tree into an edge, in the tree and in its views.
    pub(super) fn insert(&mut self, tree: &mut Tree, pruned: &PrunedSubtree, target: EdgeId) {
        let PrunedSubtree { attach, pendant, spare, .. } = *pruned;
        let top = tree.other_end(pendant, attach);
        let subtree = self.view(pendant, top);
        let before = self.view(pendant, attach);
        let [c, d] = tree.ends(target);
        let [row_c, row_d] = [c, d].map(|end| self.view(target, end));
        let half = tree.brlen(target) / 2.0;
        tree.regraft(pruned, target, [half, half]);
        let (to_c, to_d) = (self.new_row(row_d, subtree), self.new_row(row_c, subtree));
        let to_subtree = self.new_row(row_c, row_d);
        self.row_of[target.index()] = [(c, row_c), (attach, to_c)];
        self.row_of[spare.index()] = [(attach, to_d), (d, row_d)];
        self.row_of[pendant.index()] = [(attach, to_subtree), (top, subtree)];
        self.spread(tree, target, c, self.changed_blocks(row_d, to_c));
        self.spread(tree, spare, d, self.changed_blocks(row_c, to_d));
        if before != NO_ROW {
            self.spread(tree, pendant, top, self.changed_blocks(before, to_subtree));
            self.free.push(before);
        }
        if let Some(view) = &mut self.constraint {
            view.update(tree);
        }
    }

    /// For each edge whether the constraint allows to put a taxon into it that is not in the tree; `None` if it may be put
    /// into any.
    pub(super) fn places(&self, tree: &Tree, taxon: usize) -> Option<Vec<bool>> {
        self.constraint.as_ref().and_then(|view| view.places(tree, taxon))
    }

    /// Gives a tip that is not in the tree its view, through the edge to the node it will hang on.
    pub(super) fn add_tip(&mut self, pendant: EdgeId, attach: NodeId, tip: NodeId) {
        self.row_of[pendant.index()] = [(attach, NO_ROW), (tip, tip.0)];
    }

    fn changed_blocks(&self, before: u32, after: u32) -> Vec<u32> {
        let (before, after) = (self.row(before), self.row(after));
        let differs = |&block: &u32| {
            let range = self.data.blocks[block as usize].range();
            before[range.clone()] != after[range]
        };
        self.every_block.iter().copied().filter(differs).collect()
    }

    /// What is seen through `edge` from `into` has changed in these blocks: updates all views that
    /// look through `into` and on, as far as they change.
    fn spread(&mut self, tree: &Tree, edge: EdgeId, into: NodeId, blocks: Vec<u32>) {
        let mut stack = vec![(edge, into, blocks)];
        while let Some((edge, into, blocks)) = stack.pop() {
            if blocks.is_empty() || tree.is_tip(into) {
                continue;
            }
            let input = self.view(edge, tree.other_end(edge, into));
            let [first, second] = tree.other_links(into, edge);
            for ((next, next_edge), (beside, beside_edge)) in [(first, second), (second, first)] {
                let other_input = self.view(beside_edge, beside);
                let start = self.start(self.view(next_edge, into));
                let mut changed = Vec::new();
                let mut set = [[0; super::data::STATE_WORDS]; 64];
                for &block in &blocks {
                    let range = self.data.blocks[block as usize].range();
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
                stack.push((next_edge, next, changed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::naive::Sample;
    use super::super::parsimony_score;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    fn assert_same_views(tree: &Tree, views: &ParsimonyViews) {
        let fresh = ParsimonyViews::new(tree, views.data);
        for edge in tree.edges() {
            for end in tree.ends(edge) {
                let (kept, computed) = (views.view(edge, end), fresh.view(edge, end));
                assert!(views.row(kept) == fresh.row(computed), "view at {end:?} of {edge:?}");
            }
        }
        let in_use = |views: &ParsimonyViews| views.num_rows as usize - views.free.len();
        assert_eq!(in_use(views), in_use(&fresh), "no row is lost");
    }

    /// What a subtree costs at its place and in every edge within a radius.
    fn insertion_costs(
        views: &mut ParsimonyViews,
        tree: &Tree,
        [attach, pendant]: [u32; 2],
        radius: usize,
    ) -> (u64, Vec<(EdgeId, u64)>) {
        let (mut here, mut elsewhere) = (0, Vec::new());
        views.scan_insertions(tree, NodeId(attach), EdgeId(pendant), radius, |edge, cost| {
            match edge {
                None => here = cost,
                Some(edge) => elsewhere.push((edge, cost)),
            }
            Some(u64::MAX)
        });
        (here, elsewhere)
    }

    #[test]
    fn insertion_costs_equal_the_difference_of_full_scores() {
        let mut rng = stream(1, Purpose::Test, 0);
        let sample = Sample::draw(12, &[4, 4, 2], 120, &mut rng);
        let data = sample.pack();
        let mut tree = random_tree(12, 0.1, &mut rng);
        let mut views = ParsimonyViews::new(&tree, &data);
        let score = parsimony_score(&tree, &data);
        for pendant in tree.edges() {
            for attach in tree.ends(pendant).into_iter().filter(|end| end.index() >= 12) {
                for radius in [1, 3, 99] {
                    let (here, elsewhere) =
                        insertion_costs(&mut views, &tree, [attach.0, pendant.0], radius);
                    let mut cheapest = elsewhere.clone();
                    cheapest.sort_by_key(|place| place.1);
                    for count in [0, 1, 4, 99] {
                        let found =
                            views.cheapest_insertions(&tree, attach, pendant, radius, count);
                        assert_eq!(found, cheapest[..count.min(cheapest.len())]);
                    }
                    let pruned = tree.prune(attach, pendant);
                    let mut expected = tree.edges_within(pruned.merged, radius);
                    expected.sort();
                    let mut found: Vec<EdgeId> = elsewhere.iter().map(|c| c.0).collect();
                    found.sort();
                    assert_eq!(found, expected.iter().map(|e| e.0).collect::<Vec<_>>());
                    for &(target, cost) in &elsewhere {
                        let undo = tree.regraft(&pruned, target, [0.0, 0.0]);
                        assert_eq!(parsimony_score(&tree, &data) + here, score + cost);
                        tree.undo_regraft(&pruned, &undo);
                    }
                    tree.undo_prune(&pruned);
                }
            }
        }
    }

    #[test]
    fn after_many_moves_the_views_equal_fresh_ones() {
        let mut rng = stream(1, Purpose::Test, 1);
        let sample = Sample::draw(25, &[4, 20, 4], 300, &mut rng);
        let data = sample.pack();
        let mut tree = random_tree(25, 0.1, &mut rng);
        let mut views = ParsimonyViews::new(&tree, &data);
        for _ in 0..200 {
            let pendant = EdgeId(rng.random_range(0..tree.num_edges() as u32));
            let attach = tree.ends(pendant)[rng.random_range(0..2usize)];
            if tree.is_tip(attach) {
                continue;
            }
            let (_, places) = insertion_costs(&mut views, &tree, [attach.0, pendant.0], 5);
            if !places.is_empty() {
                let target = places[rng.random_range(0..places.len())].0;
                views.spr(&mut tree, attach, pendant, target);
                tree.assert_integrity();
                assert_same_views(&tree, &views);
            }
        }
    }
}
