//! Ancestral states: the most likely states at the inner nodes of a tree (`reconstruct`), by marginal reconstruction (Yang,
//! Kumar & Nei 1995, Genetics 141:1641), and the changes between the two ends of every branch (`changes`).

mod changes;
mod nodes;
mod reconstruct;

pub(crate) use changes::{Change, ChangedTo, changes_of_branches};
pub(crate) use nodes::InnerNodes;
pub(crate) use reconstruct::{AncestralStates, most_likely, reconstruct};
