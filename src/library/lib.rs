//! mlsearch: maximum-likelihood phylogenetic tree search on gappy multi-gene alignments.
//!
//! The library of the program mlsearch, which is described in its README. The following modules are for other programs, too:
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
//! # Examples
//!
//! The log-likelihood of a parsimony tree with optimised branch lengths and model parameters:
//!
//! ```
//! use mlsearch_library::alignment::read_alignment;
//! use mlsearch_library::likelihood::{BrlenLinkage, EngineOptions, make_evaluator};
//! use mlsearch_library::observer::Silent;
//! use mlsearch_library::optimize::{OptimizeOptions, optimize};
//! use mlsearch_library::parsimony::ParsimonyData;
//! use mlsearch_library::partition::Partition;
//! use mlsearch_library::rng::Purpose;
//! use mlsearch_library::search::parsimony_start;
//! use mlsearch_library::tree::{NewickOptions, write_newick};
//! use std::path::Path;
//!
//! // A single partition: all columns of the alignment, with one model.
//! let alignment = read_alignment(Path::new("../../datasets/primates.phy"))?;
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
//! # Ok::<(), mlsearch_library::error::Error>(())
//! ```
//!
//! All rooms (modules) by floor. A room imports only from lower floors, and never from another room on its
//! own floor; a test enforces this.
//!
//! | floor | rooms |
//! |---|---|
//! | 0 | `error`, `instructions`, `observer`, `rng`, `taxa`, `mpi`, `numeric`, `stop`, `whole_file`, and the crate `mlsearch_kernels` |
//! | 1 | `alphabet`, `tree`, `parallel`, `gpu`, `input`, `panics` |
//! | 2 | `alignment`, `model` |
//! | 3 | `partition` |
//! | 4 | `parsimony`, `distance`, `tree_distance`, `terrace`, `simulate`, `likelihood` |
//! | 5 | `conformance`, `optimize` |
//! | 6 | `sampler`, `search` |
//! | 7 | `ancestral`, `bootstrap`, `model_selection`, `site_rates`, `topology_tests` |
//!
//! The rooms that are hidden in this documentation are for the program alone.

#![warn(unreachable_pub)]

pub mod error;
mod instructions;
#[doc(hidden)]
pub mod mpi;
#[doc(hidden)]
pub mod numeric;
pub mod observer;
pub mod rng;
#[doc(hidden)]
pub mod stop;
pub mod taxa;
#[doc(hidden)]
pub mod whole_file;

pub mod alphabet;
#[doc(hidden)]
pub mod gpu;
#[doc(hidden)]
pub mod input;
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
#[doc(hidden)]
pub mod terrace;
pub mod tree_distance;

#[doc(hidden)]
pub mod conformance;
pub mod optimize;

#[doc(hidden)]
pub mod sampler;
pub mod search;

#[doc(hidden)]
pub mod ancestral;
#[doc(hidden)]
pub mod bootstrap;
#[doc(hidden)]
pub mod model_selection;
#[doc(hidden)]
pub mod site_rates;
#[doc(hidden)]
pub mod topology_tests;
