//! [`test_topologies`]: all tests of a set of trees.

use super::kind::TopologyTest;
use super::multiscale::{SCALES, Scale, WHOLE, fit};
use super::observed::Observed;
use super::resample::Resampler;
use super::sites::{SiteLikelihoods, first_highest};
use super::tally::{Tally, best_trees};
use rayon::prelude::*;

/// Replicates of one stream of random numbers. Part of the results.
const CHUNK: usize = 100;

/// Level of the tests, and 1 minus that of confidence sets.
const LEVEL: f64 = 0.05;

/// What a test says of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// p-value, share or weight.
    pub value: f64,
    /// The tree is in the 95 % confidence set: it is not rejected or, for shares and weights, it is one of the best
    /// trees that have 95 % together.
    pub is_in_set: bool,
    /// Standard error of the value from the number of replicates, of the approximately unbiased test.
    pub standard_error: Option<f64>,
}

/// The verdicts `[test][tree]` of these tests, from so many replicates (of each size). The same for any number of
/// threads; what a test says does not depend on which others are asked for.
///
/// # Panics
/// If there are fewer than two trees.
pub fn test_topologies(
    data: &SiteLikelihoods,
    tests: &[TopologyTest],
    replicates: usize,
    seed: u64,
) -> Vec<Vec<Verdict>> {
    assert!(data.num_trees() > 1, "one tree cannot be compared");
    let observed = Observed::new(data, tests.iter().any(|test| test.is_weighted()));
    let needs_scales = tests.contains(&TopologyTest::Au);
    let scales = if needs_scales { 0..SCALES.len() } else { WHOLE..WHOLE + 1 };
    let chunks: Vec<(usize, usize)> = scales
        .flat_map(|scale| (0..replicates.div_ceil(CHUNK)).map(move |chunk| (scale, chunk)))
        .collect();
    let count = |&(scale, chunk): &(usize, usize)| {
        let resamples = CHUNK.min(replicates - chunk * CHUNK);
        count_chunk(data, &observed, scale, chunk, resamples, seed)
    };
    let counted: Vec<Counted> = chunks.par_iter().map(count).collect();
    let mut tally = Tally::new(data.num_trees());
    let mut best = vec![vec![0; data.num_trees()]; SCALES.len()];
    for (of_chunk, (scale, _)) in counted.iter().zip(&chunks) {
        best[*scale].iter_mut().zip(&of_chunk.best).for_each(|(sum, count)| *sum += count);
        if let Some(of_chunk) = &of_chunk.tally {
            tally = tally.and(of_chunk);
        }
    }
    tests.iter().map(|&test| judge(test, data, &tally, &best, replicates)).collect()
}

/// What some replicates of one size were counted for.
struct Counted {
    /// `[tree]`: replicates in which it is the best.
    best: Vec<u64>,
    /// All other counts, of resamples with as many sites as the data.
    tally: Option<Tally>,
}

fn count_chunk(
    data: &SiteLikelihoods,
    observed: &Observed,
    scale: usize,
    chunk: usize,
    resamples: usize,
    seed: u64,
) -> Counted {
    let mut resampler = Resampler::new(data, seed, (scale as u64) << 32 | chunk as u64);
    let num_draws = num_draws(data, scale);
    let mut counted = Counted {
        best: vec![0; data.num_trees()],
        tally: (scale == WHOLE).then(|| Tally::new(data.num_trees())),
    };
    let mut centred = Vec::new();
    for _ in 0..resamples {
        let lnls = resampler.next(num_draws);
        best_trees(lnls).for_each(|tree| counted.best[tree] += 1);
        if let Some(tally) = &mut counted.tally {
            tally.count(lnls, observed, &mut centred);
        }
    }
    counted
}

/// Number of sites of a resample: at least one.
fn num_draws(data: &SiteLikelihoods, scale: usize) -> usize {
    let num_sites = data.site_to_pattern().len();
    ((num_sites as f64 * SCALES[scale]).round() as usize).max(1)
}

fn judge(
    test: TopologyTest,
    data: &SiteLikelihoods,
    tally: &Tally,
    best: &[Vec<u64>],
    replicates: usize,
) -> Vec<Verdict> {
    let share = |count: f64| count / replicates as f64;
    let p_values = |counts: &[u64]| counts.iter().map(|&count| share(count as f64)).collect();
    let shares = |sums: &[f64]| sums.iter().map(|&sum| share(sum)).collect();
    let values: Vec<f64> = match test {
        TopologyTest::Bp => shares(&tally.bp),
        TopologyTest::Elw => shares(&tally.elw),
        TopologyTest::Kh => p_values(&tally.kh),
        TopologyTest::Sh => p_values(&tally.sh),
        TopologyTest::Wkh => p_values(&tally.wkh),
        TopologyTest::Wsh => p_values(&tally.wsh),
        TopologyTest::Au => return judge_unbiased(data, best, replicates),
    };
    let in_set = match test.is_share() {
        true => credible_set(&values),
        false => values.iter().map(|&p| p >= LEVEL).collect(),
    };
    let verdict = |(value, is_in_set)| Verdict { value, is_in_set, standard_error: None };
    values.into_iter().zip(in_set).map(verdict).collect()
}

fn judge_unbiased(data: &SiteLikelihoods, best: &[Vec<u64>], replicates: usize) -> Vec<Verdict> {
    let num_sites = data.site_to_pattern().len() as f64;
    let verdict = |tree: usize| {
        let scale = |(scale, counts): (usize, &Vec<u64>)| Scale {
            ratio: num_draws(data, scale) as f64 / num_sites,
            replicates: replicates as u64,
            best: counts[tree],
        };
        let scales: Vec<Scale> = best.iter().enumerate().map(scale).collect();
        let found = fit(&scales);
        Verdict {
            value: found.p,
            is_in_set: found.p >= LEVEL,
            standard_error: Some(found.standard_error),
        }
    };
    (0..data.num_trees()).map(verdict).collect()
}

/// The trees with the highest shares, as many as have 95 % together.
fn credible_set(shares: &[f64]) -> Vec<bool> {
    let mut rest = shares.to_vec();
    let mut in_set = vec![false; shares.len()];
    let mut sum = 0.0;
    while sum < 1.0 - LEVEL && in_set.iter().any(|is_in| !is_in) {
        let next = first_highest(rest.iter().copied());
        sum += shares[next];
        in_set[next] = true;
        rest[next] = f64::NEG_INFINITY;
    }
    in_set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credible_set_has_the_best_trees_with_95_percent() {
        assert_eq!(credible_set(&[0.5, 0.02, 0.46, 0.02]), [true, false, true, false]);
        assert_eq!(credible_set(&[0.5, 0.04, 0.44, 0.02]), [true, true, true, false]);
        assert_eq!(credible_set(&[1.0, 0.0]), [true, false]);
        assert_eq!(credible_set(&[0.3, 0.3, 0.3]), [true; 3], "rounded");
    }
}
