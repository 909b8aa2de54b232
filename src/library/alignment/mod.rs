//! Alignments: reading them from files, their content, and their distinct columns.
//!
//! [`read_alignment`] is the only function that takes a path. The format readers (`phylip`, `fasta`,
//! `nexus`, `clustal`, `stockholm`) determine
//! which bytes belong to which taxon; `assemble` checks and joins them, so that a fault is worded once for all
//! formats. [`Patterns`] are the columns of one partition, encoded and compressed; `AlignmentSummary` describes an
//! alignment. Which columns form a partition is decided elsewhere.
//!
//! # Examples
//!
//! ```
//! use mlsearch_library::alignment::{read_alignment, read_alignment_from};
//! use std::path::Path;
//!
//! let alignment = read_alignment(Path::new("../../datasets/primates.phy"))?;
//! assert_eq!((alignment.num_taxa(), alignment.num_sites()), (12, 898));
//! assert_eq!(alignment.taxa().name(2), "Homo_sapiens");
//!
//! // What is wrong with a text is said with its place.
//! let error = read_alignment_from(&b"2 4\nx ACGT\ny ACG\n"[..], "typed.phy").unwrap_err();
//! let start = "typed.phy, line 3, 'y': the sequence has 3 sites, while 'x' (line 2) has 4";
//! assert!(error.to_string().starts_with(start));
//! # Ok::<(), mlsearch_library::error::Error>(())
//! ```

mod assemble;
mod check;
mod clustal;
mod detect;
mod distinct_sites;
mod fasta;
#[cfg(test)]
mod format_tests;
mod named_lines;
mod nexus;
mod nexus_commands;
mod nexus_format;
mod nexus_matrix;
mod open;
mod pattern_freqs;
mod pattern_order;
mod patterns;
mod phylip;
mod recode;
mod rows;
mod split_patterns;
mod stockholm;

pub use open::{read_alignment, read_alignment_from};
pub use pattern_freqs::PatternFreqs;
pub use patterns::Patterns;
pub use recode::Recoding;
pub use rows::Alignment;

pub use check::AlignmentSummary;
