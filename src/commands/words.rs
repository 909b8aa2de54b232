//! The one table of words.

use super::{
    Word, bootstrap, compare, concordance, consensus, converge, distance, evaluate, gpu_selftest,
    resample, root, sample, search, select, simulate, start, support, terrace,
};

/// All words, in the order of the help.
pub const WORDS: &[Word] = &[
    search::WORD,
    select::WORD,
    start::WORD,
    distance::WORD,
    sample::WORD,
    bootstrap::WORD,
    support::WORD,
    converge::WORD,
    resample::WORD,
    concordance::WORD,
    terrace::WORD,
    evaluate::WORD,
    evaluate::TEST,
    evaluate::ANCESTRAL,
    compare::WORD,
    consensus::WORD,
    root::WORD,
    search::CHECK,
    simulate::WORD,
    gpu_selftest::WORD,
];

/// The word that is called so.
pub(crate) fn find_word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.is_called(name))
}
