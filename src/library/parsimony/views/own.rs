//! [`OwnViews`]: the views of a tree over the columns of this process.

use super::super::columns::Columns;
use super::super::threads::Threads;
use super::of_columns::ColumnViews;
use super::tally::{Alone, Race};
use super::walk::{Place, Step};
use crate::tree::{DEFAULT_BRLEN, EdgeId, NodeId, PrunedSubtree, Tree};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Views of one tree, with a share of the columns for each thread.
pub(crate) struct OwnViews {
    shares: Vec<Mutex<ColumnViews>>,
    threads: Threads,
}

impl OwnViews {
    /// Computes all views. The tree may still be growing: tips without an edge are left out.
    pub(crate) fn new(tree: &Tree, columns: &[Arc<Columns>], threads: &Threads) -> Self {
        let views =
            |number: usize| Mutex::new(ColumnViews::new(tree, Arc::clone(&columns[number])));
        OwnViews { shares: threads.map(columns.len(), views), threads: threads.clone() }
    }

    /// The views, if one thread of this process has all its columns.
    fn of_one(&mut self) -> Option<&mut ColumnViews> {
        match self.shares.len() == 1 {
            true => Some(self.shares[0].get_mut().unwrap_or_else(PoisonError::into_inner)),
            false => None,
        }
    }

    /// The views over each share of the columns.
    #[cfg(test)]
    pub(super) fn shares(&self) -> impl Iterator<Item = MutexGuard<'_, ColumnViews>> {
        self.shares.iter().map(locked)
    }

    fn each(&self, work: impl Fn(&mut ColumnViews) + Sync) {
        self.threads.map(self.shares.len(), |number| work(&mut locked(&self.shares[number])));
    }

    /// Counts the changes that a subtree adds at its place (`None`) and at the steps of a walk. `visit` gets them in their order, and
    /// says up to which cost the next places matter: a cost above that may be too low. `None` ends the walk.
    pub(crate) fn costs(
        &mut self,
        place: Place,
        steps: impl Iterator<Item = Step>,
        visit: impl FnMut(Option<EdgeId>, u64) -> Option<u64> + Send,
    ) {
        if let Some(views) = self.of_one() {
            views.count(place, steps, Alone::new(visit));
            return;
        }
        let steps: Vec<Step> = steps.collect();
        let places = std::iter::once(None).chain(steps.iter().map(|step| Some(step.edge.0)));
        let places: Vec<Option<EdgeId>> = places.collect();
        let race = Race::new(&places, self.shares.len(), visit);
        self.each(|views| views.count(place, steps.iter().copied(), race.runner()));
    }

    /// The same of a taxon which is not in the tree, in each of these edges.
    pub(crate) fn tip_costs(
        &mut self,
        taxon: usize,
        edges: impl Iterator<Item = EdgeId>,
        visit: impl FnMut(Option<EdgeId>, u64) -> Option<u64> + Send,
    ) {
        if let Some(views) = self.of_one() {
            views.count_tip(taxon, edges, Alone::new(visit));
            return;
        }
        let places: Vec<Option<EdgeId>> = edges.map(Some).collect();
        let race = Race::new(&places, self.shares.len(), visit);
        let edges = || places.iter().copied().flatten();
        self.each(|views| views.count_tip(taxon, edges(), race.runner()));
    }

    /// All costs, without a limit.
    pub(crate) fn all_costs(&mut self, place: Place, steps: &[Step]) -> Vec<u64> {
        let mut costs = Vec::with_capacity(1 + steps.len());
        self.costs(place, steps.iter().copied(), keep_all(&mut costs));
        costs
    }

    /// All costs of a taxon, without a limit.
    pub(crate) fn all_tip_costs(&mut self, taxon: usize, edges: &[EdgeId]) -> Vec<u64> {
        let mut costs = Vec::with_capacity(edges.len());
        self.tip_costs(taxon, edges.iter().copied(), keep_all(&mut costs));
        costs
    }

    /// Moves the subtree behind `pendant` at `attach` into `target` (an edge of the pruned tree), in
    /// the tree and in its views. The target's length is halved.
    pub(crate) fn spr(&mut self, tree: &mut Tree, attach: NodeId, pendant: EdgeId, target: EdgeId) {
        let place = Place::of(tree, attach, pendant);
        let pruned = tree.prune(attach, pendant);
        self.each(|views| views.take_off(tree, place, &pruned));
        self.put_in(tree, &pruned, target);
    }

    /// Puts a taxon that is not in the tree into an edge, by the next inner node.
    pub(crate) fn add_tip(
        &mut self,
        tree: &mut Tree,
        inner: NodeId,
        taxon: NodeId,
        target: EdgeId,
    ) {
        let pruned = tree.hang_on_new_node(inner, taxon, DEFAULT_BRLEN);
        self.each(|views| views.add_tip(pruned.pendant, inner, taxon));
        self.put_in(tree, &pruned, target);
    }

    fn put_in(&mut self, tree: &mut Tree, pruned: &PrunedSubtree, target: EdgeId) {
        let ends = tree.ends(target);
        let half = tree.brlen(target) / 2.0;
        tree.regraft(pruned, target, [half, half]);
        self.each(|views| views.put_in(tree, pruned, target, ends));
    }
}

fn keep_all(costs: &mut Vec<u64>) -> impl FnMut(Option<EdgeId>, u64) -> Option<u64> + Send {
    |_, cost| {
        costs.push(cost);
        Some(u64::MAX)
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
