//! Models of sequence evolution: from a model string to rates, frequencies, rate categories and the
//! eigensystem of the rate matrix, and back to a string exactly.
//!
//! | file | what it knows |
//! |---|---|
//! | `bounds` | the limits and start values of every parameter |
//! | `dna` | named DNA models and symmetry strings |
//! | `parameters` | [`Model`]: one partition's model with its current parameters |
//! | `parse` | the grammar of model strings, and what is refused |
//! | `display` | the canonical model string |
//! | `protein` | named amino-acid matrices and mixtures; their numbers are in `protein_tables` |
//! | `qmatrix` | [`EigenModel`]: normalised rate matrix and its eigensystem |
//! | `rates` | [`RateCats`]: rates over sites, +G and +I |
//!
//! Nothing here looks at an alignment (empirical frequencies are counted where partitions live) or
//! optimises anything.

pub mod bounds;
mod display;
mod dna;
mod parameters;
mod parse;
mod protein;
mod protein_tables;
mod qmatrix;
mod rates;

pub use dna::{NAMED_DNA_MODELS, NamedDnaModel};
pub use parameters::{FreqsMode, Gamma, Invariant, Model, ParamMode};
pub use protein::{
    AMINO_ACIDS, PROTEIN_MATRICES, PROTEIN_MIXTURES, ProteinMatrix, ProteinMixture,
    find_protein_matrix, find_protein_mixture,
};
pub use qmatrix::EigenModel;
pub use rates::RateCats;
