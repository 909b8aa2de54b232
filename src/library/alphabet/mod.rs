//! Alphabets: the characters of each data type, and the states that are compatible with each of them.
//!
//! A *state* is a value that evolves along the tree (A, C, G, T; an amino acid; a sense codon); a *character* is a
//! symbol in a file (`R`, `-`, `u`); a *site* is one character, or three in codon data; a *code* is the number of a
//! site's set of possible states. There is one file per alphabet; [`DataType`] is their common interface, and
//! `Encoder` translates the sites of a partition.

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

pub use character::is_sequence_character;
pub use encoder::{Encoder, Unreadable};
pub use multistate::num_multistate_states;
