//! The kinds of output files: their names, and what is in them. Each is declared by the analysis or the step that writes it.

use super::names::Names;
use super::tree_files::TreeFormat;

/// One kind of output file.
#[derive(Debug, Clone, Copy)]
pub struct OutputKind {
    /// Its place where files are listed: the most important ones come first. No two kinds have the same.
    rank: u16,
    suffix: &'static str,
    content: &'static str,
    is_numbered: bool,
    /// What the numbers at inner nodes are, of files of trees in Newick format.
    labels: Option<&'static str>,
    format: TreeFormat,
    /// Whose name the file has.
    names: Names,
}

/// Distance of the ranks of a file and of the same in another format, or with another name.
const RANKS: u16 = 1000;

impl PartialEq for OutputKind {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for OutputKind {}

impl OutputKind {
    /// A kind with its rank; what follows `PREFIX.mlsearch.`; and its content, as a user reads it.
    pub(crate) const fn new(rank: u16, suffix: &'static str, content: &'static str) -> Self {
        let format = TreeFormat::Newick;
        let names = Names::Mlsearch;
        OutputKind { rank, suffix, content, is_numbered: false, labels: None, format, names }
    }

    /// The same if there are several files, with numbers from 1 in the place of `N`.
    pub(crate) const fn numbered(self) -> Self {
        OutputKind { is_numbered: true, ..self }
    }

    /// The same if its file has trees, whose numbers at inner nodes are called so: `support`.
    pub(crate) const fn of_trees(self, labels: &'static str) -> Self {
        OutputKind { labels: Some(labels), ..self }
    }

    /// The kind of the file that has the same trees in another format, and what the numbers at their inner nodes are.
    pub(crate) fn in_format(self, format: TreeFormat) -> Option<(Self, &'static str)> {
        let (number, content) = match format {
            TreeFormat::Newick => return None,
            TreeFormat::Nexus => (1, "the same in NEXUS format"),
            TreeFormat::PhyloXml => (2, "the same in PhyloXML format"),
        };
        let rank = self.rank + number * RANKS;
        let other = OutputKind { rank, content, format, labels: None, ..self };
        self.labels.map(|labels| (other, labels))
    }

    /// The kind of the file that has the same content with the name that another program gives it, if it does.
    pub(crate) fn with_name_of(self, names: Names) -> Option<Self> {
        let (number, content) = match names {
            Names::Mlsearch => return None,
            Names::Raxml => (3, "the same with RAxML's name"),
            Names::RaxmlNg => (4, "the same with RAxML-NG's name"),
        };
        let is_own = self.names == Names::Mlsearch && self.format == TreeFormat::Newick;
        let is_named = is_own && names.word(self.suffix).is_some();
        let rank = self.rank + number * RANKS;
        is_named.then_some(OutputKind { rank, content, names, labels: None, ..self })
    }

    /// Whose name the file has, and the word for its content in this.
    pub(super) fn name_of_other(self) -> Option<(Names, &'static str)> {
        self.names.word(self.suffix).map(|word| (self.names, word))
    }

    /// Where it is listed: beside the same in another format.
    pub(crate) fn listed(self) -> (u16, u16) {
        (self.rank % RANKS, self.rank)
    }

    /// What follows the suffix, if its format is not that of other runs.
    pub(crate) fn extension(self) -> &'static str {
        self.format.extension()
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

/// The results to be looked at.
pub(crate) const PAGE: OutputKind =
    OutputKind::new(92, "html", "all results, to be looked at in a browser");

/// What an interrupted run is resumed from; removed at its end.
pub(crate) const CHECKPOINT: OutputKind =
    OutputKind::new(44, "checkpoint", "what the interrupted run is resumed from");

/// The best tree of a run in progress; removed at its end.
pub(crate) const LAST_TREE: OutputKind = OutputKind::new(45, "lastTree", "the best tree so far");

/// What every run may leave, whatever its analysis.
pub(crate) const OF_EVERY_RUN: [OutputKind; 5] = [LOG, JSON, PAGE, CHECKPOINT, LAST_TREE];
