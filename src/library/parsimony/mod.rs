//! Maximum parsimony: Fitch scores with one bit per column, starting trees by randomised stepwise
//! addition, parsimony SPR, and branch lengths from the number of changes.
//!
//! | word | meaning |
//! |---|---|
//! | state set | states a node may have at a column without an extra change (Fitch 1971, Syst. Zool. 20:406) |
//! | row | the state sets of all columns, bit-parallel, in blocks of 256 columns |
//! | view | the row of all that lies behind one end of an edge, seen from that edge |
//! | insertion cost | changes that a subtree adds to the rest of the tree when it is put into an edge |
//!
//! Trees satisfy the [constraint](crate::tree::Constraint) of the data, if these have one.
//!
//! What is counted (`orders`) and who counts it are told apart: one thread, threads (`threads`), other ranks (`other_ranks`, which use
//! `own_shares`). Each has a share of the blocks; numbers of changes are whole, so that it does not matter who has which. Columns may
//! be left out at random (`thinning`).
//!
//! This room depends neither on likelihoods nor on alignments: its input is codes.

mod brlens;
mod changes;
mod columns;
mod data;
mod fitch;
mod known;
#[cfg(test)]
mod naive;
mod orders;
mod other_ranks;
mod own_shares;
mod score;
mod spr;
mod stepwise;
mod thinning;
mod threads;
mod views;

pub use data::ParsimonyData;
pub use own_shares::OwnShares;
pub use score::parsimony_score;

pub use brlens::parsimony_brlens;
pub use known::KnownRows;
pub use spr::parsimony_spr;
pub use stepwise::stepwise_addition;
pub use views::ParsimonyViews;
