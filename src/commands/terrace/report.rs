//! The section of the JSON report.

use crate::output::Section;

/// Its section of the JSON file.
pub(super) const SECTION: Section<TerraceReport> = Section::new("terrace");

/// The trees that give every partition the same tree as the given one.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct TerraceReport {
    /// Their number in decimal digits, which may be too many for a number of JSON.
    pub trees: String,
    /// False if there may be more.
    pub is_exact: bool,
    /// A taxon with data in all partitions, if there is one.
    pub comprehensive_taxon: Option<String>,
    /// Number of trees that were written.
    pub written: usize,
}
