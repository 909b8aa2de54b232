//! Changes of all branch lengths at once: bounds, scaling, starting values, averages.

use super::brlens::{all_brlens, changed_brlens, mean_brlen};
use super::evaluator::Evaluator;
use super::length_sets::LengthSet;
use crate::likelihood::BRLEN_BOUNDS;
use crate::tree::{EdgeId, Tree, to_length_grid};

impl Evaluator {
    /// Sets all lengths outside [`BRLEN_BOUNDS`] to the nearer bound, in the global tree and, under unlinked
    /// lengths, in the partitions' trees. Returns how many lengths of the global tree were increased and decreased.
    pub fn clamp_brlens(&mut self) -> (usize, usize) {
        let [min, max] = BRLEN_BOUNDS.map(to_length_grid);
        let changed = self.tree.clamp_brlens(min, max);
        if changed != (0, 0) {
            self.outdated.mark(self.tree.edges());
            self.update_restrictions();
        }
        for set in self.length_sets() {
            let tree = self.tree_of(set);
            if tree.edges().any(|edge| !(min..=max).contains(&tree.brlen(edge))) {
                let lengths = changed_brlens(tree, |length, _| length);
                self.set_lengths(set, &lengths);
            }
        }
        changed
    }

    /// Multiplies all lengths by `factor`, within [`BRLEN_BOUNDS`], in the global tree and, under unlinked
    /// lengths, in the partitions' trees.
    pub fn scale_brlens(&mut self, factor: f64) {
        self.change_every_set(|_| move |length, _| factor * length);
    }

    /// Sets all terminal branches to `tip` and all internal branches to `inner`, in units of the present mean
    /// length of the tree: of the global tree and, under unlinked lengths, of each partition's tree.
    pub fn start_brlens(&mut self, tip: f64, inner: f64) {
        self.change_every_set(|tree| {
            let mean = mean_brlen(tree);
            move |_, is_tip| mean * if is_tip { tip } else { inner }
        });
    }

    /// Changes all lengths of the global tree and of all other sets. `change` makes, for each tree, a function
    /// of the present length and of whether the branch leads to a tip.
    fn change_every_set<F: Fn(f64, bool) -> f64>(&mut self, change: impl Fn(&Tree) -> F) {
        let others = self.length_sets().into_iter().filter(|set| *set != LengthSet::Shared);
        for set in std::iter::once(LengthSet::Shared).chain(others.collect::<Vec<_>>()) {
            let tree = self.tree_of(set);
            let lengths = changed_brlens(tree, change(tree));
            self.set_lengths(set, &lengths);
            self.update_restrictions();
        }
    }

    /// All independent branch lengths, by edge: those of the global tree or, under unlinked lengths, of each partition's
    /// tree.
    pub(crate) fn brlen_sets(&self) -> Vec<Vec<f64>> {
        self.length_sets().into_iter().map(|set| all_brlens(self.tree_of(set))).collect()
    }

    /// Sets all [`Evaluator::brlen_sets`], to within [`BRLEN_BOUNDS`].
    pub(crate) fn set_brlen_sets(&mut self, sets: &[Vec<f64>]) {
        let [min, max] = BRLEN_BOUNDS.map(to_length_grid);
        for (set, lengths) in self.length_sets().into_iter().zip(sets) {
            let lengths: Vec<f64> = lengths.iter().map(|length| length.clamp(min, max)).collect();
            self.set_lengths(set, &lengths);
        }
        self.update_restrictions();
    }

    /// Sets these lengths of the global tree (under linked and scaled lengths).
    pub(crate) fn set_brlens(&mut self, lengths: &[(EdgeId, f64)]) {
        for &(edge, length) in lengths {
            self.tree.set_brlen(edge, length);
        }
        self.outdated.mark(lengths.iter().map(|(edge, _)| *edge));
        self.update_restrictions();
    }

    /// Sets these lengths of a partition's tree (under unlinked lengths).
    pub(crate) fn set_own_brlens(&mut self, partition: usize, lengths: &[(EdgeId, f64)]) {
        for &(edge, length) in lengths {
            self.partitions[partition].set_brlen(edge, length);
        }
    }

    /// Multiplies a partition's branch lengths by its scaler, within [`BRLEN_BOUNDS`], and sets the scaler to 1.
    ///
    /// # Panics
    /// If other partitions share these lengths.
    pub fn absorb_brlen_scaler(&mut self, partition: usize) {
        let scaler = self.brlen_scaler(partition);
        self.set_brlen_scaler(partition, 1.0);
        if self.linkage.has_own_lengths() {
            let set = LengthSet::Own(partition);
            let lengths = changed_brlens(self.tree_of(set), |length, _| scaler * length);
            self.set_lengths(set, &lengths);
        } else {
            assert_eq!(self.partitions.len(), 1, "other partitions share these branch lengths");
            self.scale_brlens(scaler);
        }
    }

    /// Under unlinked lengths: sets the branch lengths of the global tree to averages over partitions. Each partition
    /// with an induced edge whose path contains the global edge contributes the length of the induced edge
    /// divided by the number of global edges on the path, weighted by the partition's number of sites. Edges on no
    /// partition's path keep their length and are returned.
    pub fn average_brlens(&mut self) -> Vec<EdgeId> {
        let (tree, undetermined) = self.averages();
        self.tree = tree;
        undetermined
    }

    /// The global tree with these averages, and the edges on no partition's path.
    pub fn averages(&self) -> (Tree, Vec<EdgeId>) {
        let mut undetermined = Vec::new();
        let mut tree = self.tree.clone();
        let mut shares: Vec<Vec<f64>> = Vec::new();
        for state in &self.partitions {
            let restriction = &self.restrictions[state.set];
            let mut count = vec![0.0; state.tree.tree().num_edges()];
            if restriction.taxa().len() >= 2 {
                for edge in self.tree.edges().filter(|&edge| restriction.is_on_path(edge)) {
                    count[restriction.image(edge).edge.index()] += 1.0;
                }
            }
            shares.push(
                state
                    .tree
                    .tree()
                    .edges()
                    .zip(count)
                    .map(|(e, n)| state.tree.tree().brlen(e) / n)
                    .collect(),
            );
        }
        for edge in self.tree.edges() {
            let (mut sum, mut sites) = (0.0, 0.0);
            for (state, shares) in self.partitions.iter().zip(&shares) {
                let restriction = &self.restrictions[state.set];
                if restriction.taxa().len() >= 2 && restriction.is_on_path(edge) {
                    sum += state.num_sites * shares[restriction.image(edge).edge.index()];
                    sites += state.num_sites;
                }
            }
            if sites > 0.0 {
                tree.set_brlen(edge, sum / sites);
            } else {
                undetermined.push(edge);
            }
        }
        (tree, undetermined)
    }
}
