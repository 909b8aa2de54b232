//! [`Alignment`]: rows of characters as read, with the place every character came from.
//!
//! Nothing is interpreted here: the meaning of a character depends on the data type of its partition.

use crate::error::Place;
use crate::taxa::Taxa;

/// Sequences of equal length, one row per taxon, characters exactly as in the file (white space removed).
#[derive(Debug, Clone)]
pub struct Alignment {
    taxa: Taxa,
    rows: Vec<Vec<u8>>,
    num_sites: usize,
    file: Option<String>,
    num_charsets: usize,
    // Per row; empty for an alignment that was not read from a file.
    lines: Vec<RowLines>,
}

/// On which lines of the file the characters of one row stand.
///
/// Lines of equal length at equal distances are one entry, so that a long row costs next to nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct RowLines(Vec<LineRun>);

/// From this site on (until the next entry) every `width` sites stand on a line of their own.
#[derive(Debug, Clone, Copy)]
struct LineRun {
    /// Site, counted from 0.
    site: u32,
    /// Line of the file, counted from 1.
    line: u32,
    /// Sites on each line; 0 while there is but one line.
    width: u32,
    /// From each line to the next.
    step: u32,
    /// Number of lines; the last may be shorter or longer than the others.
    count: u32,
}

impl RowLines {
    /// Says that the characters from this site on stand on this line. Sites and lines ascend.
    pub(super) fn begin(&mut self, site: usize, line: usize) {
        let (site, line) = (site as u32, line as u32);
        if let Some(run) = self.0.last_mut() {
            let (sites, lines) = (site - run.site, line - run.line);
            // Nothing stood on the line before, or nothing of it was kept.
            if sites == 0 {
                return;
            }
            if run.width == 0 {
                (run.width, run.step, run.count) = (sites, lines, 2);
                return;
            }
            let is_next = |total: u32, each: u32| run.count.checked_mul(each) == Some(total);
            if is_next(sites, run.width) && is_next(lines, run.step) {
                run.count += 1;
                return;
            }
        }
        self.0.push(LineRun { site, line, width: 0, step: 0, count: 1 });
    }

    /// The line of a site, `None` if it is unknown.
    pub(super) fn line(&self, site: usize) -> Option<usize> {
        let after = self.0.partition_point(|run| run.site as usize <= site);
        let run = self.0[after.checked_sub(1)?];
        let before = (site as u32 - run.site).checked_div(run.width).unwrap_or(0);
        let before = before.min(run.count - 1);
        Some((run.line + before * run.step) as usize)
    }
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
        Alignment { taxa, rows, num_sites, file: None, num_charsets: 0, lines: Vec::new() }
    }

    /// The same alignment, with the file and lines its characters came from.
    pub(super) fn read_from(mut self, file: &str, lines: Vec<RowLines>) -> Self {
        assert_eq!(self.rows.len(), lines.len(), "the lines of every row");
        self.file = Some(file.to_string());
        self.lines = lines;
        self
    }

    /// The same alignment, from a file that also has this number of charsets.
    pub(super) fn with_charsets(self, num_charsets: usize) -> Self {
        Alignment { num_charsets, ..self }
    }

    /// The same alignment with its rows in the order of the taxon names (as UTF-8 bytes), so that no result depends
    /// on the order of the file. Every row keeps the lines it stands on.
    pub fn sorted_by_name(self) -> Self {
        let Alignment { taxa, rows, num_sites, file, num_charsets, mut lines } = self;
        lines.resize_with(rows.len(), RowLines::default);
        let names = taxa.names().iter().cloned();
        let mut records: Vec<_> = names.zip(rows.into_iter().zip(lines)).collect();
        records.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (names, (rows, lines)) = records.into_iter().unzip();
        let taxa = Taxa::new(names).expect("the names differ");
        Alignment { taxa, rows, num_sites, file, num_charsets, lines }
    }

    /// The same alignment with other characters.
    pub(super) fn with_rows(&self, rows: Vec<Vec<u8>>) -> Self {
        let Alignment { taxa, num_sites, file, num_charsets, lines, .. } = self.clone();
        Alignment { taxa, rows, num_sites, file, num_charsets, lines }
    }

    /// These columns of these rows, both given by their numbers, as an alignment of its own.
    ///
    /// # Panics
    /// If a row or a column is not there.
    pub fn part(&self, rows: &[usize], columns: &[u32]) -> Self {
        let names = rows.iter().map(|&row| self.taxa.name(row).to_string()).collect();
        let cells = |row: &[u8]| columns.iter().map(|&column| row[column as usize]).collect();
        let rows = rows.iter().map(|&row| cells(&self.rows[row])).collect();
        Alignment::new(Taxa::new(names).expect("the names differ"), rows)
    }

    /// The taxa, in the order of the rows.
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

    /// Number of charsets (sets of columns) in other blocks of the NEXUS file that has the alignment.
    pub fn num_charsets(&self) -> usize {
        self.num_charsets
    }

    /// The characters of one taxon, one per site, as read.
    pub fn row(&self, taxon: usize) -> &[u8] {
        &self.rows[taxon]
    }

    /// Where one cell was read: file, line, column *of the alignment* (the site counted from 1), taxon.
    pub fn place(&self, taxon: usize, site: usize) -> Place {
        Place {
            file: self.file.clone(),
            line: self.lines.get(taxon).and_then(|lines| lines.line(site)),
            column: Some(site + 1),
            name: Some(self.taxa.name(taxon).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_sorted_by_name_keep_their_characters_and_lines() {
        let names = ["b", "\u{e4}", "B", "a"].map(String::from).to_vec();
        let rows = ["AC", "CC", "GC", "TC"].map(|row| row.as_bytes().to_vec()).to_vec();
        let mut lines = vec![RowLines::default(); 4];
        lines.iter_mut().enumerate().for_each(|(row, lines)| lines.begin(0, 2 + row));
        let alignment = Alignment::new(Taxa::new(names).unwrap(), rows);
        let without_file = alignment.clone().sorted_by_name();
        let sorted = alignment.read_from("f", lines).sorted_by_name();
        assert_eq!(sorted.taxa().names(), ["B", "a", "b", "\u{e4}"]);
        let found: Vec<_> = (0..4).map(|i| (sorted.row(i)[0], sorted.place(i, 1).line)).collect();
        assert_eq!(found, [(b'G', Some(4)), (b'T', Some(5)), (b'A', Some(2)), (b'C', Some(3))]);
        assert_eq!((without_file.row(0), without_file.place(0, 0).line), (&b"GC"[..], None));
    }

    #[test]
    fn a_part_has_the_rows_and_columns_that_were_named() {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let rows = ["ACGT", "CCGT", "GCAT"].map(|row| row.as_bytes().to_vec()).to_vec();
        let part = Alignment::new(Taxa::new(names).unwrap(), rows).part(&[0, 2], &[3, 0, 2]);
        assert_eq!(part.taxa().names(), ["a", "c"]);
        assert_eq!((part.row(0), part.row(1), part.num_sites()), (&b"TAG"[..], &b"TGA"[..], 3));
    }

    /// Lines of these widths, each so many lines below the one before it.
    fn assert_every_site_has_its_line(pieces: &[(usize, usize)]) {
        let (mut lines, mut expected, mut line) = (RowLines::default(), Vec::new(), 7);
        for &(width, step) in pieces {
            lines.begin(expected.len(), line);
            expected.extend(vec![line; width]);
            line += step;
        }
        let found: Vec<_> = (0..expected.len()).map(|site| lines.line(site).unwrap()).collect();
        assert_eq!(found, expected, "{pieces:?}");
    }

    #[test]
    fn a_longer_line_after_lines_of_equal_length() {
        assert_every_site_has_its_line(&[(1, 1), (1, 1), (1, 1), (2, 1)]);
    }

    proptest! {
        /// However long the lines are, and whatever stands between them.
        #[test]
        fn every_site_has_its_line(
            pieces in prop::collection::vec((prop::sample::select(vec![1usize, 2, 2, 2, 5]), 1usize..3), 1..20),
        ) {
            assert_every_site_has_its_line(&pieces);
        }
    }

    #[test]
    fn lines_of_equal_length_are_one_entry() {
        let mut lines = RowLines::default();
        (0..1000).for_each(|i| lines.begin(60 * i, 3 + 5 * i));
        assert_eq!((lines.0.len(), lines.line(60 * 999 + 1)), (1, Some(3 + 5 * 999)));
    }
}
