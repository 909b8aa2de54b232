//! mlsearch: maximum-likelihood phylogenetic tree search on gappy multi-gene alignments.
//!
//! The program is described in its README. It stands on this library, of which these rooms are for
//! other programs, too:
//!
//! | to | rooms |
//! |---|---|
//! | read alignments and partition files | [`alignment`], [`alphabet`], [`taxa`], [`partition`] |
//! | read models of sequence evolution | [`model`] |
//! | read, write and compare trees | [`tree`], [`distance`] |
//! | compute the likelihood of a tree, optimise its branch lengths and models | [`likelihood`], [`optimize`] |
//! | search for the best tree, from starting trees by parsimony | [`parsimony`], [`search`] |
//! | simulate sequences | [`simulate`] |
//! | draw random numbers, follow a long computation, understand what was refused | [`rng`], [`observer`], [`error`] |
//!
//! All rooms (modules) by floor. A room imports only from lower floors, and never from another room on its
//! own floor; a test enforces this.
//!
//! | floor | rooms |
//! |---|---|
//! | 0 | `error`, `observer`, `rng`, `taxa`, `numeric` |
//! | 1 | `alphabet`, `tree`, `parallel`, `input` |
//! | 2 | `alignment`, `model` |
//! | 3 | `partition` |
//! | 4 | `parsimony`, `distance`, `simulate`, `likelihood` |
//! | 5 | `optimize` |
//! | 6 | `search` |
//! | 7 | `bootstrap`, `model_selection` |
//! | 8 | `output` |
//! | 9 | `run` |
//! | 10 | `cli` |

#![warn(unreachable_pub)]

pub mod error;
mod numeric;
pub mod observer;
pub mod rng;
pub mod taxa;

pub mod alphabet;
mod input;
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

pub mod optimize;

pub mod search;

mod bootstrap;
mod model_selection;

mod output;

#[doc(hidden)]
pub mod run;

#[doc(hidden)]
pub mod cli;
