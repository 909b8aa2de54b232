//! [`PartitionDef`], one partition as it was defined, and [`ParsedFile`], what a grammar made of a file.

use crate::error::{Faults, Place};

/// One partition as the user defined it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionDef {
    /// Name, verbatim.
    pub name: String,
    /// Type or model as written, without white space: `DNA`, `GTR+G{0.5}`; empty if none was given.
    pub model: String,
    /// Columns of the alignment, counted from 0, in the order written.
    pub sites: Vec<u32>,
    /// Where it was defined.
    pub place: Place,
}

/// What a grammar made of a text.
#[derive(Debug, Default)]
pub(super) struct ParsedFile {
    /// Partitions in the order of the file.
    pub defs: Vec<PartitionDef>,
    /// Everything wrong so far.
    pub faults: Faults,
    /// Columns of all of them, also of those that were taken twice.
    pub num_columns: usize,
    /// True if columns were lost with something unreadable, so that it is unknown which are unassigned.
    pub incomplete: bool,
}

impl ParsedFile {
    /// True if there is no point in reading on: it is not a partition file, or there are so many more columns than the
    /// alignment has that they must overlap.
    pub(super) fn is_hopeless(&self, num_sites: usize) -> bool {
        let limit = num_sites.saturating_mul(4).saturating_add(MAX_SURPLUS);
        self.faults.len() >= MAX_FAULTS || self.num_columns > limit
    }
}

/// Faults after which nothing more is read.
const MAX_FAULTS: usize = 1000;
/// Columns beyond four times those of the alignment after which nothing more is read.
const MAX_SURPLUS: usize = 100_000;

/// The one partition of a run without a partition file: all columns, under a model.
pub fn whole_alignment(num_sites: usize, model: &str) -> Vec<PartitionDef> {
    vec![PartitionDef {
        name: "all".to_string(),
        model: model.to_string(),
        sites: (0..num_sites as u32).collect(),
        place: Place::default(),
    }]
}
