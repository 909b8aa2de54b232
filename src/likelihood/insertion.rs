//! All regraft positions of one pruned subtree as one batch, gene by gene.
//!
//! Let S be the subtree and R the rest. For gene g, what a position scores depends only on where it
//! lies on R|g, so all positions on one induced edge share the two vectors at its ends. The vectors
//! are the stored CLVs, all pointing to S ("down"), and "up" vectors made on the way out from the
//! place S hangs at. Nothing stored is touched.
//!
//! * No taxon of g in S, or none in R: the gene's likelihood is the same everywhere.
//! * *Unlinked*: a position on the place S hangs at leaves T|g and its lengths as they are; any other
//!   induced edge is split in half, the pendant length is kept.
//! * *Linked and scaled*: lengths follow from distances in the global tree: where on the induced edge
//!   the position lies, and how far the subtree then hangs off it.

use super::evaluator::{BrlenLinkage, Evaluator};
use super::gene_state::GeneState;
use super::moves::halve;
use super::operation::{InsertionProgram, InsertionStep, Source};
use crate::tree::{EdgeId, Image, NodeId, Restriction, Tree};

/// Scores of the regraft positions of one pruned subtree.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPrune {
    /// Log-likelihood of the whole tree at each position, in the order of the candidates, without
    /// optimising any length.
    pub lnls: Vec<f64>,
}

/// One distinct score of a gene: the place of the subtree, with lengths as the tree has them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// Induced edge of R|g; the merged edge is `None`.
    edge: Option<EdgeId>,
    /// Distance from the insertion point to the end that is nearer to S's old place (for the merged
    /// edge: to the end of the left part), and to the other end.
    split: [f64; 2],
    pendant: f64,
}

/// What one gene contributes to each candidate.
enum GeneScores {
    /// The same everywhere.
    Constant,
    /// Candidate → index of its place, or `None` for the likelihood of now.
    Places { of_candidate: Vec<Option<u32>>, order: Vec<u32> },
}

impl Evaluator {
    /// Scores putting the subtree behind `pendant` (seen from `attach`) into each candidate edge of
    /// the rest of the tree (not the two edges that meet at `attach`).
    pub fn score_prune(
        &mut self,
        attach: NodeId,
        pendant: EdgeId,
        candidates: &[EdgeId],
    ) -> ScoredPrune {
        self.update_restrictions();
        let now = self.gene_log_likelihoods();
        let mut moving = Vec::new();
        for gene in 0..self.genes.len() {
            let state = &mut self.genes[gene];
            let restriction = &self.restrictions[state.set];
            if let Some((edge, ..)) = state.pendant(restriction, attach, pendant) {
                state.tree.move_root(edge);
                moving.push(gene);
            }
        }
        self.update_partials(&moving);
        let mut programs = Vec::new();
        let mut scores: Vec<GeneScores> = now.iter().map(|_| GeneScores::Constant).collect();
        for &gene in &moving {
            let state = &self.genes[gene];
            let restriction = &self.restrictions[state.set];
            let scorer =
                GeneScorer::new(self.linkage, &self.tree, state, restriction, attach, pendant);
            if let Some((program, gene_scores)) = scorer.program(gene, candidates) {
                programs.push(program);
                scores[gene] = gene_scores;
            }
        }
        let mut computed = self.engine.insertion_scores(&programs).into_iter();
        let mut lnls = vec![0.0; candidates.len()];
        for (gene, gene_scores) in scores.iter().enumerate() {
            match gene_scores {
                GeneScores::Constant => lnls.iter_mut().for_each(|lnl| *lnl += now[gene]),
                GeneScores::Places { of_candidate, order } => {
                    let values = computed.next().expect("one result per program");
                    let mut by_place = vec![0.0; order.len()];
                    for (&place, value) in order.iter().zip(values) {
                        by_place[place as usize] = value;
                    }
                    for (lnl, place) in lnls.iter_mut().zip(of_candidate) {
                        *lnl += place.map_or(now[gene], |place| by_place[place as usize]);
                    }
                }
            }
        }
        ScoredPrune { lnls }
    }
}

/// One gene, one pruned subtree.
struct GeneScorer<'a> {
    linked: bool,
    global: &'a Tree,
    state: &'a GeneState,
    restriction: &'a Restriction,
    /// The gene's edge to its part of S, its end on R's side and its end on S's side.
    pendant: EdgeId,
    attach: NodeId,
    subtree: NodeId,
    /// Distance from S's end to the global node that is pruned.
    pendant_length: f64,
}

impl<'a> GeneScorer<'a> {
    fn new(
        linkage: BrlenLinkage,
        global: &'a Tree,
        state: &'a GeneState,
        restriction: &'a Restriction,
        global_attach: NodeId,
        global_pendant: EdgeId,
    ) -> Self {
        let (pendant, attach, subtree) = state
            .pendant(restriction, global_attach, global_pendant)
            .expect("only genes with taxa on both sides are scored");
        let image = restriction.image(global_pendant);
        let total = state.tree.tree().brlen(pendant);
        let linked = linkage != BrlenLinkage::Unlinked;
        let pendant_length = if !linked {
            total
        } else if image.near == global_attach {
            total - image.position
        } else {
            image.position + global.brlen(global_pendant)
        };
        GeneScorer { linked, global, state, restriction, pendant, attach, subtree, pendant_length }
    }

    fn tree(&self) -> &Tree {
        self.state.tree.tree()
    }

    fn program(
        &self,
        gene: usize,
        candidates: &[EdgeId],
    ) -> Option<(InsertionProgram, GeneScores)> {
        let rest_is_tip = self.tree().is_tip(self.attach);
        if rest_is_tip && !self.linked {
            return None;
        }
        let mut places: Vec<Place> = Vec::new();
        // Under unlinked lengths all candidates on one induced edge are one place.
        let mut place_of_edge: Vec<Option<u32>> = vec![None; self.tree().num_edges()];
        let mut of_candidate = Vec::with_capacity(candidates.len());
        for &candidate in candidates {
            let image = self.restriction.image(candidate);
            if self.linked {
                places.push(self.linked_place(candidate, image));
                of_candidate.push(Some(places.len() as u32 - 1));
                continue;
            }
            if self.is_merged(image.edge) {
                of_candidate.push(None);
                continue;
            }
            let place = &mut place_of_edge[image.edge.index()];
            if place.is_none() {
                let split = halve(self.tree().brlen(image.edge));
                let pendant = self.pendant_length;
                places.push(Place { edge: Some(image.edge), split, pendant });
                *place = Some(places.len() as u32 - 1);
            }
            of_candidate.push(*place);
        }
        let (steps, order) =
            if rest_is_tip { self.tip_steps(&places) } else { self.steps(&places) };
        Some((InsertionProgram { gene, steps }, GeneScores::Places { of_candidate, order }))
    }

    /// True for the three edges that meet where the gene's part of S hangs: without S they are one.
    fn is_merged(&self, edge: EdgeId) -> bool {
        edge == self.pendant
            || self.tree().other_links(self.attach, self.pendant).iter().any(|link| link.1 == edge)
    }

    /// Lengths of a position under linked lengths, from distances in the global tree.
    fn linked_place(&self, candidate: EdgeId, image: &Image) -> Place {
        let halves = halve(self.global.brlen(candidate));
        let near_half =
            if self.global.ends(candidate)[0] == image.near { halves[0] } else { halves[1] };
        // Where on the induced edge, measured from `image.from`, and how far off it.
        let (position, off) = match image.hang {
            None => (image.position + near_half, 0.0),
            Some(hang) => (image.position, hang + near_half),
        };
        let total = self.tree().brlen(image.edge);
        let from_end = |end: NodeId| {
            if image.from == end { position } else { total - position }
        };
        if image.edge == self.pendant {
            // Between the place S hangs at (for this gene) and the pruned node: it all hangs there.
            let off = off + from_end(self.attach);
            let pendant = self.pendant_length + off;
            if self.tree().is_tip(self.attach) {
                return Place { edge: None, split: [0.0; 2], pendant };
            }
            let [(_, left), (_, right)] = self.tree().other_links(self.attach, self.pendant);
            let split = [left, right].map(|edge| self.tree().brlen(edge));
            return Place { edge: None, split, pendant };
        }
        let pendant = self.pendant_length + off;
        let [(_, left), (_, right)] = self.tree().other_links(self.attach, self.pendant);
        if image.edge == left || image.edge == right {
            let far = self.tree().other_end(image.edge, self.attach);
            let both = self.tree().brlen(left) + self.tree().brlen(right);
            let here = from_end(far);
            let split = if image.edge == left { [here, both - here] } else { [both - here, here] };
            return Place { edge: None, split, pendant };
        }
        let near = self.state.tree.near_end(image.edge);
        let here = from_end(near);
        Place { edge: Some(image.edge), split: [here, total - here], pendant }
    }

    /// R|g is a single tip: only its distance matters.
    fn tip_steps(&self, places: &[Place]) -> (Vec<InsertionStep>, Vec<u32>) {
        let ends = [self.attach, self.subtree].map(|node| self.state.tree.source(node));
        let scaler = self.state.brlen_scaler;
        let step = |place: &Place| InsertionStep::Edge { ends, brlen: scaler * place.pendant };
        (places.iter().map(step).collect(), (0..places.len() as u32).collect())
    }

    /// Up-vectors depth first from the place S hangs at, and a score wherever a place is.
    fn steps(&self, places: &[Place]) -> (Vec<InsertionStep>, Vec<u32>) {
        let tree = self.tree();
        let gene_tree = &self.state.tree;
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
            while !self.is_merged(edge) && !wanted[edge.index()] {
                wanted[edge.index()] = true;
                edge = gene_tree.toward(gene_tree.near_end(edge));
            }
        }
        let mut writer = StepWriter {
            scaler: self.state.brlen_scaler,
            subtree: gene_tree.source(self.subtree),
            pendant: None,
            steps: Vec::new(),
            order: Vec::new(),
        };
        let [(left, left_edge), (right, right_edge)] = tree.other_links(self.attach, self.pendant);
        let ends = [left, right].map(|node| gene_tree.source(node));
        for place in on_merged {
            writer.score(place, &places[place as usize], ends);
        }
        let merged_length = tree.brlen(left_edge) + tree.brlen(right_edge);
        // (node, edge it was reached by, edges between it and the merged edge)
        let mut stack = vec![(right, right_edge, 0), (left, left_edge, 0)];
        while let Some((node, edge, depth)) = stack.pop() {
            if depth > 0 {
                // Made only when the edge's turn comes, so that one vector per level is enough.
                let out = depth - 1;
                let from = self.up_sources(node, edge, depth, merged_length);
                writer.steps.push(InsertionStep::Up {
                    out,
                    sources: from.map(|(source, _)| source),
                    brlens: from.map(|(_, length)| writer.scaler * length),
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

    /// What the up-vector of the edge above `node` is made from: the vector that comes in from
    /// further above and the sibling's, each with the length of its branch.
    fn up_sources(
        &self,
        node: NodeId,
        edge: EdgeId,
        depth: u32,
        merged_length: f64,
    ) -> [(Source, f64); 2] {
        let tree = self.tree();
        let above = tree.other_end(edge, node);
        let incoming_edge = self.state.tree.toward(above);
        let [first, second] = tree.other_links(above, incoming_edge);
        let (sibling, sibling_edge) = if first.1 == edge { second } else { first };
        let incoming = if depth == 1 {
            let [a, b] = tree.other_links(self.attach, self.pendant);
            let opposite = if a.0 == above { b.0 } else { a.0 };
            (self.state.tree.source(opposite), merged_length)
        } else {
            (Source::Scratch(depth - 2), tree.brlen(incoming_edge))
        };
        [incoming, (self.state.tree.source(sibling), tree.brlen(sibling_edge))]
    }
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
