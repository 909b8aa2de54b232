//! Insertion programs on a unit. The whole program is run for one strip after the other, so that temporaries
//! are still in the cache when they are read. Temporaries are stored in the worker's scratch buffers.

use super::unit::{Block, Branch, Scratch, Unit};
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::engine::{Clv, InsertionProgram, InsertionStep, Operation, Places, Result};
use mlsearch_kernels::PartitionKernels;
use mlsearch_kernels::body::operand::End;
use std::ops::Range;

/// Blocks per strip: 4 DNA blocks with 4 rate categories take 64 KiB per temporary, which has a row per pattern.
const STRIP: usize = 4;

impl Unit {
    /// Runs an insertion program and returns its scores, `[score][block]`.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn insertion_scores(
        &mut self,
        with: PartitionKernels,
        program: &InsertionProgram,
        places: &Places,
        scratch: &mut Scratch,
    ) -> Result<Vec<f64>> {
        let num_blocks = self.num_blocks();
        let mut scores = vec![0.0; program.num_scores() * num_blocks];
        let longest = self.blocks.chunks(STRIP).map(num_patterns).max().unwrap_or(0);
        scratch.reserve(self.dims, places.count() * longest);
        let all_blocks = self.blocks.clone();
        for (number, blocks) in all_blocks.chunks(STRIP).enumerate() {
            let first = number * STRIP;
            let mut strip = Strip { unit: self, with, places, blocks, longest, scratch };
            let mut score = 0;
            for step in &program.steps {
                let at = score * num_blocks + first;
                if step.is_score() {
                    strip.score(step, &mut scores[at..at + blocks.len()])?;
                    score += 1;
                } else {
                    strip.make(step)?;
                }
            }
        }
        Ok(scores)
    }
}

fn num_patterns(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.len).sum()
}

impl Scratch {
    pub(super) fn reserve(&mut self, dims: Dims, patterns: usize) {
        let (numbers, counts) = (patterns * dims.row(), patterns * dims.scalers());
        self.clvs.resize(self.clvs.len().max(numbers), 0.0);
        self.scalers.resize(self.scalers.len().max(counts), 0);
    }
}

/// A few consecutive blocks on which a program is run.
struct Strip<'a> {
    unit: &'a mut Unit,
    with: PartitionKernels<'a>,
    places: &'a Places,
    blocks: &'a [Block],
    /// Number of patterns of the unit's longest strip: the stride between temporaries.
    longest: usize,
    scratch: &'a mut Scratch,
}

impl Strip<'_> {
    /// Range of a block of a temporary in the scratch buffer, in patterns; empty for other CLVs.
    fn range(&self, block: Block, clv: Clv) -> Range<usize> {
        match clv {
            Clv::Temporary(number) => {
                let place = self.places.of(number) as usize;
                let at = place * self.longest + block.offset - self.blocks[0].offset;
                at..at + block.len
            }
            Clv::Tip(_) | Clv::Stored(_) => 0..0,
        }
    }

    /// Runs a step that makes a temporary.
    fn make(&mut self, step: &InsertionStep) -> Result<()> {
        let (out, sources) = match *step {
            InsertionStep::Partials(Operation { parent, children: [a, b], brlens }) => {
                (parent, [Some((a, brlens[0])), Some((b, brlens[1]))])
            }
            InsertionStep::Pendant { out, source, brlen } => {
                (Clv::Temporary(out), [Some((source, brlen)), None])
            }
            InsertionStep::Score { .. } | InsertionStep::Edge { .. } => {
                unreachable!("the step makes no temporary")
            }
        };
        let with = self.with;
        let prepare = |scratch: &mut Scratch| {
            for (i, (source, brlen)) in sources.into_iter().flatten().enumerate() {
                scratch.prepare(with, i, source, brlen);
            }
        };
        prepare(self.scratch);
        let stored = sources.map(|source| source.map_or(Clv::Tip(0), |(clv, _)| clv));
        let (row, count) = (self.unit.dims.row(), self.unit.dims.scalers());
        for &block in self.blocks {
            if self.unit.provide(with, block, stored, self.scratch)? {
                prepare(self.scratch);
            }
            let [a, b] = sources.map(|source| match source {
                Some((clv, _)) => self.range(block, clv),
                None => 0..0,
            });
            let ranges = [self.range(block, out), a, b];
            let Scratch { pmatrices, table, tables, clvs, scalers, .. } = &mut *self.scratch;
            let [out, clvs @ ..] = clvs
                .get_disjoint_mut(ranges.clone().map(|r| r.start * row..r.end * row))
                .expect("a temporary is not computed from itself");
            let [out_scaler, counts @ ..] = scalers
                .get_disjoint_mut(ranges.map(|r| r.start * count..r.end * count))
                .expect("a temporary is not computed from itself");
            let end = |i: usize, clv, class_table| match clv {
                Clv::Temporary(_) => {
                    let (clv, scaler) = (&*clvs[i], Some(&*counts[i]));
                    End::Inner { clv, scaler, pmatrix: pmatrices.of_end(i) }
                }
                stored => {
                    let branch = Branch { pmatrix: Some(pmatrices.of_end(i)), table: &table[i] };
                    self.unit.end(with, block, stored, branch, class_table, None)
                }
            };
            let PartitionKernels { kernels, model } = with;
            let [first, second] = tables;
            match sources {
                [Some((a, _)), Some((b, _))] => {
                    let ends = [end(0, a, first), end(1, b, second)];
                    kernels.update_partials(model, block.len, ends, out, out_scaler);
                }
                [Some((source, _)), None] => {
                    let subtree = end(0, source, first);
                    kernels.update_pendant(model, block.len, subtree, out, out_scaler);
                }
                [None, _] => unreachable!("a temporary without source"),
            }
        }
        Ok(())
    }

    /// Runs a step that computes a score: one number per block.
    fn score(&mut self, step: &InsertionStep, out: &mut [f64]) -> Result<()> {
        let with = self.with;
        let PartitionKernels { kernels, model } = with;
        let (ends, brlens) = match *step {
            InsertionStep::Score { ends, brlens, .. } => (ends, brlens.map(Some)),
            InsertionStep::Edge { ends, brlen } => (ends, [None, Some(brlen)]),
            _ => unreachable!("the step computes no score"),
        };
        let prepare = |scratch: &mut Scratch| {
            for (i, brlen) in brlens.into_iter().enumerate() {
                brlen.into_iter().for_each(|brlen| scratch.prepare(with, i, ends[i], brlen));
            }
        };
        prepare(self.scratch);
        let (row, count) = (self.unit.dims.row(), self.unit.dims.scalers());
        for (&block, out) in self.blocks.iter().zip(out) {
            if self.unit.provide(with, block, ends, self.scratch)? {
                prepare(self.scratch);
            }
            let ranges = ends.map(|clv| self.range(block, clv));
            let pendant = match *step {
                InsertionStep::Score { pendant, .. } => {
                    Some(self.range(block, Clv::Temporary(pendant)))
                }
                _ => None,
            };
            let Scratch { pmatrices, table, tables, clvs, scalers, likelihoods, .. } =
                &mut *self.scratch;
            let at = |range: &Range<usize>| {
                let numbers = &clvs[range.start * row..range.end * row];
                (numbers, &scalers[range.start * count..range.end * count])
            };
            let end = |i: usize, branch, class_table| match ends[i] {
                Clv::Temporary(_) => {
                    let (clv, scaler) = at(&ranges[i]);
                    End::Inner { clv, scaler: Some(scaler), pmatrix: pmatrices.of_end(i) }
                }
                stored => self.unit.end(with, block, stored, branch, class_table, None),
            };
            let branch = |i: usize| Branch { pmatrix: Some(pmatrices.of_end(i)), table: &table[i] };
            let [first, second] = tables;
            match pendant {
                Some(pendant) => {
                    let ends = [end(0, branch(0), first), end(1, branch(1), second)];
                    kernels.insertion_likelihoods(
                        model,
                        block.len,
                        at(&pendant),
                        ends,
                        likelihoods,
                    );
                }
                None => {
                    let root = Branch { pmatrix: None, table: &model.indicator };
                    let ends = [end(0, root, first), end(1, branch(1), second)];
                    kernels.edge_likelihoods(model, block.len, ends, likelihoods);
                }
            }
            *out = self.unit.block_sum(kernels, block, likelihoods, None);
        }
        Ok(())
    }
}
