//! [`Partition`]: a partition as the analysis sees it, columns and model together.

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
    /// Columns of the alignment, counted from 0: site i of `patterns` is column `sites[i]`, and in codon data
    /// columns `sites[3 * i..3 * i + 3]`; see [`Self::columns_of_sites`]. A site that counts several times is there as
    /// often, in a row.
    pub sites: Vec<u32>,
}

impl Partition {
    /// Columns of the alignment (counted from 0) of every site of the patterns, in order: one each, or three of
    /// a codon.
    pub fn columns_of_sites(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.sites.chunks_exact(self.patterns.data_type.chars_per_site())
    }

    /// Columns of the alignment (counted from 0) of every site, and its pattern, in order. A site that counts several times is
    /// there once.
    pub fn sites_and_patterns(&self) -> impl Iterator<Item = (&[u32], usize)> {
        let patterns = &self.patterns.site_to_pattern;
        let sites = self.columns_of_sites().zip(patterns.iter().map(|&pattern| pattern as usize));
        let mut before = None;
        sites.filter(move |&(columns, _)| before.replace(columns) != Some(columns))
    }

    /// The first column of the alignment (counted from 1) that shows a pattern.
    pub fn first_column_of(&self, pattern: usize) -> Option<u32> {
        let patterns = self.patterns.site_to_pattern.iter();
        let site = patterns.into_iter().position(|&found| found as usize == pattern)?;
        self.columns_of_sites().nth(site).map(|columns| columns[0] + 1)
    }
}
