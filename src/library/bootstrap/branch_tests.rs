//! Support of inner branches by the likelihoods of their two other resolutions: SH-aLRT (Guindon et al. 2010, Syst.
//! Biol. 59:307) and aBayes (Anisimova et al. 2011, Syst. Biol. 60:685).
//!
//! An inner branch joins four subtrees, which can be joined in three ways. The tree has one of them; in each of the two
//! others the five branches around are optimised. aBayes is the posterior probability of the tree's way if all three
//! have the same prior. For SH-aLRT, columns are resampled, with the log-likelihoods of sites as they are (RELL): the
//! support is the percentage of replicates in which the tree's advantage over the better of the others is larger than
//! that of the best way over the second in the replicate, after the means of all three were made equal.

use super::weights::resample;
use crate::alignment::Patterns;
use crate::likelihood::{Evaluator, Resolution, Result};
use crate::observer::{Advance, Observer};
use crate::rng::{Purpose, stream};
use crate::tree::EdgeId;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Number of branches with the same resampled columns at the same time. It does not change the results.
const LANES: usize = 16;

/// Lengths around a branch are optimised until a sweep gains less than this (log units).
const EPSILON: f64 = 1e-3;

/// A branch needs an advantage that is larger by this (log units) than that in a replicate: the three ways to join
/// subtrees at a branch without length have the same likelihood but for the accuracy of the lengths.
const TOLERANCE: f64 = 0.05;

/// Support of the branches of a tree, by edge; `None` for edges to tips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BranchTests {
    /// SH-aLRT (percent); all `None` without replicates.
    pub sh_alrt: Vec<Option<f64>>,
    /// aBayes (probability).
    pub abayes: Vec<Option<f64>>,
}

/// Resampling of columns.
#[derive(Debug, Clone, Copy)]
pub struct Resampling<'a> {
    /// The patterns of each partition.
    pub patterns: &'a [&'a Patterns],
    /// Number of replicates.
    pub replicates: usize,
    /// Seed; each replicate has the same columns for all branches.
    pub seed: u64,
    /// The threads among which replicates are divided.
    pub pool: &'a ThreadPool,
}

/// Tests all inner branches of the evaluator's tree, whose branch lengths must be optimised, and which is the same
/// afterwards.
///
/// # Errors
/// The engine has failed.
pub fn test_branches(
    evaluator: &mut Evaluator,
    resampling: Resampling,
    observer: &mut dyn Observer,
) -> Result<BranchTests> {
    let none = vec![None; evaluator.tree().num_edges()];
    let mut tests = BranchTests { sh_alrt: none.clone(), abayes: none };
    let lnl = evaluator.log_likelihood()?;
    let pattern_lnls: Vec<Vec<f64>> = (0..evaluator.num_partitions())
        .map(|partition| evaluator.pattern_log_likelihoods(partition))
        .collect::<Result<_>>()?;
    let edges = evaluator.inner_edges();
    for (number, batch) in edges.chunks(LANES).enumerate() {
        let mut differences = Differences::new(&pattern_lnls);
        let mut advantages = Vec::with_capacity(batch.len());
        for (lane, &edge) in batch.iter().enumerate() {
            let others = evaluator.other_resolutions(edge, EPSILON)?;
            let lnls = [lnl, others[0].lnl, others[1].lnl];
            tests.abayes[edge.index()] = Some(posterior(lnls));
            advantages.push(lnl - lnls[1].max(lnls[2]));
            differences.set(lane, &others, &pattern_lnls);
            let done = (number * LANES + lane + 1) as f64 / edges.len() as f64;
            observer.advance(Advance { whole: Some(done), ..Advance::default() });
        }
        if resampling.replicates > 0 {
            let counts = resampling.pool.install(|| differences.count(&advantages, resampling));
            store(&mut tests.sh_alrt, batch, &counts, resampling.replicates);
        }
    }
    Ok(tests)
}

fn store(values: &mut [Option<f64>], edges: &[EdgeId], counts: &[u32; LANES], replicates: usize) {
    for (edge, &count) in edges.iter().zip(counts) {
        values[edge.index()] = Some(100.0 * f64::from(count) / replicates as f64);
    }
}

/// Probability of the first of three hypotheses with the same prior.
fn posterior(lnls: [f64; 3]) -> f64 {
    let others = lnls[1..].iter().map(|lnl| libm::exp(lnl - lnls[0]));
    1.0 / (1.0 + others.sum::<f64>())
}

/// For both other resolutions of up to [`LANES`] branches: log-likelihoods of patterns minus those of the tree.
struct Differences {
    /// `[partition][pattern]`; a branch has one column for each of the two.
    partitions: Vec<Vec<[f64; 2 * LANES]>>,
}

impl Differences {
    fn new(pattern_lnls: &[Vec<f64>]) -> Self {
        let of_partition = |lnls: &Vec<f64>| vec![[0.0; 2 * LANES]; lnls.len()];
        Differences { partitions: pattern_lnls.iter().map(of_partition).collect() }
    }

    fn set(&mut self, lane: usize, others: &[Resolution; 2], pattern_lnls: &[Vec<f64>]) {
        for (which, other) in others.iter().enumerate() {
            let partitions = self.partitions.iter_mut().zip(&other.pattern_lnls).zip(pattern_lnls);
            for ((rows, other), tree) in partitions {
                for ((row, other), tree) in rows.iter_mut().zip(other).zip(tree) {
                    row[2 * lane + which] = other - tree;
                }
            }
        }
    }

    /// Sums over the sites of all partitions, with these numbers of sites per pattern added to `sums`.
    fn add(&self, partition: usize, weights: &[u32], sums: &mut [f64; 2 * LANES]) {
        for (row, &weight) in
            self.partitions[partition].iter().zip(weights).filter(|(_, w)| **w > 0)
        {
            let weight = f64::from(weight);
            sums.iter_mut().zip(row).for_each(|(sum, difference)| *sum += weight * difference);
        }
    }

    /// For each branch, the number of replicates in which it has support.
    fn count(&self, advantages: &[f64], resampling: Resampling) -> [u32; LANES] {
        let Resampling { patterns, replicates, seed, .. } = resampling;
        let mut means = [0.0; 2 * LANES];
        for (partition, patterns) in patterns.iter().enumerate() {
            self.add(partition, &patterns.weights, &mut means);
        }
        let replicate = |number: usize| {
            let mut rng = stream(seed, Purpose::BranchTest, number as u64);
            let mut sums = [0.0; 2 * LANES];
            for (partition, patterns) in patterns.iter().enumerate() {
                self.add(partition, &resample(patterns, &mut rng), &mut sums);
            }
            let mut counts = [0; LANES];
            for (lane, &advantage) in advantages.iter().enumerate() {
                let centred = [0, 1].map(|which| sums[2 * lane + which] - means[2 * lane + which]);
                counts[lane] =
                    u32::from(advantage > lead([0.0, centred[0], centred[1]]) + TOLERANCE);
            }
            counts
        };
        let add = |mut a: [u32; LANES], b: [u32; LANES]| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        (0..replicates).into_par_iter().map(replicate).reduce(|| [0; LANES], add)
    }
}

/// The largest value minus the second.
fn lead(mut values: [f64; 3]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[2] - values[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::DataType;
    use rand::RngExt;

    /// The definition, for each replicate and branch from the three sums of log-likelihoods.
    #[test]
    fn replicates_are_counted_as_defined() {
        let mut rng = stream(4, Purpose::Test, 0);
        let bases: Vec<Vec<u8>> =
            [60, 25].iter().map(|&n| (0..n).map(|i| b"ACGT"[i * i % 4]).collect()).collect();
        let patterns = bases.iter().map(|bases| {
            Patterns::compress(DataType::Dna, 2, bases.len(), |taxon, codes| {
                for (i, code) in codes.iter_mut().enumerate() {
                    let base = bases[i / (1 + taxon)];
                    *code = DataType::Dna.encode(base).unwrap();
                }
            })
        });
        let patterns: Vec<Patterns> = patterns.collect();
        let mut random = |patterns: &Patterns| -> Vec<f64> {
            (0..patterns.num_patterns()).map(|_| -rng.random_range(1.0..3.0)).collect()
        };
        let tree: Vec<Vec<f64>> = patterns.iter().map(&mut random).collect();
        let mut differences = Differences::new(&tree);
        let mut others = Vec::new();
        for lane in 0..3 {
            let resolution = [0, 1].map(|_| Resolution {
                lnl: 0.0,
                pattern_lnls: patterns.iter().map(&mut random).collect(),
            });
            differences.set(lane, &resolution, &tree);
            others.push(resolution);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let all: Vec<&Patterns> = patterns.iter().collect();
        let (seed, replicates) = (7, 300);
        let resampling = Resampling { patterns: &all, replicates, seed, pool: &pool };
        let advantages = [5.0, 1.0, -1.0];
        let counts = pool.install(|| differences.count(&advantages, resampling));
        for (lane, others) in others.iter().enumerate() {
            let ways = [&tree, &others[0].pattern_lnls, &others[1].pattern_lnls];
            let sum = |lnls: &[Vec<f64>], weights: &[Vec<u32>]| -> f64 {
                let pairs = lnls.iter().flatten().zip(weights.iter().flatten());
                pairs.map(|(lnl, &weight)| lnl * f64::from(weight)).sum()
            };
            let original: Vec<Vec<u32>> = patterns.iter().map(|p| p.weights.clone()).collect();
            let number = (0..replicates).filter(|&replicate| {
                let mut rng = stream(seed, Purpose::BranchTest, replicate as u64);
                let weights: Vec<Vec<u32>> = all.iter().map(|p| resample(p, &mut rng)).collect();
                let centred = ways.map(|lnls| sum(lnls, &weights) - sum(lnls, &original));
                advantages[lane] > lead(centred) + TOLERANCE
            });
            assert_eq!(counts[lane] as usize, number.count(), "{counts:?}");
        }
        assert!(
            counts[0] > counts[1] && counts[1] > 0 && counts[2..] == [0; LANES - 2],
            "{counts:?}"
        );
    }

    #[test]
    fn probabilities_of_three_hypotheses() {
        assert_eq!(posterior([-1000.0; 3]), 1.0 / 3.0);
        assert_eq!(posterior([0.0, -800.0, -900.0]), 1.0);
        assert_eq!(posterior([-2000.0, -100.0, -100.0]), 0.0);
        let found = posterior([-10.0, -11.0, -13.0]);
        assert!((found - 1.0 / (1.0 + libm::exp(-1.0) + libm::exp(-3.0))).abs() < 1e-15);
        assert_eq!(lead([0.0, -2.0, 1.5]), 1.5);
    }
}
