//! Which sites of an alignment are equal in all taxa.
//!
//! Rows are read one after the other, so each site gets a hash of its column that grows row by row. Sites with equal hashes are compared
//! when the rows are read a second time. So nothing depends on the hash: if it has taken two columns for one, another is tried.

use crate::alphabet::Code;
use std::collections::HashMap;

/// Sites of which no two are equal, in the order of their first occurrence.
pub(super) struct DistinctSites {
    /// Numbers of the taxa that have data, ascending.
    pub tip_taxa: Vec<usize>,
    /// `[tip][pattern]`: code.
    pub codes: Vec<Vec<Code>>,
    /// `[site]`: its pattern.
    pub site_to_pattern: Vec<u32>,
}

/// Finds equal sites. `encode_row(taxon, codes)` writes the codes of one taxon, one per site, and the same whenever it is called.
pub(super) fn distinct_sites(
    num_taxa: usize,
    num_sites: usize,
    undetermined: Code,
    encode_row: impl Fn(usize, &mut [Code]),
) -> DistinctSites {
    let by = |seed| by_hash(num_taxa, num_sites, undetermined, &encode_row, seed, extend);
    (0..).find_map(by).expect("columns that differ have different hashes with some seed")
}

/// Fibonacci hashing (Knuth, The Art of Computer Programming 6.4), with the high bits, which depend on all others, added to the low ones. Different
/// hashes remain different.
fn extend(hash: u64, code: Code) -> u64 {
    let product = (hash ^ u64::from(code)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// The sites whose columns have different hashes; `None` if different columns have the same.
fn by_hash(
    num_taxa: usize,
    num_sites: usize,
    undetermined: Code,
    encode_row: impl Fn(usize, &mut [Code]),
    seed: u64,
    extend: impl Fn(u64, Code) -> u64,
) -> Option<DistinctSites> {
    let mut row = vec![undetermined; num_sites];
    let mut hashes = vec![seed; num_sites];
    let mut tip_taxa = Vec::new();
    for taxon in 0..num_taxa {
        encode_row(taxon, &mut row);
        if row.iter().any(|&code| code != undetermined) {
            tip_taxa.push(taxon);
            hashes.iter_mut().zip(&row).for_each(|(hash, &code)| *hash = extend(*hash, code));
        }
    }
    // Looked up, never iterated.
    let mut patterns = HashMap::new();
    let (mut first_sites, mut site_to_pattern) = (Vec::new(), Vec::with_capacity(num_sites));
    for (site, hash) in hashes.into_iter().enumerate() {
        site_to_pattern.push(*patterns.entry(hash).or_insert_with(|| {
            first_sites.push(site);
            first_sites.len() as u32 - 1
        }));
    }
    drop(patterns);
    let mut codes = Vec::with_capacity(tip_taxa.len());
    for &taxon in &tip_taxa {
        encode_row(taxon, &mut row);
        let of_patterns: Vec<Code> = first_sites.iter().map(|&site| row[site]).collect();
        let mut sites = row.iter().zip(&site_to_pattern);
        if !sites.all(|(&code, &pattern)| code == of_patterns[pattern as usize]) {
            return None;
        }
        codes.push(of_patterns);
    }
    Some(DistinctSites { tip_taxa, codes, site_to_pattern })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_the_same_hash_are_told_apart() {
        let rows: [&[Code]; 3] = [&[1, 2, 1, 2, 1], &[15; 5], &[4, 1, 4, 4, 1]];
        let encode_row = |taxon: usize, codes: &mut [Code]| codes.copy_from_slice(rows[taxon]);
        let DistinctSites { tip_taxa, codes, site_to_pattern } =
            distinct_sites(3, 5, 15, encode_row);
        assert_eq!(tip_taxa, [0, 2]);
        assert_eq!(site_to_pattern, [0, 1, 0, 2, 3]);
        assert_eq!(codes, [[1, 2, 2, 1], [4, 1, 4, 1]]);
        // The sum of (1, 4) is that of no other column, but those of (2, 1) and (1, 2) would be the same.
        let sum = |hash: u64, code: Code| hash + u64::from(code);
        assert!(by_hash(3, 5, 15, encode_row, 0, sum).is_some());
        let rows: [&[Code]; 2] = [&[2, 1], &[1, 2]];
        let encode_row = |taxon: usize, codes: &mut [Code]| codes.copy_from_slice(rows[taxon]);
        assert!(by_hash(2, 2, 15, encode_row, 0, sum).is_none());
        assert!(by_hash(2, 2, 15, encode_row, 0, extend).is_some());
    }
}
