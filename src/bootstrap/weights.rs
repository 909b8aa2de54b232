//! Resampling of columns for bootstrap replicates (Felsenstein 1985, Evolution 39:783), as weights of the
//! original patterns.
//!
//! Columns are drawn within partitions, as many as each partition has, so that the lengths of partitions do not
//! change (stratified resampling, as in RAxML and RAxML-NG).

use crate::alignment::Patterns;
use crate::rng::{Purpose, Rng, stream};
use rand::RngExt;

/// Pattern weights of replicate number `replicate`, `[partition][pattern]`; 0 for patterns that were not drawn.
/// The weights of a partition depend only on the seed, the replicate, the partition and those before it.
pub(crate) fn bootstrap_weights<'a>(
    seed: u64,
    replicate: usize,
    partitions: impl IntoIterator<Item = &'a Patterns>,
) -> Vec<Vec<u32>> {
    let mut rng = stream(seed, Purpose::Bootstrap, replicate as u64);
    partitions.into_iter().map(|patterns| resample(patterns, &mut rng)).collect()
}

/// Weights of the patterns of one partition, of whose sites as many are drawn as there are.
pub(super) fn resample(patterns: &Patterns, rng: &mut Rng) -> Vec<u32> {
    let mut weights = vec![0u32; patterns.num_patterns()];
    let num_sites = patterns.site_to_pattern.len() as u32;
    for _ in 0..num_sites {
        let site = rng.random_range(0..num_sites);
        weights[patterns.site_to_pattern[site as usize] as usize] += 1;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::DataType;

    fn patterns(rows: &[&str]) -> Patterns {
        Patterns::compress(DataType::Dna, rows.len(), rows[0].len(), |taxon, codes| {
            for (code, byte) in codes.iter_mut().zip(rows[taxon].bytes()) {
                *code = DataType::Dna.encode(byte).unwrap();
            }
        })
    }

    #[test]
    fn every_partition_keeps_its_number_of_sites_and_replicates_differ() {
        let genes = [patterns(&["ACGTACGTAC", "AAAAAAAAAC"]), patterns(&["AAG", "CCT"])];
        let first = bootstrap_weights(1, 0, &genes);
        for (weights, gene) in first.iter().zip(&genes) {
            assert_eq!(weights.len(), gene.num_patterns());
            assert_eq!(weights.iter().sum::<u32>() as usize, gene.num_sites);
        }
        assert_eq!(first, bootstrap_weights(1, 0, &genes));
        assert_ne!(first, bootstrap_weights(1, 1, &genes));
        assert_ne!(first, bootstrap_weights(2, 0, &genes));
    }

    #[test]
    fn a_pattern_is_drawn_in_proportion_to_its_weight() {
        let gene = [patterns(&["AAACAAACAC", "AAACAAACAC"])];
        let total: u32 = (0..2000).map(|i| bootstrap_weights(7, i, &gene)[0][0]).sum();
        // Mean 7 of 10, standard deviation of the mean of 2000 is 0.032.
        assert!((f64::from(total) / 2000.0 - 7.0).abs() < 0.15, "{total}");
    }
}
