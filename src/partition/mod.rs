//! Partitions: which columns of the alignment form a gene, and the data of each gene.
//!
//! [`parse_partitions`] reads the three grammars of partition files (see `partitions/README.md`). [`PartitionDef`]
//! is one partition as defined there, [`build_patterns`] encodes and compresses its columns, and [`Partition`] has
//! the patterns and the model. The model strings of a partition file are read by `model`.

mod build;
mod coverage;
mod definition;
mod detect;
mod freqs;
mod glyphs;
mod lines;
mod nexus;
mod parse;
mod ranges;
mod resolved;
mod suspicion;

pub use build::{build_patterns, check_frame, gappyness, num_states_seen};
pub use definition::{PartitionDef, whole_alignment};
pub use detect::detect_data_type;
pub use freqs::{count_freqs, empirical_freqs, nucleotide_freqs};
pub use parse::parse_partitions;
pub use ranges::format_ranges;
pub use resolved::Partition;
pub use suspicion::suspicions;
