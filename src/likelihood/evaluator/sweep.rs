//! Branch-length optimisation: makes programs for the engine with the branches in their order.

use super::evaluator::{BranchOptions, Evaluator};
use super::gene_state::GeneState;
use super::length_sets::LengthSet;
use super::moves::{ChangedLength, SubtreeMove};
use crate::likelihood::engine::{Result, SweepGene, SweepJob, SweepProgram, SweepStep};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// The branches and edges of a sweep, by their numbers in its program.
struct Swept {
    /// The lengths that are optimised.
    set: LengthSet,
    /// The branches.
    branches: Vec<EdgeId>,
    /// For each gene of the program, the edges of its tree that the program uses.
    edges: Vec<Vec<EdgeId>>,
}

impl Evaluator {
    /// Optimises all branch lengths in sweeps of Newton-Raphson over all branches, until a sweep gains less
    /// than `lnl_epsilon`. First, lengths are set to within
    /// [`BRLEN_BOUNDS`](crate::likelihood::BRLEN_BOUNDS). Returns the log-likelihood, which is not lower than
    /// that of the tree with these lengths.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn optimize_branches(&mut self, options: &BranchOptions) -> Result<f64> {
        self.clamp_brlens();
        let mut active: Vec<usize> =
            (0..self.genes.len()).filter(|&gene| self.num_taxa_of(gene) >= 2).collect();
        for _ in 0..options.max_sweeps {
            let before = self.gene_log_likelihoods()?;
            self.sweep_all(&active, options.gain_tolerance)?;
            let after = self.gene_log_likelihoods()?;
            let gain = |gene: &usize| after[*gene] - before[*gene];
            let total: f64 = active.iter().map(gain).sum();
            if total < options.lnl_epsilon {
                break;
            }
            if self.linkage.has_own_lengths() {
                // Genes converge independently; a gene continues if its gain is a relevant part of epsilon.
                let share = options.lnl_epsilon / active.len().max(1) as f64;
                active.retain(|gene| gain(gene) >= share);
            }
        }
        self.log_likelihood()
    }

    /// One sweep over all branches of the global tree or, under unlinked lengths, of the trees of `genes`.
    fn sweep_all(&mut self, genes: &[usize], gain_tolerance: f64) -> Result<()> {
        let sets: Vec<LengthSet> = match self.linkage.has_own_lengths() {
            true => genes.iter().map(|&gene| LengthSet::Own(gene)).collect(),
            false => vec![LengthSet::Shared],
        };
        let mut sweeps = Vec::with_capacity(sets.len());
        for set in sets {
            let edges = depth_first(self.tree_of(set));
            sweeps.push(self.sweep(set, &edges, gain_tolerance));
        }
        self.run_sweeps(sweeps)?;
        Ok(())
    }

    /// Optimises the branches around the new and the old position of a moved subtree, in the global tree or,
    /// under unlinked lengths, in each restricted tree that has changed: the three branches at the new
    /// position and the merged one at the old, and for `radius` > 0 all branches within `radius` edges of these
    /// positions.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn optimize_around(
        &mut self,
        moved: &mut SubtreeMove,
        radius: usize,
        gain_tolerance: f64,
    ) -> Result<()> {
        let mut sweeps = Vec::new();
        for set in self.length_sets() {
            if let Some((pruned, regraft)) = moved.of(set) {
                let edges = around(self.tree_of(set), &pruned, &regraft, radius);
                sweeps.push(self.sweep(set, &edges, gain_tolerance));
            }
        }
        moved.lengths.extend(self.run_sweeps(sweeps)?);
        Ok(())
    }

    /// Optimises the lengths of these edges of the global tree, in their order; under unlinked lengths, those of the
    /// edges of restricted trees on whose paths they are.
    ///
    /// # Errors
    /// The engine has failed.
    pub(crate) fn optimize_edges(&mut self, edges: &[EdgeId], gain_tolerance: f64) -> Result<()> {
        let mut sweeps = Vec::new();
        for set in self.length_sets() {
            let edges = match set {
                LengthSet::Shared => edges.to_vec(),
                LengthSet::Own(gene) => {
                    let restriction = &self.restrictions[self.genes[gene].set];
                    let mut own = Vec::new();
                    for &edge in edges.iter().filter(|&&edge| restriction.is_on_path(edge)) {
                        let image = restriction.image(edge).edge;
                        if !own.contains(&image) {
                            own.push(image);
                        }
                    }
                    own
                }
            };
            sweeps.push(self.sweep(set, &edges, gain_tolerance));
        }
        self.run_sweeps(sweeps)?;
        Ok(())
    }

    /// A sweep that optimises the given edges of a set's tree, in their order.
    fn sweep(
        &mut self,
        set: LengthSet,
        edges: &[EdgeId],
        gain_tolerance: f64,
    ) -> (Swept, SweepProgram) {
        self.update_restrictions();
        let mut program = SweepProgram::new(Vec::new(), gain_tolerance);
        let mut branches = Vec::new();
        let members: Vec<usize> = match set {
            LengthSet::Shared => {
                (0..self.genes.len()).filter(|&gene| self.num_taxa_of(gene) >= 2).collect()
            }
            LengthSet::Own(gene) => vec![gene],
        };
        for &edge in edges {
            let first = program.jobs.len();
            for (member, &gene) in members.iter().enumerate() {
                let edge = match set {
                    LengthSet::Shared => {
                        let restriction = &self.restrictions[self.genes[gene].set];
                        if !restriction.is_on_path(edge) {
                            continue;
                        }
                        restriction.image(edge).edge
                    }
                    LengthSet::Own(_) => edge,
                };
                let job = self.sweep_job(member, gene, edge, &mut program);
                program.jobs.push(job);
            }
            if program.jobs.len() > first {
                let jobs = first..program.jobs.len();
                program.steps.push(SweepStep { jobs, branch: branches.len() as u32 });
                program.brlens.push(self.tree_of(set).brlen(edge));
                branches.push(edge);
            }
        }
        let mut edges = Vec::with_capacity(members.len());
        for gene in members {
            let state = &mut self.genes[gene];
            let own = state.numbers.take();
            let brlens = own.iter().map(|&edge| state.tree.tree().brlen(edge)).collect();
            program.genes.push(SweepGene { gene, brlen_scaler: state.brlen_scaler, brlens });
            edges.push(own);
        }
        (Swept { set, branches, edges }, program)
    }

    /// Moves the gene's virtual root to an edge, in the gene's state and by updates in the program. A length
    /// that changes while its edge is the virtual root makes no CLV stale.
    fn sweep_job(
        &mut self,
        member: usize,
        gene: usize,
        edge: EdgeId,
        program: &mut SweepProgram,
    ) -> SweepJob {
        let GeneState { tree, numbers, .. } = &mut self.genes[gene];
        tree.move_root(edge);
        let first = program.operations.len();
        tree.take_stale(&mut program.operations);
        for operation in &mut program.operations[first..] {
            operation.edges = operation.edges.map(|edge| numbers.of(EdgeId(edge)));
        }
        SweepJob {
            member,
            operations: first..program.operations.len(),
            ends: tree.root_ends(),
            edge: numbers.of(edge),
        }
    }

    /// Runs sweeps and adopts their lengths. Returns these with their values before.
    fn run_sweeps(&mut self, sweeps: Vec<(Swept, SweepProgram)>) -> Result<Vec<ChangedLength>> {
        let with_steps = sweeps.into_iter().filter(|(_, program)| !program.steps.is_empty());
        let (swept, mut programs): (Vec<_>, Vec<_>) = with_steps.unzip();
        self.compute(|engine| engine.optimize_branches(&mut programs))?;
        let mut changed = Vec::new();
        for (Swept { set, branches, edges }, program) in swept.into_iter().zip(programs) {
            for &edge in &branches {
                changed.push(ChangedLength { set, edge, before: self.tree_of(set).brlen(edge) });
            }
            for (member, edges) in program.genes.iter().zip(edges) {
                let state = &mut self.genes[member.gene];
                for (edge, &length) in edges.into_iter().zip(&member.brlens) {
                    state.tree.adopt_brlen(edge, length);
                }
                state.lnl = None;
            }
            if set == LengthSet::Shared {
                for (&edge, &length) in branches.iter().zip(&program.brlens) {
                    self.tree.set_brlen(edge, length);
                }
                // The restricted trees already have their new lengths; distances along them are outdated.
                self.outdated.mark(branches);
            }
        }
        Ok(changed)
    }
}
/// The edges that [`Evaluator::optimize_around`] optimises, those nearest to the two positions first.
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

/// All edges in depth-first order from tip 0: consecutive edges are close, so few CLVs change direction.
fn depth_first(tree: &Tree) -> Vec<EdgeId> {
    match tree.links(NodeId(0)).next() {
        Some((neighbour, edge)) => {
            tree.preorder(neighbour, edge).into_iter().map(|(_, edge)| edge).collect()
        }
        None => Vec::new(),
    }
}
