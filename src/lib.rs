//! mlsearch: maximum-likelihood phylogenetic tree search on gappy multi-gene alignments.
//!
//! The rooms (modules) by floor. A room imports only from lower floors, and never from another room on its
//! own floor; a test enforces this.
//!
//! | floor | rooms |
//! |---|---|
//! | 0 | [`error`], [`observer`], [`rng`], [`taxa`], [`numeric`] |
//! | 1 | [`alphabet`], [`tree`], [`parallel`], [`input`] |
//! | 2 | [`alignment`], [`model`] |
//! | 3 | [`partition`] |
//! | 4 | [`parsimony`], [`distance`], [`simulate`], [`likelihood`] |
//! | 5 | [`optimize`] |
//! | 6 | [`search`] |
//! | 7 | [`bootstrap`], [`selection`] |
//! | 8 | [`output`] |
//! | 9 | [`run`] |
//! | 10 | [`cli`] |

pub mod error;
pub mod numeric;
pub mod observer;
pub mod rng;
pub mod taxa;

pub mod alphabet;
pub mod input;
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

pub mod bootstrap;
pub mod selection;

pub mod output;

pub mod run;

pub mod cli;
