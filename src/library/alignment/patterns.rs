//! [`Patterns`]: the distinct columns of one partition, encoded, with the number of sites that have each.
//!
//! A *site* is a column of the alignment, or three of them in codon data ([`DataType::chars_per_site`]); a
//! *pattern* is one of the distinct sites. Similar patterns are next to each other, otherwise they are in the order of
//! their first occurrence, so nothing here depends on hashing. Taxa without any data are left out: they contribute a
//! factor of one to every likelihood.

use super::distinct_sites::{DistinctSites, distinct_sites};
use super::pattern_freqs::PatternFreqs;
use super::pattern_order::by_similarity;
use crate::alphabet::{Code, DataType};

/// The distinct sites of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Patterns {
    /// What the codes stand for.
    pub data_type: DataType,
    /// Numbers of the taxa that have data here, ascending. "Tip i" below is taxon `tip_taxa[i]`.
    pub tip_taxa: Vec<usize>,
    /// `[tip][pattern]`: code, an index into `code_masks`.
    pub codes: Vec<Vec<Code>>,
    /// For every code the set of states it may stand for, as bits.
    pub code_masks: Vec<u64>,
    /// `[pattern]`: number of sites that show it.
    pub weights: Vec<u32>,
    /// `[site]`: its pattern; in codon data a site is a codon, not a column. Empty after `with_weights`, as
    /// resampled sites have no place in the alignment.
    pub site_to_pattern: Vec<u32>,
    /// Number of sites (codons in codon data): the sum of the weights.
    pub num_sites: usize,
    /// State frequencies of each pattern, where these are not those of the model.
    pub freqs: Option<PatternFreqs>,
}

impl Patterns {
    /// Compresses sites. `encode_row(taxon, codes)` writes the codes of one taxon, one per site; it is called
    /// at least twice per taxon, so that encoded rows are never all in memory, and must write the same each time. The
    /// codes are those of [`DataType::code_masks`].
    pub fn compress(
        data_type: DataType,
        num_taxa: usize,
        num_sites: usize,
        encode_row: impl Fn(usize, &mut [Code]),
    ) -> Self {
        let code_masks = data_type.code_masks();
        Self::compress_with(data_type, code_masks, num_taxa, num_sites, encode_row)
    }

    /// The same with the codes of this partition ([`crate::alphabet::Encoder`]), whose states are `code_masks`.
    pub(crate) fn compress_with(
        data_type: DataType,
        code_masks: Vec<u64>,
        num_taxa: usize,
        num_sites: usize,
        encode_row: impl Fn(usize, &mut [Code]),
    ) -> Self {
        let undetermined = data_type.undetermined();
        let DistinctSites { tip_taxa, mut codes, mut site_to_pattern } =
            distinct_sites(num_taxa, num_sites, undetermined, encode_row);
        let num_patterns = site_to_pattern.iter().max().map_or(0, |&last| last as usize + 1);
        let order = by_similarity(&codes, num_patterns, code_masks.len(), undetermined);
        let mut reordered = vec![undetermined; num_patterns];
        for row in &mut codes {
            for (to, &from) in reordered.iter_mut().zip(&order) {
                *to = row[from as usize];
            }
            row.copy_from_slice(&reordered);
        }
        let mut rank = vec![0; num_patterns];
        for (new, &old) in order.iter().enumerate() {
            rank[old as usize] = new as u32;
        }
        let mut weights = vec![0; num_patterns];
        for pattern in &mut site_to_pattern {
            *pattern = rank[*pattern as usize];
            weights[*pattern as usize] += 1;
        }
        let freqs = None;
        Patterns {
            data_type,
            tip_taxa,
            codes,
            code_masks,
            weights,
            site_to_pattern,
            num_sites,
            freqs,
        }
    }

    /// Number of patterns.
    pub fn num_patterns(&self) -> usize {
        self.weights.len()
    }

    /// Number of alignment columns of all sites.
    pub fn num_columns(&self) -> usize {
        self.num_sites * self.data_type.chars_per_site()
    }

    /// Number of taxa that have data here.
    pub fn num_tips(&self) -> usize {
        self.tip_taxa.len()
    }

    /// Bitmask of the states that fit all taxa at a pattern, whatever an ambiguous cell stands for.
    pub fn shared_states(&self, pattern: usize) -> u64 {
        let mask = |codes: &Vec<Code>| self.code_masks[usize::from(codes[pattern])];
        self.codes.iter().map(mask).fold(u64::MAX, |shared, states| shared & states)
    }

    /// The same patterns of some taxa, by their new numbers, which ascend with the old ones. `site_to_pattern` is left empty.
    pub fn of_taxa(&self, number: impl Fn(usize) -> Option<usize>) -> Patterns {
        let tips = self.tip_taxa.iter().zip(&self.codes);
        let kept = tips.filter_map(|(&taxon, codes)| Some((number(taxon)?, codes.clone())));
        let (tip_taxa, codes) = kept.unzip();
        Patterns {
            tip_taxa,
            codes,
            code_masks: self.code_masks.clone(),
            weights: self.weights.clone(),
            site_to_pattern: Vec::new(),
            freqs: self.freqs.clone(),
            ..*self
        }
    }

    /// Makes every taxon present; those without data get undetermined cells.
    #[doc(hidden)]
    pub fn add_missing_taxa(&mut self, num_taxa: usize) {
        let mut codes = vec![Vec::new(); num_taxa];
        for (row, &taxon) in std::mem::take(&mut self.codes).into_iter().zip(&self.tip_taxa) {
            codes[taxon] = row;
        }
        for row in codes.iter_mut().filter(|row| row.is_empty()) {
            *row = vec![self.data_type.undetermined(); self.num_patterns()];
        }
        self.codes = codes;
        self.tip_taxa = (0..num_taxa).collect();
    }

    /// The same patterns with other weights, one per pattern; patterns of weight zero are dropped (bootstrap). Without any
    /// weight, it is a partition without data.
    ///
    /// The taxa stay those of the original data, even one whose remaining cells are all undetermined.
    /// `site_to_pattern` is left empty.
    ///
    /// # Panics
    /// If there is not one weight per pattern.
    pub fn with_weights(&self, weights: &[u32]) -> Patterns {
        assert_eq!(weights.len(), self.num_patterns(), "one weight per pattern");
        let kept: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0).collect();
        if kept.is_empty() {
            return Patterns {
                tip_taxa: Vec::new(),
                codes: Vec::new(),
                code_masks: self.code_masks.clone(),
                weights: vec![self.num_sites as u32],
                site_to_pattern: Vec::new(),
                freqs: None,
                ..*self
            };
        }
        let keep = |row: &Vec<Code>| kept.iter().map(|&i| row[i]).collect();
        Patterns {
            data_type: self.data_type,
            tip_taxa: self.tip_taxa.clone(),
            codes: self.codes.iter().map(keep).collect(),
            code_masks: self.code_masks.clone(),
            weights: kept.iter().map(|&i| weights[i]).collect(),
            site_to_pattern: Vec::new(),
            num_sites: weights.iter().map(|&weight| weight as usize).sum(),
            freqs: self.freqs.as_ref().map(|freqs| freqs.of_patterns(&kept)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compress(rows: &[&[u8]]) -> Patterns {
        let num_sites = rows.first().map_or(0, |row| row.len());
        Patterns::compress(DataType::Dna, rows.len(), num_sites, |taxon, codes| {
            for (code, &byte) in codes.iter_mut().zip(rows[taxon]) {
                *code = DataType::Dna.encode(byte).unwrap();
            }
        })
    }

    #[test]
    fn equal_columns_become_one_pattern_next_to_similar_ones() {
        //                              sites:  0123456
        let patterns = compress(&[
            b"GATAUa-".as_slice(),
            b"?-N.xoX", // no data: not a tip
            b"GCGCGcC",
        ]);
        assert_eq!(patterns.tip_taxa, [0, 2]);
        assert_eq!(patterns.site_to_pattern, [2, 0, 3, 0, 3, 0, 1]);
        assert_eq!(patterns.weights, [3, 1, 1, 2]);
        assert_eq!(patterns.codes, [vec![1, 15, 4, 8], vec![2, 2, 4, 4]]);
        assert_eq!((patterns.num_patterns(), patterns.num_tips(), patterns.num_sites), (4, 2, 7));
    }

    #[test]
    fn a_partition_without_data_has_one_pattern_and_no_tip() {
        let patterns = compress(&[b"---".as_slice(), b"NNN"]);
        assert_eq!((patterns.num_patterns(), patterns.num_tips()), (1, 0));
        assert_eq!(patterns.weights, [3]);
        assert_eq!(compress(&[]).num_patterns(), 0);
    }

    #[test]
    fn missing_taxa_get_undetermined_rows() {
        let mut all = compress(&[b"---".as_slice(), b"ACA", b"--G"]);
        all.add_missing_taxa(4);
        assert_eq!(all.tip_taxa, [0, 1, 2, 3]);
        assert_eq!(all.codes, [[15, 15, 15], [1, 1, 2], [15, 4, 15], [15, 15, 15]]);
        assert_eq!(all.weights, [1, 1, 1]);
    }

    #[test]
    fn with_weights_drops_zeros_and_keeps_the_taxa() {
        let original = compress(&[b"AACG".as_slice(), b"---T"]);
        let replicate = original.with_weights(&[4, 1, 0]);
        assert_eq!(replicate.tip_taxa, [0, 1]);
        assert_eq!(replicate.codes, [[1, 2], [15, 15]]);
        assert_eq!(replicate.weights, [4, 1]);
        assert_eq!(replicate.num_sites, 5);
        assert!(replicate.site_to_pattern.is_empty());
        let none = original.with_weights(&[0, 0, 0]);
        assert_eq!((none.num_tips(), none.num_patterns(), none.num_sites), (0, 1, 4));
    }

    proptest! {
        /// The naive truth: every site's column equals its pattern, and no two patterns are equal.
        #[test]
        fn compression_loses_nothing_and_keeps_nothing_twice(
            columns in prop::collection::vec(prop::collection::vec(0usize..3, 4), 1..60),
        ) {
            let rows: Vec<Vec<u8>> =
                (0..4).map(|taxon| columns.iter().map(|column| b"AG-"[column[taxon]]).collect()).collect();
            let patterns = compress(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let mut all = patterns.clone();
            all.add_missing_taxa(4);
            let pattern = |i: usize| -> Vec<Code> { all.codes.iter().map(|row| row[i]).collect() };
            for (site, column) in columns.iter().enumerate() {
                let i = patterns.site_to_pattern[site] as usize;
                let encoded: Vec<Code> = column.iter().map(|&c| [1, 4, 15][c]).collect();
                prop_assert_eq!(pattern(i), encoded);
            }
            let mut distinct: Vec<Vec<Code>> = (0..patterns.num_patterns()).map(pattern).collect();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), patterns.num_patterns());
            prop_assert_eq!(patterns.weights.iter().sum::<u32>() as usize, columns.len());
        }
    }
}
