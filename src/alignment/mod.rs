//! Alignments: reading them from files, what they hold, and their unique columns.
//!
//! [`read_alignment`] is the only function that knows paths. The format readers (`phylip`, `fasta`) find out
//! which bytes belong to which taxon; `assemble` checks and joins them, so a fault is worded once for every
//! format. [`Patterns`] are the columns of one partition, encoded and compressed; `AlignmentSummary` says what
//! an alignment is like. Which columns form a partition is not known here.

mod assemble;
mod check;
mod detect;
mod fasta;
mod open;
mod patterns;
mod phylip;
mod rows;

pub use open::{read_alignment, read_alignment_from};
pub use patterns::Patterns;
pub use rows::Alignment;

pub(crate) use check::AlignmentSummary;
