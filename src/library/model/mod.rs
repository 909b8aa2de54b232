//! Models of sequence evolution: from a model string to rates, frequencies, rate categories and the
//! eigensystem of the rate matrix, and back to a string exactly.
//!
//! | file | content |
//! |---|---|
//! | `bounds` | the limits and start values of every parameter |
//! | `dna` | named DNA models and symmetry strings |
//! | `protein`, `protein_tables` | published amino-acid matrices |
//! | `codon` | codon models: rates from kappa and omega, codon frequencies from nucleotides' |
//! | `modes` | where the value of a parameter comes from |
//! | `matrix_mixtures`, `profiles` | published mixtures of amino-acid matrices with all rates over sites, and of profiles |
//! | `mixture` | [`Mixture`]: classes of sites with rate matrices of their own |
//! | `guide`, `site_frequencies` | the models of one class with which profile mixtures begin, and of sites with frequencies of their own |
//! | `exchange` | [`Exchange`]: where exchange rates come from |
//! | `parameters` | [`Model`]: one partition's model with its current parameters |
//! | `free`, `linked_rates` | `FreeParameter`: all parameters to be estimated, as one list; exchange rates that partitions share |
//! | `matrices` | names of rate matrices, and the models they begin |
//! | `values` | [`ModelValues`]: the values of all parameters, for checkpoints |
//! | `rate_starts`, `exchange_starts` | rates over sites, and exchange rates, from which an optimiser may begin |
//! | `parse` | the grammar of model strings, and what is refused |
//! | `raxml`, `data_types` | RAxML's one-word models; data types in partition lines |
//! | `user_matrix` | [`UserMatrix`]: an amino-acid matrix from a file |
//! | `words` | a model string cut into words |
//! | `auto` | words for model selection |
//! | `display` | the canonical model string |
//! | `qmatrix` | [`EigenModel`]: normalised rate matrix and its eigensystem |
//! | `rates` | [`RateCats`]: rates over sites, +G, +R and +I |
//! | `ascertainment` | [`Ascertainment`]: sites that were left out |
//!
//! Nothing here depends on an alignment (empirical frequencies are counted in `partition`) or optimises
//! anything.

mod ascertainment;
mod auto;
pub mod bounds;
mod codon;
mod data_types;
mod display;
mod dna;
mod exchange;
mod exchange_starts;
mod free;
mod guide;
mod linked_rates;
mod matrices;
mod matrix_mixtures;
mod mixture;
mod modes;
mod parameters;
mod parse;
mod profiles;
mod protein;
mod protein_tables;
mod qmatrix;
mod rate_starts;
mod rates;
mod raxml;
mod site_frequencies;
mod user_matrix;
mod values;
mod words;

pub use crate::numeric::GammaMode;
pub use ascertainment::Ascertainment;
pub use auto::{AutoData, AutoModel};
pub use codon::{CodonModelKind, CodonRates, PositionFreqs};
pub use dna::{NAMED_DNA_MODELS, NamedDnaModel, f84_rates};
pub use exchange::{Exchange, RateClasses};
pub use free::{FreeParameter, Ratios};
pub use matrix_mixtures::{MATRIX_MIXTURES, MatrixMixture};
pub use mixture::{ClassWeights, Mixture, SiteClass};
pub use modes::{FreqsMode, ParamMode, WeightsMode};
pub use parameters::Model;
pub use profiles::{PROFILE_MIXTURES, ProfileMixture};
pub use protein::{PROTEIN_MATRICES, PROTEIN_MIXTURES, ProteinMatrix, ProteinMixture};
pub use qmatrix::EigenModel;
pub use rates::{FreeRates, Gamma, Heterogeneity, Invariant, RateCats};
pub use user_matrix::UserMatrix;
pub use values::ModelValues;
