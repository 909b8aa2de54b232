//! Sequences along a tree, under any model, with missing genes to order.
//!
//! Makes the larger files of `datasets/` and gives tests a known truth. A model arrives as its matrices
//! and categories, so this room knows neither model strings nor alignments.

mod missing;
mod sequences;
mod write;
mod yule;

pub use missing::draw_presence;
pub use sequences::{SimModel, simulate_states};
pub use write::{Gene, to_partition_file, to_phylip};
pub use yule::{random_names, yule_tree};
