//! Unrooted binary trees: structure, moves, restriction to the taxa of one partition, text.
//!
//! No sequence, no model and no likelihood is known here.

mod induced;
mod topology;

pub use induced::{Image, Restriction};
pub use topology::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree, to_length_grid};
