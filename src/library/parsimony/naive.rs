//! A slow reference for tests: Fitch's rule column by column, set by set; and random data.

use rand::RngExt;

use super::data::{ParsimonyData, ParsimonyPart};
use crate::alphabet::Code;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};

/// One partition of a [`Sample`].
pub(super) struct SamplePart {
    num_states: usize,
    tip_taxa: Vec<usize>,
    codes: Vec<Vec<Code>>,
    code_masks: Vec<u64>,
    weights: Vec<u32>,
}

/// Random data.
pub(super) struct Sample {
    num_taxa: usize,
    pub(super) parts: Vec<SamplePart>,
}

impl Sample {
    /// One partition per entry of `num_states`, with missing taxa, gaps and ambiguities; neighbouring
    /// taxa are alike, so that some trees are better than others.
    pub(super) fn draw(
        num_taxa: usize,
        num_states: &[usize],
        num_patterns: usize,
        rng: &mut Rng,
    ) -> Self {
        let parts = num_states.iter().map(|&num_states| {
            let all = u64::MAX >> (64 - num_states);
            let mut code_masks: Vec<u64> = (0..num_states).map(|s| 1 << s).collect();
            code_masks.extend([all, 0, 3 & all, all ^ 1]);
            let tip_taxa: Vec<usize> =
                (0..num_taxa).filter(|_| rng.random_range(0..4) > 0).collect();
            let mut states: Vec<Code> = vec![0; num_patterns];
            let draw_row = |_| {
                for state in &mut states {
                    if rng.random_range(0..5) == 0 {
                        *state = rng.random_range(0..num_states as u32) as Code;
                    }
                }
                let mut row = states.clone();
                for code in &mut row {
                    if rng.random_range(0..10) == 0 {
                        *code = rng.random_range(num_states as u32..num_states as u32 + 4) as Code;
                    }
                }
                row
            };
            let codes = tip_taxa.iter().map(draw_row).collect();
            let weights = (0..num_patterns).map(|_| rng.random_range(0..4)).collect();
            SamplePart { num_states, tip_taxa, codes, code_masks, weights }
        });
        Sample { num_taxa, parts: parts.collect() }
    }

    pub(super) fn pack(&self) -> ParsimonyData {
        let parts: Vec<ParsimonyPart> = self.parts.iter().map(SamplePart::borrow).collect();
        ParsimonyData::new(self.num_taxa, &parts)
    }

    pub(super) fn naive_score(&self, tree: &Tree) -> u64 {
        self.parts.iter().map(|part| part.naive_score(tree)).sum()
    }
}

impl SamplePart {
    fn borrow(&self) -> ParsimonyPart<'_> {
        ParsimonyPart {
            num_states: self.num_states,
            tip_taxa: &self.tip_taxa,
            codes: &self.codes,
            code_masks: &self.code_masks,
            weights: &self.weights,
        }
    }

    fn naive_score(&self, tree: &Tree) -> u64 {
        if tree.num_tips() < 2 {
            return 0;
        }
        let [a, b] = tree.ends(EdgeId(0));
        let score_of = |pattern: usize| {
            let (set_a, changes_a) = self.naive_set(tree, a, EdgeId(0), pattern);
            let (set_b, changes_b) = self.naive_set(tree, b, EdgeId(0), pattern);
            changes_a + changes_b + u64::from(set_a & set_b == 0)
        };
        self.weights.iter().enumerate().map(|(pattern, &w)| u64::from(w) * score_of(pattern)).sum()
    }

    fn naive_set(&self, tree: &Tree, node: NodeId, edge: EdgeId, pattern: usize) -> (u64, u64) {
        let all = u64::MAX >> (64 - self.num_states);
        if tree.is_tip(node) {
            let row = self.tip_taxa.iter().position(|&t| t == node.index());
            let set = row.map_or(all, |row| self.code_masks[self.codes[row][pattern] as usize]);
            return (if set == 0 { all } else { set }, 0);
        }
        let [(a, edge_a), (b, edge_b)] = tree.other_links(node, edge);
        let (set_a, changes_a) = self.naive_set(tree, a, edge_a, pattern);
        let (set_b, changes_b) = self.naive_set(tree, b, edge_b, pattern);
        match set_a & set_b {
            0 => (set_a | set_b, changes_a + changes_b + 1),
            common => (common, changes_a + changes_b),
        }
    }
}
