//! Regraft positions with their lengths optimised, while the tree stays as it is.
//!
//! Three branches meet where the subtree is put. Their far ends are vectors that do not change while
//! the three are optimised: the subtree's, the vector of one end of the candidate edge, and an up-vector
//! of the other. So Newton-Raphson goes from one to the other of the three, each time combining the
//! other two into one temporary. Nothing has to be turned, moved or taken back; most positions that look
//! good without optimisation are turned down after it.

use super::brlens::{all_brlens, halve};
use super::evaluator::Evaluator;
use super::length_sets::LengthSet;
use super::moves::SubtreeMove;
use super::position::{Arm, Position, PrunedGene};
use super::prune::Prune;
use super::view::View;
use crate::likelihood::engine::{
    Result, SweepGene, SweepJob, SweepOperation, SweepProgram, SweepStep, TrialProgram, Vector,
};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// A branch at the new place: to the subtree, the half of the candidate edge nearer to the old place,
/// or the other half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    Near,
    Far,
    Pendant,
}

/// What is optimised, in this order. The subtree's branch comes first, because scoring has not looked at it,
/// and decides whether the others are worth it. The last branch touches every gene that moves.
const ORDER: [Branch; 4] = [Branch::Pendant, Branch::Near, Branch::Far, Branch::Pendant];

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
    ends: [Vector; 3],
    num_temporaries: u32,
    /// Makes what is not stored among the ends; done by the first job.
    path: Vec<SweepOperation>,
}

impl Member {
    /// The gene with the number `index` in the program that it is appended to.
    fn new(
        gene: usize,
        pruned: &PrunedGene<'_>,
        position: Position,
        program: &mut SweepProgram,
    ) -> Self {
        let (tree, view) = (pruned.tree(), &pruned.view);
        let trial_edges = tree.num_edges() as u32;
        let rest_is_tip = pruned.rest_is_tip();
        let mut brlens = all_brlens(tree);
        brlens.push(if rest_is_tip { 0.0 } else { pruned.merged_length() });
        brlens.extend([position.split[0], position.split[1], position.pendant]);
        let mut path = view.operations().to_vec();
        let subtree = view.vector(pruned.subtree);
        let ends = match position.edge {
            _ if rest_is_tip => [view.vector(pruned.attach); 2],
            None => pruned.parts().map(|(node, _)| view.vector(node)),
            Some(edge) => {
                let up = push_path(pruned, edge, trial_edges, &mut path);
                let far = tree.other_end(edge, view.near_end(edge));
                [up, view.vector(far)]
            }
        };
        let index = program.genes.len();
        program.genes.push(SweepGene { gene, brlen_scaler: pruned.state.brlen_scaler, brlens });
        Member {
            index,
            rest_is_tip,
            halves: position.halves,
            trial_edges,
            ends: [ends[0], ends[1], subtree],
            num_temporaries: path.len() as u32,
            path,
        }
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
        program.operations.append(&mut self.path);
        let mut opposite = self.ends[Arm::First as usize];
        if !self.rest_is_tip {
            let others = match arm {
                Arm::First => [Arm::Second, Arm::Pendant],
                Arm::Second => [Arm::First, Arm::Pendant],
                Arm::Pendant => [Arm::First, Arm::Second],
            };
            opposite = Vector::Temporary(self.num_temporaries);
            self.num_temporaries += 1;
            program.operations.push(SweepOperation {
                parent: opposite,
                children: others.map(|other| self.ends[other as usize]),
                edges: others.map(|other| self.edge(other)),
            });
        }
        let operations = first..program.operations.len();
        let (edge, ends) = (self.edge(arm), [self.ends[arm as usize], opposite]);
        program.jobs.push(SweepJob { member: self.index, operations, ends, edge });
    }
}

/// The updates that make the up-vector of an edge from the place the subtree hangs at; returns where it is
/// then.
fn push_path(
    pruned: &PrunedGene<'_>,
    edge: EdgeId,
    merged: u32,
    path: &mut Vec<SweepOperation>,
) -> Vector {
    let view = &pruned.view;
    let mut edges = Vec::new();
    let mut next = edge;
    while !pruned.is_merged(next) {
        edges.push(next);
        next = view.toward(view.near_end(next));
    }
    let mut above = None;
    for edge in edges.into_iter().rev() {
        let parent = Vector::Temporary(path.len() as u32);
        let node = pruned.tree().other_end(edge, view.near_end(edge));
        let sources = pruned.up_sources(node, edge);
        path.push(SweepOperation {
            parent,
            children: sources.map(|(source, _)| source.or(above).expect("one of the two")),
            edges: sources.map(|(_, edge)| edge.map_or(merged, |edge| edge.0)),
        });
        above = Some(parent);
    }
    above.expect("the edge is not merged")
}

/// A gene that does not move, but has the candidate edge on its way: the shape of its tree stays, and the
/// edge's length matters.
struct Passing {
    job: SweepJob,
    /// Makes what is not stored; done by the first job.
    path: Vec<SweepOperation>,
}

impl Passing {
    fn push_job(&mut self, program: &mut SweepProgram) {
        let first = program.operations.len();
        program.operations.append(&mut self.path);
        let operations = first..program.operations.len();
        program.jobs.push(SweepJob { operations, ..self.job.clone() });
    }
}

/// What is tried in genes that share their lengths: all of them, or one.
struct Attempt {
    set: LengthSet,
    program: SweepProgram,
    members: Vec<Member>,
    passing: Vec<Passing>,
    /// Length of the edge that is left behind.
    merged: f64,
}

impl Attempt {
    fn new(set: LengthSet, split: [f64; 2], pendant: f64, merged: f64, tolerance: f64) -> Self {
        let brlens = vec![split[0], split[1], pendant];
        let program = SweepProgram::new(brlens, tolerance);
        Attempt { set, program, members: Vec::new(), passing: Vec::new(), merged }
    }

    /// Plans all branches.
    fn plan(&mut self) {
        let program = &mut self.program;
        for branch in ORDER {
            let first = program.jobs.len();
            for member in &mut self.members {
                if let Some(arm) = member.arm(branch) {
                    member.push_job(arm, program);
                }
            }
            if branch != Branch::Pendant {
                self.passing.iter_mut().for_each(|passing| passing.push_job(program));
            }
            let jobs = first..program.jobs.len();
            if !jobs.is_empty() {
                program.steps.push(SweepStep { jobs, branch: branch as u32 });
            }
        }
        program.finish = self.passing.iter().map(|passing| passing.job.clone()).collect();
    }

    /// The lengths that a program ended with.
    fn lengths(merged: f64, program: &SweepProgram) -> Lengths {
        let [near, far, pendant] = [Branch::Near, Branch::Far, Branch::Pendant]
            .map(|branch| program.brlens[branch as usize]);
        Lengths { near, far, pendant, merged }
    }
}

impl Evaluator {
    /// For each pair of a prune and a candidate edge (not one of the two edges that meet at the subtree's
    /// place): optimises the three branches that meet where the subtree is put, each until a Newton step
    /// promises less than `gain_tolerance` (log units). Ends after the first, the pendant branch, if the
    /// whole tree's log-likelihood is below `floor` then.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn try_insertions(
        &mut self,
        requests: &[(&Prune, EdgeId)],
        gain_tolerance: f64,
        floor: f64,
    ) -> Result<Vec<Trial>> {
        let Some((first, _)) = requests.first() else { return Ok(Vec::new()) };
        self.turn_to_pruned(first)?;
        let mut programs = Vec::with_capacity(requests.len());
        let mut sets = Vec::with_capacity(requests.len());
        for (prune, candidate) in requests {
            let mut attempts = self.attempts(prune, *candidate, gain_tolerance);
            attempts.iter_mut().for_each(Attempt::plan);
            let num_first = usize::from(attempts.iter().any(|attempt| !attempt.members.is_empty()));
            let of = |attempt: Attempt| ((attempt.set, attempt.merged), attempt.program);
            let (own, sweeps): (Vec<_>, Vec<_>) = attempts.into_iter().map(of).unzip();
            programs.push(TrialProgram { sweeps, num_first, lnls: prune.lnls.clone(), floor });
            sets.push(own);
        }
        self.compute(|engine| engine.try_insertions(&mut programs))?;
        let mut trials = Vec::with_capacity(requests.len());
        for (((_, candidate), program), sets) in requests.iter().zip(programs).zip(sets) {
            let mut trial = Trial {
                lnl: program.lnl(),
                candidate: *candidate,
                lengths: None,
                gene_lengths: vec![None; self.genes.len()],
            };
            for ((set, merged), sweep) in sets.into_iter().zip(&program.sweeps) {
                let lengths = Some(Attempt::lengths(merged, sweep));
                match set {
                    LengthSet::Shared => trial.lengths = lengths,
                    LengthSet::Own(gene) => trial.gene_lengths[gene] = lengths,
                }
            }
            trials.push(trial);
        }
        Ok(trials)
    }

    fn attempts(&self, prune: &Prune, candidate: EdgeId, gain_tolerance: f64) -> Vec<Attempt> {
        let is_linked = !self.linkage.has_own_lengths();
        let mut attempts = Vec::new();
        if is_linked {
            let parts = self.tree.other_links(prune.attach, prune.pendant);
            let parts: f64 = parts.iter().map(|(_, edge)| self.tree.brlen(*edge)).sum();
            let split = halve(self.tree.brlen(candidate));
            let (pendant, merged) = (self.tree.brlen(prune.pendant), parts + prune.merged_change);
            let set = LengthSet::Shared;
            attempts.push(Attempt::new(set, split, pendant, merged, gain_tolerance));
        }
        for &gene in &prune.moving {
            let pruned = self.pruned_gene(prune, gene);
            let Some(position) = pruned.position(candidate) else {
                continue;
            };
            if !is_linked {
                let (split, pendant) = (position.split, position.pendant);
                let (set, merged) = (LengthSet::Own(gene), pruned.merged_length());
                attempts.push(Attempt::new(set, split, pendant, merged, gain_tolerance));
            }
            let attempt = attempts.last_mut().expect("one for all, or this gene's");
            let member = Member::new(gene, &pruned, position, &mut attempt.program);
            attempt.members.push(member);
        }
        if is_linked {
            let Attempt { program, passing, .. } = &mut attempts[0];
            *passing = self.passing_genes(prune, candidate, program);
        }
        attempts
    }

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
            // Vectors that contain the merged edge are made with the length that it would have.
            let merged = self.passed_merged(prune, gene).filter(|_| prune.merged_change != 0.0);
            let view = match merged {
                Some(merged) => {
                    member.brlens[merged.index()] += prune.merged_change;
                    View::at(&state.tree, &[merged, edge])
                }
                None => View::at(&state.tree, &[edge]),
            };
            let (ends, path) = (view.root_ends(), view.operations().to_vec());
            let member_index = program.genes.len();
            let job = SweepJob { member: member_index, operations: 0..0, ends, edge: edge.0 };
            found.push(Passing { job, path });
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

impl Lengths {
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
