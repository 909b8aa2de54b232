//! [`Alignment`]: rows of characters as read, with the place every character came from.
//!
//! Nothing is interpreted here: what a character means depends on the data type of its partition.

use crate::error::Place;
use crate::taxa::Taxa;

/// Sequences of equal length, one row per taxon, characters exactly as in the file (white space removed).
#[derive(Debug, Clone)]
pub struct Alignment {
    taxa: Taxa,
    rows: Vec<Vec<u8>>,
    num_sites: usize,
    file: Option<String>,
    // Per row, ascending by site; empty for an alignment that was not read from a file.
    line_starts: Vec<Vec<LineStart>>,
}

/// From this site on (until the next entry) the characters of a row stand on this line of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineStart {
    /// Site, counted from 0.
    pub site: u32,
    /// Line of the file, counted from 1.
    pub line: u32,
}

impl Alignment {
    /// An alignment that comes from no file.
    ///
    /// # Panics
    /// If there is not one row per taxon, or the rows differ in length.
    pub fn new(taxa: Taxa, rows: Vec<Vec<u8>>) -> Self {
        let num_sites = rows.first().map_or(0, Vec::len);
        assert_eq!(taxa.len(), rows.len(), "one row per taxon");
        assert!(rows.iter().all(|row| row.len() == num_sites), "rows of equal length");
        Alignment { taxa, rows, num_sites, file: None, line_starts: Vec::new() }
    }

    /// The same alignment, with the file and lines its characters came from.
    pub(super) fn read_from(mut self, file: &str, line_starts: Vec<Vec<LineStart>>) -> Self {
        assert_eq!(self.rows.len(), line_starts.len(), "one list of lines per row");
        self.file = Some(file.to_string());
        self.line_starts = line_starts;
        self
    }

    /// The taxa, in the order of the file.
    pub fn taxa(&self) -> &Taxa {
        &self.taxa
    }

    /// Number of taxa.
    pub fn num_taxa(&self) -> usize {
        self.rows.len()
    }

    /// Number of sites (columns).
    pub fn num_sites(&self) -> usize {
        self.num_sites
    }

    /// The characters of one taxon, one per site, as read.
    pub fn row(&self, taxon: usize) -> &[u8] {
        &self.rows[taxon]
    }

    /// Where one cell was read: file, line, column *of the alignment* (the site counted from 1), taxon.
    pub fn place(&self, taxon: usize, site: usize) -> Place {
        let starts = self.line_starts.get(taxon).map_or(&[][..], Vec::as_slice);
        let after = starts.partition_point(|start| start.site as usize <= site);
        Place {
            file: self.file.clone(),
            line: after.checked_sub(1).map(|i| starts[i].line as usize),
            column: Some(site + 1),
            name: Some(self.taxa.name(taxon).to_string()),
        }
    }
}
