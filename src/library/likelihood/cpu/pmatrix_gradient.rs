//! Derivatives in the P-matrices of an edge: the ends in each block; the rest is in `engine/pmatrix_gradient.rs`.

use super::unit::{Block, Branch, ClassTable, Scratch, Unit};
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::pmatrix_gradient::{GradientEnds, of_block, runs_of_blocks};
use crate::likelihood::engine::{EdgeJob, Result};
use mlsearch_kernels::PartitionKernels;

impl Unit {
    /// Sums over the unit's blocks, as `runs_of_blocks` gives them, to `gradient`. `first_block` is the number of the first block of the
    /// partition that this process has.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn pmatrix_gradient(
        &mut self,
        with: PartitionKernels,
        job: &EdgeJob,
        first_block: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let first = first_block + self.patterns.start / BLOCK;
        let num_blocks = self.patterns.len().div_ceil(BLOCK);
        scratch.prepare(with, 1, job.ends[1], job.brlen);
        let mut index = 0..;
        let of_next = || -> Result<Vec<f64>> {
            let block = self.blocks[index.next().expect("no end")];
            if self.provide(with, block, job.ends, scratch)? {
                scratch.prepare(with, 1, job.ends[1], job.brlen);
            }
            Ok(self.gradient_of_block(with, block, job, scratch))
        };
        self.gradient = runs_of_blocks(first..first + num_blocks, of_next)?;
        Ok(())
    }

    fn gradient_of_block(
        &self,
        with: PartitionKernels,
        block: Block,
        job: &EdgeJob,
        scratch: &mut Scratch,
    ) -> Vec<f64> {
        let Scratch { pmatrices, table, tables: [first_table, second_table], likelihoods, .. } =
            scratch;
        let plain = Branch { pmatrix: None, table: &with.model.indicator };
        let moved = Branch { pmatrix: Some(pmatrices.of_end(1)), table: &table[1] };
        let mut third_table = ClassTable::default();
        let [a, b] = job.ends;
        let ends = GradientEnds {
            plain: [
                self.end(with, block, a, plain, first_table, None),
                self.end(with, block, b, plain, &mut third_table, None),
            ],
            moved: self.end(with, block, b, moved, second_table, None),
        };
        of_block(with, block.len, self.data(block), ends, likelihoods)
    }
}
