//! Branch-length optimisation: which branches in which order, as programs for the engine.

use super::evaluator::{BranchOptions, BrlenLinkage, Evaluator};
use super::moves::SubtreeMove;
use super::operation::{SweepGene, SweepJob, SweepProgram, SweepStep};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

impl Evaluator {
    /// Optimises all branch lengths, sweep after sweep, until a sweep gains less than the epsilon.
    /// Returns the log-likelihood, which is never lower than that with all lengths within
    /// [`super::BRLEN_BOUNDS`].
    pub fn optimize_branches(&mut self, options: &BranchOptions) -> f64 {
        self.clamp_brlens();
        let mut active: Vec<usize> =
            (0..self.genes.len()).filter(|&gene| self.num_taxa_of(gene) >= 2).collect();
        for _ in 0..options.max_sweeps {
            let before = self.gene_log_likelihoods();
            self.sweep_all(&active, options.gain_tolerance);
            let after = self.gene_log_likelihoods();
            let gain = |gene: &usize| after[*gene] - before[*gene];
            let total: f64 = active.iter().map(gain).sum();
            if total < options.lnl_epsilon {
                break;
            }
            if self.linkage == BrlenLinkage::Unlinked {
                // Each gene stops on its own: what it still gains must matter to the whole.
                let share = options.lnl_epsilon / active.len().max(1) as f64;
                active.retain(|gene| gain(gene) >= share);
            }
        }
        self.log_likelihood()
    }

    /// One sweep over every branch of the global tree, or of each of `genes` when unlinked.
    fn sweep_all(&mut self, genes: &[usize], gain_tolerance: f64) {
        if self.linkage == BrlenLinkage::Unlinked {
            let programs = genes
                .iter()
                .map(|&gene| {
                    let edges = depth_first(self.genes[gene].tree.tree());
                    self.gene_program(gene, &edges, gain_tolerance)
                })
                .collect();
            self.run_sweeps(programs);
        } else {
            let edges = depth_first(&self.tree);
            let program = self.linked_program(&edges, gain_tolerance);
            self.run_sweeps(vec![program]);
        }
    }

    /// Optimises the branches around a moved subtree's new and old place, in every gene whose tree
    /// has changed: with `radius` 0 the three at the new place and the one left behind, else all
    /// within so many edges of the two.
    pub fn optimize_around(&mut self, moved: &SubtreeMove, radius: usize, gain_tolerance: f64) {
        if self.linkage == BrlenLinkage::Unlinked {
            let mut programs = Vec::new();
            for gene in 0..self.genes.len() {
                if let Some((pruned, regraft)) = &moved.genes[gene] {
                    let edges = around(self.genes[gene].tree.tree(), pruned, regraft, radius);
                    programs.push(self.gene_program(gene, &edges, gain_tolerance));
                }
            }
            self.run_sweeps(programs);
        } else {
            let edges = around(&self.tree, &moved.pruned, &moved.regraft, radius);
            self.optimize_edges(&edges, gain_tolerance);
        }
    }

    /// Optimises some branches of the global tree, in the given order (linked and scaled).
    pub fn optimize_edges(&mut self, edges: &[EdgeId], gain_tolerance: f64) {
        debug_assert!(
            self.linkage != BrlenLinkage::Unlinked,
            "global edges have no length of their own"
        );
        let program = self.linked_program(edges, gain_tolerance);
        self.run_sweeps(vec![program]);
    }

    fn gene_program(&mut self, gene: usize, edges: &[EdgeId], gain_tolerance: f64) -> SweepProgram {
        let mut program = SweepProgram::empty(gain_tolerance);
        program.genes.push(self.sweep_gene(gene));
        for &edge in edges {
            let job = self.sweep_job(0, gene, edge, &mut program);
            program.jobs.push(job);
            let jobs = program.jobs.len() - 1..program.jobs.len();
            let brlen = self.genes[gene].tree.tree().brlen(edge);
            program.steps.push(SweepStep { jobs, brlen, edge: edge.0 });
        }
        program
    }

    fn linked_program(&mut self, edges: &[EdgeId], gain_tolerance: f64) -> SweepProgram {
        self.update_restrictions();
        let mut program = SweepProgram::empty(gain_tolerance);
        let members: Vec<usize> =
            (0..self.genes.len()).filter(|&gene| self.num_taxa_of(gene) >= 2).collect();
        program.genes = members.iter().map(|&gene| self.sweep_gene(gene)).collect();
        for &edge in edges {
            let first = program.jobs.len();
            for (member, &gene) in members.iter().enumerate() {
                let restriction = &self.restrictions[self.genes[gene].set];
                if restriction.is_on_path(edge) {
                    let image = restriction.image(edge).edge;
                    let job = self.sweep_job(member, gene, image, &mut program);
                    program.jobs.push(job);
                }
            }
            if program.jobs.len() > first {
                let jobs = first..program.jobs.len();
                let brlen = self.tree.brlen(edge);
                program.steps.push(SweepStep { jobs, brlen, edge: edge.0 });
            }
        }
        program
    }

    pub(super) fn sweep_gene(&self, gene: usize) -> SweepGene {
        let state = &self.genes[gene];
        let tree = state.tree.tree();
        SweepGene {
            gene,
            brlen_scaler: state.brlen_scaler,
            brlens: tree.edges().map(|edge| tree.brlen(edge)).collect(),
        }
    }

    /// Turns the gene's CLVs to an edge, for real in its state and as operations in the program: a
    /// length that changes while its edge is the virtual root makes no CLV stale.
    pub(super) fn sweep_job(
        &mut self,
        member: usize,
        gene: usize,
        edge: EdgeId,
        program: &mut SweepProgram,
    ) -> SweepJob {
        let state = &mut self.genes[gene];
        state.tree.move_root(edge);
        let first = program.operations.len();
        state.tree.take_stale(&mut program.operations);
        SweepJob {
            member,
            operations: first..program.operations.len(),
            ends: state.tree.root_ends(),
            edge: edge.0,
        }
    }

    fn run_sweeps(&mut self, mut programs: Vec<SweepProgram>) {
        programs.retain(|program| !program.steps.is_empty());
        self.engine.optimize_branches(&mut programs);
        for program in programs {
            for member in &program.genes {
                let state = &mut self.genes[member.gene];
                state.tree.adopt_brlens(&member.brlens);
                state.lnl = None;
            }
            if self.linkage != BrlenLinkage::Unlinked {
                for step in &program.steps {
                    self.tree.set_brlen(EdgeId(step.edge), step.brlen);
                }
                // The restricted trees have their new lengths already; distances along them do not.
                self.distances_valid = false;
            }
        }
    }
}

/// The edges that [`Evaluator::optimize_around`] optimises, those nearest to the places first.
fn around(
    tree: &Tree,
    pruned: &PrunedSubtree,
    regraft: &RegraftUndo,
    radius: usize,
) -> Vec<EdgeId> {
    let mut edges = vec![pruned.pendant, regraft.target, pruned.spare];
    if regraft.target != pruned.merged {
        edges.push(pruned.merged);
    }
    if radius > 0 {
        for place in [pruned.pendant, pruned.merged] {
            for (edge, _) in tree.edges_within(place, radius) {
                if !edges.contains(&edge) {
                    edges.push(edge);
                }
            }
        }
    }
    edges
}

/// All edges in depth-first order from tip 0: each next edge is near the last, so few CLVs turn.
fn depth_first(tree: &Tree) -> Vec<EdgeId> {
    match tree.links(NodeId(0)).next() {
        Some((neighbour, edge)) => {
            tree.preorder(neighbour, edge).into_iter().map(|(_, edge)| edge).collect()
        }
        None => Vec::new(),
    }
}
