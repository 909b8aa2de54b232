//! What remains in a build without the feature `cuda`: a refusal.

use crate::distance::pair_tables::PairTables;
use crate::gpu::{Result, not_built};
use std::ops::Range;

/// Distances on GPUs, of which there are none.
#[derive(Debug)]
pub(in crate::distance) struct PairGpus(std::convert::Infallible);

impl PairGpus {
    /// Refuses.
    pub(in crate::distance) fn open(_gpus: u64, _tables: &PairTables) -> Result<Self> {
        Err(not_built())
    }

    /// Never called.
    pub(in crate::distance) fn rows(
        &mut self,
        _rows: Range<usize>,
        _columns: Range<usize>,
    ) -> Result<Vec<f64>> {
        match self.0 {}
    }
}
