//! [`Partition`]: a gene as the analysis sees it, columns and model together.

use crate::alignment::Patterns;
use crate::model::Model;

/// One partition: its data and its model.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// Name, verbatim.
    pub name: String,
    /// Its model, empirical frequencies counted.
    pub model: Model,
    /// Its encoded, compressed columns over the taxa that have data.
    pub patterns: Patterns,
    /// Columns of the alignment, counted from 0: site i of `patterns` is column `sites[i]`.
    pub sites: Vec<u32>,
}

impl Partition {
    /// The first column of the alignment (counted from 1) that shows a pattern.
    pub fn first_column_of(&self, pattern: usize) -> Option<u32> {
        let patterns = self.patterns.site_to_pattern.iter();
        let site = patterns.into_iter().position(|&found| found as usize == pattern)?;
        Some(self.sites[site] + 1)
    }
}
