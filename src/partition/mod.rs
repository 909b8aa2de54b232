//! Partitions: which columns of the alignment form a gene, and the data of each gene.
//!
//! [`parse_partitions`] reads the three grammars of partition files (see `partitions/README.md`), [`PartitionDef`]
//! is one line of them, [`build_patterns`] turns it into encoded, compressed columns, [`Partition`] is both with the model. What the model strings
//! in a partition file mean is the business of the model room.

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

pub use build::{build_patterns, gappyness};
pub use definition::{PartitionDef, whole_alignment};
pub use freqs::count_freqs;
pub use parse::parse_partitions;
pub use resolved::Partition;

pub(crate) use build::{check_frame, num_states_seen};
pub(crate) use detect::detect_data_type;
pub(crate) use ranges::format_ranges;
pub(crate) use suspicion::suspicions;
