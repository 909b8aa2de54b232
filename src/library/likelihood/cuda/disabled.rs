//! What remains of the engine in a build without the feature `cuda`: a refusal.

use crate::gpu::{NAME, not_built};
use crate::likelihood::engine::{Engine, EngineOptions, Entry, GpuRates, PartitionData, Result};

/// Entry of this engine for `select`.
pub const ENTRY: Entry = Entry {
    name: NAME,
    make,
    instruction_set: |_| Err(not_built().into()),
    gives_default_bits: true,
};

/// Bytes that are free on the GPUs.
///
/// # Errors
/// [`crate::likelihood::EngineError::Unavailable`], always.
pub fn free_bytes(_options: &EngineOptions) -> Result<u64> {
    Err(not_built().into())
}

/// Names of the GPUs.
///
/// # Errors
/// [`crate::likelihood::EngineError::Unavailable`], always.
pub fn describe(_options: &EngineOptions) -> Result<Vec<String>> {
    Err(not_built().into())
}

/// What the GPUs can do at best.
///
/// # Errors
/// [`crate::likelihood::EngineError::Unavailable`], always.
pub fn rates(_options: &EngineOptions, _is_quick: bool) -> Result<Vec<GpuRates>> {
    Err(not_built().into())
}

fn make(_data: &[PartitionData], _options: &EngineOptions) -> Result<Box<dyn Engine>> {
    Err(not_built().into())
}
