//! Frequencies of splits and topologies among the samples of several runs.

use super::coupled::Sample;
use super::series::{effective_sample_size, potential_scale_reduction};
use crate::tree::{ConsensusRule, ConsensusTree, Split, SplitTable, consensus, tree_splits};
use std::collections::BTreeMap;

/// Splits of a lower frequency in all runs do not count in their comparison, as in MrBayes.
const LEAST_FREQUENCY: f64 = 0.1;

/// Number of trees to which all others are compared for the effective sample size of trees.
const NUM_FOCAL: usize = 20;

/// The trees of all samples, in short.
#[derive(Default)]
pub struct Posterior {
    num_tips: usize,
    table: SplitTable,
    /// `[run][sample]`.
    trees: Vec<Vec<Short>>,
}

/// The splits of a tree, by their numbers, ascending, with the lengths of their branches; and the terminal branches.
struct Short {
    splits: Vec<(u32, f64)>,
    tips: Vec<f64>,
}

impl Short {
    /// Number of splits that only one of two trees has.
    fn distance(&self, other: &Short) -> usize {
        let has = |split: &&(u32, f64)| {
            other.splits.binary_search_by_key(&split.0, |split| split.0).is_ok()
        };
        let shared = self.splits.iter().filter(has).count();
        self.splits.len() + other.splits.len() - 2 * shared
    }
}

/// A split among the samples after the burn-in.
#[derive(Debug, Clone)]
pub struct SplitSummary {
    /// The split.
    pub split: Split,
    /// Its frequency among all samples.
    pub probability: f64,
    /// Its frequency in each run.
    pub of_runs: Vec<f64>,
    /// Mean length of its branch.
    pub mean_length: f64,
    /// Standard deviation of this length.
    pub sd_length: f64,
    /// Effective sample size of its presence, 0 if it is always there.
    pub ess: f64,
    /// Potential scale reduction factor of the length of its branch, if it is in all runs.
    pub psrf: Option<f64>,
}

impl Posterior {
    /// No samples of so many runs yet.
    pub fn new(num_tips: usize, num_runs: usize) -> Self {
        let trees = (0..num_runs).map(|_| Vec::new()).collect();
        Posterior { num_tips, table: SplitTable::default(), trees }
    }

    /// Adds a sample of a run.
    pub fn add(&mut self, run: usize, sample: &Sample) {
        let tree = &sample.tree;
        let mut splits: Vec<(u32, f64)> = tree_splits(tree)
            .into_iter()
            .map(|(edge, split)| (self.table.insert(split), tree.brlen(edge)))
            .collect();
        splits.sort_unstable_by_key(|split| split.0);
        let tips = tree.nodes().take(tree.num_tips());
        let tips = tips.flat_map(|tip| tree.links(tip).map(|link| tree.brlen(link.1))).collect();
        self.trees[run].push(Short { splits, tips });
    }

    /// The samples after the first `burnin` of each run.
    fn kept(&self, burnin: usize) -> impl Iterator<Item = &[Short]> {
        self.trees.iter().map(move |trees| &trees[burnin.min(trees.len())..])
    }

    fn counts(&self, burnin: usize) -> Vec<Vec<usize>> {
        let count = |trees: &[Short]| {
            let mut counts = vec![0; self.table.splits().len()];
            for (split, _) in trees.iter().flat_map(|tree| &tree.splits) {
                counts[*split as usize] += 1;
            }
            counts
        };
        self.kept(burnin).map(count).collect()
    }

    /// Average standard deviation of the frequencies of splits between runs, over splits with a frequency of 0.1 in at least
    /// one of them (Lakner et al. 2008). `None` of a single run.
    pub fn asdsf(&self, burnin: usize) -> Option<f64> {
        let num_runs = self.trees.len() as f64;
        let sizes: Vec<f64> = self.kept(burnin).map(|trees| trees.len() as f64).collect();
        if sizes.len() < 2 || sizes.contains(&0.0) {
            return None;
        }
        let counts = self.counts(burnin);
        let (mut sum, mut number) = (0.0, 0.0);
        for split in 0..self.table.splits().len() {
            let of_runs: Vec<f64> = counts
                .iter()
                .zip(&sizes)
                .map(|(counts, size)| counts[split] as f64 / size)
                .collect();
            if of_runs.iter().any(|frequency| *frequency >= LEAST_FREQUENCY) {
                let mean = of_runs.iter().sum::<f64>() / num_runs;
                let squares: f64 = of_runs.iter().map(|f| (f - mean) * (f - mean)).sum();
                sum += (squares / (num_runs - 1.0)).sqrt();
                number += 1.0;
            }
        }
        Some(if number > 0.0 { sum / number } else { 0.0 })
    }

    /// All splits of the samples after the burn-in, from frequent to rare.
    pub fn splits(&self, burnin: usize) -> Vec<SplitSummary> {
        let sizes: Vec<usize> = self.kept(burnin).map(<[Short]>::len).collect();
        let all = sizes.iter().sum::<usize>().max(1) as f64;
        let counts = self.counts(burnin);
        let lengths = self.lengths(burnin);
        let mut summaries = Vec::new();
        for (number, split) in self.table.splits().iter().enumerate() {
            let count: usize = counts.iter().map(|counts| counts[number]).sum();
            if count == 0 {
                continue;
            }
            let of_runs = counts.iter().zip(&sizes);
            let of_runs =
                of_runs.map(|(counts, &size)| counts[number] as f64 / size as f64).collect();
            let lengths = &lengths[number];
            let flat: Vec<f64> = lengths.iter().flatten().copied().collect();
            let mean_length = flat.iter().sum::<f64>() / flat.len() as f64;
            let squares: f64 = flat.iter().map(|l| (l - mean_length) * (l - mean_length)).sum();
            let probability = count as f64 / all;
            summaries.push(SplitSummary {
                split: split.clone(),
                probability,
                of_runs,
                mean_length,
                sd_length: (squares / (flat.len() as f64 - 1.0).max(1.0)).sqrt(),
                ess: self.ess_of(number as u32, burnin, probability),
                psrf: if count as f64 == all { potential_scale_reduction(lengths) } else { None },
            });
        }
        summaries.sort_by(|a, b| {
            b.probability.total_cmp(&a.probability).then_with(|| a.split.cmp(&b.split))
        });
        summaries
    }

    /// `[split][run]`: lengths of the branch, in the order of the samples.
    fn lengths(&self, burnin: usize) -> Vec<Vec<Vec<f64>>> {
        let mut lengths = vec![vec![Vec::new(); self.trees.len()]; self.table.splits().len()];
        for (run, trees) in self.kept(burnin).enumerate() {
            for (split, length) in trees.iter().flat_map(|tree| &tree.splits) {
                lengths[*split as usize][run].push(*length);
            }
        }
        lengths
    }

    /// Effective sample size of the presence of a split that is neither rare nor almost always there.
    fn ess_of(&self, number: u32, burnin: usize, probability: f64) -> f64 {
        if !(LEAST_FREQUENCY..=1.0 - LEAST_FREQUENCY).contains(&probability) {
            return 0.0;
        }
        let is_there = |tree: &Short| {
            let found = tree.splits.binary_search_by_key(&number, |split| split.0);
            f64::from(u8::from(found.is_ok()))
        };
        let series = self.kept(burnin).map(|trees| trees.iter().map(is_there).collect());
        effective_sample_size(&series.collect::<Vec<Vec<f64>>>())
    }

    /// Least effective sample size of the presence of the splits with a frequency of 0.1 to 0.9; `None` if there are none.
    pub fn least_split_ess(&self, burnin: usize) -> Option<f64> {
        let splits = self.splits(burnin).into_iter();
        let uncertain = splits
            .filter(|split| (LEAST_FREQUENCY..=1.0 - LEAST_FREQUENCY).contains(&split.probability));
        uncertain.map(|split| split.ess).min_by(f64::total_cmp)
    }

    /// Effective sample size of the topologies: the median, over focal trees that are spread over all samples, of that of the
    /// Robinson-Foulds distances to the focal tree (Lanfear, Hua & Warren 2016, Genome Biol. Evol. 8:2319). `None` if all
    /// topologies are the same.
    pub fn tree_ess(&self, burnin: usize) -> Option<f64> {
        let all: Vec<&Short> = self.kept(burnin).flatten().collect();
        let step = all.len().div_ceil(NUM_FOCAL).max(1);
        let of_focal = |focal: &&Short| {
            let distances = |trees: &[Short]| -> Vec<f64> {
                trees.iter().map(|tree| tree.distance(focal) as f64).collect()
            };
            let series: Vec<Vec<f64>> = self.kept(burnin).map(distances).collect();
            effective_sample_size(&series)
        };
        let mut found: Vec<f64> = all.iter().step_by(step).map(of_focal).collect();
        found.retain(|ess| *ess > 0.0);
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 2).copied()
    }

    /// The numbers of samples of each topology after the burn-in, from frequent to rare; each with run and number of the first
    /// of these samples.
    pub fn topologies(&self, burnin: usize) -> Vec<(usize, [usize; 2])> {
        let mut found: BTreeMap<Vec<u32>, (usize, [usize; 2])> = BTreeMap::new();
        for (run, trees) in self.kept(burnin).enumerate() {
            for (number, tree) in trees.iter().enumerate() {
                let key = tree.splits.iter().map(|split| split.0).collect();
                found.entry(key).or_insert((0, [run, burnin + number])).0 += 1;
            }
        }
        let mut found: Vec<(usize, [usize; 2])> = found.into_values().collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found
    }

    /// The majority-rule consensus of the samples after the burn-in, with the mean lengths of its branches in the trees that
    /// have them.
    pub fn consensus(&self, burnin: usize) -> ConsensusTree {
        let splits: Vec<Vec<Split>> = self
            .kept(burnin)
            .flatten()
            .map(|tree| {
                let numbers = tree.splits.iter().map(|split| split.0 as usize);
                numbers.map(|number| self.table.splits()[number].clone()).collect()
            })
            .collect();
        let rule = ConsensusRule::Majority(0.5);
        let mut tree = consensus(self.num_tips, splits.iter().map(Vec::as_slice), rule);
        let mut tips = vec![0.0; self.num_tips];
        for short in self.kept(burnin).flatten() {
            tips.iter_mut().zip(&short.tips).for_each(|(sum, length)| *sum += length);
        }
        let num_trees = splits.len().max(1) as f64;
        tips.iter_mut().for_each(|sum| *sum /= num_trees);
        let lengths = self.lengths(burnin);
        let mean = |split: &Split| {
            let number = self.table.number(split)? as usize;
            let all: Vec<f64> = lengths[number].iter().flatten().copied().collect();
            Some(all.iter().sum::<f64>() / all.len() as f64)
        };
        tree.set_lengths(&tips, mean);
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    /// Trees that are drawn independently count fully; if each is there five times in a row, a fifth of them.
    #[test]
    fn the_effective_size_of_independent_trees_is_their_number() {
        for repeats in [1, 5] {
            let mut rng = stream(41, Purpose::Test, 0);
            let mut posterior = Posterior::new(8, 2);
            let mut trees = [(); 2].map(|()| random_tree(8, 0.1, &mut rng));
            for number in 0..4000 {
                if number / 2 % repeats == 0 {
                    trees[number % 2] = random_tree(8, 0.1, &mut rng);
                }
                let (lnl, ln_prior, values) = (0.0, 0.0, Vec::new());
                let tree = trees[number % 2].clone();
                let sample = Sample { generation: 0, lnl, ln_prior, values, tree };
                posterior.add(number % 2, &sample);
            }
            let expected = 3800.0 / repeats as f64;
            let found = posterior.tree_ess(100).unwrap();
            assert!((found / expected - 1.0).abs() < 0.2, "{found}, not {expected}");
        }
    }
}
