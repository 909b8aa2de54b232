//! Resampling of columns for bootstrap replicates (Felsenstein 1985, Evolution 39:783), and samples of columns, as
//! weights of the original patterns.
//!
//! Columns are drawn within partitions, as many as each partition has, so that the lengths of partitions do not
//! change (stratified resampling, as in RAxML and RAxML-NG).

use crate::alignment::Patterns;
use crate::rng::{Purpose, stream};
use rand::RngExt;

/// Pattern weights of replicate number `replicate`, `[partition][pattern]`; 0 for patterns that were not drawn.
/// The weights of a partition depend only on the seed, the replicate, the partition and those before it.
pub(crate) fn bootstrap_weights<'a>(
    seed: u64,
    replicate: usize,
    partitions: impl IntoIterator<Item = &'a Patterns>,
) -> Vec<Vec<u32>> {
    let mut rng = stream(seed, Purpose::Bootstrap, replicate as u64);
    let mut draw = |patterns: &Patterns| {
        let mut weights = vec![0u32; patterns.num_patterns()];
        let num_sites = patterns.site_to_pattern.len() as u32;
        for _ in 0..num_sites {
            let site = rng.random_range(0..num_sites);
            weights[patterns.site_to_pattern[site as usize] as usize] += 1;
        }
        weights
    };
    partitions.into_iter().map(&mut draw).collect()
}

/// Pattern weights of a random sample of columns without replacement, `[partition][pattern]`; 0 for patterns that were
/// not drawn. Each partition gives this part (0 to 1) of its columns, at least one.
pub(crate) fn sampled_weights<'a>(
    seed: u64,
    part: f64,
    partitions: impl IntoIterator<Item = &'a Patterns>,
) -> Vec<Vec<u32>> {
    let mut rng = stream(seed, Purpose::ColumnSample, 0);
    let mut draw = |patterns: &Patterns| {
        let mut weights = vec![0u32; patterns.num_patterns()];
        let mut left = patterns.site_to_pattern.len() as u32;
        let mut wanted = ((f64::from(left) * part) as u32).max(1);
        // Selection sampling: Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S.
        for &pattern in &patterns.site_to_pattern {
            if rng.random_range(0..left) < wanted {
                weights[pattern as usize] += 1;
                wanted -= 1;
            }
            left -= 1;
        }
        weights
    };
    partitions.into_iter().map(&mut draw).collect()
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
    fn a_sample_has_its_part_of_every_partition_and_no_column_twice() {
        let genes = [patterns(&["ACGTACGTAC", "AAAAAAAAAC"]), patterns(&["AAG", "CCT"])];
        let mut drawn = vec![0; genes[0].num_patterns()];
        for seed in 0..2000 {
            let sample = sampled_weights(seed, 0.31, &genes);
            let sizes: Vec<u32> = sample.iter().map(|weights| weights.iter().sum()).collect();
            assert_eq!(sizes, [3, 1]);
            for (gene, weights) in genes.iter().zip(&sample) {
                let of_all = gene.weights.iter().zip(weights);
                assert!(of_all.into_iter().all(|(all, sampled)| sampled <= all));
            }
            drawn.iter_mut().zip(&sample[0]).for_each(|(sum, weight)| *sum += weight);
        }
        let expected = genes[0].weights.iter().map(|&weight| 600 * weight);
        let near = |(drawn, expected): (&u32, u32)| drawn.abs_diff(expected) < 80;
        assert!(drawn.iter().zip(expected).all(near), "{drawn:?}");
        assert_eq!(sampled_weights(1, 1.0, &genes), genes.map(|gene| gene.weights));
    }

    #[test]
    fn a_pattern_is_drawn_in_proportion_to_its_weight() {
        let gene = [patterns(&["AAACAAACAC", "AAACAAACAC"])];
        let total: u32 = (0..2000).map(|i| bootstrap_weights(7, i, &gene)[0][0]).sum();
        // Mean 7 of 10, standard deviation of the mean of 2000 is 0.032.
        assert!((f64::from(total) / 2000.0 - 7.0).abs() < 0.15, "{total}");
    }
}
