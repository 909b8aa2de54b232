//! Polytomies: connected groups of inner branches without length, and their resolutions.

use super::evaluator::Evaluator;
use crate::likelihood::{BRLEN_BOUNDS, NO_LENGTH};
use crate::tree::{Constraint, EdgeId, Restriction, resolve_canonically, to_length_grid};

impl Evaluator {
    /// For each edge of the tree: whether it has [no length](NO_LENGTH). Under unlinked lengths, it has none if it has
    /// none in the tree of each partition with data on both sides of it, and there is such a partition.
    pub fn edges_without_length(&self) -> Vec<bool> {
        self.tree.edges().map(|edge| self.has_no_length(edge)).collect()
    }

    /// Gives the polytomies of the tree their canonical resolution, which depends on the taxa alone. `unresolved` are
    /// the [edges without length](Evaluator::edges_without_length); the inner ones among them get the minimum length,
    /// all others keep their lengths, also in the partitions' trees. Under unlinked lengths, the lengths of the global tree
    /// become averages over partitions. A constraint that the tree satisfies is still satisfied afterwards.
    pub fn resolve_polytomies(&mut self, unresolved: &[bool], constraint: Option<&Constraint>) {
        if self.linkage.has_own_lengths() {
            self.average_brlens();
            self.clamp_brlens();
        }
        let resolved =
            resolve_canonically(&self.tree, unresolved, shortest(), NO_LENGTH, constraint);
        let own_lengths = match self.linkage.has_own_lengths() {
            true => (0..self.partitions.len())
                .map(|partition| self.lengths_on_paths(partition))
                .collect(),
            false => Vec::new(),
        };
        self.set_tree(resolved);
        for (partition, lengths) in own_lengths.iter().enumerate() {
            self.keep_lengths(partition, lengths, unresolved);
        }
    }

    /// Swaps two subtrees across an inner edge of the global tree, and in each restricted tree that has taxa in all
    /// four subtrees around it. `first` and `second` are edges that meet `edge` at its two ends. All edges keep their
    /// numbers and lengths, so to swap again takes it back.
    pub fn swap_subtrees(&mut self, edge: EdgeId, first: EdgeId, second: EdgeId) {
        self.update_restrictions();
        let around = self.tree.ends(edge).map(|end| self.tree.other_links(end, edge));
        for state in &mut self.partitions {
            let restriction = &self.restrictions[state.set];
            let image = |edge| image_on_path(restriction, edge);
            if around.as_flattened().iter().all(|&(_, edge)| image(edge).is_some())
                && let [Some(edge), Some(first), Some(second)] = [edge, first, second].map(image)
            {
                state.tree.swap_subtrees(edge, first, second);
                state.lnl = None;
            }
        }
        self.tree.swap_subtrees(edge, first, second);
        self.outdated.mark([edge, first, second]);
        self.update_restrictions();
    }

    fn has_no_length(&self, edge: EdgeId) -> bool {
        if !self.linkage.has_own_lengths() {
            return self.tree.brlen(edge) <= NO_LENGTH;
        }
        let mut lengths = self.partitions.iter().filter_map(|partition| {
            let image = image_on_path(&self.restrictions[partition.set], edge)?;
            Some(partition.tree.tree().brlen(image))
        });
        lengths.next().is_some_and(|first| first <= NO_LENGTH)
            && lengths.all(|length| length <= NO_LENGTH)
    }

    /// For each edge of the global tree, the partition's own length of the branch on which it lies.
    fn lengths_on_paths(&self, partition: usize) -> Vec<Option<f64>> {
        let state = &self.partitions[partition];
        let image = |edge| image_on_path(&self.restrictions[state.set], edge);
        let length = |edge| Some(state.tree.tree().brlen(image(edge)?));
        self.tree.edges().map(length).collect()
    }

    /// After a new resolution of the global tree: sets the partition's own lengths to those before. A branch on which only
    /// edges of polytomies lie has minimum length.
    fn keep_lengths(&mut self, partition: usize, before: &[Option<f64>], unresolved: &[bool]) {
        let state = &mut self.partitions[partition];
        let mut lengths = vec![shortest(); state.tree.tree().num_edges()];
        let is_inner = |edge| !self.tree.is_terminal(edge);
        for edge in self.tree.edges().filter(|&e| !(unresolved[e.index()] && is_inner(e))) {
            // Both trees have the edge, with the same taxa on its sides, so the partition's branches correspond, too.
            let image = image_on_path(&self.restrictions[state.set], edge);
            if let (Some(image), Some(length)) = (image, before[edge.index()]) {
                lengths[image.index()] = length;
            }
        }
        state.set_brlens(&lengths);
    }
}

/// The edge of a partition's tree on which an edge of the global tree lies, if there is data on both sides.
fn image_on_path(restriction: &Restriction, edge: EdgeId) -> Option<EdgeId> {
    let is_on_path = restriction.taxa().len() >= 2 && restriction.is_on_path(edge);
    is_on_path.then(|| restriction.image(edge).edge)
}

/// Minimum length, on the grid of lengths.
fn shortest() -> f64 {
    to_length_grid(BRLEN_BOUNDS[0])
}
