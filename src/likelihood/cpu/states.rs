//! Probabilities of the states at a point of an edge.
//!
//! The CLV of the point, from the vectors at both ends of the edge, is made by the kernel of CLV updates. What is left is
//! a sum over the rate categories, which is too rare to need a kernel of its own.

use super::kernels::GeneKernels;
use super::unit::{Block, Branch, Scratch, Unit};
use crate::likelihood::engine::layout::{BLOCK, Dims};
use crate::likelihood::engine::scaling::factor;
use crate::likelihood::engine::{ModelBlock, PointJob, Result};

impl Unit {
    /// Computes the probability of each state at a point, for the unit's patterns without padding and constant
    /// patterns: to `states`, `[pattern][state]`.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn state_probabilities(
        &mut self,
        with: GeneKernels,
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
        let mut out = Vec::with_capacity(self.patterns.len() * self.invariant_of_state.len());
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
            let Scratch { pmatrices, table, tables: [first, second], vectors, scalers, .. } =
                scratch;
            let branch = |i: usize| Branch { pmatrix: Some(pmatrices.of_end(i)), table: &table[i] };
            let ends = [
                self.end(with, block, job.ends[0], branch(0), first, None),
                self.end(with, block, job.ends[1], branch(1), second, None),
            ];
            let clv = &mut vectors[..block.len * row];
            let scaler = &mut scalers[..block.len * count];
            with.kernels.update_partials(with.model, block.len, ends, clv, scaler);
            let rows = clv.chunks_exact(row).zip(scaler.chunks_exact(count));
            for (pattern, (clv, scaler)) in rows.take(real).enumerate() {
                self.add_pattern(with.model, block, pattern, (clv, scaler), &mut out);
            }
        }
        self.states = out;
        Ok(())
    }

    /// Appends the probabilities of a pattern whose row of the CLV is given, with its scaler counts.
    fn add_pattern(
        &self,
        model: &ModelBlock,
        block: Block,
        pattern: usize,
        (clv, scaler): (&[f64], &[u32]),
        out: &mut Vec<f64>,
    ) {
        let Dims { num_states, rate_scalers, .. } = self.dims;
        let least = scaler.iter().copied().min().unwrap_or(0);
        let start = out.len();
        out.resize(start + self.invariant_of_state.len(), 0.0);
        let sums = &mut out[start..];
        let rates = clv.chunks_exact(num_states).zip(model.weighted_freqs.chunks_exact(num_states));
        for (rate, (clv, freqs)) in rates.enumerate() {
            let weight = if rate_scalers { factor(scaler[rate] - least) } else { 1.0 };
            for ((sum, x), freq) in sums.iter_mut().zip(clv).zip(freqs) {
                *sum += freq * weight * x;
            }
        }
        let shared = self.shared_states[block.offset + pattern];
        // The invariant part is not scaled.
        if shared != 0 && self.invariant_of_state.iter().any(|&part| part > 0.0) {
            for (i, (sum, part)) in sums.iter_mut().zip(&self.invariant_of_state).enumerate() {
                *sum = *sum * factor(least) + if shared >> i & 1 == 1 { *part } else { 0.0 };
            }
        }
        let total: f64 = sums.iter().sum();
        sums.iter_mut().for_each(|sum| *sum /= total);
    }
}
