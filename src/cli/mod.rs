//! The command line: what was typed, how it is refused, and help.
//!
//! The `front` turns the words of a command line into an [`Analysis`](crate::commands::Analysis); what the options of an analysis
//! mean is in its own room. `help` shows the words, their options and their guides; `pages` writes those of the manual, and completions.

mod front;
mod help;
mod messages;
mod pages;
#[cfg(test)]
mod toy_tests;

pub use crate::commands::{Guide, WORDS, Word, output_kinds};
pub use front::{Stop, flat, parse};
pub use help::guides;
pub use messages::{print_clap, print_error, print_failure, print_no_command, print_text};
