//! Sequences simulated along a tree, under any model, optionally with missing genes.
//!
//! Makes the larger files of `datasets/`, and data of known origin for tests. A model is given as its matrices
//! and categories, so this room depends neither on model strings nor on alignments.

mod missing;
mod sequences;
mod write;
mod yule;

pub use missing::draw_presence;
pub use sequences::{SimModel, simulate_states};
pub use write::{Gene, to_partition_file, to_phylip};
pub use yule::{random_names, random_tree};
