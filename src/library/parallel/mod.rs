//! Persistent worker threads and how work is dealt to them.
//!
//! Results do not depend on which worker computes a block: sums are combined elsewhere, in block order.

mod assign;
mod available;
mod pace;
#[cfg(test)]
mod pace_tests;
mod pin;
mod pool;
#[cfg(all(test, shuttle))]
mod schedule_tests;
mod side_by_side;
mod sync;
mod team;

pub use available::available_cores;
pub use pin::share_cores;
pub use pool::Pool;
#[doc(hidden)]
pub use team::Rehearsal;

pub use assign::{UnitCost, WholeTask, deal, deal_whole, loads_of};
pub use available::{available_memory, share_machine, used_memory};
pub(crate) use side_by_side::{rehearsed_side_by_side, side_by_side};
pub(crate) use team::{Abandoned, Team};
