//! One room per analysis: which steps it takes, in which order, and what it says of them. All of them are a [`Command`], which a
//! user calls by a [`Word`]; [`WORDS`] has them all. An analysis has its `options`, `run` (which steps, in which order), and its
//! guide. Analyses do not import each other.

mod bootstrap;
mod command;
mod compare;
mod concordance;
mod consensus;
mod converge;
mod distance;
mod draw;
mod evaluate;
mod genes;
mod gpu_selftest;
mod report;
mod resample;
mod root;
mod sample;
mod search;
mod select;
mod simulate;
mod start;
mod support;
mod terrace;
mod word;
mod words;

pub use command::Analysis;
pub(crate) use command::Command;
pub(crate) use word::Group;
pub(crate) use word::guide;
pub use word::{Guide, Word};
pub(crate) use words::find_word;
pub use words::{WORDS, output_kinds};
