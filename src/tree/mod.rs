//! Unrooted binary trees: structure, moves, restriction to the taxa of one partition, text.
//!
//! This room does not depend on sequences, models or likelihoods.

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

pub use consensus::{ConsensusKind, ConsensusTree, consensus};
pub use induced::{Image, Restriction};
pub use newick_read::{NewickNode, NewickReader, NewickTree, read_newick};
pub use newick_tree::{DEFAULT_BRLEN, MAX_READ_BRLEN, RESOLVED_BRLEN, SubsetTree};
pub use newick_write::{
    EdgeLabels, NewickOptions, format_brlen, quote, support_label, write_newick,
};
pub use random::{draw_exponential_brlens, random_tree};
pub use splits::{Split, SplitTable, same_topology, tree_splits};
pub use topology::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree, to_length_grid};
