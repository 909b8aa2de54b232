//! The one table of words.

use super::{
    Word, bootstrap, compare, concordance, consensus, converge, distance, draw, evaluate, genes,
    gpu_selftest, report, resample, root, sample, search, select, simulate, start, support,
    terrace,
};
use crate::output::{OF_EVERY_RUN, OutputKind};
use crate::plan::Replaces;

/// All words, in the order of the help.
pub const WORDS: &[Word] = &[
    search::WORD,
    select::WORD,
    genes::WORD,
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
    draw::WORD,
    search::CHECK,
    report::WORD,
    simulate::WORD,
    gpu_selftest::WORD,
];

/// The word that is called so.
pub(crate) fn find_word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.is_called(name))
}

/// Every kind of file that these words may write, and that every run may leave, the most important ones first.
fn kinds_of(is_wanted: impl Fn(&Word) -> bool) -> Vec<OutputKind> {
    let words = WORDS.iter().filter(|word| is_wanted(word));
    let mut kinds: Vec<OutputKind> = words.flat_map(|word| word.outputs).copied().collect();
    kinds.extend(OF_EVERY_RUN);
    kinds.sort_by_key(|kind| kind.rank());
    kinds.dedup();
    kinds
}

/// Every kind of output file.
pub fn output_kinds() -> Vec<OutputKind> {
    kinds_of(|_| true)
}

/// Those that an analysis of sequences may have left under a prefix.
pub(super) fn kinds_of_analyses() -> Vec<OutputKind> {
    kinds_of(|word| word.replaces == Replaces::AllOfAnalyses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_words_have_the_same_spelling_and_no_two_kinds_of_files_the_same_name() {
        let mut names: Vec<&str> = WORDS
            .iter()
            .flat_map(|word| word.aliases.iter().chain([&word.name]))
            .copied()
            .collect();
        let mut suffixes: Vec<&str> = output_kinds().iter().map(|kind| kind.suffix()).collect();
        for spellings in [&mut names, &mut suffixes] {
            let count = spellings.len();
            spellings.sort_unstable();
            spellings.dedup();
            assert_eq!(spellings.len(), count, "{spellings:?}");
        }
        // Kinds of the same rank would be the same.
        let declared: usize = WORDS
            .iter()
            .flat_map(|word| word.outputs)
            .map(|kind| kind.suffix())
            .collect::<std::collections::BTreeSet<_>>()
            .len();
        assert_eq!(declared + OF_EVERY_RUN.len(), output_kinds().len());
    }
}
