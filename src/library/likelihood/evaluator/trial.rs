//! Trials of regraft positions: optimisation of their branch lengths without changing the tree.
//!
//! Three branches meet at the insertion point. The CLVs at their far ends do not change while the three
//! are optimised: that of the subtree, that of one end of the candidate edge, and an up-CLV at the other
//! end. Newton-Raphson optimises one of the three branches after the other, each time after combining
//! the CLVs of the other two into a temporary. Neither topology nor stored CLVs have to be changed and
//! restored, which matters because most positions with a good score are rejected after optimisation.

use super::brlens::halve;
use super::evaluator::Evaluator;
use super::length_sets::LengthSet;
use super::moves::{ChangedLength, SubtreeMove};
use super::position::{Arm, Position, PrunedPartition};
use super::prune::Prune;
use super::view::{View, push};
use crate::likelihood::engine::{
    Clv, Result, SweepJob, SweepOperation, SweepPartition, SweepProgram, SweepStep, TrialProgram,
};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo};

/// A branch at the insertion point: the half of the candidate edge nearer to the old position of the subtree,
/// the other half, or the pendant branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    Near,
    Far,
    Pendant,
}

/// Order of optimisation. The pendant branch comes first, because scores are computed without optimising it;
/// after it, the trial may end. The pendant branch is also last, because it is part of an edge of each moving
/// partition, so the log-likelihood of the last step includes all of them.
const ORDER: [Branch; 4] = [Branch::Pendant, Branch::Near, Branch::Far, Branch::Pendant];

/// Branch lengths at a regraft position, and that of the merged edge.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lengths {
    near: f64,
    far: f64,
    pendant: f64,
    merged: f64,
}

/// Result of the trial of a regraft position.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Log-likelihood of the whole tree with the subtree at this position, at the optimised lengths.
    pub lnl: f64,
    /// The edge of the position.
    pub(crate) candidate: EdgeId,
    /// Lengths in the global tree (linked and scaled).
    lengths: Option<Lengths>,
    /// Lengths in each partition's tree whose topology changes (unlinked).
    partition_lengths: Vec<Option<Lengths>>,
}

impl Trial {
    /// All lengths that it has found.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = f64> {
        let all = self.lengths.iter().chain(self.partition_lengths.iter().flatten());
        all.flat_map(|of| [of.near, of.far, of.pendant, of.merged])
    }
}

/// Number of the merged edge in a moving partition's program; those of the three arms follow.
const MERGED: u32 = 0;

/// A moving partition.
struct Member {
    index: usize,
    rest_is_tip: bool,
    halves: [Option<Arm>; 2],
    /// CLVs at the far ends of the arms.
    ends: [Clv; 3],
    num_temporaries: u32,
    /// Updates that make those of the ends that are not stored; part of the first job.
    path: Vec<SweepOperation>,
}

impl Member {
    /// Appends the partition to the program.
    fn new(
        partition: usize,
        pruned: &PrunedPartition<'_>,
        position: Position,
        program: &mut SweepProgram,
    ) -> Self {
        let (tree, view) = (pruned.tree(), &pruned.view);
        let rest_is_tip = pruned.rest_is_tip();
        let merged = if rest_is_tip { 0.0 } else { pruned.merged_length() };
        let mut brlens = vec![merged, position.split[0], position.split[1], position.pendant];
        let mut path = view.numbered_operations(&mut brlens, |edge| tree.brlen(edge));
        let subtree = view.clv(pruned.subtree);
        let ends = match position.edge {
            _ if rest_is_tip => [view.clv(pruned.attach); 2],
            None => pruned.parts().map(|(node, _)| view.clv(node)),
            Some(edge) => {
                let up = push_path(pruned, edge, &mut brlens, &mut path);
                let far = tree.other_end(edge, view.near_end(edge));
                [up, view.clv(far)]
            }
        };
        let index = program.partitions.len();
        program.partitions.push(SweepPartition {
            partition,
            brlen_scaler: pruned.state.brlen_scaler,
            brlens,
        });
        Member {
            index,
            rest_is_tip,
            halves: position.halves,
            ends: [ends[0], ends[1], subtree],
            num_temporaries: path.len() as u32,
            path,
        }
    }

    /// The arm of which a branch of the global tree is a part, if any.
    fn arm(&self, branch: Branch) -> Option<Arm> {
        match branch {
            Branch::Near => self.halves[0],
            Branch::Far => self.halves[1],
            Branch::Pendant => Some(Arm::Pendant),
        }
    }

    fn edge(arm: Arm) -> u32 {
        MERGED + 1 + arm as u32
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
            opposite = Clv::Temporary(self.num_temporaries);
            self.num_temporaries += 1;
            program.operations.push(SweepOperation {
                parent: opposite,
                children: others.map(|other| self.ends[other as usize]),
                edges: others.map(Member::edge),
            });
        }
        let operations = first..program.operations.len();
        let (edge, ends) = (Member::edge(arm), [self.ends[arm as usize], opposite]);
        program.jobs.push(SweepJob { member: self.index, operations, ends, edge });
    }
}

/// Appends the updates that compute the up-CLV of an edge, outwards from the subtree's position; returns
/// that CLV.
fn push_path(
    pruned: &PrunedPartition<'_>,
    edge: EdgeId,
    brlens: &mut Vec<f64>,
    path: &mut Vec<SweepOperation>,
) -> Clv {
    let (tree, view) = (pruned.tree(), &pruned.view);
    let mut edges = Vec::new();
    let mut next = edge;
    while !pruned.is_merged(next) {
        edges.push(next);
        next = view.toward(view.near_end(next));
    }
    let mut above = None;
    for edge in edges.into_iter().rev() {
        let parent = Clv::Temporary(path.len() as u32);
        let node = tree.other_end(edge, view.near_end(edge));
        let sources = pruned.up_sources(node, edge);
        path.push(SweepOperation {
            parent,
            children: sources
                .map(|(source, _)| source.or(above).expect("a vector or an up-vector")),
            edges: sources
                .map(|(_, edge)| edge.map_or(MERGED, |edge| push(brlens, tree.brlen(edge)))),
        });
        above = Some(parent);
    }
    above.expect("the edge is not merged")
}

/// A partition without taxa in the subtree and with the candidate edge on the path of one of its edges: its topology
/// does not change, but its likelihood depends on the length of the candidate edge.
struct Passing {
    job: SweepJob,
    /// Updates that make CLVs that are not stored; part of the first job.
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

/// The part of a trial that concerns one set of branch lengths: that of all partitions, or that of one.
struct Attempt {
    set: LengthSet,
    program: SweepProgram,
    members: Vec<Member>,
    passing: Vec<Passing>,
    /// Length of the merged edge.
    merged: f64,
}

impl Attempt {
    fn new(set: LengthSet, split: [f64; 2], pendant: f64, merged: f64, tolerance: f64) -> Self {
        let brlens = vec![split[0], split[1], pendant];
        let program = SweepProgram::new(brlens, tolerance);
        Attempt { set, program, members: Vec::new(), passing: Vec::new(), merged }
    }

    /// Writes the steps for all branches into the program.
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

    /// The lengths at the end of a program.
    fn lengths(merged: f64, program: &SweepProgram) -> Lengths {
        let [near, far, pendant] = [Branch::Near, Branch::Far, Branch::Pendant]
            .map(|branch| program.brlens[branch as usize]);
        Lengths { near, far, pendant, merged }
    }
}

impl Evaluator {
    /// For each pair of a prune and a candidate edge (other than the two edges adjacent to the subtree's
    /// present position): optimises the three branches that meet at the insertion point, each until the
    /// expected gain of the next Newton step is less than `gain_tolerance` (log units). A trial ends after the
    /// first of them, the pendant branch, if the log-likelihood of the whole tree is then below `floor`.
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
                partition_lengths: vec![None; self.partitions.len()],
            };
            for ((set, merged), sweep) in sets.into_iter().zip(&program.sweeps) {
                let lengths = Some(Attempt::lengths(merged, sweep));
                match set {
                    LengthSet::Shared => trial.lengths = lengths,
                    LengthSet::Own(partition) => trial.partition_lengths[partition] = lengths,
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
        for &partition in &prune.moving {
            let pruned = self.pruned_partition(prune, partition);
            let Some(position) = pruned.position(candidate) else {
                continue;
            };
            if !is_linked {
                let (split, pendant) = (position.split, position.pendant);
                let (set, merged) = (LengthSet::Own(partition), pruned.merged_length());
                attempts.push(Attempt::new(set, split, pendant, merged, gain_tolerance));
            }
            let attempt =
                attempts.last_mut().expect("an attempt for all partitions or for this one");
            let member = Member::new(partition, &pruned, position, &mut attempt.program);
            attempt.members.push(member);
        }
        if is_linked {
            let Attempt { program, passing, .. } = &mut attempts[0];
            *passing = self.passing_partitions(prune, candidate, program);
        }
        attempts
    }

    fn passing_partitions(
        &self,
        prune: &Prune,
        candidate: EdgeId,
        program: &mut SweepProgram,
    ) -> Vec<Passing> {
        let mut found = Vec::new();
        for (partition, state) in self.partitions.iter().enumerate() {
            let restriction = &self.restrictions[state.set];
            if prune.moving.contains(&partition)
                || restriction.taxa().len() < 2
                || !restriction.is_on_path(candidate)
            {
                continue;
            }
            let edge = restriction.image(candidate).edge;
            // CLVs that depend on the merged edge are computed with its optimised length.
            let merged =
                self.passed_merged(prune, partition).filter(|_| prune.merged_change != 0.0);
            let view = match merged {
                Some(merged) => View::at(&state.tree, &[merged, edge]),
                None => View::at(&state.tree, &[edge]),
            };
            let length = |edge| {
                let change = if merged == Some(edge) { prune.merged_change } else { 0.0 };
                view.tree().brlen(edge) + change
            };
            let mut brlens = vec![length(edge)];
            let path = view.numbered_operations(&mut brlens, length);
            let (member, ends) = (program.partitions.len(), view.root_ends());
            found.push(Passing { job: SweepJob { member, operations: 0..0, ends, edge: 0 }, path });
            program.partitions.push(SweepPartition {
                partition,
                brlen_scaler: state.brlen_scaler,
                brlens,
            });
        }
        found
    }

    /// Regrafts the subtree at the position of a trial, with the optimised lengths of the branches at the new
    /// position and of the merged edge.
    pub fn insert(&mut self, prune: &Prune, trial: &Trial) -> SubtreeMove {
        let Prune { attach, pendant, .. } = *prune;
        let near = self.tree.nearer_end(trial.candidate, attach);
        // For each partition, the end of its candidate edge that is nearer to the subtree's old position.
        let mut partition_near = vec![NodeId::NONE; self.partitions.len()];
        for (partition, _) in
            trial.partition_lengths.iter().enumerate().filter(|(_, l)| l.is_some())
        {
            let state = &mut self.partitions[partition];
            let restriction = &self.restrictions[state.set];
            if let Some((edge, ..)) = state.pendant(restriction, attach, pendant) {
                state.tree.move_root(edge);
                partition_near[partition] =
                    state.tree.near_end(restriction.image(trial.candidate).edge);
            }
        }
        let mut moved = self.begin_move(attach, pendant, trial.candidate);
        let of_partitions = trial.partition_lengths.iter().enumerate();
        let of_partitions = of_partitions
            .map(|(partition, own)| (LengthSet::Own(partition), own, partition_near[partition]));
        for (set, lengths, near) in
            std::iter::once((LengthSet::Shared, &trial.lengths, near)).chain(of_partitions)
        {
            let Some(lengths) = lengths else { continue };
            let Some((pruned, regraft)) = moved.of(set) else { continue };
            for (edge, length) in lengths.of_edges(&pruned, &regraft, near) {
                let before = self.tree_of(set).brlen(edge);
                moved.lengths.push(ChangedLength { set, edge, before });
                self.set_length(set, edge, length);
            }
        }
        self.update_restrictions();
        moved
    }
}

impl Lengths {
    /// The four edges of a tree that the move changed, with their lengths.
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
