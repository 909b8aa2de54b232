//! Scores of the regraft positions of pruned subtrees, computed in one batch, partition by partition.
//!
//! Let S be a pruned subtree and R the rest of the tree. For partition g, all positions on the same edge of R|g
//! share the two CLVs at its ends. These are the CLVs of the nodes, all of which point towards S
//! ("down"), and "up" CLVs, which point away from S and are computed outwards from the position of S.
//! No stored CLV is written. If g has no taxa in S, or none in R, its likelihood is the same at all
//! positions.

use super::evaluator::Evaluator;
use super::length_sets::LengthSet;
use super::position::{Position, PrunedPartition};
use super::prune::Prune;
use super::view::{View, push};
use crate::likelihood::engine::{
    Clv, InsertionProgram, InsertionStep, Operation, Result, SweepJob, SweepOperation,
    SweepPartition, SweepProgram, SweepStep,
};
use crate::tree::{EdgeId, NodeId};

/// Assignment of one partition's scores to the candidates.
struct PartitionScores {
    /// By candidate: the index of its position, or `None` if the partition keeps its present log-likelihood.
    of_candidate: Vec<Option<u32>>,
    /// Indices of the positions in the order of their scores.
    order: Vec<u32>,
}

/// The edge of a partition's tree that remains where a subtree was pruned.
struct MergedEdge {
    partition: SweepPartition,
    job: SweepJob,
    operations: Vec<SweepOperation>,
    /// True if the partition has no taxa in the subtree.
    passes: bool,
}

impl Evaluator {
    /// Prepares the pruning of subtrees from the current tree, each on its own. A subtree is given by the node
    /// to which it is attached and its pendant edge. If a tolerance for Newton-Raphson (log units) is given,
    /// the branch that remains where each subtree was pruned is optimised without the subtree.
    ///
    /// The stored CLVs point towards the first subtree afterwards.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn prune(
        &mut self,
        subtrees: &[(NodeId, EdgeId)],
        merged_tolerance: Option<f64>,
    ) -> Result<Vec<Prune>> {
        self.update_restrictions();
        let lnls = self.partition_log_likelihoods()?;
        let mut prunes = Vec::with_capacity(subtrees.len());
        for &(attach, pendant) in subtrees {
            let mut prune = Prune::new(attach, pendant, lnls.clone());
            prune.moving = (0..self.partitions.len())
                .filter(|&partition| {
                    let state = &self.partitions[partition];
                    state.pendant(&self.restrictions[state.set], attach, pendant).is_some()
                })
                .collect();
            prunes.push(prune);
        }
        let Some(first) = prunes.first() else { return Ok(prunes) };
        let mut passing = Vec::new();
        if merged_tolerance.is_some() && !self.linkage.has_own_lengths() {
            for partition in 0..self.partitions.len() {
                if let Some(edge) = self.passed_merged(first, partition) {
                    self.partitions[partition].tree.move_root(edge);
                    passing.push(partition);
                }
            }
        }
        self.turn_to_pruned(first)?;
        self.update_partials(&passing)?;
        if let Some(tolerance) = merged_tolerance {
            self.optimize_merged(&mut prunes, tolerance)?;
        }
        Ok(prunes)
    }

    /// Makes the CLVs of the moving partitions point towards the subtree's pendant edge.
    pub(super) fn turn_to_pruned(&mut self, prune: &Prune) -> Result<()> {
        for &partition in &prune.moving {
            let state = &mut self.partitions[partition];
            let restriction = &self.restrictions[state.set];
            let pendant = state.pendant(restriction, prune.attach, prune.pendant);
            state.tree.move_root(pendant.expect("a moving partition has taxa on both sides").0);
        }
        self.update_partials(&prune.moving)
    }

    /// For a partition without taxa in the subtree, the edge of its tree whose path contains the merged edge;
    /// `None` for other partitions and if the partition has taxa on one side of the merged edge only.
    pub(super) fn passed_merged(&self, prune: &Prune, partition: usize) -> Option<EdgeId> {
        let restriction = &self.restrictions[self.partitions[partition].set];
        let parts = self.tree.other_links(prune.attach, prune.pendant).map(|(_, edge)| edge);
        let passes = restriction.taxa().len() >= 2
            && !restriction.is_on_path(prune.pendant)
            && parts.iter().all(|&part| restriction.is_on_path(part));
        passes.then(|| restriction.image(parts[0]).edge)
    }

    /// The merged edges of a prune, of all partitions on whose likelihood its length depends.
    fn merged_edges(&self, prune: &Prune) -> Vec<MergedEdge> {
        let global_parts = self.tree.other_links(prune.attach, prune.pendant);
        let linked = !self.linkage.has_own_lengths();
        let mut edges = Vec::new();
        for &partition in &prune.moving {
            let pruned = self.pruned_partition(prune, partition);
            let restriction = &self.restrictions[self.partitions[partition].set];
            let both = global_parts.iter().all(|part| restriction.is_on_path(part.1));
            if !pruned.rest_is_tip() && (both || !linked) {
                let ends = pruned.parts().map(|(node, _)| pruned.view.clv(node));
                let length = pruned.merged_length();
                edges.push(self.merged_edge(partition, &pruned.view, ends, length, false));
            }
        }
        for partition in (0..self.partitions.len()).filter(|_| linked) {
            if let Some(edge) = self.passed_merged(prune, partition) {
                let view = View::at(&self.partitions[partition].tree, &[edge]);
                let length = view.tree().brlen(edge);
                edges.push(self.merged_edge(partition, &view, view.root_ends(), length, true));
            }
        }
        edges
    }

    fn merged_edge(
        &self,
        partition: usize,
        view: &View<'_>,
        ends: [Clv; 2],
        length: f64,
        passes: bool,
    ) -> MergedEdge {
        let mut brlens = Vec::new();
        let operations = view.numbered_operations(&mut brlens, |edge| view.tree().brlen(edge));
        let edge = push(&mut brlens, length);
        let brlen_scaler = self.partitions[partition].brlen_scaler;
        MergedEdge {
            partition: SweepPartition { partition, brlen_scaler, brlens },
            job: SweepJob { member: 0, operations: 0..0, ends, edge },
            operations,
            passes,
        }
    }

    /// Optimises the length of each prune's merged edge: that of the global tree or, under unlinked lengths,
    /// those of the partitions' trees.
    fn optimize_merged(&mut self, prunes: &mut [Prune], tolerance: f64) -> Result<()> {
        let linked = !self.linkage.has_own_lengths();
        let mut programs: Vec<(usize, LengthSet, SweepProgram)> = Vec::new();
        for (number, prune) in prunes.iter().enumerate() {
            let edges = self.merged_edges(prune);
            if linked && !edges.is_empty() {
                let parts = self.tree.other_links(prune.attach, prune.pendant);
                let brlen = parts.iter().map(|part| self.tree.brlen(part.1)).sum();
                let program = merged_program(edges, brlen, tolerance);
                programs.push((number, LengthSet::Shared, program));
            } else {
                for edge in edges {
                    let brlen = edge.partition.brlens[edge.job.edge as usize];
                    let set = LengthSet::Own(edge.partition.partition);
                    programs.push((number, set, merged_program(vec![edge], brlen, tolerance)));
                }
            }
        }
        let before: Vec<f64> = programs.iter().map(|(_, _, program)| program.brlens[0]).collect();
        let (owners, mut programs): (Vec<_>, Vec<_>) =
            programs.into_iter().map(|(number, set, program)| ((number, set), program)).unzip();
        self.compute(|engine| engine.optimize_branches(&mut programs))?;
        for (((number, set), program), before) in owners.into_iter().zip(programs).zip(before) {
            let prune = &mut prunes[number];
            let change = program.brlens[0] - before;
            match set {
                LengthSet::Shared => prune.merged_change = change,
                LengthSet::Own(partition) => prune.merged_changes[partition] = change,
            }
            for (job, &lnl) in program.finish.iter().zip(&program.finish_lnls) {
                prune.lnls[program.partitions[job.member].partition] = lnl;
            }
        }
        Ok(())
    }

    /// For each prune, the log-likelihood of the whole tree with the subtree regrafted into each of the
    /// candidate edges, in their order, without optimisation of further branch lengths. Candidates are edges
    /// of the rest of the tree other than the two adjacent to the subtree's present position. Candidates that
    /// are equivalent for all partitions have equal scores.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn score(&mut self, requests: &[(&Prune, &[EdgeId])]) -> Result<Vec<Vec<f64>>> {
        let Some((first, _)) = requests.first() else { return Ok(Vec::new()) };
        self.turn_to_pruned(first)?;
        let mut programs = Vec::new();
        let mut scores = Vec::new();
        for (prune, candidates) in requests {
            for &partition in &prune.moving {
                let pruned = self.pruned_partition(prune, partition);
                let (program, partition_scores) = program(partition, &pruned, candidates);
                programs.push(program);
                scores.push(partition_scores);
            }
        }
        let computed = self.compute(|engine| engine.insertion_scores(&programs))?;
        let mut computed = scores.into_iter().zip(computed);
        let of_prune = |(prune, candidates): &(&Prune, &[EdgeId])| {
            let own = computed.by_ref().take(prune.moving.len());
            add_up(prune, candidates.len(), own)
        };
        Ok(requests.iter().map(of_prune).collect())
    }
}

/// Log-likelihoods of the whole tree, by candidate, from the scores of the moving partitions in their order.
fn add_up(
    prune: &Prune,
    num_candidates: usize,
    moving: impl Iterator<Item = (PartitionScores, Vec<f64>)>,
) -> Vec<f64> {
    let mut lnls = vec![0.0; num_candidates];
    let mut moving = prune.moving.iter().zip(moving).peekable();
    for (partition, &now) in prune.lnls.iter().enumerate() {
        let Some((_, (scores, values))) = moving.next_if(|(moving, _)| **moving == partition)
        else {
            lnls.iter_mut().for_each(|lnl| *lnl += now);
            continue;
        };
        let mut by_position = vec![0.0; scores.order.len()];
        for (&position, value) in scores.order.iter().zip(values) {
            by_position[position as usize] = value;
        }
        for (lnl, position) in lnls.iter_mut().zip(scores.of_candidate) {
            *lnl += position.map_or(now, |position| by_position[position as usize]);
        }
    }
    lnls
}

/// A program that optimises one branch, which is part of one edge of each partition. The partitions without taxa in the
/// subtree are evaluated at the end.
fn merged_program(edges: Vec<MergedEdge>, brlen: f64, tolerance: f64) -> SweepProgram {
    let mut program = SweepProgram::new(vec![brlen], tolerance);
    for (member, edge) in edges.into_iter().enumerate() {
        let operations = program.operations.len()..program.operations.len() + edge.operations.len();
        program.operations.extend(edge.operations);
        program.partitions.push(edge.partition);
        let job = SweepJob { member, operations, ..edge.job };
        if edge.passes {
            program.finish.push(SweepJob { operations: 0..0, ..job.clone() });
        }
        program.jobs.push(job);
    }
    program.steps.push(SweepStep { jobs: 0..program.jobs.len(), branch: 0 });
    program
}

fn program(
    partition: usize,
    pruned: &PrunedPartition<'_>,
    candidates: &[EdgeId],
) -> (InsertionProgram, PartitionScores) {
    let mut positions: Vec<Position> = Vec::new();
    let mut of_candidate = Vec::with_capacity(candidates.len());
    for &candidate in candidates {
        let Some(position) = pruned.position(candidate) else {
            of_candidate.push(None);
            continue;
        };
        // Under unlinked lengths all candidates on one induced edge are one position.
        let same = |known: &Position| known.edge.is_some() && known.edge == position.edge;
        let known = if pruned.linked { None } else { positions.iter().position(same) };
        of_candidate.push(Some(known.unwrap_or(positions.len()) as u32));
        if known.is_none() {
            positions.push(position);
        }
    }
    let mut writer = StepWriter::new(pruned);
    match pruned.rest_is_tip() {
        true => writer.write_distances(pruned, &positions),
        false => writer.write_insertions(pruned, &positions),
    }
    let StepWriter { steps, order, num_turned, .. } = writer;
    (InsertionProgram { partition, num_turned, steps }, PartitionScores { of_candidate, order })
}

/// A scoring program under construction.
struct StepWriter {
    scaler: f64,
    subtree: Clv,
    /// Length of the pendant branch and pendant CLV that were used last.
    pendant: Option<(f64, u32)>,
    num_temporaries: u32,
    num_turned: usize,
    steps: Vec<InsertionStep>,
    /// Positions in the order of their scores.
    order: Vec<u32>,
}

impl StepWriter {
    /// Begins with the updates that make CLVs point towards the subtree.
    fn new(pruned: &PrunedPartition<'_>) -> Self {
        let turned = pruned.view.operations();
        let turn = |operation| InsertionStep::Partials(pruned.state.with_lengths(operation));
        StepWriter {
            scaler: pruned.state.brlen_scaler,
            subtree: pruned.view.clv(pruned.subtree),
            pendant: None,
            num_temporaries: turned.len() as u32,
            num_turned: turned.len(),
            steps: turned.iter().map(turn).collect(),
            order: Vec::new(),
        }
    }

    /// Scores if R|g is a single tip: they depend only on the distance between it and the subtree.
    fn write_distances(&mut self, pruned: &PrunedPartition<'_>, positions: &[Position]) {
        let ends = [pruned.view.clv(pruned.attach), self.subtree];
        for (index, position) in positions.iter().enumerate() {
            let brlen = self.scaler * position.pendant;
            self.steps.push(InsertionStep::Edge { ends, brlen });
            self.order.push(index as u32);
        }
    }

    /// Writes the up-CLVs in depth-first order from the position of S, and the scores of the positions.
    fn write_insertions(&mut self, pruned: &PrunedPartition<'_>, positions: &[Position]) {
        let (tree, view) = (pruned.tree(), &pruned.view);
        // The edges with a position and those on the way to them: few of the tree's.
        let mut wanted: Vec<EdgeId> = Vec::new();
        let mut of_edge: Vec<(EdgeId, u32)> = Vec::new();
        let [(left, left_edge), (right, right_edge)] = pruned.parts();
        let ends = [left, right].map(|node| view.clv(node));
        for (i, position) in (0..).zip(positions) {
            let Some(mut edge) = position.edge else {
                self.score(i, position, ends);
                continue;
            };
            of_edge.push((edge, i));
            while !pruned.is_merged(edge) && !wanted.contains(&edge) {
                wanted.push(edge);
                edge = view.toward(view.near_end(edge));
            }
        }
        of_edge.sort_unstable();
        let merged_length = pruned.merged_length();
        // (node, edge towards S, up-CLV of the edge before it on the path from S; none on the merged edge)
        let mut stack = vec![(right, right_edge, None), (left, left_edge, None)];
        while let Some((node, edge, above)) = stack.pop() {
            let mut up = None;
            if !pruned.is_merged(edge) {
                // Written when the edge is visited, so that few up-CLVs are needed at the same time.
                let sources = pruned.up_sources(node, edge);
                let made = self.next_temporary();
                self.steps.push(InsertionStep::Partials(Operation {
                    parent: made,
                    children: sources
                        .map(|(source, _)| source.or(above).expect("a vector or an up-vector")),
                    brlens: sources.map(|(_, edge)| {
                        self.scaler * edge.map_or(merged_length, |edge| tree.brlen(edge))
                    }),
                }));
                let first = of_edge.partition_point(|other| other.0 < edge);
                for &(_, position) in of_edge[first..].iter().take_while(|other| other.0 == edge) {
                    let ends = [made, view.clv(node)];
                    self.score(position, &positions[position as usize], ends);
                }
                up = Some(made);
            }
            if tree.is_tip(node) {
                continue;
            }
            for (child, child_edge) in tree.other_links(node, edge).into_iter().rev() {
                if wanted.contains(&child_edge) {
                    stack.push((child, child_edge, up));
                }
            }
        }
    }

    fn next_temporary(&mut self) -> Clv {
        self.num_temporaries += 1;
        Clv::Temporary(self.num_temporaries - 1)
    }

    fn score(&mut self, index: u32, position: &Position, ends: [Clv; 2]) {
        let pendant = match self.pendant {
            Some((length, clv)) if length == position.pendant => clv,
            _ => {
                let out = self.num_temporaries;
                self.next_temporary();
                self.pendant = Some((position.pendant, out));
                let brlen = self.scaler * position.pendant;
                self.steps.push(InsertionStep::Pendant { out, source: self.subtree, brlen });
                out
            }
        };
        let brlens = position.split.map(|length| self.scaler * length);
        self.steps.push(InsertionStep::Score { pendant, ends, brlens });
        self.order.push(index);
    }
}
