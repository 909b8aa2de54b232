//! Patterns whose sites have state frequencies of their own.

use super::pattern_freqs::PatternFreqs;
use super::patterns::Patterns;
use crate::alphabet::Code;
use std::collections::HashMap;

impl Patterns {
    /// The same sites with frequencies of their own, one for each site. A pattern whose sites differ in them is several patterns.
    ///
    /// # Panics
    /// If there is not one for each site.
    pub fn with_site_freqs(&self, of_sites: &[&[f64]]) -> Patterns {
        assert_eq!(of_sites.len(), self.site_to_pattern.len(), "frequencies for each site");
        let mut numbers: HashMap<(u32, Vec<u64>), u32> = HashMap::new();
        // The pattern of before, and the first site, of every pattern.
        let mut found: Vec<(u32, usize)> = Vec::new();
        let mut site_to_pattern = Vec::with_capacity(of_sites.len());
        for (site, (freqs, &pattern)) in of_sites.iter().zip(&self.site_to_pattern).enumerate() {
            let bits = freqs.iter().map(|freq| freq.to_bits()).collect();
            site_to_pattern.push(*numbers.entry((pattern, bits)).or_insert_with(|| {
                found.push((pattern, site));
                found.len() as u32 - 1
            }));
        }
        // Similar patterns stay beside each other.
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_unstable_by_key(|&number| found[number]);
        let mut rank = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            rank[old] = new as u32;
        }
        let mut weights = vec![0; order.len()];
        for pattern in &mut site_to_pattern {
            *pattern = rank[*pattern as usize];
            weights[*pattern as usize] += 1;
        }
        let of_row = |row: &Vec<Code>| order.iter().map(|&i| row[found[i].0 as usize]).collect();
        let freqs: Vec<Vec<f64>> = order.iter().map(|&i| of_sites[found[i].1].to_vec()).collect();
        Patterns {
            codes: self.codes.iter().map(of_row).collect(),
            weights,
            site_to_pattern,
            freqs: Some(PatternFreqs::new(&freqs)),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::DataType;

    fn patterns() -> Patterns {
        let rows = [b"ARAAR", b"NDNND"];
        Patterns::compress(DataType::Protein, 2, 5, |taxon, codes| {
            for (code, &byte) in codes.iter_mut().zip(rows[taxon]) {
                *code = DataType::Protein.encode(byte).unwrap();
            }
        })
    }

    #[test]
    fn a_pattern_whose_sites_have_different_frequencies_is_several() {
        let before = patterns();
        assert_eq!(before.num_patterns(), 2);
        let (x, y) = ([0.4, 0.6], [0.7, 0.3]);
        let after = before.with_site_freqs(&[&x, &x, &y, &x, &x]);
        assert_eq!(after.num_patterns(), 3);
        let freqs = after.freqs.as_ref().unwrap();
        for (site, expected) in [x, x, y, x, x].iter().enumerate() {
            let (old, new) = (before.site_to_pattern[site], after.site_to_pattern[site] as usize);
            assert_eq!(freqs.of(new), expected);
            for (before, after) in before.codes.iter().zip(&after.codes) {
                assert_eq!(after[new], before[old as usize]);
            }
        }
        assert_eq!(after.weights.iter().sum::<u32>(), 5);
    }

    #[test]
    fn replicates_keep_the_frequencies_of_their_patterns() {
        let (x, y) = ([0.4, 0.6], [0.7, 0.3]);
        let original = patterns().with_site_freqs(&[&x, &y, &x, &x, &y]);
        let second = original.with_weights(&[0, 5]);
        let left = original.site_to_pattern.iter().position(|&pattern| pattern == 1).unwrap();
        assert_eq!(second.freqs.unwrap().of(0), [x, y, x, x, y][left]);
    }
}
