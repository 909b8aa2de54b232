//! [`ParsimonyViews`]: the views of a tree over all columns, whoever computes with them.

use super::super::data::ParsimonyData;
use super::super::orders::ViewsOrder;
use super::super::other_ranks::{Seen, ViewsOfOthers};
use super::own::OwnViews;
use super::walk::Walk;
use crate::tree::{ConstraintView, DEFAULT_BRLEN, EdgeId, NodeId, Tree};
use std::borrow::Cow;

/// Views of one tree over the data. The caller keeps tree and views together: after a move that was
/// neither taken back nor made by [`ParsimonyViews::spr`] in a tree with the same numbers they must be built anew.
pub struct ParsimonyViews<'d> {
    /// The tree as the constraint of the data sees it.
    constraint: Option<ConstraintView<'d>>,
    own: OwnViews,
    /// Those of other ranks, if there are some.
    of_others: Option<ViewsOfOthers>,
}

impl<'d> ParsimonyViews<'d> {
    /// Computes all views.
    pub fn new(tree: &Tree, data: &'d ParsimonyData) -> Self {
        assert_eq!(tree.num_tips(), data.num_taxa(), "one tip per taxon");
        Self::of(tree, Seen::Whole(Cow::Borrowed(tree)), data)
    }

    /// The tree of three taxa, to which all others can be [added](ParsimonyViews::add_tip), and its views.
    pub(crate) fn of_three(taxa: [u32; 3], data: &'d ParsimonyData) -> (Tree, Self) {
        let tree = three_taxa(data.num_taxa(), taxa);
        let views = Self::of(&tree, Seen::Three(taxa), data);
        (tree, views)
    }

    fn of(tree: &Tree, seen: Seen, data: &'d ParsimonyData) -> Self {
        let own = || OwnViews::new(tree, &data.columns, &data.threads);
        let (of_others, own) = match &data.others {
            None => (None, own()),
            Some(others) => {
                let (of_others, own) = ViewsOfOthers::of(others, seen, own);
                (Some(of_others), own)
            }
        };
        let constraint = data.constraint().map(|constraint| ConstraintView::new(constraint, tree));
        ParsimonyViews { constraint, own, of_others }
    }

    /// What an order leads to, by all who compute.
    fn carry_out(&mut self, order: ViewsOrder, tree: &mut Tree) -> Vec<u64> {
        match &self.of_others {
            None => order.carry_out(tree, &mut self.own),
            Some(others) => {
                let own = &mut self.own;
                others.sum(order.clone(), || order.carry_out(tree, own))
            }
        }
    }

    /// The places where a taxon that is not in the tree may be put, with the changes it would add: `visit` gets them one after the
    /// other, and says up to which cost the next ones matter; a cost above that may be too low.
    pub(crate) fn tip_costs(
        &mut self,
        tree: &Tree,
        taxon: usize,
        mut visit: impl FnMut(EdgeId, u64) -> u64 + Send,
    ) {
        let places = self.constraint.as_ref().and_then(|view| view.places(tree, taxon));
        let is_allowed = |edge: &EdgeId| places.as_ref().is_none_or(|places| places[edge.index()]);
        let edges = tree.edges().filter(is_allowed);
        let mut visit = |edge: Option<EdgeId>, cost| edge.map(|edge| visit(edge, cost));
        let Some(others) = &self.of_others else {
            self.own.tip_costs(taxon, edges, visit);
            return;
        };
        let edges: Vec<EdgeId> = edges.collect();
        let order = ViewsOrder::TipCosts(taxon, Cow::Borrowed(&edges));
        let costs = others.sum(order, || self.own.all_tip_costs(taxon, &edges));
        for (&edge, cost) in edges.iter().zip(costs) {
            visit(Some(edge), cost);
        }
    }

    /// The `count` edges at most `radius` away where the subtree behind `pendant`, hanging at `attach`,
    /// costs least, with the changes it would add; the cheapest first, of equal ones that which the
    /// walk meets first. Its present place is not among them, nor are those that the constraint forbids, and
    /// those that cost over `margin` changes more than the present place.
    pub(crate) fn cheapest_insertions(
        &mut self,
        tree: &Tree,
        attach: NodeId,
        pendant: EdgeId,
        radius: usize,
        count: usize,
        margin: u64,
    ) -> Vec<(EdgeId, u64)> {
        let (mut cheapest, mut most): (Vec<(EdgeId, u64)>, u64) = (Vec::new(), u64::MAX);
        if count == 0 {
            return cheapest;
        }
        self.scan_insertions(tree, attach, pendant, radius, |edge, cost| {
            match edge {
                None => most = cost.saturating_add(margin),
                Some(edge) if cost <= most => {
                    let at = cheapest.partition_point(|known| known.1 <= cost);
                    if at < count {
                        cheapest.truncate(count - 1);
                        cheapest.insert(at, (edge, cost));
                    }
                }
                Some(_) => {}
            }
            // Above the last of a full list, one more change counts as any greater number.
            Some(if cheapest.len() == count { cheapest[count - 1].1 } else { most })
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
        mut visit: impl FnMut(Option<EdgeId>, u64) -> Option<u64> + Send,
    ) {
        let walk = Walk::new(tree, self.constraint.as_ref(), attach, pendant, radius);
        let place = walk.place();
        let Some(others) = &self.of_others else {
            self.own.costs(place, walk, visit);
            return;
        };
        let steps: Vec<_> = walk.collect();
        let order = ViewsOrder::Costs(place, Cow::Borrowed(&steps));
        // Nobody knows meanwhile what other ranks have counted, so that all count to the end.
        let costs = others.sum(order, || self.own.all_costs(place, &steps));
        let places = std::iter::once(None).chain(steps.iter().map(|step| Some(step.edge.0)));
        let _ = places.zip(costs).try_for_each(|(place, cost)| visit(place, cost).map(drop));
    }

    /// Moves the subtree behind `pendant` at `attach` into `target` (an edge of the pruned tree), in
    /// the tree and in its views. The target's length is halved.
    pub fn spr(&mut self, tree: &mut Tree, attach: NodeId, pendant: EdgeId, target: EdgeId) {
        self.carry_out(ViewsOrder::Spr(attach, pendant, target), tree);
        self.update_constraint(tree);
    }

    /// Puts a taxon that is not in the tree into an edge, by the next inner node, in the tree and in its views.
    pub(crate) fn add_tip(
        &mut self,
        tree: &mut Tree,
        inner: NodeId,
        taxon: NodeId,
        target: EdgeId,
    ) {
        self.carry_out(ViewsOrder::AddTip(inner, taxon, target), tree);
        self.update_constraint(tree);
    }

    fn update_constraint(&mut self, tree: &Tree) {
        if let Some(view) = &mut self.constraint {
            view.update(tree);
        }
    }
}

/// The unconnected tree of so many taxa, with an inner node that connects three of them.
pub(crate) fn three_taxa(num_taxa: usize, three: [u32; 3]) -> Tree {
    let mut tree = Tree::unconnected(num_taxa);
    for taxon in three {
        tree.add_edge(NodeId(num_taxa as u32), NodeId(taxon), DEFAULT_BRLEN);
    }
    tree
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::super::naive::Sample;
    use super::super::super::parsimony_score;
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use crate::tree::random_tree;

    fn assert_same_views(tree: &Tree, views: &ParsimonyViews, data: &ParsimonyData) {
        let fresh = ParsimonyViews::new(tree, data);
        for (kept, fresh) in views.own.shares().zip(fresh.own.shares()) {
            for edge in tree.edges() {
                for end in tree.ends(edge).map(|end| (edge, end)) {
                    assert!(kept.row_at(end) == fresh.row_at(end), "view at {end:?}");
                }
            }
            assert_eq!(kept.num_in_use(), fresh.num_in_use(), "no row is lost");
        }
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
                    for (count, margin) in
                        [(0, 9), (1, u64::MAX), (4, 3), (4, u64::MAX), (99, 0), (99, u64::MAX)]
                    {
                        let found = views
                            .cheapest_insertions(&tree, attach, pendant, radius, count, margin);
                        let near =
                            cheapest.iter().filter(|place| place.1 <= here.saturating_add(margin));
                        assert_eq!(found, near.copied().take(count).collect::<Vec<_>>());
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
        for threads in [1, 2, 5] {
            let data = data.clone().on_exactly(threads);
            move_and_compare(&data, &mut rng);
        }
    }

    fn move_and_compare(data: &ParsimonyData, rng: &mut Rng) {
        let mut tree = random_tree(25, 0.1, rng);
        let mut views = ParsimonyViews::new(&tree, data);
        for _ in 0..100 {
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
                assert_same_views(&tree, &views, data);
            }
        }
    }
}
