//! The evaluator's state of one partition, and operations on that partition alone.

use super::brlens::halve;
use super::edge_numbers::EdgeNumbers;
use super::partition_tree::PartitionTree;
use crate::alignment::PatternFreqs;
use crate::alphabet::Code;
use crate::likelihood::engine::{
    EdgeJob, Operation, PartitionData, PartitionModel, SweepOperation,
};
use crate::model::Model;
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Restriction, Tree};

/// State of one partition.
#[derive(Debug, Clone)]
pub(super) struct PartitionState {
    /// Index of its restriction, which partitions with the same taxa share.
    pub(super) set: usize,
    pub(super) tree: PartitionTree,
    pub(super) model: Model,
    /// Factor of all branch lengths.
    pub(super) brlen_scaler: f64,
    pub(super) num_sites: f64,
    pub(super) pattern_weights: Vec<f64>,
    /// Patterns times taxa times states.
    pub(super) num_values: usize,
    /// For a partition with a single taxon: compatible states and weight of each pattern. (No correction of
    /// ascertainment bias: a single sequence has no variable sites.)
    single: Option<Vec<(u64, f64)>>,
    pattern_freqs: Option<PatternFreqs>,
    /// Whether engines compute derivatives in its P-matrices.
    pub(super) has_gradients: bool,
    pub(super) lnl: Option<f64>,
    /// For programs under construction.
    pub(super) numbers: EdgeNumbers,
}

impl PartitionState {
    /// A partition on its restricted tree, with all CLVs stale. `set` is the number of its restriction.
    pub(super) fn new(set: usize, tree: Tree, data: &PartitionData, model: Model) -> Self {
        let single = (data.num_tips() == 1).then(|| {
            let mask = |code: &Code| data.code_masks[*code as usize];
            data.tip_codes[0].iter().map(mask).zip(data.weights.iter().copied()).collect()
        });
        PartitionState {
            set,
            tree: PartitionTree::new(tree),
            model,
            brlen_scaler: 1.0,
            num_sites: data.weights.iter().sum(),
            pattern_weights: data.weights.clone(),
            num_values: data.weights.len() * data.num_tips() * data.num_states,
            single,
            pattern_freqs: data.pattern_freqs.clone(),
            has_gradients: data.has_gradients(),
            lnl: None,
            numbers: EdgeNumbers::default(),
        }
    }

    pub(super) fn with_lengths(&self, operation: &SweepOperation) -> Operation {
        Operation {
            parent: operation.parent,
            children: operation.children,
            brlens: operation.edges.map(|edge| self.length(EdgeId(edge))),
        }
    }

    /// Sets the branch lengths of the partition's tree, by edge.
    pub(super) fn set_brlens(&mut self, lengths: &[f64]) {
        for (i, &length) in lengths.iter().enumerate() {
            self.set_brlen(EdgeId(i as u32), length);
        }
    }

    /// Sets a branch length of the partition's tree.
    pub(super) fn set_brlen(&mut self, edge: EdgeId, length: f64) {
        if self.tree.set_brlen(edge, length) {
            self.lnl = None;
        }
    }

    /// Replaces the weights of the patterns.
    pub(super) fn set_pattern_weights(&mut self, weights: &[f64]) {
        self.num_sites = weights.iter().sum();
        self.pattern_weights.clear();
        self.pattern_weights.extend_from_slice(weights);
        for (pattern, &weight) in self.single.iter_mut().flatten().zip(weights) {
            pattern.1 = weight;
        }
        self.lnl = None;
    }

    /// Length of an edge times the partition's scaler, as used by the engine.
    pub(super) fn length(&self, edge: EdgeId) -> f64 {
        self.brlen_scaler * self.tree.tree().brlen(edge)
    }

    pub(super) fn root_job(&self, partition: usize) -> EdgeJob {
        EdgeJob { partition, ends: self.tree.root_ends(), brlen: self.length(self.tree.root()) }
    }

    /// For each pattern of a partition with a single taxon: its log-likelihood, which is the logarithm of the sum
    /// of the frequencies of the compatible states, and its weight.
    pub(super) fn single_taxon_patterns(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let model = PartitionModel::new(&self.model);
        let single = self.single.iter().flatten().enumerate();
        single.map(move |(pattern, &(states, weight))| {
            let own = self.pattern_freqs.as_ref().map(|freqs| freqs.of(pattern));
            let freqs = own.unwrap_or(&model.freqs).iter().enumerate();
            let sum: f64 = freqs.filter(|(i, _)| states >> i & 1 == 1).map(|(_, f)| f).sum();
            (libm::log(sum), weight)
        })
    }

    pub(super) fn single_taxon_lnl(&self) -> f64 {
        self.single_taxon_patterns().map(|(lnl, weight)| weight * lnl).sum()
    }

    /// The partition's edge between its part of a pruned subtree and the rest of its tree, with the edge's ends on
    /// the side of the rest and on the side of the subtree; `None` if one of the two has no taxon of the partition.
    pub(super) fn pendant(
        &self,
        restriction: &Restriction,
        attach: NodeId,
        pendant: EdgeId,
    ) -> Option<(EdgeId, NodeId, NodeId)> {
        if restriction.taxa().len() < 2 || !restriction.is_on_path(pendant) {
            return None;
        }
        let image = restriction.image(pendant);
        let other = self.tree.tree().other_end(image.edge, image.from);
        // `from` lies behind `near`, which is one end of the pendant edge.
        Some(if image.near == attach {
            (image.edge, image.from, other)
        } else {
            (image.edge, other, image.from)
        })
    }

    pub(super) fn move_subtree(
        &mut self,
        restriction: &Restriction,
        attach: NodeId,
        pendant: EdgeId,
        target: EdgeId,
    ) -> Option<(PrunedSubtree, RegraftUndo)> {
        let (pendant, attach, _) = self.pendant(restriction, attach, pendant)?;
        let tree = self.tree.tree();
        if tree.is_tip(attach) {
            return None;
        }
        let target = restriction.image(target).edge;
        let [(_, left), (_, right)] = tree.other_links(attach, pendant);
        if [pendant, left, right].contains(&target) {
            return None;
        }
        let halves = halve(tree.brlen(target));
        self.lnl = None;
        Some(self.tree.move_subtree(attach, pendant, target, halves))
    }
}
