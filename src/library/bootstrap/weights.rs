//! Resampling of columns for replicates, as weights of the original patterns: the bootstrap (Felsenstein 1985, Evolution
//! 39:783), the jackknife, and resampling of whole partitions (Gadagkar, Rosenberg & Kumar 2005, J. Exp. Zool. B 304:64).
//!
//! Columns are drawn within partitions, as many as each partition has, so that the lengths of partitions do not
//! change (stratified resampling, as in RAxML and RAxML-NG).

use crate::alignment::Patterns;
use crate::rng::{Purpose, Rng, stream};
use rand::RngExt;
use rand::seq::SliceRandom;

/// What is drawn for a replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingUnit {
    /// Sites, within partitions.
    Sites,
    /// Partitions, with all their sites.
    Partitions,
    /// Partitions, and sites within each of the partitions drawn.
    PartitionsAndSites,
}

impl SamplingUnit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sites, Self::Partitions, Self::PartitionsAndSites];

    /// Its name in options and in the report: IQ-TREE's, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            SamplingUnit::Sites => "site",
            SamplingUnit::Partitions => "gene",
            SamplingUnit::PartitionsAndSites => "genesite",
        }
    }
}

/// How the columns of a replicate are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// What is drawn.
    pub unit: SamplingUnit,
    /// Share of the units that the jackknife deletes, in (0, 1); `None` for the bootstrap, which draws as many as there
    /// are, with replacement.
    pub jackknife: Option<f64>,
}

/// Pattern weights of replicate number `replicate`, `[partition][pattern]`; 0 for patterns that were not drawn.
/// The weights of a partition depend only on the seed, the replicate, the partition and those before it.
pub fn replicate_weights(
    sampling: Sampling,
    seed: u64,
    replicate: usize,
    partitions: &[&Patterns],
) -> Vec<Vec<u32>> {
    let mut rng = stream(seed, Purpose::Bootstrap, replicate as u64);
    let Sampling { unit, jackknife } = sampling;
    let times = match unit {
        SamplingUnit::Sites => vec![1; partitions.len()],
        _ => draw(partitions.len(), jackknife, &mut rng),
    };
    let weights = |(patterns, times): (&&Patterns, u32)| {
        let mut weights = vec![0; patterns.num_patterns()];
        if unit == SamplingUnit::Partitions {
            weights.clone_from(&patterns.weights);
            weights.iter_mut().for_each(|weight| *weight *= times);
        } else {
            for _ in 0..times {
                add_sites(patterns, jackknife, &mut rng, &mut weights);
            }
        }
        weights
    };
    partitions.iter().zip(times).map(weights).collect()
}

/// Weights of the patterns of one partition, of whose sites as many are drawn as there are.
pub(super) fn resample(patterns: &Patterns, rng: &mut Rng) -> Vec<u32> {
    let mut weights = vec![0; patterns.num_patterns()];
    add_sites(patterns, None, rng, &mut weights);
    weights
}

/// Draws the sites of a partition and adds them to the weights of its patterns.
fn add_sites(patterns: &Patterns, jackknife: Option<f64>, rng: &mut Rng, weights: &mut [u32]) {
    let sites = &patterns.site_to_pattern;
    for (&pattern, times) in sites.iter().zip(draw(sites.len(), jackknife, rng)) {
        weights[pattern as usize] += times;
    }
}

/// How often each of `number` units is drawn: `number` draws with replacement, or once unless the jackknife deletes it.
/// At least one remains.
fn draw(number: usize, jackknife: Option<f64>, rng: &mut Rng) -> Vec<u32> {
    let mut times = vec![0; number];
    match jackknife {
        None => {
            for _ in 0..number as u32 {
                times[rng.random_range(0..number as u32) as usize] += 1;
            }
        }
        Some(share) => {
            let deleted = (share * number as f64).round() as usize;
            let kept = (number - deleted).max(1).min(number);
            let mut units: Vec<u32> = (0..number as u32).collect();
            let (units, _) = units.partial_shuffle(rng, kept);
            units.iter().for_each(|&unit| times[unit as usize] = 1);
        }
    }
    times
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

    fn partitions() -> [Patterns; 3] {
        [
            patterns(&["ACGTACGTAC", "AAAAAAAAAC"]),
            patterns(&["AAG", "CCT"]),
            patterns(&["ACGTAC", "ACGTTT"]),
        ]
    }

    fn weights(unit: SamplingUnit, jackknife: Option<f64>, replicate: usize) -> Vec<Vec<u32>> {
        let partitions = partitions();
        let partitions: Vec<&Patterns> = partitions.iter().collect();
        replicate_weights(Sampling { unit, jackknife }, 1, replicate, &partitions)
    }

    fn sum(weights: &[u32]) -> u32 {
        weights.iter().sum()
    }

    #[test]
    fn every_partition_keeps_its_number_of_sites_and_replicates_differ() {
        let first = weights(SamplingUnit::Sites, None, 0);
        for (weights, partition) in first.iter().zip(partitions()) {
            assert_eq!(weights.len(), partition.num_patterns());
            assert_eq!(sum(weights) as usize, partition.num_sites);
        }
        assert_eq!(first, weights(SamplingUnit::Sites, None, 0));
        assert_ne!(first, weights(SamplingUnit::Sites, None, 1));
        let partitions = partitions();
        let sampling = Sampling { unit: SamplingUnit::Sites, jackknife: None };
        assert_ne!(first, replicate_weights(sampling, 2, 0, &partitions.each_ref()));
    }

    #[test]
    fn a_pattern_is_drawn_in_proportion_to_its_weight() {
        let partition = patterns(&["AAACAAACAC", "AAACAAACAC"]);
        let sampling = Sampling { unit: SamplingUnit::Sites, jackknife: None };
        let total: u32 =
            (0..2000).map(|i| replicate_weights(sampling, 7, i, &[&partition])[0][0]).sum();
        // Mean 7 of 10, standard deviation of the mean of 2000 is 0.032.
        assert!((f64::from(total) / 2000.0 - 7.0).abs() < 0.15, "{total}");
    }

    #[test]
    fn the_jackknife_deletes_its_share_of_every_partition_and_no_site_is_there_twice() {
        let mut times_kept = vec![0; partitions()[0].num_patterns()];
        for replicate in 0..600 {
            let found = weights(SamplingUnit::Sites, Some(0.4), replicate);
            // 4 of 10, 1 of 3 and 2 of 6 sites.
            assert_eq!(found.iter().map(|w| sum(w)).collect::<Vec<_>>(), [6, 2, 4]);
            for (weights, partition) in found.iter().zip(partitions()) {
                assert!(weights.iter().zip(&partition.weights).all(|(new, old)| new <= old));
            }
            times_kept.iter_mut().zip(&found[0]).for_each(|(sum, weight)| *sum += weight);
        }
        // Every site is kept in 0.6 of the replicates; six standard deviations.
        for (&kept, &weight) in times_kept.iter().zip(&partitions()[0].weights) {
            let expected = 0.6 * 600.0 * f64::from(weight);
            assert!((f64::from(kept) - expected).abs() < 6.0 * (0.4 * expected).sqrt(), "{kept}");
        }
        assert_eq!(sum(&weights(SamplingUnit::Sites, Some(0.999), 0)[1]), 1, "one site remains");
    }

    #[test]
    fn partitions_are_drawn_whole() {
        for replicate in 0..50 {
            let times = |weights: &[u32], partition: &Patterns| {
                let times = weights[0] / partition.weights[0];
                let whole: Vec<u32> =
                    partition.weights.iter().map(|weight| weight * times).collect();
                assert_eq!(weights, whole);
                times
            };
            let found = weights(SamplingUnit::Partitions, None, replicate);
            let drawn: u32 =
                found.iter().zip(&partitions()).map(|(w, partition)| times(w, partition)).sum();
            assert_eq!(drawn, 3);
            let found = weights(SamplingUnit::Partitions, Some(0.5), replicate);
            let drawn: Vec<u32> =
                found.iter().zip(&partitions()).map(|(w, partition)| times(w, partition)).collect();
            assert_eq!((drawn.iter().sum::<u32>(), drawn.iter().max()), (1, Some(&1)));
        }
    }

    #[test]
    fn sites_of_drawn_partitions_are_drawn() {
        for replicate in 0..50 {
            let found = weights(SamplingUnit::PartitionsAndSites, None, replicate);
            let drawn = found.iter().zip(partitions()).map(|(weights, partition)| {
                assert_eq!(sum(weights) as usize % partition.num_sites, 0);
                sum(weights) as usize / partition.num_sites
            });
            assert_eq!(drawn.sum::<usize>(), 3);
            let found = weights(SamplingUnit::PartitionsAndSites, Some(0.3), replicate);
            let sizes: Vec<u32> = found.iter().map(|w| sum(w)).collect();
            // One of three partitions, and 3 of 10, 1 of 3, 2 of 6 sites are deleted.
            assert!([[0, 2, 4], [7, 0, 4], [7, 2, 0]].iter().any(|s| sizes == s), "{sizes:?}");
        }
    }
}
