//! The tests against their definitions: sites are drawn one by one, all replicates are kept, and every p-value is
//! counted as the publications say.

use super::kind::TopologyTest;
use super::resample::Resampler;
use super::sites::SiteLikelihoods;
use super::verdicts::{Verdict, test_topologies};
use crate::conformance::some_of;
use crate::numeric::normal_tail;
use crate::rng::{Purpose, Rng, stream};
use rand::RngExt;

/// `[tree][site]`: log-likelihoods with a few patterns, which differ between trees by as much as `spread`.
fn simulate(num_trees: usize, num_sites: usize, spread: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = stream(seed, Purpose::Test, 0);
    let num_patterns = num_sites / 3;
    let patterns: Vec<Vec<f64>> = (0..num_patterns)
        .map(|_| {
            let of_all = -5.0 * rng.random::<f64>();
            (0..num_trees).map(|_| of_all + spread * (rng.random::<f64>() - 0.5)).collect()
        })
        .collect();
    let sites: Vec<usize> = (0..num_sites).map(|_| rng.random_range(0..num_patterns)).collect();
    (0..num_trees).map(|tree| sites.iter().map(|&p| patterns[p][tree]).collect()).collect()
}

/// The same as patterns with weights: every site is one, or equal neighbours are joined.
fn compress(sites: &[Vec<f64>]) -> SiteLikelihoods {
    let num_sites = sites[0].len();
    let column =
        |site: usize| -> Vec<u64> { sites.iter().map(|row| row[site].to_bits()).collect() };
    let mut columns: Vec<Vec<u64>> = (0..num_sites).map(column).collect();
    columns.sort();
    columns.dedup();
    let place = |site| columns.binary_search(&column(site)).unwrap() as u32;
    let site_to_pattern: Vec<u32> = (0..num_sites).map(place).collect();
    let mut weights = vec![0; columns.len()];
    site_to_pattern.iter().for_each(|&pattern| weights[pattern as usize] += 1);
    let row = |tree: usize| columns.iter().map(|column| f64::from_bits(column[tree])).collect();
    let rows = (0..sites.len()).map(row).collect();
    SiteLikelihoods::from_rows(rows, weights, site_to_pattern)
}

/// `[replicate][tree]`.
fn replicates(sites: &[Vec<f64>], count: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let num_sites = sites[0].len();
    let replicate = |_| {
        let drawn: Vec<usize> = (0..num_sites).map(|_| rng.random_range(0..num_sites)).collect();
        sites.iter().map(|row| drawn.iter().map(|&site| row[site]).sum()).collect()
    };
    (0..count).map(replicate).collect()
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// The number of the highest value but that of `tree`.
fn rival(values: &[f64], tree: usize) -> usize {
    let others = (0..values.len()).filter(|&other| other != tree);
    others.max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap()
}

/// `[test][tree]`, for all tests but the approximately unbiased one.
fn naive(sites: &[Vec<f64>], count: usize, seed: u64) -> Vec<Vec<f64>> {
    let drawn = replicates(sites, count, &mut stream(seed, Purpose::Test, 1));
    let (trees, number) = (sites.len(), count as f64);
    let totals: Vec<f64> = sites.iter().map(|row| row.iter().sum()).collect();
    let mean = |tree: usize| drawn.iter().map(|lnls| lnls[tree]).sum::<f64>() / number;
    let means: Vec<f64> = (0..trees).map(mean).collect();
    let centred: Vec<Vec<f64>> =
        drawn.iter().map(|lnls| lnls.iter().zip(&means).map(|(l, m)| l - m).collect()).collect();
    let deviation = |a: usize, b: usize| {
        let squares = centred.iter().map(|lnls| (lnls[a] - lnls[b]) * (lnls[a] - lnls[b]));
        (squares.sum::<f64>() / number).sqrt()
    };
    let share = |is_counted: &dyn Fn(&Vec<f64>) -> bool| {
        centred.iter().filter(|lnls| is_counted(lnls)).count() as f64 / number
    };
    let against = |tree: usize, rival: usize| {
        share(&|lnls| lnls[rival] - lnls[tree] >= totals[rival] - totals[tree])
    };
    let weighted = |values: &[f64], tree: usize| -> Vec<f64> {
        let value = |other: usize| (values[other] - values[tree]) / deviation(tree, other);
        (0..trees)
            .map(|other| if other == tree { f64::NEG_INFINITY } else { value(other) })
            .collect()
    };
    let mut values = vec![vec![0.0; trees]; 6];
    for tree in 0..trees {
        let is_best = |lnls: &&Vec<f64>| rival(lnls, trees) == tree;
        values[0][tree] = drawn.iter().filter(is_best).count() as f64 / number;
        values[1][tree] = against(tree, rival(&totals, tree));
        let best = highest(totals.iter().copied());
        values[2][tree] =
            share(&|lnls| highest(lnls.iter().copied()) - lnls[tree] >= best - totals[tree]);
        let observed = weighted(&totals, tree);
        values[3][tree] = against(tree, rival(&observed, tree));
        let greatest = highest(observed.iter().copied());
        let deviations: Vec<f64> = (0..trees).map(|other| deviation(tree, other)).collect();
        values[4][tree] = share(&|lnls| {
            let others = (0..trees).filter(|&other| other != tree);
            highest(others.map(|o| (lnls[o] - lnls[tree]) / deviations[o])) >= greatest
        });
        let weight = |lnls: &Vec<f64>| {
            1.0 / lnls.iter().map(|other| libm::exp(other - lnls[tree])).sum::<f64>()
        };
        values[5][tree] = drawn.iter().map(weight).sum::<f64>() / number;
    }
    values
}

#[test]
fn all_tests_agree_with_their_definitions() {
    for (trees, sites, spread, seed) in [(2, 60, 0.5, 1), (5, 90, 0.6, 2), (20, 150, 0.5, 3)] {
        let lnls = simulate(trees, sites, spread, seed);
        let tests = &TopologyTest::ALL[..6];
        let found = test_topologies(&compress(&lnls), tests, 20_000, 7);
        let expected = naive(&lnls, 5000, seed);
        for ((test, found), expected) in tests.iter().zip(&found).zip(&expected) {
            for (tree, (found, &expected)) in found.iter().zip(expected).enumerate() {
                let p = expected.clamp(0.01, 0.99);
                // Five standard errors, and what counting near-ties for a tree adds.
                let allowed =
                    5.0 * (p * (1.0 - p) * (1.0 / 5000.0 + 1.0 / 20_000.0)).sqrt() + 0.004;
                let off = (found.value - expected).abs();
                assert!(off < allowed, "{test:?} of tree {tree}: {} {expected}", found.value);
            }
        }
        for shares in [&found[0], &found[5]] {
            let sum: f64 = shares.iter().map(|verdict| verdict.value).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}

#[test]
fn resamples_of_patterns_are_sums_of_sites() {
    let lnls = simulate(19, 60, 0.5, 4);
    let data = compress(&lnls);
    let mut resampler = Resampler::new(&data, 3, 0);
    let best = data.totals().iter().position(|&total| total == 0.0).unwrap();
    let mut rng = stream(3, Purpose::TopologyTests, 0);
    for num_draws in [1, 30, 84] {
        // Of 60 sites, only one product in 10^8 would be drawn again.
        let drawn: Vec<usize> = (0..num_draws)
            .map(|_| ((u64::from(rand::Rng::next_u32(&mut rng)) * 60) >> 32) as usize)
            .collect();
        for (tree, &sum) in resampler.next(num_draws).iter().enumerate() {
            let expected: f64 = drawn.iter().map(|&site| lnls[tree][site] - lnls[best][site]).sum();
            assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
        }
    }
}

#[test]
fn of_two_trees_the_tests_agree_with_the_normal_approximation() {
    for &(seed, spread) in some_of(&[(5, 0.3), (6, 0.5), (8, 0.8), (9, 0.5)], 0, 2) {
        let lnls = simulate(2, 3000, spread, seed);
        let differences: Vec<f64> = lnls[0].iter().zip(&lnls[1]).map(|(a, b)| a - b).collect();
        let sum: f64 = differences.iter().sum();
        let squares: f64 = differences.iter().map(|d| d * d).sum();
        let deviation = (squares - sum * sum / 3000.0).sqrt();
        let tests = [TopologyTest::Kh, TopologyTest::Au, TopologyTest::Wkh, TopologyTest::Bp];
        let found = test_topologies(&compress(&lnls), &tests, 20_000, 1);
        for (tree, z) in [(0, -sum / deviation), (1, sum / deviation)] {
            let expected = normal_tail(z);
            for (test, verdicts) in tests.iter().zip(&found) {
                let Verdict { value, is_in_set, .. } = verdicts[tree];
                assert!((value - expected).abs() < 0.02, "{test:?} {tree}: {value} {expected}");
                assert!(*test == TopologyTest::Bp || is_in_set == (value >= 0.05));
            }
        }
    }
}

#[test]
fn equal_trees_are_not_rejected_whatever_rounding_leaves_between_them() {
    let mut lnls = simulate(3, 300, 0.6, 11);
    let best = (0..3).max_by(|&a, &b| {
        let total = |tree: usize| lnls[tree].iter().sum::<f64>();
        total(a).total_cmp(&total(b))
    });
    let twin: Vec<f64> = lnls[best.unwrap()].iter().map(|lnl| lnl - 1e-7).collect();
    lnls.push(twin);
    let found = test_topologies(&compress(&lnls), &TopologyTest::ALL, 1000, 1);
    for (test, verdicts) in TopologyTest::ALL.iter().zip(&found) {
        let (of_best, of_twin) = (verdicts[best.unwrap()], verdicts[3]);
        assert!((of_best.value - of_twin.value).abs() < 1e-3, "{test:?}: {of_best:?} {of_twin:?}");
        assert!(of_twin.is_in_set, "{test:?}");
    }
}

#[test]
fn results_depend_on_the_seed_and_neither_on_threads_nor_on_other_tests() {
    let data = compress(&simulate(7, 200, 0.5, 12));
    let all = test_topologies(&data, &TopologyTest::ALL, 250, 1);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let same = pool.install(|| test_topologies(&data, &TopologyTest::ALL, 250, 1));
        assert_eq!(same, all);
    }
    for (i, test) in TopologyTest::ALL.into_iter().enumerate() {
        assert_eq!(test_topologies(&data, &[test], 250, 1)[0], all[i], "{test:?}");
    }
    assert_ne!(test_topologies(&data, &TopologyTest::ALL, 250, 2), all);
}
