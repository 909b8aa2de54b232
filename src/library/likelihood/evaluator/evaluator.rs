//! The evaluator: the state of the tree, its partitions and the engine, and log-likelihoods.
//!
//! The evaluator owns the global tree and each partition's restricted tree, and keeps track of stale CLVs. It
//! determines what has to be computed and passes it to the engine as complete programs of work.

use super::brlens::{all_brlens, changed_brlens};
use super::linkage::BrlenLinkage;
use super::partition_state::PartitionState;
use crate::likelihood::engine::{
    Capabilities, Engine, EngineError, PartitionData, Result, TraversalDescriptor,
};
use crate::model::Model;
use crate::stop::Stop;
use crate::tree::{EdgeId, NodeId, Restriction, Tree, numbered_as_read};

/// Stopping criteria of the optimisation of branch lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchOptions {
    /// Maximum number of sweeps over all branches. Sweeps over a part of them count by their share.
    pub max_sweeps: usize,
    /// The optimisation ends after a sweep that gains less than this (log units).
    pub lnl_epsilon: f64,
    /// The optimisation of a single branch ends when the expected gain of the next Newton step is less than
    /// this (log units).
    pub gain_tolerance: f64,
}

/// A tree with its partitions: computes its log-likelihood, optimises its branch lengths and changes its topology.
pub struct Evaluator {
    pub(super) tree: Tree,
    pub(super) linkage: BrlenLinkage,
    pub(super) partitions: Vec<PartitionState>,
    pub(super) restrictions: Vec<Restriction>,
    /// What has changed since the restrictions were updated.
    pub(super) outdated: Outdated,
    /// Used by [`Evaluator::compute`] alone.
    engine: Box<dyn Engine>,
    /// Partitions whose models have changed since they were last set in the engine.
    new_models: Vec<usize>,
    stop: Stop,
}

/// The edges of the global tree whose lengths or ends have changed since the restrictions were updated.
#[derive(Debug)]
pub(super) enum Outdated {
    /// These, any number of times.
    Edges(Vec<EdgeId>),
    /// All of them, and the restricted trees may have other numbers of nodes.
    All,
}

impl Outdated {
    pub(super) fn mark(&mut self, changed: impl IntoIterator<Item = EdgeId>) {
        if let Outdated::Edges(edges) = self {
            edges.extend(changed);
        }
    }
}

impl Default for Outdated {
    fn default() -> Self {
        Outdated::Edges(Vec::new())
    }
}

impl Evaluator {
    /// An evaluator for a tree. Each entry of `partitions` has the data of a partition, its taxa (tips of `tree`,
    /// ascending; one per row of the data) and its model. `engine` must have been made for the same data.
    ///
    /// # Panics
    /// If a partition's number of taxa differs from the number of tips of its data.
    pub fn new(
        tree: Tree,
        partitions: Vec<(&PartitionData, &[usize], Model)>,
        linkage: BrlenLinkage,
        engine: Box<dyn Engine>,
    ) -> Self {
        let mut restrictions: Vec<Restriction> = Vec::new();
        let mut locals: Vec<Tree> = Vec::new();
        let mut states = Vec::new();
        for (data, taxa, model) in partitions {
            assert_eq!(data.num_tips(), taxa.len(), "one row of codes per taxon");
            let set = restrictions.iter().position(|r| r.taxa() == taxa).unwrap_or_else(|| {
                let (restriction, local) = Restriction::new(&tree, taxa);
                restrictions.push(restriction);
                locals.push(local);
                restrictions.len() - 1
            });
            states.push(PartitionState::new(set, locals[set].clone(), data, model));
        }
        let new_models = (0..states.len()).collect();
        let (partitions, outdated) = (states, Outdated::default());
        let stop = Stop::default();
        Evaluator { tree, linkage, partitions, restrictions, outdated, engine, new_models, stop }
    }

    /// From now on, every computation fails once this is urgent.
    pub fn ends_by(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Marks all that the engine has computed as lost.
    fn lose_clvs(&mut self) {
        self.new_models = (0..self.partitions.len()).collect();
        for state in &mut self.partitions {
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Runs `work` on the engine, after setting models that have changed. After an error, all that the engine
    /// had computed is marked as lost.
    pub(super) fn compute<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Engine) -> Result<T>,
    ) -> Result<T> {
        if self.stop.is_urgent() {
            self.lose_clvs();
            return Err(EngineError::Stopped);
        }
        let mut result = Ok(());
        if !self.new_models.is_empty() {
            self.new_models.sort_unstable();
            self.new_models.dedup();
            let num_taxa =
                |partition: usize| self.restrictions[self.partitions[partition].set].taxa().len();
            self.new_models.retain(|&partition| num_taxa(partition) >= 2);
            let model = |&partition: &usize| (partition, &self.partitions[partition].model);
            let models: Vec<(usize, &Model)> = self.new_models.iter().map(model).collect();
            result = self.engine.set_models(&models);
            self.new_models.clear();
        }
        let result = result.and_then(|()| work(self.engine.as_mut()));
        if result.is_err() {
            self.lose_clvs();
        }
        result
    }

    /// The global tree. Under unlinked lengths, its branch lengths are those with which it was set, or those
    /// computed by the last call of [`Evaluator::average_brlens`].
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// How partitions share branch lengths.
    pub fn linkage(&self) -> BrlenLinkage {
        self.linkage
    }

    /// Number of partitions.
    pub fn num_partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Number of taxa with data in a partition.
    pub fn num_taxa_of(&self, partition: usize) -> usize {
        self.restrictions[self.partitions[partition].set].taxa().len()
    }

    /// Number of sites of a partition: the sum of its pattern weights.
    pub fn num_sites_of(&self, partition: usize) -> f64 {
        self.partitions[partition].num_sites
    }

    /// Patterns times taxa times states, summed over all partitions: the time of a likelihood is proportional to it.
    pub(crate) fn num_values(&self) -> usize {
        self.partitions.iter().map(|partition| partition.num_values).sum()
    }

    /// Number of sites, with multiplicity, of the partitions whose trees have this edge of the global tree on a path.
    pub(crate) fn num_sites_on(&self, edge: EdgeId) -> f64 {
        let has_edge =
            |&partition: &usize| self.restrictions[self.partitions[partition].set].is_on_path(edge);
        (0..self.partitions.len())
            .filter(has_edge)
            .map(|partition| self.num_sites_of(partition))
            .sum()
    }

    /// A partition's restricted tree, and the taxon (tip of the global tree) of each of its tips. Branch lengths
    /// are not multiplied by the partition's scaler.
    pub fn partition_tree(&self, partition: usize) -> (&Tree, &[usize]) {
        let state = &self.partitions[partition];
        (state.tree.tree(), self.restrictions[state.set].taxa())
    }

    /// A partition's model.
    pub fn model(&self, partition: usize) -> &Model {
        &self.partitions[partition].model
    }

    /// A partition's branch-length scaler.
    pub fn brlen_scaler(&self, partition: usize) -> f64 {
        self.partitions[partition].brlen_scaler
    }

    /// Properties of the engine.
    pub fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    /// Replaces the weights of a partition's patterns, in their order, as for a bootstrap replicate.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        self.compute(|engine| engine.set_pattern_weights(partition, weights))?;
        self.partitions[partition].set_pattern_weights(weights);
        Ok(())
    }

    /// Sets a partition's model, which must have the same number of rate categories as before. It is passed to the
    /// engine at the next computation, together with all other models that were set.
    pub fn set_model(&mut self, partition: usize, model: &Model) {
        self.new_models.push(partition);
        let state = &mut self.partitions[partition];
        state.model.clone_from(model);
        state.tree.invalidate();
        state.lnl = None;
    }

    /// Sets a partition's model, of which nothing is new but the weights of classes: CLVs remain.
    pub(crate) fn set_class_weights(&mut self, partition: usize, model: &Model) {
        self.new_models.push(partition);
        let state = &mut self.partitions[partition];
        state.model.clone_from(model);
        state.lnl = None;
    }

    /// Sets a partition's branch-length scaler.
    pub fn set_brlen_scaler(&mut self, partition: usize, scaler: f64) {
        let state = &mut self.partitions[partition];
        if state.brlen_scaler != scaler {
            state.brlen_scaler = scaler;
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Replaces the tree by another with the same taxa, including branch lengths. Under unlinked lengths, the
    /// length of each edge of a restricted tree becomes the length of its path in the new tree.
    pub fn set_tree(&mut self, tree: Tree) {
        self.tree = tree;
        for set in 0..self.restrictions.len() {
            let taxa = self.restrictions[set].taxa().to_vec();
            let (restriction, local) = Restriction::new(&self.tree, &taxa);
            self.restrictions[set] = restriction;
            for partition in self.partitions.iter_mut().filter(|partition| partition.set == set) {
                partition.tree.set_tree(local.clone());
                partition.lnl = None;
            }
        }
        self.outdated = Outdated::default();
    }

    /// Gives inner nodes and edges of the tree the numbers that they have when it is written and read, so that all
    /// further computations are those for the tree that was read.
    pub(crate) fn number_as_read(&mut self) {
        let own: Vec<Tree> =
            self.partitions.iter().map(|partition| partition.tree.tree().clone()).collect();
        self.set_tree(numbered_as_read(&self.tree));
        if self.linkage.has_own_lengths() {
            for (partition, tree) in own.iter().enumerate() {
                let fits = self.set_partition_brlens(partition, tree);
                debug_assert!(fits, "the topology is the same");
            }
        }
    }

    /// Changes to unlinked lengths. Each partition's own lengths start from its present ones, multiplied by the
    /// partition's scaler.
    pub fn unlink(&mut self) {
        self.update_restrictions();
        self.linkage = BrlenLinkage::Unlinked;
        for state in &mut self.partitions {
            let scaler = std::mem::replace(&mut state.brlen_scaler, 1.0);
            let lengths = changed_brlens(state.tree.tree(), |length, _| scaler * length);
            state.set_brlens(&lengths);
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Under unlinked lengths: sets a partition's branch lengths to those of a tree with the same topology as its
    /// restricted tree (with the partition's tip numbers). Returns whether the topologies agree.
    pub fn set_partition_brlens(&mut self, partition: usize, tree: &Tree) -> bool {
        let state = &mut self.partitions[partition];
        let all: Vec<usize> = (0..tree.num_tips()).collect();
        // With equal topologies, the map from the edges of one tree onto those of the other is total.
        let same = tree.num_tips() == state.tree.tree().num_tips()
            && crate::tree::same_topology(tree, state.tree.tree());
        if same && tree.num_tips() >= 2 {
            let mut restriction = Restriction::new(tree, &all).0;
            let lengths = restriction.update(tree, state.tree.tree());
            state.set_brlens(&lengths);
        }
        same
    }

    /// Edges of the global tree that are on no path of a restricted tree: no partition has data on both sides.
    pub fn undetermined_edges(&self) -> Vec<EdgeId> {
        let informs = |restriction: &Restriction, edge| {
            restriction.taxa().len() >= 2 && restriction.is_on_path(edge)
        };
        self.tree
            .edges()
            .filter(|&edge| !self.restrictions.iter().any(|r| informs(r, edge)))
            .collect()
    }

    /// Log-likelihood of the tree: the sum over partitions, in order.
    ///
    /// # Errors
    /// The engine has failed. As in all methods that compute, tree, branch lengths and models remain
    /// consistent.
    pub fn log_likelihood(&mut self) -> Result<f64> {
        Ok(self.partition_log_likelihoods()?.iter().sum())
    }

    /// Log-likelihood of each partition.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn partition_log_likelihoods(&mut self) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..self.partitions.len()).collect();
        self.log_likelihoods_of(&all)
    }

    /// Log-likelihoods of the given partitions; only stale CLVs are recomputed.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn log_likelihoods_of(&mut self, partitions: &[usize]) -> Result<Vec<f64>> {
        let wanted: Vec<usize> = partitions
            .iter()
            .copied()
            .filter(|&partition| self.partitions[partition].lnl.is_none())
            .collect();
        self.update_partials(&wanted)?;
        let mut jobs = Vec::new();
        for partition in wanted {
            match self.num_taxa_of(partition) {
                0 => self.partitions[partition].lnl = Some(0.0),
                1 => {
                    self.partitions[partition].lnl =
                        Some(self.partitions[partition].single_taxon_lnl())
                }
                _ => jobs.push(self.partitions[partition].root_job(partition)),
            }
        }
        let lnls = self.compute(|engine| engine.log_likelihoods(&jobs))?;
        for (job, lnl) in jobs.iter().zip(lnls) {
            self.partitions[job.partition].lnl = Some(lnl);
        }
        Ok(partitions
            .iter()
            .map(|&partition| self.partitions[partition].lnl.expect("just computed"))
            .collect())
    }

    /// Weight of each pattern of a partition.
    pub(crate) fn pattern_weights(&self, partition: usize) -> &[f64] {
        &self.partitions[partition].pattern_weights
    }

    /// Log-likelihood of every pattern of a partition (unweighted).
    ///
    /// # Errors
    /// The engine has failed.
    pub fn pattern_log_likelihoods(&mut self, partition: usize) -> Result<Vec<f64>> {
        match self.num_taxa_of(partition) {
            0 => Ok(Vec::new()),
            1 => {
                Ok(self.partitions[partition].single_taxon_patterns().map(|(lnl, _)| lnl).collect())
            }
            _ => {
                self.update_partials(&[partition])?;
                let job = self.partitions[partition].root_job(partition);
                self.compute(|engine| engine.pattern_log_likelihoods(&job))
            }
        }
    }

    /// Updates all stale CLVs of the given partitions.
    pub(super) fn update_partials(&mut self, partitions: &[usize]) -> Result<()> {
        let mut descriptors = Vec::new();
        let mut operations = Vec::new();
        for &partition in partitions {
            let state = &mut self.partitions[partition];
            operations.clear();
            state.tree.take_stale(&mut operations);
            if !operations.is_empty() {
                let operations = operations.iter().map(|o| state.with_lengths(o)).collect();
                descriptors.push(TraversalDescriptor { partition, operations });
            }
        }
        match descriptors.is_empty() {
            true => Ok(()),
            false => self.compute(|engine| engine.update_partials(&descriptors)),
        }
    }

    /// Marks all CLVs as stale and moves the virtual roots to a canonical position, so that values computed
    /// afterwards do not depend on earlier computations in any bit.
    pub fn forget(&mut self) {
        for state in &mut self.partitions {
            if state.tree.root() != EdgeId::NONE {
                let edge = state.tree.tree().links(NodeId(0)).next().expect("a tip has an edge").1;
                state.tree.move_root(edge);
            }
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Moves a partition's virtual root, on which the likelihood does not depend (for tests and benchmarks).
    pub fn set_virtual_root(&mut self, partition: usize, edge: EdgeId) {
        self.partitions[partition].tree.move_root(edge);
        self.partitions[partition].lnl = None;
    }

    /// Moves the virtual roots of all partitions with data on both sides of an edge there: its length can then be changed
    /// without any change of CLVs.
    pub(crate) fn move_virtual_roots(&mut self, edge: EdgeId) {
        for state in &mut self.partitions {
            let restriction = &self.restrictions[state.set];
            if restriction.taxa().len() >= 2 && restriction.is_on_path(edge) {
                state.tree.move_root(restriction.image(edge).edge);
            }
        }
    }

    /// Updates distances in the restrictions and, under linked and scaled lengths, the branch lengths of the
    /// restricted trees from those of the global tree.
    pub(super) fn update_restrictions(&mut self) {
        let outdated = std::mem::take(&mut self.outdated);
        if matches!(&outdated, Outdated::Edges(edges) if edges.is_empty()) {
            return;
        }
        let is_shared = !self.linkage.has_own_lengths();
        for (set, restriction) in self.restrictions.iter_mut().enumerate() {
            if let Outdated::Edges(edges) = &outdated
                && restriction.is_complete(&self.tree)
            {
                for state in self.partitions.iter_mut().filter(|partition| partition.set == set) {
                    for &edge in edges {
                        let image = restriction.update_edge(&self.tree, state.tree.tree(), edge);
                        if is_shared {
                            state.set_brlen(image, self.tree.brlen(edge));
                        }
                    }
                }
                continue;
            }
            let mut lengths: Option<Vec<f64>> = None;
            for state in self.partitions.iter_mut().filter(|partition| partition.set == set) {
                let lengths = lengths
                    .get_or_insert_with(|| restriction.update(&self.tree, state.tree.tree()));
                if is_shared {
                    state.set_brlens(lengths);
                }
            }
        }
    }

    /// Sets the length of an edge of the global tree (under linked and scaled lengths).
    pub fn set_brlen(&mut self, edge: EdgeId, length: f64) {
        self.tree.set_brlen(edge, length);
        self.outdated.mark([edge]);
        self.update_restrictions();
    }

    /// Panics if a CLV marked as valid differs in any bit from the same CLV recomputed (for tests).
    pub fn assert_clvs(&mut self) {
        for partition in 0..self.partitions.len() {
            let state = &self.partitions[partition];
            let num_tips = state.tree.tree().num_tips() as u32;
            let valid: Vec<NodeId> = state
                .tree
                .tree()
                .nodes()
                .filter(|node| node.0 >= num_tips && state.tree.is_valid(*node))
                .collect();
            let mut clv = |node: &NodeId| {
                let clv = self.compute(|engine| engine.clv(partition, node.0 - num_tips));
                clv.expect("the engine works")
            };
            let kept: Vec<_> = valid.iter().map(&mut clv).collect();
            self.partitions[partition].tree.invalidate();
            self.update_partials(&[partition]).expect("the engine works");
            for (node, kept) in valid.iter().zip(kept) {
                let fresh = self.compute(|engine| engine.clv(partition, node.0 - num_tips));
                let fresh = fresh.expect("the engine works");
                assert_eq!(kept, fresh, "CLV of {node:?} of partition {partition}");
            }
        }
    }

    /// Panics if a restricted tree, a map of edges or a branch length differs from one built anew (for tests).
    pub fn assert_integrity(&self) {
        self.tree.assert_integrity();
        for state in &self.partitions {
            let kept = &self.restrictions[state.set];
            state.tree.tree().assert_integrity();
            if kept.taxa().len() < 2 {
                continue;
            }
            let (fresh, local) = Restriction::new(&self.tree, kept.taxa());
            assert!(
                crate::tree::same_topology(&local, state.tree.tree()),
                "the topology of T|g differs"
            );
            // The numbers of inner nodes and edges may differ between the two trees, so the new restriction
            // is first mapped onto the kept tree.
            let mut again = fresh;
            let lengths = again.update(&self.tree, state.tree.tree());
            if matches!(&self.outdated, Outdated::Edges(edges) if edges.is_empty()) {
                for edge in self.tree.edges() {
                    assert_eq!(again.image(edge), kept.image(edge), "image of {edge:?}");
                }
                if !self.linkage.has_own_lengths() {
                    assert_eq!(all_brlens(state.tree.tree()), lengths, "lengths of T|g");
                }
            }
        }
    }
}
