//! Distances between sequences on graphics cards: whether, and what happens when a card is lost.

use crate::distance::{OtherRows, PairDistances};
use crate::error::Result;
use crate::likelihood::EngineOptions;
use crate::likelihood::select::{ENGINE_OF_CARDS, PairCards};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Pairs times columns from which on a card is used without being asked for: about a second of a core. Not measured on a card.
const LEAST_WORK: f64 = 1e10;
/// Rows and columns of which a card must have the bits of the processor before it is used without being asked for.
const CHECKED: [usize; 2] = [32, 256];

/// Cards, until one is lost.
#[derive(Debug)]
pub(crate) struct RowsOnCards {
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Cards(PairCards),
    /// Why there are none any more.
    Lost(String),
}

impl OtherRows for RowsOnCards {
    fn rows(&self, rows: Range<usize>, columns: Range<usize>) -> Option<Vec<f64>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Cards(cards) = &mut *state else { return None };
        match cards.rows(rows, columns) {
            Ok(found) => Some(found),
            Err(error) => {
                *state = State::Lost(error.to_string());
                None
            }
        }
    }
}

impl RowsOnCards {
    fn new(cards: PairCards) -> Self {
        RowsOnCards { state: Mutex::new(State::Cards(cards)) }
    }

    /// Why the processor went on with the distances, if it did.
    pub(crate) fn loss(&self) -> Option<String> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Cards(_) => None,
            State::Lost(reason) => Some(reason.clone()),
        }
    }
}

/// Lets cards compute these distances, if the user asks for it or if they are many and there is a card that gives the
/// processor's bits. What the user should know of it is told to `tell`.
///
/// # Errors
/// Cards that the user asks for and that cannot be used.
pub(crate) fn compute_on_cards(
    pairs: &mut PairDistances,
    options: &EngineOptions,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<Arc<RowsOnCards>>> {
    let is_asked = options.name == Some(ENGINE_OF_CARDS);
    let (taxa, sites) = (pairs.num_taxa() as f64, pairs.num_sites());
    let is_large = 0.5 * taxa * taxa * sites as f64 >= LEAST_WORK;
    let is_chosen = options.name.is_none() && is_large;
    if !is_asked && !is_chosen {
        return Ok(None);
    }
    // Numbers of sites have 32 bits on a card.
    let tables = pairs.tables().filter(|_| u32::try_from(sites).is_ok());
    let Some(tables) = tables else {
        if is_asked {
            tell("these distances are computed on the processor");
        }
        return Ok(None);
    };
    let options = EngineOptions { name: Some(ENGINE_OF_CARDS), ..*options };
    let cards = match PairCards::open(&options, &tables) {
        Ok(cards) => RowsOnCards::new(cards),
        Err(error) if is_asked => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    if !is_asked && !agree(&cards, pairs) {
        tell(
            "warning: computing on the processor, because the card's distances have other bits; please report what \
             'mlsearch gpu-selftest' says",
        );
        return Ok(None);
    }
    if !is_asked {
        tell("computing the distances on a card, because they are many (see --backend)");
    }
    let cards = Arc::new(cards);
    pairs.compute_with(cards.clone());
    Ok(Some(cards))
}

/// True if some distances have the same bits on cards.
fn agree(cards: &RowsOnCards, pairs: &PairDistances) -> bool {
    let [rows, columns] = CHECKED.map(|count| 0..count.min(pairs.num_taxa()));
    let bits = |found: Vec<f64>| found.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    let found = cards.rows(rows.clone(), columns.clone()).map(bits);
    found == Some(bits(pairs.rows(rows, columns)))
}
