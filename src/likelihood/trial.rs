//! A regraft position with its lengths optimised, while the tree stays as it is.
//!
//! Three branches meet where the subtree is put. Their far ends are vectors that do not change while
//! the three are optimised: the subtree's, the CLV of one end of the candidate edge, and an up-vector
//! of the other. So Newton-Raphson goes from one to the other of the three, each time combining the
//! other two into one vector, in spare slots. Nothing has to be turned, moved or taken back; most
//! positions that look good without optimisation are turned down after it.

use super::evaluator::{BrlenLinkage, Evaluator};
use super::insertion::Prune;
use super::moves::{SubtreeMove, all_brlens, halve};
use super::operation::{
    EdgeJob, Source, SweepGene, SweepJob, SweepOperation, SweepProgram, SweepStep,
};
use super::place::{Arm, Place, PrunedGene};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// What is optimised first: the subtree's branch, which scoring has not looked at.
const FIRST: [Branch; 1] = [Branch::Pendant];
/// What is optimised then, if it is worth it; the last branch touches every gene that moves.
const REST: [Branch; 3] = [Branch::Near, Branch::Far, Branch::Pendant];

/// A branch at the new place: to the subtree, the half of the candidate edge nearer to the old place,
/// or the other half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    Near,
    Far,
    Pendant,
}

/// Lengths around a new place.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lengths {
    near: f64,
    far: f64,
    pendant: f64,
    merged: f64,
}

/// A position that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Log-likelihood of the whole tree with the subtree there, at the lengths found.
    pub lnl: f64,
    candidate: EdgeId,
    /// Of the global tree (linked and scaled).
    lengths: Option<Lengths>,
    /// Of each gene's tree whose topology changes (unlinked).
    gene_lengths: Vec<Option<Lengths>>,
}

/// One gene that moves.
struct Member {
    index: usize,
    rest_is_tip: bool,
    halves: [Option<Arm>; 2],
    /// Number of the first edge that exists on trial only: the merged one, then the three arms.
    trial_edges: u32,
    /// Vectors at the far ends of the arms.
    ends: [Source; 3],
    /// Slot of the vector that combines two of them.
    centre: u32,
    /// Makes the up-vector among the ends; done by the first job.
    path: Vec<SweepOperation>,
}

impl Member {
    /// The gene with the number `index` in the program that it is appended to.
    fn new(gene: usize, pruned: &PrunedGene<'_>, place: Place, program: &mut SweepProgram) -> Self {
        let tree = pruned.tree();
        let gene_tree = &pruned.state.tree;
        let trial_edges = tree.num_edges() as u32;
        let rest_is_tip = pruned.rest_is_tip();
        let mut brlens = all_brlens(tree);
        brlens.push(if rest_is_tip { 0.0 } else { pruned.merged_length() });
        brlens.extend([place.split[0], place.split[1], place.pendant]);
        // Behind the CLVs of the tree: see `layout::num_slots`.
        let centre = tree.num_tips() as u32 - 2;
        let mut path = Vec::new();
        let subtree = gene_tree.source(pruned.subtree);
        let ends = match place.edge {
            _ if rest_is_tip => [gene_tree.source(pruned.attach); 2],
            None => pruned.parts().map(|(node, _)| gene_tree.source(node)),
            Some(edge) => {
                let up = push_path(pruned, edge, [centre + 1, centre + 2], trial_edges, &mut path);
                let far = tree.other_end(edge, gene_tree.near_end(edge));
                [up, gene_tree.source(far)]
            }
        };
        let index = program.genes.len();
        program.genes.push(SweepGene { gene, brlen_scaler: pruned.state.brlen_scaler, brlens });
        let ends = [ends[0], ends[1], subtree];
        Member { index, rest_is_tip, halves: place.halves, trial_edges, ends, centre, path }
    }

    /// The arm that a branch of the whole tree is part of, if it is of one.
    fn arm(&self, branch: Branch) -> Option<Arm> {
        match branch {
            Branch::Near => self.halves[0],
            Branch::Far => self.halves[1],
            Branch::Pendant => Some(Arm::Pendant),
        }
    }

    fn edge(&self, arm: Arm) -> u32 {
        self.trial_edges + 1 + arm as u32
    }

    fn push_job(&mut self, arm: Arm, program: &mut SweepProgram) {
        let first = program.operations.len();
        let mut ends = [self.ends[arm as usize], Source::Clv(self.centre)];
        if self.rest_is_tip {
            ends[1] = self.ends[Arm::First as usize];
        } else {
            let others = match arm {
                Arm::First => [Arm::Second, Arm::Pendant],
                Arm::Second => [Arm::First, Arm::Pendant],
                Arm::Pendant => [Arm::First, Arm::Second],
            };
            program.operations.append(&mut self.path);
            program.operations.push(SweepOperation {
                parent: self.centre,
                children: others.map(|other| self.ends[other as usize]),
                edges: others.map(|other| self.edge(other)),
            });
        }
        let operations = first..program.operations.len();
        let edge = self.edge(arm);
        program.jobs.push(SweepJob { member: self.index, operations, ends, edge });
    }
}

/// The updates that make the up-vector of an edge from the place the subtree hangs at, in the two slots
/// by turns; returns where it is then.
fn push_path(
    pruned: &PrunedGene<'_>,
    edge: EdgeId,
    slots: [u32; 2],
    merged: u32,
    path: &mut Vec<SweepOperation>,
) -> Source {
    let gene_tree = &pruned.state.tree;
    let mut edges = Vec::new();
    let mut next = edge;
    while !pruned.is_merged(next) {
        edges.push(next);
        next = gene_tree.toward(gene_tree.near_end(next));
    }
    let mut above = 0;
    for (i, edge) in edges.into_iter().rev().enumerate() {
        let parent = slots[i % 2];
        let node = pruned.tree().other_end(edge, gene_tree.near_end(edge));
        let sources = pruned.up_sources(node, edge);
        path.push(SweepOperation {
            parent,
            children: sources.map(|(source, _)| source.unwrap_or(Source::Clv(above))),
            edges: sources.map(|(_, edge)| edge.map_or(merged, |edge| edge.0)),
        });
        above = parent;
    }
    Source::Clv(above)
}

/// What is tried in genes that share their lengths: all of them, or one.
struct Attempt {
    program: SweepProgram,
    members: Vec<Member>,
    lengths: Lengths,
}

impl Attempt {
    /// Makes the program one of these branches in this order, from the lengths of now on. `passing` adds
    /// what genes that do not move have to do with a half of the candidate edge.
    fn plan(&mut self, branches: &[Branch], mut passing: impl FnMut(&mut SweepProgram)) {
        let program = &mut self.program;
        program.operations.clear();
        program.jobs.clear();
        program.steps.clear();
        for &branch in branches {
            let first = program.jobs.len();
            for member in &mut self.members {
                if let Some(arm) = member.arm(branch) {
                    member.push_job(arm, program);
                }
            }
            if branch != Branch::Pendant {
                passing(program);
            }
            let jobs = first..program.jobs.len();
            if !jobs.is_empty() {
                let brlen = *self.lengths.branch(branch);
                program.steps.push(SweepStep { jobs, brlen, edge: branch as u32 });
            }
        }
    }

    /// Takes over the lengths that the program ended with.
    fn take_lengths(&mut self) {
        for step in &self.program.steps {
            for branch in [Branch::Near, Branch::Far, Branch::Pendant] {
                if step.edge == branch as u32 {
                    *self.lengths.branch(branch) = step.brlen;
                }
            }
        }
    }
}

impl Evaluator {
    /// Optimises the three branches that meet where `prune`'s subtree is put into `candidate` (not one
    /// of the two edges that meet at its place), each until a Newton step promises less than
    /// `gain_tolerance` (log units). Ends after the first, the pendant branch, if the whole tree's
    /// log-likelihood is below `floor` then.
    pub fn try_insertion(
        &mut self,
        prune: &Prune,
        candidate: EdgeId,
        gain_tolerance: f64,
        floor: f64,
    ) -> Trial {
        self.turn_to_pruned(prune);
        let mut attempts = self.attempts(prune, candidate, gain_tolerance);
        // Of every gene; those that are tried follow.
        let mut lnls = prune.lnls.clone();
        let is_linked = self.linkage != BrlenLinkage::Unlinked;
        let mut passing = Vec::new();
        for branches in [&FIRST[..], &REST] {
            if is_linked && branches.len() > 1 {
                passing = self.passing_genes(prune, candidate, &mut attempts[0].program);
            }
            for attempt in &mut attempts {
                attempt.plan(branches, |program| {
                    for gene in &passing {
                        let job = self.sweep_job(gene.index, gene.gene, gene.edge, program);
                        program.jobs.push(job);
                    }
                });
            }
            self.run_attempts(&mut attempts, &mut lnls);
            if lnls.iter().sum::<f64>() < floor {
                break;
            }
        }
        self.finish_passing(&passing, &attempts, &mut lnls);
        let mut trial = Trial {
            lnl: lnls.iter().sum(),
            candidate,
            lengths: None,
            gene_lengths: vec![None; self.genes.len()],
        };
        for attempt in attempts {
            if is_linked {
                trial.lengths = Some(attempt.lengths);
            } else {
                let gene = attempt.program.genes[0].gene;
                trial.gene_lengths[gene] = Some(attempt.lengths);
            }
        }
        trial
    }

    fn attempts(&self, prune: &Prune, candidate: EdgeId, gain_tolerance: f64) -> Vec<Attempt> {
        let is_linked = self.linkage != BrlenLinkage::Unlinked;
        let mut attempts = Vec::new();
        if is_linked {
            let parts = self.tree.other_links(prune.attach, prune.pendant);
            let parts: f64 = parts.iter().map(|(_, edge)| self.tree.brlen(*edge)).sum();
            let [near, far] = halve(self.tree.brlen(candidate));
            let pendant = self.tree.brlen(prune.pendant);
            attempts.push(Attempt {
                program: SweepProgram::empty(gain_tolerance),
                members: Vec::new(),
                lengths: Lengths { near, far, pendant, merged: parts + prune.merged_change },
            });
        }
        for &gene in &prune.moving {
            let pruned = self.pruned_gene(prune, gene);
            let Some(place) = pruned.place(candidate) else {
                continue;
            };
            if !is_linked {
                let ([near, far], pendant) = (place.split, place.pendant);
                let merged = pruned.merged_length();
                attempts.push(Attempt {
                    program: SweepProgram::empty(gain_tolerance),
                    members: Vec::new(),
                    lengths: Lengths { near, far, pendant, merged },
                });
            }
            let attempt = attempts.last_mut().expect("one for all, or this gene's");
            let member = Member::new(gene, &pruned, place, &mut attempt.program);
            attempt.members.push(member);
        }
        attempts
    }

    /// Runs what is planned. The log-likelihood of all genes of an attempt is noted at its first gene.
    fn run_attempts(&mut self, attempts: &mut [Attempt], lnls: &mut [f64]) {
        let mut programs: Vec<SweepProgram> = attempts
            .iter_mut()
            .map(|attempt| std::mem::replace(&mut attempt.program, SweepProgram::empty(0.0)))
            .collect();
        self.engine.optimize_branches(&mut programs);
        for (attempt, program) in attempts.iter_mut().zip(programs) {
            attempt.program = program;
            attempt.take_lengths();
            let genes =
                attempt.members.iter().map(|member| attempt.program.genes[member.index].gene);
            let mut lnl = attempt.program.lnl;
            for gene in genes {
                lnls[gene] = std::mem::take(&mut lnl);
            }
        }
    }

    /// The log-likelihoods of genes that do not move, with the lengths that the candidate edge has got.
    fn finish_passing(&mut self, passing: &[Passing], attempts: &[Attempt], lnls: &mut [f64]) {
        if passing.is_empty() {
            return;
        }
        let members = &attempts[0].program.genes;
        let jobs: Vec<EdgeJob> = passing
            .iter()
            .map(|passing| {
                let SweepGene { gene, brlen_scaler, brlens } = &members[passing.index];
                let ends = self.genes[*gene].tree.root_ends();
                EdgeJob { gene: *gene, ends, brlen: brlen_scaler * brlens[passing.edge.index()] }
            })
            .collect();
        for (job, lnl) in jobs.iter().zip(self.engine.log_likelihoods(&jobs)) {
            lnls[job.gene] = lnl;
        }
        for passing in passing {
            // What was computed on the way contains the merged edge as it would be, not as it is.
            if let Some(merged) = passing.merged {
                self.genes[passing.gene].tree.set_stale_behind(merged);
            }
        }
    }

    /// Genes that do not move, but have the candidate edge on their way: the shape of their tree stays,
    /// and the edge's length matters.
    fn passing_genes(
        &self,
        prune: &Prune,
        candidate: EdgeId,
        program: &mut SweepProgram,
    ) -> Vec<Passing> {
        let mut found = Vec::new();
        for (gene, state) in self.genes.iter().enumerate() {
            let restriction = &self.restrictions[state.set];
            if prune.moving.contains(&gene)
                || restriction.taxa().len() < 2
                || !restriction.is_on_path(candidate)
            {
                continue;
            }
            let edge = restriction.image(candidate).edge;
            let mut member = self.sweep_gene(gene);
            let merged = self.passed_merged(prune, gene).filter(|_| prune.merged_change != 0.0);
            if let Some(merged) = merged {
                member.brlens[merged.index()] += prune.merged_change;
            }
            let index = program.genes.len();
            let merged = merged.filter(|merged| *merged != edge);
            found.push(Passing { index, gene, edge, merged });
            program.genes.push(member);
        }
        found
    }

    /// Puts the subtree where it was tried, with the lengths found there and left behind.
    pub fn insert(&mut self, prune: &Prune, trial: &Trial) -> SubtreeMove {
        let Prune { attach, pendant, .. } = *prune;
        let near = near_end(&self.tree, attach, trial.candidate);
        // Each gene's end of its candidate edge that is nearer to where the subtree hangs.
        let mut gene_near = vec![NodeId::NONE; self.genes.len()];
        for (gene, _) in trial.gene_lengths.iter().enumerate().filter(|(_, l)| l.is_some()) {
            let state = &mut self.genes[gene];
            let restriction = &self.restrictions[state.set];
            if let Some((edge, ..)) = state.pendant(restriction, attach, pendant) {
                state.tree.move_root(edge);
                gene_near[gene] = state.tree.near_end(restriction.image(trial.candidate).edge);
            }
        }
        let moved = self.move_subtree(attach, pendant, trial.candidate);
        if let Some(lengths) = &trial.lengths {
            for (edge, length) in lengths.of_edges(&moved.pruned, &moved.regraft, near) {
                self.tree.set_brlen(edge, length);
            }
            self.distances_valid = false;
            self.update_restrictions();
        }
        for (gene, lengths) in trial.gene_lengths.iter().enumerate() {
            if let (Some(lengths), Some((pruned, regraft))) = (lengths, &moved.genes[gene]) {
                let state = &mut self.genes[gene];
                for (edge, length) in lengths.of_edges(pruned, regraft, gene_near[gene]) {
                    state.tree.set_brlen(edge, length);
                }
                state.lnl = None;
            }
        }
        moved
    }
}

/// A gene that does not move, but has the candidate edge on its way.
struct Passing {
    index: usize,
    gene: usize,
    /// The gene's edge.
    edge: EdgeId,
    /// Another edge of the gene, whose length the prune changes.
    merged: Option<EdgeId>,
}

impl Lengths {
    fn branch(&mut self, branch: Branch) -> &mut f64 {
        match branch {
            Branch::Near => &mut self.near,
            Branch::Far => &mut self.far,
            Branch::Pendant => &mut self.pendant,
        }
    }

    /// The edges of a tree in which the move was made, with their lengths.
    fn of_edges(
        &self,
        pruned: &PrunedSubtree,
        regraft: &RegraftUndo,
        near: NodeId,
    ) -> [(EdgeId, f64); 4] {
        let [first, second] = if regraft.target_ends[0] == near {
            [self.near, self.far]
        } else {
            [self.far, self.near]
        };
        [
            (pruned.merged, self.merged),
            (regraft.target, first),
            (pruned.spare, second),
            (pruned.pendant, self.pendant),
        ]
    }
}

/// The end of an edge that is nearer to a node.
fn near_end(tree: &Tree, node: NodeId, edge: EdgeId) -> NodeId {
    let [first, second] = tree.ends(edge);
    if tree.path(node, first).contains(&edge) { second } else { first }
}
