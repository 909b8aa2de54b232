//! The kinds of output files: their names, and what is in them. Each is declared by the analysis or the step that writes it.

/// One kind of output file.
#[derive(Debug, Clone, Copy)]
pub struct OutputKind {
    /// Its place where files are listed: the most important ones come first. No two kinds have the same.
    rank: u16,
    suffix: &'static str,
    content: &'static str,
    is_numbered: bool,
}

impl PartialEq for OutputKind {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for OutputKind {}

impl OutputKind {
    /// A kind with its rank; what follows `PREFIX.mlsearch.`; and its content, as a user reads it.
    pub(crate) const fn new(rank: u16, suffix: &'static str, content: &'static str) -> Self {
        OutputKind { rank, suffix, content, is_numbered: false }
    }

    /// The same if there are several files, with numbers from 1 in the place of `N`.
    pub(crate) const fn numbered(self) -> Self {
        OutputKind { is_numbered: true, ..self }
    }

    /// Its place among all kinds, by which a checkpoint knows it.
    pub(crate) fn rank(self) -> u16 {
        self.rank
    }

    /// True for results of which there are several files.
    pub(crate) fn is_numbered(self) -> bool {
        self.is_numbered
    }

    /// What follows `PREFIX.mlsearch.`.
    pub fn suffix(self) -> &'static str {
        self.suffix
    }

    /// Its content, as a user reads it.
    pub fn content(self) -> &'static str {
        self.content
    }
}

/// The record of the run.
pub(crate) const LOG: OutputKind = OutputKind::new(90, "log", "a detailed record of the run");

/// All results, for programs.
pub(crate) const JSON: OutputKind = OutputKind::new(91, "json", "all results, for programs");

/// What an interrupted run is resumed from; removed at its end.
pub(crate) const CHECKPOINT: OutputKind =
    OutputKind::new(44, "checkpoint", "what the interrupted run is resumed from");

/// The best tree of a run in progress; removed at its end.
pub(crate) const LAST_TREE: OutputKind = OutputKind::new(45, "lastTree", "the best tree so far");

/// What every run may leave, whatever its analysis.
pub(crate) const OF_EVERY_RUN: [OutputKind; 4] = [LOG, JSON, CHECKPOINT, LAST_TREE];
