//! The tree, its genes and the engine as one: their state, and likelihoods.
//!
//! The evaluator owns the global tree, every gene's restricted tree and which CLVs are stale. It
//! decides what has to be computed and gives the engine whole programs of it.

use super::brlens::{all_brlens, changed_brlens};
use super::gene_state::GeneState;
use super::gene_tree::GeneTree;
use super::linkage::BrlenLinkage;
use crate::likelihood::engine::{Capabilities, Engine, GeneData, Result, TraversalDescriptor};
use crate::model::Model;
use crate::tree::{EdgeId, NodeId, Restriction, Tree};

/// When and how far branch lengths are optimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchOptions {
    /// Most sweeps over all branches.
    pub max_sweeps: usize,
    /// A sweep that gains less than this (log units) is the last.
    pub lnl_epsilon: f64,
    /// A branch is left when a further Newton step promises less than this (log units).
    pub gain_tolerance: f64,
}

/// A tree with genes whose likelihood can be computed and improved.
pub struct Evaluator {
    pub(super) tree: Tree,
    pub(super) linkage: BrlenLinkage,
    pub(super) genes: Vec<GeneState>,
    pub(super) restrictions: Vec<Restriction>,
    /// False when global lengths have changed since the restrictions' distances were computed.
    pub(super) distances_valid: bool,
    /// Used by [`Evaluator::compute`] alone.
    engine: Box<dyn Engine>,
    /// Genes whose models the engine does not have yet.
    new_models: Vec<usize>,
}

impl Evaluator {
    /// An evaluator for a tree. Per gene: its data, the taxa (tips of `tree`, ascending) that its
    /// data belong to, and its model. `engine` was made for the same data.
    pub fn new(
        tree: Tree,
        genes: Vec<(&GeneData, &[usize], Model)>,
        linkage: BrlenLinkage,
        engine: Box<dyn Engine>,
    ) -> Self {
        let mut restrictions: Vec<Restriction> = Vec::new();
        let mut locals: Vec<Tree> = Vec::new();
        let mut states = Vec::new();
        for (data, taxa, model) in genes {
            assert_eq!(data.num_tips(), taxa.len(), "one row of codes per taxon");
            let set = restrictions.iter().position(|r| r.taxa() == taxa).unwrap_or_else(|| {
                let (restriction, local) = Restriction::new(&tree, taxa);
                restrictions.push(restriction);
                locals.push(local);
                restrictions.len() - 1
            });
            states.push(GeneState::new(set, locals[set].clone(), data, model));
        }
        let new_models = (0..states.len()).collect();
        let distances_valid = true;
        let genes = states;
        Evaluator { tree, linkage, genes, restrictions, distances_valid, engine, new_models }
    }

    /// Goes on with another engine that was made for the same data: everything will be computed afresh.
    pub fn set_engine(&mut self, engine: Box<dyn Engine>) {
        self.engine = engine;
        self.lose_vectors();
    }

    /// The engine has nothing any more.
    fn lose_vectors(&mut self) {
        self.new_models = (0..self.genes.len()).collect();
        for state in &mut self.genes {
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Lets the engine work. After an error all that it had computed counts as lost.
    pub(super) fn compute<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Engine) -> Result<T>,
    ) -> Result<T> {
        let mut result = Ok(());
        if !self.new_models.is_empty() {
            self.new_models.sort_unstable();
            self.new_models.dedup();
            let num_taxa = |gene: usize| self.restrictions[self.genes[gene].set].taxa().len();
            self.new_models.retain(|&gene| num_taxa(gene) >= 2);
            let model = |&gene: &usize| (gene, &self.genes[gene].model);
            let models: Vec<(usize, &Model)> = self.new_models.iter().map(model).collect();
            result = self.engine.set_models(&models);
            self.new_models.clear();
        }
        let result = result.and_then(|()| work(self.engine.as_mut()));
        if result.is_err() {
            self.lose_vectors();
        }
        result
    }

    /// The global tree. Under unlinked lengths its lengths are those it was given, or the last call
    /// of [`Evaluator::average_brlens`].
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// How genes share lengths.
    pub fn linkage(&self) -> BrlenLinkage {
        self.linkage
    }

    /// Number of genes.
    pub fn num_genes(&self) -> usize {
        self.genes.len()
    }

    /// Number of taxa with data in a gene.
    pub fn num_taxa_of(&self, gene: usize) -> usize {
        self.restrictions[self.genes[gene].set].taxa().len()
    }

    /// Number of sites of a gene: the sum of its pattern weights.
    pub fn num_sites_of(&self, gene: usize) -> f64 {
        self.genes[gene].num_sites
    }

    /// A gene's restricted tree, and the taxa that its tips are. Lengths are without the scaler.
    pub fn gene_tree(&self, gene: usize) -> (&Tree, &[usize]) {
        let state = &self.genes[gene];
        (state.tree.tree(), self.restrictions[state.set].taxa())
    }

    /// A gene's model.
    pub fn model(&self, gene: usize) -> &Model {
        &self.genes[gene].model
    }

    /// A gene's branch length scaler.
    pub fn brlen_scaler(&self, gene: usize) -> f64 {
        self.genes[gene].brlen_scaler
    }

    /// What computes.
    pub fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    /// Replaces the weights of a gene's patterns, in their order: a replicate of the same sites.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn set_pattern_weights(&mut self, gene: usize, weights: &[f64]) -> Result<()> {
        self.compute(|engine| engine.set_pattern_weights(gene, weights))?;
        self.genes[gene].set_pattern_weights(weights);
        Ok(())
    }

    /// Sets a gene's model, with as many rate categories as before. The engine gets it, with all others
    /// that were set, when something is to be computed.
    pub fn set_model(&mut self, gene: usize, model: &Model) {
        self.new_models.push(gene);
        let state = &mut self.genes[gene];
        state.model.clone_from(model);
        state.tree.invalidate();
        state.lnl = None;
    }

    /// Sets a gene's scaler.
    pub fn set_brlen_scaler(&mut self, gene: usize, scaler: f64) {
        let state = &mut self.genes[gene];
        if state.brlen_scaler != scaler {
            state.brlen_scaler = scaler;
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Goes over to another tree of the same taxa, with its lengths. Unlinked genes start with the
    /// path sums of that tree.
    pub fn set_tree(&mut self, tree: Tree) {
        self.tree = tree;
        for set in 0..self.restrictions.len() {
            let taxa = self.restrictions[set].taxa().to_vec();
            let (restriction, local) = Restriction::new(&self.tree, &taxa);
            self.restrictions[set] = restriction;
            for gene in self.genes.iter_mut().filter(|gene| gene.set == set) {
                gene.tree = GeneTree::new(local.clone());
                gene.lnl = None;
            }
        }
        self.distances_valid = true;
    }

    /// Lets every gene have its own lengths from now on; they start as the path sums of now, times
    /// the gene's scaler.
    pub fn unlink(&mut self) {
        self.update_restrictions();
        self.linkage = BrlenLinkage::Unlinked;
        for state in &mut self.genes {
            let scaler = std::mem::replace(&mut state.brlen_scaler, 1.0);
            let lengths = changed_brlens(state.tree.tree(), |length, _| scaler * length);
            state.set_brlens(&lengths);
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Gives a gene of an unlinked evaluator its lengths: those of a tree with the same topology as
    /// its restricted tree (tip numbers are those of the gene). Says if the topologies agree.
    pub fn set_gene_brlens(&mut self, gene: usize, tree: &Tree) -> bool {
        let state = &mut self.genes[gene];
        let all: Vec<usize> = (0..tree.num_tips()).collect();
        // Both trees seen from the same tip: the map of one onto the other is total, and every
        // edge lies on a path; they agree if no induced node is met that the other lacks.
        let same = tree.num_tips() == state.tree.tree().num_tips()
            && crate::tree::same_topology(tree, state.tree.tree());
        if same && tree.num_tips() >= 2 {
            let mut restriction = Restriction::new(tree, &all).0;
            let lengths = restriction.update(tree, state.tree.tree());
            state.set_brlens(&lengths);
        }
        same
    }

    /// Global edges that no gene's data say anything about.
    pub fn undetermined_edges(&self) -> Vec<EdgeId> {
        let informs = |restriction: &Restriction, edge| {
            restriction.taxa().len() >= 2 && restriction.is_on_path(edge)
        };
        self.tree
            .edges()
            .filter(|&edge| !self.restrictions.iter().any(|r| informs(r, edge)))
            .collect()
    }

    /// Log-likelihood of the tree: the sum over genes, in order.
    ///
    /// # Errors
    /// Here as in all that computes: the engine has failed. Tree, lengths and models are then those of
    /// the moment, and everything can be computed again, be it with [another](Evaluator::set_engine).
    pub fn log_likelihood(&mut self) -> Result<f64> {
        Ok(self.gene_log_likelihoods()?.iter().sum())
    }

    /// Log-likelihood of each gene.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn gene_log_likelihoods(&mut self) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..self.genes.len()).collect();
        self.log_likelihoods_of(&all)
    }

    /// Log-likelihoods of some genes; only what is stale is computed.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn log_likelihoods_of(&mut self, genes: &[usize]) -> Result<Vec<f64>> {
        let wanted: Vec<usize> =
            genes.iter().copied().filter(|&gene| self.genes[gene].lnl.is_none()).collect();
        self.update_partials(&wanted)?;
        let mut jobs = Vec::new();
        for gene in wanted {
            match self.num_taxa_of(gene) {
                0 => self.genes[gene].lnl = Some(0.0),
                1 => self.genes[gene].lnl = Some(self.genes[gene].single_taxon_lnl()),
                _ => jobs.push(self.genes[gene].root_job(gene)),
            }
        }
        let lnls = self.compute(|engine| engine.log_likelihoods(&jobs))?;
        for (job, lnl) in jobs.iter().zip(lnls) {
            self.genes[job.gene].lnl = Some(lnl);
        }
        Ok(genes.iter().map(|&gene| self.genes[gene].lnl.expect("just computed")).collect())
    }

    /// Log-likelihood of every pattern of a gene (unweighted).
    ///
    /// # Errors
    /// The engine has failed.
    pub fn pattern_log_likelihoods(&mut self, gene: usize) -> Result<Vec<f64>> {
        match self.num_taxa_of(gene) {
            0 => Ok(Vec::new()),
            1 => Ok(self.genes[gene].single_taxon_patterns().map(|(lnl, _)| lnl).collect()),
            _ => {
                self.update_partials(&[gene])?;
                let job = self.genes[gene].root_job(gene);
                self.compute(|engine| engine.pattern_log_likelihoods(&job))
            }
        }
    }

    /// Brings all CLVs of some genes up to date.
    pub(super) fn update_partials(&mut self, genes: &[usize]) -> Result<()> {
        let mut descriptors = Vec::new();
        let mut operations = Vec::new();
        for &gene in genes {
            let state = &mut self.genes[gene];
            operations.clear();
            state.tree.take_stale(&mut operations);
            if !operations.is_empty() {
                let operations = operations.iter().map(|o| state.with_lengths(o)).collect();
                descriptors.push(TraversalDescriptor { gene, operations });
            }
        }
        match descriptors.is_empty() {
            true => Ok(()),
            false => self.compute(|engine| engine.update_partials(&descriptors)),
        }
    }

    /// Drops everything computed: the next likelihood starts from nothing, at a canonical root. A
    /// value computed after this does not depend on what was done before.
    pub fn forget(&mut self) {
        for state in &mut self.genes {
            if state.tree.root() != EdgeId::NONE {
                let edge = state.tree.tree().links(NodeId(0)).next().expect("a tip has an edge").1;
                state.tree.move_root(edge);
            }
            state.tree.invalidate();
            state.lnl = None;
        }
    }

    /// Moves a gene's virtual root (for tests and benches: the likelihood does not depend on it).
    pub fn set_virtual_root(&mut self, gene: usize, edge: EdgeId) {
        self.genes[gene].tree.move_root(edge);
        self.genes[gene].lnl = None;
    }

    /// Brings distances on the restricted trees, and under linked and scaled lengths the lengths of
    /// the restricted trees, up to date with the global tree.
    pub(super) fn update_restrictions(&mut self) {
        if self.distances_valid {
            return;
        }
        for (set, restriction) in self.restrictions.iter_mut().enumerate() {
            let mut lengths: Option<Vec<f64>> = None;
            for state in self.genes.iter_mut().filter(|gene| gene.set == set) {
                let lengths = lengths
                    .get_or_insert_with(|| restriction.update(&self.tree, state.tree.tree()));
                if !self.linkage.has_own_lengths() {
                    state.set_brlens(lengths);
                }
            }
        }
        self.distances_valid = true;
    }

    /// Sets a global length (linked and scaled).
    pub fn set_brlen(&mut self, edge: EdgeId, length: f64) {
        self.tree.set_brlen(edge, length);
        self.distances_valid = false;
        self.update_restrictions();
    }

    /// Panics if a CLV that counts as valid differs in any bit from one computed afresh.
    pub fn assert_clvs(&mut self) {
        for gene in 0..self.genes.len() {
            let state = &self.genes[gene];
            let num_tips = state.tree.tree().num_tips() as u32;
            let valid: Vec<NodeId> = state
                .tree
                .tree()
                .nodes()
                .filter(|node| node.0 >= num_tips && state.tree.is_valid(*node))
                .collect();
            let mut clv = |node: &NodeId| {
                let clv = self.compute(|engine| engine.clv(gene, node.0 - num_tips));
                clv.expect("the engine works")
            };
            let kept: Vec<_> = valid.iter().map(&mut clv).collect();
            self.genes[gene].tree.invalidate();
            self.update_partials(&[gene]).expect("the engine works");
            for (node, kept) in valid.iter().zip(kept) {
                let fresh = self.compute(|engine| engine.clv(gene, node.0 - num_tips));
                let fresh = fresh.expect("the engine works");
                assert_eq!(kept, fresh, "CLV of {node:?} of gene {gene}");
            }
        }
    }

    /// Panics if a restricted tree, a map or a length differs from one built afresh.
    pub fn assert_integrity(&self) {
        self.tree.assert_integrity();
        for state in &self.genes {
            let kept = &self.restrictions[state.set];
            state.tree.tree().assert_integrity();
            if kept.taxa().len() < 2 {
                continue;
            }
            let (fresh, local) = Restriction::new(&self.tree, kept.taxa());
            assert!(crate::tree::same_topology(&local, state.tree.tree()), "topology of T|g");
            // Numbers of inner nodes and edges differ between the two; what they stand for must not:
            // the map made afresh onto the kept tree is the kept map.
            let mut again = fresh;
            let lengths = again.update(&self.tree, state.tree.tree());
            if self.distances_valid {
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
