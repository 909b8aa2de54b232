//! Choice of the engine: apart from the engines' own folders, the only file that contains their names.

use super::engine::layout::{STATE_COUNTS, num_vectors};
use super::engine::{
    CardRates, Checked, Engine, EngineError, EngineOptions, Entry, GeneData, Result,
};
use super::{cpu, cuda, naive};

/// Distances of pairs of sequences on cards.
pub use cuda::PairCards;

/// The engine and instruction set that [`make_engine`] would use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Name of the engine.
    pub engine: &'static str,
    /// Its instruction set.
    pub instruction_set: &'static str,
}

/// All engines; the first one is the default.
const ENGINES: &[Entry] = &[
    cpu::ENTRY,
    cuda::ENTRY,
    naive::ENTRY,
    #[cfg(test)]
    super::failing::ENTRY,
];

/// Names of the instruction sets for which likelihood kernels are compiled.
pub const INSTRUCTION_SETS: &[&str] = cpu::INSTRUCTION_SETS;

/// Help text of the option that selects one of [`INSTRUCTION_SETS`].
pub const INSTRUCTION_SET_HELP: &str = cpu::INSTRUCTION_SET_HELP;

fn entry(options: &EngineOptions) -> Result<&'static Entry> {
    let Some(name) = options.name else { return Ok(&ENGINES[0]) };
    ENGINES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| EngineError::Unknown { name: name.to_string(), known: engine_names() })
}

/// Name of the engine that computes on cards.
pub const ENGINE_OF_CARDS: &str = cuda::ENTRY.name;

/// True if an engine gives the bits of the default one.
pub fn gives_default_bits(name: &str) -> bool {
    [ENGINES[0].name, ENGINE_OF_CARDS].contains(&name)
}

/// The cards of these options: name and compute capability.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn describe_cards(options: &EngineOptions) -> Result<Vec<String>> {
    cuda::describe(options)
}

/// What these cards can do at best; `is_quick` for a rough measurement.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn rates_of_cards(options: &EngineOptions, is_quick: bool) -> Result<Vec<CardRates>> {
    cuda::rates(options, is_quick)
}

/// A gene's sizes, as far as the choice of the engine depends on them.
#[derive(Debug, Clone, Copy)]
pub struct GeneSize {
    /// Number of taxa with data.
    pub num_tips: usize,
    /// Number of patterns.
    pub num_patterns: usize,
    /// Number of states.
    pub num_states: usize,
    /// Number of rate categories.
    pub num_rates: usize,
}

/// Patterns with four rate categories from which on a card is used, by the number of states (with padding). They are
/// those with which a card that copies 1 TB/s takes 50 µs or more for an update, ten times as long as the launch; they have not
/// been measured.
const PATTERNS_FOR_CARD: [(usize, f64); STATE_COUNTS.len()] =
    [(4, 130_000.0), (20, 26_000.0), (64, 8_000.0)];

/// Bytes that a card must have free, relative to those of the vectors.
const CARD_BYTES: f64 = 1.5;

/// How large the data are relative to those from which on a card is used, and the bytes of their vectors.
fn share_and_bytes(genes: &[GeneSize]) -> Option<(f64, f64)> {
    let (mut share, mut bytes) = (0.0, 0.0);
    for gene in genes.iter().filter(|gene| gene.num_tips >= 2) {
        let (states, least) =
            *PATTERNS_FOR_CARD.iter().find(|(states, _)| *states >= gene.num_states)?;
        let rows = (gene.num_patterns * gene.num_rates) as f64;
        share += rows / 4.0 / least;
        bytes += rows * (states * size_of::<f64>() * num_vectors(gene.num_tips)) as f64;
    }
    Some((share, bytes))
}

/// Bytes for each of several engines on a card, relative to those of the vectors: with much room, much is computed side by side.
const BYTES_OF_EACH: f64 = 4.0;

/// For how many engines of these genes, at the same time, there is room on the cards.
pub fn room_on_cards(options: &EngineOptions, genes: &[GeneSize]) -> usize {
    let Some((_, bytes)) = share_and_bytes(genes) else { return 1 };
    let free = cuda::free_bytes(options).unwrap_or(0);
    (free as f64 / (BYTES_OF_EACH * bytes).max(1.0)) as usize
}

/// The bits of several cards, if each of them has enough memory for all genes.
pub fn cards_for_jobs(options: &EngineOptions, genes: &[GeneSize]) -> Option<u64> {
    let several = Some(options.cards).filter(|cards| cards.count_ones() > 1)?;
    let (_, bytes) = share_and_bytes(genes)?;
    let has_room = |cards: u64| {
        let free = cuda::free_bytes(&EngineOptions { cards, ..*options });
        free.is_ok_and(|free| free as f64 > CARD_BYTES * bytes)
    };
    let mut each = (0..u64::BITS).map(|card| several & 1 << card).filter(|&card| card != 0);
    each.all(has_room).then_some(several)
}

/// Why a card is used without being asked for: if there is one, it has enough memory, and the data are large enough.
/// Nothing is asked of the driver if they are not.
pub fn why_card(options: &EngineOptions, genes: &[GeneSize]) -> Option<String> {
    let (share, bytes) = share_and_bytes(genes)?;
    if share < 1.0 {
        return None;
    }
    let free = cuda::free_bytes(options).ok()?;
    ((free as f64) > CARD_BYTES * bytes).then(|| {
        format!(
            "the data are {share:.1} times as large as those from which on a card is used (see --backend)"
        )
    })
}

/// Names of all engines.
pub fn engine_names() -> Vec<&'static str> {
    ENGINES.iter().map(|entry| entry.name).collect()
}

/// The engine and instruction set that [`make_engine`] would use, without allocating anything.
///
/// # Errors
/// [`EngineError::Unknown`] if this machine lacks the requested engine or instruction set.
pub fn choose_engine(options: &EngineOptions) -> Result<Choice> {
    let entry = entry(options)?;
    Ok(Choice { engine: entry.name, instruction_set: (entry.instruction_set)(options)? })
}

/// What a user should know of an instruction set that is much slower than others.
pub fn why_slow(choice: &Choice) -> Option<&'static str> {
    cpu::why_slow(choice.instruction_set)
}

/// Options for the engine that replaces a failed one; `None` if there is no other.
pub fn after_failure(options: &EngineOptions) -> Option<EngineOptions> {
    let next = entry(options).ok()?.next?;
    Some(EngineOptions { name: Some(next), ..*options })
}

/// Makes an engine for these genes. Its programs of work are checked ([`Checked`]).
///
/// # Errors
/// [`EngineError::Unknown`] if this machine lacks the requested engine or instruction set, and
/// [`EngineError::OutOfMemory`].
pub fn make_engine(data: &[GeneData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let engine = (entry(options)?.make)(data, options)?;
    Ok(Box::new(Checked::new(engine, data)))
}
