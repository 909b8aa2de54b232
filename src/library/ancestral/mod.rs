//! Ancestral states: the most likely states at the inner nodes of a tree (`reconstruct`), by marginal reconstruction (Yang,
//! Kumar & Nei 1995, Genetics 141:1641), and the changes between the two ends of every branch (`changes`).

mod changes;
mod nodes;
mod reconstruct;

pub use changes::{Change, ChangedTo, changes_of_branches};
pub use nodes::InnerNodes;
pub use reconstruct::{AncestralStates, most_likely, reconstruct};
