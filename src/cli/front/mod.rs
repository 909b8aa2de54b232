//! From the words of a command line to an analysis. RAxML's, RAxML-NG's and IQ-TREE's command lines work beside the words of this
//! program.
//!
//! `typed` splits the words into options with their values; `verdict`, with the table of `peers`, decides what becomes of each:
//! options of other programs are read as ours, or refused with what to do instead. `choose` finds the analysis, by its word or by
//! options that name it (`flat`), and says which options it does not have. `parse` does all of it, and lets the option parser bind
//! what is left; `parser_words` says what that refuses. Command lines of FastTree (`fasttree`) and PhyML (`phyml`) are told from others
//! by their options, and answered with one of ours.

mod choose;
mod fasttree;
mod flat;
#[cfg(test)]
mod meaning_tests;
mod parse;
mod parser_words;
mod peers;
mod phyml;
mod typed;
mod verdict;

pub use flat::flat;
pub use parse::{Stop, parse};
