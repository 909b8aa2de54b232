//! [`AlignmentSummary`]: properties of an alignment, as data. Nothing is refused or printed here.

use super::patterns::Patterns;
use crate::alphabet::Code;
use crate::taxa::Taxa;
use std::collections::HashMap;

/// Properties of an alignment that users should know before a long run.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignmentSummary {
    /// Groups of taxa with identical sequences (`-` and `N`, `T` and `u` are the same), by name, in the order of the
    /// alignment. Taxa without data are not grouped.
    pub duplicate_sequences: Vec<Vec<String>>,
    /// Names of taxa without any data.
    pub gap_taxa: Vec<String>,
    /// Columns without any data, counted from 0, ascending.
    pub gap_columns: Vec<u32>,
    /// Share of cells (taxa times sites, a codon counting as three) that are undetermined.
    pub undetermined_fraction: f64,
    /// Number of sites (in codon data: codons) with data at which one state is possible for all taxa.
    pub invariant_sites: usize,
    /// Number of patterns, summed over partitions.
    pub num_patterns: usize,
}

impl AlignmentSummary {
    /// Summarises all partitions, each given by its patterns and the alignment columns (counted from 0) of its
    /// sites in their order.
    ///
    /// # Panics
    /// If the columns of a partition are not those of as many sites as it has.
    pub fn new(taxa: &Taxa, partitions: &[(&Patterns, &[u32])]) -> Self {
        let mut gap_columns = Vec::new();
        let mut determined_cells = 0u64;
        let mut num_cells = 0u64;
        let mut invariant_sites = 0;
        for (patterns, columns) in partitions {
            let per_site = patterns.data_type.chars_per_site();
            let num_columns = patterns.site_to_pattern.len() * per_site;
            assert_eq!(num_columns, columns.len(), "columns of every site");
            num_cells += (taxa.len() * num_columns) as u64;
            let summaries = summarise_patterns(patterns);
            for (summary, &weight) in summaries.iter().zip(&patterns.weights) {
                determined_cells += (summary.determined * per_site) as u64 * u64::from(weight);
                if summary.determined > 0 && summary.common_states != 0 {
                    invariant_sites += weight as usize;
                }
            }
            for (&pattern, site) in patterns.site_to_pattern.iter().zip(columns.chunks(per_site)) {
                if summaries[pattern as usize].determined == 0 {
                    gap_columns.extend(site);
                }
            }
        }
        gap_columns.sort_unstable();
        let (duplicate_sequences, gap_taxa) = group_taxa(taxa, partitions);
        AlignmentSummary {
            duplicate_sequences,
            gap_taxa,
            gap_columns,
            undetermined_fraction: (num_cells - determined_cells) as f64 / num_cells.max(1) as f64,
            invariant_sites,
            num_patterns: partitions.iter().map(|(patterns, _)| patterns.num_patterns()).sum(),
        }
    }
}

/// One pattern, seen over all its tips.
#[derive(Clone, Copy)]
struct PatternSummary {
    /// Tips that are not undetermined.
    determined: usize,
    /// States possible for every tip, as bits.
    common_states: u64,
}

fn summarise_patterns(patterns: &Patterns) -> Vec<PatternSummary> {
    let undetermined = patterns.data_type.undetermined();
    let nothing = PatternSummary { determined: 0, common_states: u64::MAX };
    let mut summaries = vec![nothing; patterns.num_patterns()];
    for row in &patterns.codes {
        for (summary, &code) in summaries.iter_mut().zip(row) {
            summary.determined += usize::from(code != undetermined);
            summary.common_states &= patterns.code_masks[code as usize];
        }
    }
    summaries
}

/// Groups of at least two taxa with equal sequences, and the taxa without data.
fn group_taxa(taxa: &Taxa, partitions: &[(&Patterns, &[u32])]) -> (Vec<Vec<String>>, Vec<String>) {
    // The group of a taxon, refined partition by partition. The map is looked up, never iterated.
    let mut group = vec![0usize; taxa.len()];
    let mut has_data = vec![false; taxa.len()];
    for (patterns, _) in partitions {
        let mut rows: Vec<Option<&[Code]>> = vec![None; taxa.len()];
        for (row, &taxon) in patterns.codes.iter().zip(&patterns.tip_taxa) {
            let undetermined = patterns.data_type.undetermined();
            if row.iter().any(|&code| code != undetermined) {
                rows[taxon] = Some(row);
                has_data[taxon] = true;
            }
        }
        let mut refined = HashMap::with_capacity(taxa.len());
        for (taxon, row) in rows.into_iter().enumerate() {
            let next = refined.len();
            group[taxon] = *refined.entry((group[taxon], row)).or_insert(next);
        }
    }
    let mut members: Vec<Vec<String>> = vec![Vec::new(); taxa.len()];
    let mut gap_taxa = Vec::new();
    for (taxon, name) in taxa.names().iter().enumerate() {
        if has_data[taxon] {
            members[group[taxon]].push(name.clone());
        } else {
            gap_taxa.push(name.clone());
        }
    }
    members.retain(|names| names.len() > 1);
    (members, gap_taxa)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::DataType;

    fn patterns(rows: &[&str], columns: std::ops::Range<usize>) -> Patterns {
        Patterns::compress(DataType::Dna, rows.len(), columns.len(), |taxon, codes| {
            for (code, &byte) in codes.iter_mut().zip(&rows[taxon].as_bytes()[columns.clone()]) {
                *code = DataType::Dna.encode(byte).unwrap();
            }
        })
    }

    #[test]
    fn everything_unusual_is_reported() {
        let rows = [
            "ACRT-A", "ACGT-C", "acru?a", // means the same as the first
            "------", "AC-T-C", // differs from the second by a missing cell
            "NNNNNN",
        ];
        let names = ["a", "b", "c", "d", "e", "f"];
        let taxa = Taxa::new(names.map(String::from).to_vec()).unwrap();
        let whole = patterns(&rows, 0..6);
        let report = AlignmentSummary::new(&taxa, &[(&whole, &[0, 1, 2, 3, 4, 5])]);
        let expected = AlignmentSummary {
            duplicate_sequences: vec![vec!["a".into(), "c".into()]],
            gap_taxa: vec!["d".into(), "f".into()],
            gap_columns: vec![4],
            undetermined_fraction: 17.0 / 36.0,
            invariant_sites: 4, // A, C, R with G, T; not the gap column, not A with C
            num_patterns: 6,
        };
        assert_eq!(report, expected);

        // The same in two partitions, the second one first in the file.
        let (left, right) = (patterns(&rows, 0..2), patterns(&rows, 2..6));
        let split = AlignmentSummary::new(&taxa, &[(&right, &[2, 3, 4, 5]), (&left, &[0, 1])]);
        assert_eq!(split, expected);
    }

    #[test]
    fn equal_in_one_partition_only_is_no_duplicate() {
        let rows = ["AC", "AG", "-G"];
        let taxa = Taxa::new(["a", "b", "c"].map(String::from).to_vec()).unwrap();
        let (left, right) = (patterns(&rows, 0..1), patterns(&rows, 1..2));
        let report = AlignmentSummary::new(&taxa, &[(&left, &[0]), (&right, &[1])]);
        assert!(report.duplicate_sequences.is_empty());
        assert_eq!(report.invariant_sites, 1);
    }

    #[test]
    fn codons_count_as_three_columns() {
        let data_type = DataType::codon(1).unwrap();
        let taxa = Taxa::new(["a", "b"].map(String::from).to_vec()).unwrap();
        let codes = [[0, 61, 5], [61, 61, 5]];
        let patterns =
            Patterns::compress(data_type, 2, 3, |taxon, row| row.copy_from_slice(&codes[taxon]));
        let report = AlignmentSummary::new(&taxa, &[(&patterns, &[0, 1, 2, 6, 7, 8, 3, 4, 5])]);
        assert_eq!(report.gap_columns, [6, 7, 8]);
        assert_eq!(report.undetermined_fraction, 0.5);
        assert_eq!((report.invariant_sites, report.num_patterns), (2, 3));
    }
}
