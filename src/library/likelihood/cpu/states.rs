//! Probabilities of the states at a point of an edge.
//!
//! The CLV of the point, from the CLVs at both ends of the edge, is made by the kernel of CLV updates; the rest is in
//! `engine/states.rs`.

use super::unit::{Branch, Scratch, Unit};
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::{PointJob, Result};
use mlsearch_kernels::PartitionKernels;

impl Unit {
    /// Computes the probability of each state at a point, for the unit's patterns without padding and constant
    /// patterns: to `states`, `[pattern][state]`.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn state_probabilities(
        &mut self,
        with: PartitionKernels,
        job: &PointJob,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let prepare = |scratch: &mut Scratch| {
            for i in 0..2 {
                scratch.prepare(with, i, job.ends[i], job.brlens[i]);
            }
        };
        prepare(scratch);
        scratch.reserve(self.dims, BLOCK);
        let mut out = Vec::with_capacity(self.patterns.len() * self.invariant.of_state.len());
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            let real = block.len.min(self.patterns.len().saturating_sub(block.offset));
            if real == 0 {
                continue;
            }
            if self.provide(with, block, job.ends, scratch)? {
                prepare(scratch);
            }
            let (row, count) = (self.dims.row(), self.dims.scalers());
            let Scratch { pmatrices, table, tables: [first, second], clvs, scalers, .. } = scratch;
            let branch = |i: usize| Branch { pmatrix: Some(pmatrices.of_end(i)), table: &table[i] };
            let ends = [
                self.end(with, block, job.ends[0], branch(0), first, None),
                self.end(with, block, job.ends[1], branch(1), second, None),
            ];
            let clv = &mut clvs[..block.len * row];
            let scaler = &mut scalers[..block.len * count];
            with.kernels.update_partials(with.model, block.len, ends, clv, scaler);
            let rows = clv.chunks_exact(row).zip(scaler.chunks_exact(count));
            for (pattern, (clv, scaler)) in rows.take(real).enumerate() {
                let shared = self.shared_states[block.offset + pattern];
                self.invariant.add_pattern(with.model, (clv, scaler), shared, &mut out);
            }
        }
        self.states = out;
        Ok(())
    }
}
