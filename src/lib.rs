//! The program mlsearch: maximum-likelihood phylogenetic tree search on gappy multi-gene alignments. It is described in
//! its README. What it computes with is the library [`mlsearch_library`], whose rooms stand below these:
//!
//! | floor | rooms |
//! |---|---|
//! | 8 | `output` |
//! | 9 | `plan` |
//! | 10 | `dataset` |
//! | 11 | `runtime` |
//! | 12 | `steps` |
//! | 13 | `commands` |
//! | 14 | `run` |
//! | 15 | `cli` |

#![warn(unreachable_pub)]

#[doc(no_inline)]
pub use mlsearch_library::{
    alignment, alphabet, ancestral, bootstrap, conformance, distance, error, gpu, input,
    likelihood, model, model_selection, mpi, numeric, observer, optimize, panics, parallel,
    parsimony, partition, rng, sampler, search, simulate, site_rates, stop, taxa, terrace,
    topology_tests, tree, tree_distance, whole_file,
};

mod output;

mod plan;

mod dataset;

#[doc(hidden)]
pub mod runtime;

mod steps;

mod commands;

#[doc(hidden)]
pub mod run;

#[doc(hidden)]
pub mod cli;
