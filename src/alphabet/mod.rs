//! Alphabets: which characters a data type knows, and which states each of them may stand for.
//!
//! A *state* is what evolves (A, C, G, T); a *character* is what a file holds (`R`, `-`, `u`); a *code* is the
//! small number of a character's set of possible states. One file per alphabet, and [`DataType`] in front.
//! No sequence is held here, and no model.

mod character;
mod data_type;
mod dna;

pub use character::is_sequence_character;
pub use data_type::{Code, DataType};
