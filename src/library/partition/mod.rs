//! Partitions: which columns of the alignment form a partition, and the data of each partition.
//!
//! [`parse_partitions`] reads the three grammars of partition files (see `partitions/README.md`). [`PartitionDef`]
//! is one partition as defined there, [`build_patterns`] encodes and compresses its columns, and [`Partition`] has
//! the patterns and the model. The model strings of a partition file are read by `model`.
//!
//! # Examples
//!
//! The first codon positions of an alignment, and their patterns:
//!
//! ```
//! use mlsearch_library::alignment::read_alignment_from;
//! use mlsearch_library::alphabet::DataType;
//! use mlsearch_library::partition::{build_patterns, parse_partitions};
//!
//! let alignment = read_alignment_from(&b"2 6\nx ACGATG\ny ACTAGG\n"[..], "partitions.phy")?;
//! let text = "GTR+G, first = 1-6\\3\nJC, others = 2-6\\3, 3-6\\3";
//! let partitions = parse_partitions(text, "partitions.part", alignment.num_sites(), false)?;
//! assert_eq!((partitions[0].name.as_str(), partitions[0].model.as_str()), ("first", "GTR+G"));
//! assert_eq!(partitions[0].sites, [0, 3]);
//!
//! let patterns = build_patterns(&alignment, &partitions[0], DataType::Dna).unwrap();
//! assert_eq!((patterns.num_sites, patterns.num_patterns()), (2, 1));
//! # Ok::<(), mlsearch_library::error::Error>(())
//! ```

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
mod whole;

pub use build::{build_patterns, gappyness};
pub use definition::{PartitionDef, whole_alignment};
pub use freqs::count_freqs;
pub use parse::parse_partitions;
pub use resolved::Partition;

pub use build::{check_frame, num_states_seen};
pub use detect::detect_data_type;
pub use lines::partition_line;
pub use ranges::format_ranges;
pub use suspicion::suspicions;
