//! Unrooted binary trees: structure, moves, restriction to the taxa of one partition, text.
//!
//! No sequence, no model and no likelihood is known here.

mod consensus;
mod induced;
mod newick_chars;
mod newick_read;
mod newick_tree;
mod newick_write;
mod random;
mod splits;
mod topology;
mod walk;

pub use consensus::{ConsensusRule, ConsensusTree, consensus};
pub use newick_read::{NewickNode, NewickTree, read_newick};
pub use newick_write::{EdgeLabels, NewickOptions, write_newick};
pub use random::random_tree;
pub use splits::{Split, same_topology, tree_splits};
pub use topology::{EdgeId, NodeId, Tree};

pub(crate) use induced::{Image, Restriction};
pub(crate) use newick_read::NewickReader;
pub(crate) use newick_tree::{DEFAULT_BRLEN, SubsetTree};
pub(crate) use newick_write::support_label;
pub(crate) use splits::SplitTable;
pub(crate) use topology::{PrunedSubtree, RegraftUndo, to_length_grid};
