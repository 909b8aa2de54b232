//! An edge of a unit whose length is optimised: its sumtable, and the derivatives.

use super::arena::Arena;
use super::unit::{Branch, STRIP, Scratch, Unit, strips};
use crate::likelihood::engine::constant_patterns::derivative_sums;
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::{Clv, Operation, Result};
use mlsearch_kernels::PartitionKernels;
use std::ops::Range;

/// Rows of CLVs longer than this, those of mixtures, are so long that a block alone fills the cache: at an edge that is optimised,
/// block by block, the last update is read as soon as it is written.
const LONG_ROW: usize = 640;

impl Unit {
    /// Runs CLV updates, and computes the sumtable of an edge.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn update_edge(
        &mut self,
        with: PartitionKernels,
        operations: impl Iterator<Item = Operation> + Clone,
        ends: [Clv; 2],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.allocate_sumtable()?;
        let len = if self.dims.row() > LONG_ROW { 1 } else { STRIP };
        for strip in strips(self.blocks.len(), len) {
            self.update_strip(with, strip.clone(), operations.clone(), scratch)?;
            self.update_sumtable(with, strip, ends, scratch)?;
        }
        Ok(())
    }

    fn allocate_sumtable(&mut self) -> Result<()> {
        if self.sumtable_scalers.is_empty() {
            let size = self.dims.row() * BLOCK * self.blocks.len();
            self.sumtable = Arena::new(size, "sumtables")?;
            self.sumtable_scalers = vec![[0; BLOCK]; self.blocks.len()];
        }
        Ok(())
    }

    /// Computes the sumtable of an edge in some blocks.
    fn update_sumtable(
        &mut self,
        with: PartitionKernels,
        blocks: Range<usize>,
        ends: [Clv; 2],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let size = self.dims.row() * BLOCK;
        let mut sumtable = std::mem::take(&mut self.sumtable);
        let mut scalers = std::mem::take(&mut self.sumtable_scalers);
        let model = with.model;
        let branches = [
            Branch { pmatrix: Some(&model.sumtable_left), table: &model.sumtable_left_tip },
            Branch { pmatrix: Some(&model.sumtable_right), table: &model.sumtable_right_tip },
        ];
        for i in blocks {
            let block = self.blocks[i];
            self.provide(with, block, ends, scratch)?;
            let [left, right] = &mut scratch.tables;
            let ends = [
                self.end(with, block, ends[0], branches[0], left, None),
                self.end(with, block, ends[1], branches[1], right, None),
            ];
            let invariant = self.data(block).invariant;
            let rows = &mut scratch.rate_rows;
            let out = (&mut sumtable.as_mut_slice()[i * size..][..size], &mut scalers[i]);
            with.kernels.update_sumtable(model, block.len, invariant, ends, rows, out);
        }
        self.sumtable = sumtable;
        self.sumtable_scalers = scalers;
        Ok(())
    }

    /// Computes log-likelihood and derivatives at length `t` of the sumtable's edge; sums per block go to
    /// `sums`.
    pub fn derivatives(
        &mut self,
        PartitionKernels { kernels, model }: PartitionKernels,
        t: f64,
        scratch: &mut Scratch,
    ) {
        let row = self.dims.row();
        scratch.factors.resize(row, [0.0; 3]);
        kernels.update_derivative_factors(model, t, &mut scratch.factors);
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            let data = self.data(block);
            let sumtable = &self.sumtable.as_slice()[i * row * BLOCK..(i + 1) * row * BLOCK];
            let (scaler, factors) = (&self.sumtable_scalers[i], &scratch.factors);
            self.sums[i] = match block.correction {
                None => kernels.derivatives(block.len, data, sumtable, scaler, factors),
                Some(correction) => {
                    let (sums, count) = derivative_sums(data.weights, sumtable, scaler, factors);
                    correction.of_sum(sums, count)
                }
            };
        }
    }
}
