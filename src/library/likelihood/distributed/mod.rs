//! The likelihood on several ranks: rank 0 decides what is computed, and every rank computes it for the blocks that it has, on the CPU
//! engine or, where patterns have frequencies of their own, on that of site frequencies. Sums over blocks are those of
//! [`BlockSum`](super::engine::BlockSum) whoever has the blocks, so a likelihood has the bits of a single rank's.
//!
//! An operation takes one message of rank 0 with its whole program of work (a sweep over many branches, a batch of insertions), and one
//! exchange of numbers for each of its sums: all ranks have all sums, so all take the same decisions, as the threads of a team do
//! (`parallel/team.rs`), and nobody tells the others how the program goes on. ExaML exchanges as little (Kozlov, Aberer & Stamatakis 2015,
//! Bioinformatics 31:2577).

mod follower;
mod leader;
mod parts;
mod request;
mod shares;

pub use follower::Engines;
pub use leader::{JobCounts, best_group, is_worth_it, make};
