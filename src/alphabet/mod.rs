//! Alphabets: which characters a data type knows, and which states each of them may stand for.
//!
//! A *state* is what evolves (A, C, G, T; an amino acid; a sense codon); a *character* is what a file holds (`R`,
//! `-`, `u`); a *site* is one character, or three in codon data; a *code* is the small number of a site's set of
//! possible states. One file per alphabet, [`DataType`] in front, and `Encoder` for the sites of a partition.
//! No sequence is held here, and no model.

mod binary;
mod character;
mod data_type;
mod dna;
mod encoder;
mod genetic_code;
mod multistate;
mod protein;
mod table;

pub use data_type::{Code, DataType};
pub use genetic_code::GeneticCode;

pub(crate) use character::is_sequence_character;
pub(crate) use encoder::{Encoder, Unreadable};
pub(crate) use multistate::num_multistate_states;
