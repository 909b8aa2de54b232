//! What remains of the engine in a build without the feature `cuda`: a refusal.

use crate::likelihood::engine::{
    CardRates, Engine, EngineError, EngineOptions, Entry, GeneData, Result,
};
use crate::pair_tables::PairTables;
use std::ops::Range;

/// Entry of this engine for `select`.
pub const ENTRY: Entry =
    Entry { name: "cuda", make, instruction_set: |_| Err(refusal()), gives_default_bits: true };

fn refusal() -> EngineError {
    EngineError::Unavailable {
        engine: ENTRY.name,
        reason: "this mlsearch was built without it (build it with the default features)"
            .to_string(),
    }
}

/// Bytes that are free on the cards.
///
/// # Errors
/// [`EngineError::Unavailable`], always.
pub fn free_bytes(_options: &EngineOptions) -> Result<u64> {
    Err(refusal())
}

/// Names of the cards.
///
/// # Errors
/// [`EngineError::Unavailable`], always.
pub fn describe(_options: &EngineOptions) -> Result<Vec<String>> {
    Err(refusal())
}

/// Distances on cards, of which there are none.
#[derive(Debug)]
pub struct PairCards(std::convert::Infallible);

impl PairCards {
    /// Refuses.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], always.
    pub fn open(_options: &EngineOptions, _tables: &PairTables) -> Result<Self> {
        Err(refusal())
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn rows(&mut self, _rows: Range<usize>, _columns: Range<usize>) -> Result<Vec<f64>> {
        match self.0 {}
    }
}

/// What the cards can do at best.
///
/// # Errors
/// [`EngineError::Unavailable`], always.
pub fn rates(_options: &EngineOptions, _is_quick: bool) -> Result<Vec<CardRates>> {
    Err(refusal())
}

fn make(_data: &[GeneData], _options: &EngineOptions) -> Result<Box<dyn Engine>> {
    Err(refusal())
}
