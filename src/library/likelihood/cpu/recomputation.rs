//! Limited memory of a unit: CLVs that were forgotten (see `clvs`) are computed again before they are read.

use super::unit::{Block, Scratch, Unit};
use crate::likelihood::engine::layout::num_clvs;
use crate::likelihood::engine::{Clv, Result};
use mlsearch_kernels::PartitionKernels;

impl Unit {
    /// Limits the memory of CLVs and sumtables to about so many bytes: beyond that, CLVs are forgotten, and computed
    /// again when they are read.
    pub fn limit_memory(&mut self, bytes: usize) {
        let of_clvs = bytes.saturating_sub(self.sumtable_bytes());
        self.clvs.limit(of_clvs, num_clvs(self.num_tips));
    }

    /// Makes CLVs readable in a block, until this is called again: computes those that were forgotten. Returns true
    /// if this has overwritten the P-matrices in the buffers.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn provide(
        &mut self,
        with: PartitionKernels,
        block: Block,
        clvs: [Clv; 2],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let Some(forgetting) = self.clvs.forgetting() else { return Ok(false) };
        forgetting.unpin_all();
        let mut is_overwritten = false;
        let mut wanted: Vec<u32> = clvs.into_iter().filter_map(Clv::slot).collect();
        while let Some(forgetting) = self.clvs.forgetting()
            && let Some(recipe) = forgetting.next_update(block.index, &mut wanted)
        {
            for i in 0..2 {
                scratch.prepare(with, i, recipe.children[i], recipe.brlens[i]);
            }
            self.update_block(with, block, &recipe, scratch)?;
            let forgetting = self.clvs.forgetting();
            forgetting.into_iter().for_each(|all| all.note_recomputed(block.index, &recipe));
            is_overwritten = true;
        }
        Ok(is_overwritten)
    }
}
