//! Alignments: reading them from files, their content, and their distinct columns.
//!
//! [`read_alignment`] is the only function that takes a path. The format readers (`phylip`, `fasta`) determine
//! which bytes belong to which taxon; `assemble` checks and joins them, so that a fault is worded once for all
//! formats. [`Patterns`] are the columns of one partition, encoded and compressed; [`AlignmentSummary`] describes an
//! alignment. Which columns form a partition is decided elsewhere.

mod assemble;
mod check;
mod detect;
mod fasta;
mod open;
mod patterns;
mod phylip;
mod rows;

pub use check::AlignmentSummary;
pub use open::{read_alignment, read_alignment_from};
pub use patterns::Patterns;
pub use rows::Alignment;
