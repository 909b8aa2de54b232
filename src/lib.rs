//! mlsearch: maximum-likelihood phylogenetic tree search on gappy multi-gene alignments.
//!
//! The program is described in its README. It uses this library, of which the following modules are for
//! other programs, too:
//!
//! | to | modules |
//! |---|---|
//! | read alignments and partition files | [`alignment`], [`alphabet`], [`taxa`], [`partition`] |
//! | read models of sequence evolution | [`model`] |
//! | read, write and compare trees | [`tree`], [`tree_distance`] |
//! | compute the likelihood of a tree, optimise its branch lengths and models | [`likelihood`], [`optimize`] |
//! | search for the best tree, from starting trees by parsimony | [`parsimony`], [`search`] |
//! | simulate sequences | [`simulate`] |
//! | draw random numbers, follow a long computation, understand what was refused | [`rng`], [`observer`], [`error`] |
//!
//! These are the library without the feature `cli` (`default-features = false`); with it, which is the default, come
//! the program and the rooms that only the program uses.
//!
//! # Examples
//!
//! The log-likelihood of a parsimony tree with optimised branch lengths and model parameters:
//!
//! ```
//! use mlsearch::alignment::read_alignment;
//! use mlsearch::likelihood::{BrlenLinkage, EngineOptions, make_evaluator};
//! use mlsearch::observer::Silent;
//! use mlsearch::optimize::{OptimizeOptions, optimize};
//! use mlsearch::parsimony::ParsimonyData;
//! use mlsearch::partition::Partition;
//! use mlsearch::rng::Purpose;
//! use mlsearch::search::parsimony_start;
//! use mlsearch::tree::{NewickOptions, write_newick};
//! use std::path::Path;
//!
//! // A single partition: all columns of the alignment, with one model.
//! let alignment = read_alignment(Path::new("datasets/primates.phy"))?;
//! let partitions = [Partition::whole(&alignment, "GTR+F+G4")?];
//!
//! // A parsimony tree, or one from a file with `read_newick`.
//! let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
//! let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
//!
//! let mut models = [partitions[0].model.clone()];
//! let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
//! let mut evaluator = make_evaluator(&partitions, &models, tree, linked, &engine)?;
//! let lnl = optimize(&mut evaluator, &mut models, &OptimizeOptions::to(0.1), &mut Silent)?;
//! println!("log-likelihood: {lnl:.2}");
//! assert_eq!(format!("{lnl:.1}"), "-5719.4");
//! let taxa = alignment.taxa();
//! println!("{}", write_newick(evaluator.tree(), |tip| taxa.name(tip), &NewickOptions::default()));
//! # Ok::<(), mlsearch::error::Error>(())
//! ```
//!
//! All rooms (modules) by floor. A room imports only from lower floors, and never from another room on its
//! own floor; a test enforces this.
//!
//! | floor | rooms |
//! |---|---|
//! | 0 | `error`, `observer`, `rng`, `taxa`, `numeric`, `whole_file`, and the crate `mlsearch_kernels` |
//! | 1 | `alphabet`, `tree`, `parallel`, `gpu`, `input`, `panics` |
//! | 2 | `alignment`, `model` |
//! | 3 | `partition` |
//! | 4 | `parsimony`, `distance`, `tree_distance`, `terrace`, `simulate`, `likelihood` |
//! | 5 | `optimize` |
//! | 6 | `sampler`, `search` |
//! | 7 | `ancestral`, `bootstrap`, `model_selection`, `topology_tests` |
//! | 8 | `output` |
//! | 9 | `plan` |
//! | 10 | `dataset` |
//! | 11 | `runtime` |
//! | 12 | `steps` |
//! | 13 | `commands` |
//! | 14 | `run` |
//! | 15 | `cli` |

#![warn(unreachable_pub)]
// Without the program, what only the program uses is unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub mod error;
mod numeric;
pub mod observer;
pub mod rng;
pub mod taxa;
mod whole_file;

pub mod alphabet;
#[doc(hidden)]
pub mod gpu;
mod input;
#[doc(hidden)]
pub mod panics;
#[doc(hidden)]
pub mod parallel;
pub mod tree;

pub mod alignment;
pub mod model;

pub mod partition;

pub mod distance;
pub mod likelihood;
pub mod parsimony;
pub mod simulate;
#[cfg(feature = "cli")]
mod terrace;
pub mod tree_distance;

pub mod optimize;

#[cfg(feature = "cli")]
mod sampler;
pub mod search;

#[cfg(feature = "cli")]
mod ancestral;
#[cfg(feature = "cli")]
mod bootstrap;
#[cfg(feature = "cli")]
mod model_selection;
#[cfg(feature = "cli")]
mod topology_tests;

#[cfg(feature = "cli")]
mod output;

#[cfg(feature = "cli")]
mod plan;

#[cfg(feature = "cli")]
mod dataset;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod runtime;

#[cfg(feature = "cli")]
mod steps;

#[cfg(feature = "cli")]
mod commands;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod run;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
