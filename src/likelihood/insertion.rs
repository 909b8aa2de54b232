//! All regraft positions of one pruned subtree as one batch, gene by gene.
//!
//! Let S be the subtree and R the rest. For gene g, all positions on one induced edge of R|g share
//! the two vectors at its ends. The vectors are the stored CLVs, all pointing to S ("down"), and "up"
//! vectors made on the way out from the place S hangs at. Nothing stored is touched. If g has no
//! taxon in S, or none in R, its likelihood is the same everywhere.

use super::evaluator::{BrlenLinkage, Evaluator};
use super::operation::{
    EdgeJob, InsertionProgram, InsertionStep, Source, SweepGene, SweepJob, SweepProgram, SweepStep,
};
use super::place::{Place, PrunedGene};
use crate::tree::{EdgeId, NodeId};

/// A subtree that is about to be moved. Holds as long as the evaluator's tree and lengths are those of
/// now; moves that were taken back do no harm.
#[derive(Debug, Clone)]
pub struct Prune {
    pub(super) attach: NodeId,
    pub(super) pendant: EdgeId,
    /// Genes with taxa both in the subtree and in the rest.
    pub(super) moving: Vec<usize>,
    /// By how much the global edge that is left behind is longer than its two parts (not unlinked).
    pub(super) merged_change: f64,
    /// The same of each gene's own edge (unlinked).
    pub(super) merged_changes: Vec<f64>,
    /// Log-likelihood of each gene where the subtree hangs now; of those that do not move, with the
    /// merged edge as it would be left behind.
    pub(super) lnls: Vec<f64>,
}

/// What one gene contributes to each candidate.
struct GeneScores {
    /// Candidate → index of its place, or `None` for the likelihood of now.
    of_candidate: Vec<Option<u32>>,
    order: Vec<u32>,
}

impl Evaluator {
    /// Gets ready to move the subtree behind `pendant`, seen from `attach`. With a Newton tolerance
    /// (log units), the branch that it leaves behind gets the best length it has without the subtree.
    pub fn prune(
        &mut self,
        attach: NodeId,
        pendant: EdgeId,
        merged_tolerance: Option<f64>,
    ) -> Prune {
        self.update_restrictions();
        let lnls = self.gene_log_likelihoods();
        let moving = (0..self.genes.len()).filter(|&gene| {
            let state = &self.genes[gene];
            state.pendant(&self.restrictions[state.set], attach, pendant).is_some()
        });
        let mut prune = Prune {
            attach,
            pendant,
            moving: moving.collect(),
            merged_change: 0.0,
            merged_changes: vec![0.0; self.genes.len()],
            lnls,
        };
        let mut passing = Vec::new();
        if merged_tolerance.is_some() && self.linkage != BrlenLinkage::Unlinked {
            passing = self.turn_to_merged(&prune);
        }
        self.turn_to_pruned(&prune);
        self.update_partials(&passing);
        if let Some(tolerance) = merged_tolerance {
            self.optimize_merged(&mut prune, &passing, tolerance);
        }
        prune
    }

    /// Lets the CLVs of the moving genes look at the subtree's place, if they do not already.
    pub(super) fn turn_to_pruned(&mut self, prune: &Prune) {
        for &gene in &prune.moving {
            let state = &mut self.genes[gene];
            let restriction = &self.restrictions[state.set];
            let pendant = state.pendant(restriction, prune.attach, prune.pendant);
            state.tree.move_root(pendant.expect("a moving gene has taxa on both sides").0);
        }
        self.update_partials(&prune.moving);
    }

    /// Turns genes to the merged edge that have it on their way without having taxa in the subtree.
    fn turn_to_merged(&mut self, prune: &Prune) -> Vec<usize> {
        let mut passing = Vec::new();
        for gene in 0..self.genes.len() {
            if let Some(edge) = self.passed_merged(prune, gene) {
                self.genes[gene].tree.move_root(edge);
                passing.push(gene);
            }
        }
        passing
    }

    /// The edge of a gene without taxa in the subtree on which the merged edge lies, if the gene has
    /// taxa on both sides of it.
    pub(super) fn passed_merged(&self, prune: &Prune, gene: usize) -> Option<EdgeId> {
        let restriction = &self.restrictions[self.genes[gene].set];
        let parts = self.tree.other_links(prune.attach, prune.pendant).map(|(_, edge)| edge);
        let passes = restriction.taxa().len() >= 2
            && !restriction.is_on_path(prune.pendant)
            && parts.iter().all(|&part| restriction.is_on_path(part));
        passes.then(|| restriction.image(parts[0]).edge)
    }

    fn optimize_merged(&mut self, prune: &mut Prune, passing: &[usize], tolerance: f64) {
        let global_parts = self.tree.other_links(prune.attach, prune.pendant);
        let linked = self.linkage != BrlenLinkage::Unlinked;
        let mut members = Vec::new();
        for &gene in &prune.moving {
            let pruned = self.pruned_gene(prune, gene);
            let restriction = &self.restrictions[self.genes[gene].set];
            let both = global_parts.iter().all(|part| restriction.is_on_path(part.1));
            if !pruned.rest_is_tip() && (both || !linked) {
                let ends = pruned.parts().map(|(node, _)| self.genes[gene].tree.source(node));
                members.push((gene, ends, pruned.merged_length()));
            }
        }
        for &gene in passing {
            let tree = &self.genes[gene].tree;
            members.push((gene, tree.root_ends(), tree.tree().brlen(tree.root())));
        }
        let global: f64 = global_parts.iter().map(|part| self.tree.brlen(part.1)).sum();
        // A program has one branch: one edge of each of its genes.
        let program = |evaluator: &Self, members: &[(usize, [Source; 2], f64)], brlen: f64| {
            let mut program = SweepProgram::empty(tolerance);
            for (member, &(gene, ends, length)) in members.iter().enumerate() {
                let brlen_scaler = evaluator.genes[gene].brlen_scaler;
                program.genes.push(SweepGene { gene, brlen_scaler, brlens: vec![length] });
                program.jobs.push(SweepJob { member, operations: 0..0, ends, edge: 0 });
            }
            program.steps.push(SweepStep { jobs: 0..members.len(), brlen, edge: 0 });
            program
        };
        if linked {
            if members.is_empty() {
                return;
            }
            let mut programs = [program(self, &members, global)];
            self.engine.optimize_branches(&mut programs);
            prune.merged_change = programs[0].steps[0].brlen - global;
            let passing = members.iter().filter(|member| passing.contains(&member.0));
            let jobs: Vec<EdgeJob> = passing
                .map(|&(gene, ends, length)| {
                    let length = length + prune.merged_change;
                    EdgeJob { gene, ends, brlen: self.genes[gene].brlen_scaler * length }
                })
                .collect();
            if !jobs.is_empty() {
                for (job, lnl) in jobs.iter().zip(self.engine.log_likelihoods(&jobs)) {
                    prune.lnls[job.gene] = lnl;
                }
            }
        } else {
            let mut programs: Vec<SweepProgram> = members
                .iter()
                .map(|member| program(self, std::slice::from_ref(member), member.2))
                .collect();
            self.engine.optimize_branches(&mut programs);
            for (program, &(gene, _, before)) in programs.iter().zip(&members) {
                prune.merged_changes[gene] = program.steps[0].brlen - before;
            }
        }
    }

    /// Log-likelihood of the whole tree with the subtree in each candidate edge of the rest of the tree
    /// (not the two edges that meet at its place), in their order, without optimising any other
    /// length. Candidates that are one place for all genes have equal scores.
    pub fn score(&mut self, prune: &Prune, candidates: &[EdgeId]) -> Vec<f64> {
        self.turn_to_pruned(prune);
        let mut programs = Vec::new();
        let mut scores = Vec::new();
        for &gene in &prune.moving {
            let pruned = self.pruned_gene(prune, gene);
            let (program, gene_scores) = program(gene, &pruned, candidates);
            programs.push(program);
            scores.push(gene_scores);
        }
        let computed = self.engine.insertion_scores(&programs);
        let mut lnls = vec![0.0; candidates.len()];
        let mut moving = prune.moving.iter().zip(scores).zip(computed).peekable();
        for (gene, &now) in prune.lnls.iter().enumerate() {
            let Some(((_, scores), values)) = moving.next_if(|((moving, _), _)| **moving == gene)
            else {
                lnls.iter_mut().for_each(|lnl| *lnl += now);
                continue;
            };
            let mut by_place = vec![0.0; scores.order.len()];
            for (&place, value) in scores.order.iter().zip(values) {
                by_place[place as usize] = value;
            }
            for (lnl, place) in lnls.iter_mut().zip(scores.of_candidate) {
                *lnl += place.map_or(now, |place| by_place[place as usize]);
            }
        }
        lnls
    }
}

fn program(
    gene: usize,
    pruned: &PrunedGene<'_>,
    candidates: &[EdgeId],
) -> (InsertionProgram, GeneScores) {
    let mut places: Vec<Place> = Vec::new();
    // Under unlinked lengths all candidates on one induced edge are one place.
    let mut place_of_edge: Vec<Option<u32>> = vec![None; pruned.tree().num_edges()];
    let mut of_candidate = Vec::with_capacity(candidates.len());
    for &candidate in candidates {
        let Some(place) = pruned.place(candidate) else {
            of_candidate.push(None);
            continue;
        };
        let known = match place.edge {
            Some(edge) if !pruned.linked => &mut place_of_edge[edge.index()],
            _ => &mut None,
        };
        of_candidate.push(Some(*known.get_or_insert_with(|| {
            places.push(place);
            places.len() as u32 - 1
        })));
    }
    let (steps, order) =
        if pruned.rest_is_tip() { tip_steps(pruned, &places) } else { steps(pruned, &places) };
    (InsertionProgram { gene, steps }, GeneScores { of_candidate, order })
}

/// R|g is a single tip: only its distance matters.
fn tip_steps(pruned: &PrunedGene<'_>, places: &[Place]) -> (Vec<InsertionStep>, Vec<u32>) {
    let ends = [pruned.attach, pruned.subtree].map(|node| pruned.state.tree.source(node));
    let scaler = pruned.state.brlen_scaler;
    let step = |place: &Place| InsertionStep::Edge { ends, brlen: scaler * place.pendant };
    (places.iter().map(step).collect(), (0..places.len() as u32).collect())
}

/// Up-vectors depth first from the place S hangs at, and a score wherever a place is.
fn steps(pruned: &PrunedGene<'_>, places: &[Place]) -> (Vec<InsertionStep>, Vec<u32>) {
    let tree = pruned.tree();
    let gene_tree = &pruned.state.tree;
    let mut of_edge: Vec<Vec<u32>> = vec![Vec::new(); tree.num_edges()];
    let mut on_merged = Vec::new();
    let mut wanted = vec![false; tree.num_edges()];
    for (i, place) in places.iter().enumerate() {
        let Some(edge) = place.edge else {
            on_merged.push(i as u32);
            continue;
        };
        of_edge[edge.index()].push(i as u32);
        let mut edge = edge;
        while !pruned.is_merged(edge) && !wanted[edge.index()] {
            wanted[edge.index()] = true;
            edge = gene_tree.toward(gene_tree.near_end(edge));
        }
    }
    let mut writer = StepWriter {
        scaler: pruned.state.brlen_scaler,
        subtree: gene_tree.source(pruned.subtree),
        pendant: None,
        steps: Vec::new(),
        order: Vec::new(),
    };
    let [(left, left_edge), (right, right_edge)] = pruned.parts();
    let ends = [left, right].map(|node| gene_tree.source(node));
    for place in on_merged {
        writer.score(place, &places[place as usize], ends);
    }
    let merged_length = pruned.merged_length();
    // (node, edge it was reached by, edges between it and the merged edge)
    let mut stack = vec![(right, right_edge, 0), (left, left_edge, 0)];
    while let Some((node, edge, depth)) = stack.pop() {
        if depth > 0 {
            // Made only when the edge's turn comes, so that one vector per level is enough.
            let out = depth - 1;
            let from = pruned.up_sources(node, edge);
            writer.steps.push(InsertionStep::Up {
                out,
                sources: from
                    .map(|(source, _)| source.unwrap_or_else(|| Source::Scratch(depth - 2))),
                brlens: from.map(|(_, edge)| {
                    writer.scaler * edge.map_or(merged_length, |edge| tree.brlen(edge))
                }),
            });
            for &place in &of_edge[edge.index()] {
                let ends = [Source::Scratch(out), gene_tree.source(node)];
                writer.score(place, &places[place as usize], ends);
            }
        }
        if tree.is_tip(node) {
            continue;
        }
        for (child, child_edge) in tree.other_links(node, edge).into_iter().rev() {
            if wanted[child_edge.index()] {
                stack.push((child, child_edge, depth + 1));
            }
        }
    }
    (writer.steps, writer.order)
}

struct StepWriter {
    scaler: f64,
    subtree: Source,
    /// Pendant length that is set at the moment.
    pendant: Option<f64>,
    steps: Vec<InsertionStep>,
    order: Vec<u32>,
}

impl StepWriter {
    fn score(&mut self, index: u32, place: &Place, ends: [Source; 2]) {
        if self.pendant != Some(place.pendant) {
            self.pendant = Some(place.pendant);
            let brlen = self.scaler * place.pendant;
            self.steps.push(InsertionStep::Pendant { source: self.subtree, brlen });
        }
        let brlens = place.split.map(|length| self.scaler * length);
        self.steps.push(InsertionStep::Score { ends, brlens });
        self.order.push(index);
    }
}
