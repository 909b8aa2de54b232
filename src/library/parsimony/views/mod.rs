//! The views of a tree: for both ends of every edge the state sets of all that lies behind it, and what a subtree costs in other places.
//!
//! ```text
//!   whole        ParsimonyViews: one tree, all columns, whoever computes with them
//!     |
//!   own          the columns of this process, in a share for each thread;   other ranks: `other_ranks`
//!     |
//!   of_columns   the views over one share
//!     |
//!   walk         the places where a subtree may be put, one after the other
//!   ahead        what will be needed soon is fetched while other work goes on
//!   path         what lies behind the edges of such a walk
//!   tally        how changes are counted there: alone, or by threads that race over the places
//!   row_work     rows as a whole, for the instructions of the machine
//! ```
//!
//! With views the cost of inserting a subtree into any edge is computed at that edge alone. After a change of the tree only views that
//! change are recomputed, in the blocks in which one of their inputs changed; the update ends where the result is the same as before.

mod ahead;
mod of_columns;
mod own;
mod path;
mod row_work;
mod tally;
mod walk;
mod whole;

pub(crate) use own::OwnViews;
pub(crate) use walk::{Place, Step};
pub use whole::ParsimonyViews;
pub(crate) use whole::three_taxa;
