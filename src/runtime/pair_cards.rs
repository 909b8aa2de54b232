//! Distances between sequences on graphics cards.

use crate::distance::{OtherRows, PairDistances};
use crate::error::Result;
use crate::likelihood::EngineOptions;
use crate::likelihood::select::{ENGINE_OF_CARDS, PairCards};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
struct RowsOnCards(Mutex<PairCards>);

impl OtherRows for RowsOnCards {
    fn rows(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Vec<f64>> {
        let mut cards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(cards.rows(rows, columns)?)
    }
}

/// Lets cards compute these distances if the user asks for it. False if the processor computes them; if a user who has asked
/// should know of it, it is told to `tell`.
///
/// # Errors
/// Cards that cannot be used.
pub(crate) fn compute_on_cards(
    pairs: &mut PairDistances,
    options: &EngineOptions,
    tell: &mut dyn FnMut(&str),
) -> Result<bool> {
    if options.name != Some(ENGINE_OF_CARDS) {
        return Ok(false);
    }
    // Numbers of sites have 32 bits on a card.
    let is_small = u32::try_from(pairs.num_sites()).is_ok();
    let Some(tables) = pairs.tables().filter(|_| is_small) else {
        tell("these distances are computed on the processor");
        return Ok(false);
    };
    let cards = PairCards::open(options, &tables)?;
    pairs.compute_with(Arc::new(RowsOnCards(Mutex::new(cards))));
    Ok(true)
}
