//! The slow truth: the likelihood of a pair from the full matrix P(t), site by site, and its maximum by golden section.

use super::solve::MAX_DISTANCE;
use super::{DistanceMethod, PairDistances};
use crate::alignment::{Alignment, read_alignment_from};
use crate::instructions::Instructions;
use crate::model::{EigenModel, Model};
use crate::mpi::{Ranks, as_threads};
use crate::partition::{Partition, count_freqs};
use crate::rng::{Purpose, stream};
use proptest::prelude::*;
use rand::RngExt;
use std::ops::Range;

/// The probability of state j after distance t from state i, with the rates of the model or a gamma distribution.
fn transition(
    eigen: &EigenModel,
    model: &Model,
    gamma: Option<f64>,
    t: f64,
    i: usize,
    j: usize,
) -> f64 {
    let n = eigen.num_states;
    let cats = model.rate_cats();
    let mean = |eigenvalue: f64| match gamma {
        None => cats
            .rates
            .iter()
            .zip(&cats.weights)
            .map(|(r, w)| w * libm::exp(eigenvalue * r * t))
            .sum(),
        Some(a) => (1.0 - cats.pinv) * libm::pow(1.0 - eigenvalue * t / (1.0 - cats.pinv) / a, -a),
    };
    let change: f64 = (0..n)
        .map(|k| {
            eigen.eigenvecs[i * n + k] * mean(eigen.eigenvals[k]) * eigen.inv_eigenvecs[k * n + j]
        })
        .sum();
    change + if i == j { cats.pinv } else { 0.0 }
}

fn log_likelihood(partitions: &[Partition], gamma: Option<f64>, pair: [usize; 2], t: f64) -> f64 {
    let mut sum = 0.0;
    for partition in partitions {
        let (model, patterns) = (&partition.model, &partition.patterns);
        let [eigen] = &model.eigen_models()[..] else { panic!("one matrix") };
        let tip = |taxon: usize| patterns.tip_taxa.iter().position(|&tip| tip == taxon);
        let (Some(a), Some(b)) = (tip(pair[0]), tip(pair[1])) else { continue };
        for (pattern, &weight) in patterns.weights.iter().enumerate() {
            let mask = |tip: usize| patterns.code_masks[usize::from(patterns.codes[tip][pattern])];
            let states = |mask: u64| (0..eigen.num_states).filter(move |i| mask >> i & 1 == 1);
            let site: f64 = states(mask(a))
                .flat_map(|i| states(mask(b)).map(move |j| (i, j)))
                .map(|(i, j)| eigen.freqs[i] * transition(eigen, model, gamma, t, i, j))
                .sum();
            sum += f64::from(weight) * libm::log(site);
        }
    }
    sum
}

/// The maximum by golden section between the points of a grid beside the best one.
fn by_definition(partitions: &[Partition], gamma: Option<f64>, pair: [usize; 2]) -> f64 {
    let f = |t: f64| log_likelihood(partitions, gamma, pair, t);
    let grid: Vec<f64> = (0..=60)
        .map(|i| if i == 0 { 0.0 } else { MAX_DISTANCE * libm::pow(0.8, f64::from(60 - i)) })
        .collect();
    let best = (0..grid.len()).max_by(|&a, &b| f(grid[a]).total_cmp(&f(grid[b]))).unwrap();
    let (mut lo, mut hi) = (grid[best.saturating_sub(1)], grid[(best + 1).min(60)]);
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    while hi - lo > 1e-10 {
        let (left, right) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
        if f(left) > f(right) {
            hi = right;
        } else {
            lo = left;
        }
    }
    0.5 * (lo + hi)
}

fn partitions_of(alignment: &Alignment, models: &[&str]) -> Vec<Partition> {
    let model = |text: &&str| {
        let mut partition = Partition::whole(alignment, text).unwrap();
        count_freqs(&mut partition.model, &partition.patterns);
        partition
    };
    models.iter().map(model).collect()
}

/// Sequences that descend from one another, with ambiguous characters and gaps.
fn alignment(letters: &[u8], seed: u64, sites: usize, change: f64, unclear: f64) -> Alignment {
    let mut rng = stream(seed, Purpose::Test, 7);
    let mut row: Vec<u8> = (0..sites).map(|_| letters[rng.random_range(0..4)]).collect();
    let mut text = format!("5 {sites}\n");
    for taxon in 0..5 {
        for site in &mut row {
            if rng.random_bool(change) {
                *site = letters[rng.random_range(0..letters.len().min(20))];
            }
        }
        let shown = row.iter().map(|&site| match rng.random_bool(unclear) {
            true => char::from(letters[rng.random_range(0..letters.len())]),
            false => char::from(site),
        });
        text.push_str(&format!("t{taxon} {}\n", shown.collect::<String>()));
    }
    read_alignment_from(text.as_bytes(), "test").unwrap()
}

fn check(alignment: &Alignment, models: &[&str], gamma: Option<f64>) {
    let partitions = partitions_of(alignment, models);
    let models = partitions.iter().map(|partition| partition.model.clone()).collect();
    let method = DistanceMethod::Likelihood { models, gamma };
    let distances = PairDistances::new(5, &partitions, &method, None);
    let matrix = distances.rows(0..5, 0..5).unwrap();
    for a in 0..5 {
        for b in 0..5 {
            let (found, mirrored) = (matrix[5 * a + b], matrix[5 * b + a]);
            assert_eq!(found.to_bits(), mirrored.to_bits(), "symmetric");
            let alone = distances.rows(a..a + 1, b..b + 1).unwrap()[0];
            assert_eq!(found.to_bits(), alone.to_bits(), "whatever is computed beside it");
            if (a + b) % 3 != 1 || a > b || found.is_nan() {
                continue;
            }
            let expected = by_definition(&partitions, gamma, [a, b]);
            // Near saturation there may be several maxima.
            let of = |t| log_likelihood(&partitions, gamma, [a, b], t);
            let is_maximum = || of(found) >= of(found * 1.001) && of(found) >= of(found * 0.999);
            if found > 1.0 && found.is_finite() && is_maximum() {
                continue;
            }
            if found.is_infinite() {
                assert!(expected > 0.999 * MAX_DISTANCE, "{a} {b}: saturated, {expected}");
                continue;
            }
            // Another of several maxima must be as high; golden section sees the likelihood only to half the digits.
            let is_close = (found - expected).abs() < 1e-5 * expected.max(0.01);
            assert!(is_close || of(found) >= of(expected) - 1e-9, "{a} {b}: {found}, {expected}");
        }
    }
    for set in Instructions::all() {
        let name = set.name();
        let other =
            PairDistances::new(5, &partitions, &method, Some(name)).rows(0..5, 0..5).unwrap();
        let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&matrix), bits(&other), "{name}");
    }
    let is_same =
        |partition: &Partition| partition.patterns.data_type == partitions[0].patterns.data_type;
    check_orders(&partitions, &method);
    if partitions.iter().all(is_same) {
        check_orders(&partitions, &DistanceMethod::Uncorrected);
        check_orders(&partitions, &DistanceMethod::LogDet);
    }
}

/// The order of the sequences changes no bit.
fn check_orders(partitions: &[Partition], method: &DistanceMethod) {
    let matrix = PairDistances::new(5, partitions, method, None).rows(0..5, 0..5).unwrap();
    for taxa in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
        let other = PairDistances::in_order(taxa.to_vec(), partitions, method, None);
        let found = other.rows(0..5, 0..5).unwrap();
        for (place, pair) in found.iter().enumerate() {
            let expected = matrix[5 * taxa[place / 5] + taxa[place % 5]];
            assert_eq!(pair.to_bits(), expected.to_bits(), "{method:?} {taxa:?}");
        }
    }
}

const DNA: &[u8] = b"ACGTRYSWKMBDHVN-";
const PROTEIN: &[u8] = b"ARNDCQEGHILKMFPSTWYVBZJX-";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn distances_of_nucleotides_are_those_of_the_definition(
        seed in 0_u64..1_000_000,
        sites in 1_usize..450,
        change in 0.0..0.6,
        unclear in prop::sample::select(vec![0.0, 0.02, 0.5]),
        model in prop::sample::select(vec![
            "JC", "K80{3}", "F81+F", "HKY{5}+F", "TN93{2/7}+F", "GTR{1/4/0.5/2/6/1}+F", "JC+I{0.3}",
            "GTR{1/4/0.5/2/6/1}+F+G4{0.4}+I{0.1}", "HKY{5}+FU{0.4/0.3/0.2/0.1}+R2{0.5/2}{0.7/0.3}",
        ]),
        gamma in prop::sample::select(vec![None, Some(0.5), Some(30.0)]),
    ) {
        let alignment = alignment(DNA, seed, sites, change, unclear);
        let gamma = if model.contains("+G") || model.contains("+R") { None } else { gamma };
        check(&alignment, &[model], gamma);
        check(&alignment, &[model, "K80{2}"], gamma);
    }

    #[test]
    fn distances_of_proteins_are_those_of_the_definition(
        seed in 0_u64..1_000_000,
        change in 0.0..0.5,
        unclear in prop::sample::select(vec![0.0, 0.1]),
        model in prop::sample::select(vec!["LG", "WAG+F", "JTT+G4{0.7}", "POISSON"]),
    ) {
        check(&alignment(PROTEIN, seed, 60, change, unclear), &[model], None);
    }
}

#[test]
fn ambiguous_and_equal_sequences_have_distance_0_and_missing_ones_none() {
    let text = b"5 4\nt0 ACGT\nt1 ACGT\nt2 RCG-\nt3 ----\nt4 TGCA\n";
    let alignment = read_alignment_from(&text[..], "test").unwrap();
    let partitions = partitions_of(&alignment, &["JC"]);
    let models = vec![partitions[0].model.clone()];
    let method = DistanceMethod::Likelihood { models, gamma: None };
    let rows = PairDistances::new(5, &partitions, &method, None).rows(0..1, 0..5).unwrap();
    assert_eq!(rows[..3], [0.0; 3]);
    assert!(rows[3].is_nan() && rows[4] == f64::INFINITY, "{rows:?}");
    let share = PairDistances::new(5, &partitions, &DistanceMethod::Uncorrected, None);
    assert_eq!(share.rows(0..1, 0..3).unwrap(), [0.0; 3]);
    assert!(share.rows(0..1, 3..4).unwrap()[0].is_nan());
    assert_eq!(share.rows(4..5, 0..3).unwrap(), [1.0; 3]);
}

/// Pairs of many patterns with great weights use several levels of bits.
#[test]
fn weights_of_patterns_are_counted() {
    let row = |odd: u8| -> String {
        (0..5000).map(|site| if site % 100 == 0 { char::from(odd) } else { 'A' }).collect()
    };
    let text = format!("3 5000\nx {}\ny {}\nz {}\n", row(b'C'), row(b'A'), row(b'G'));
    let alignment = read_alignment_from(text.as_bytes(), "test").unwrap();
    let partitions = partitions_of(&alignment, &["JC"]);
    let method =
        DistanceMethod::Likelihood { models: vec![partitions[0].model.clone()], gamma: None };
    let found = PairDistances::new(3, &partitions, &method, None).rows(0..1, 1..3).unwrap();
    let expected = -0.75 * libm::log(1.0 - 4.0 / 3.0 * 0.01);
    assert!(found.iter().all(|found| (found - expected).abs() < 1e-13), "{found:?} {expected}");
}

/// More sequences than are computed in one tile, whole rows and triangles, on more ranks than there are tiles, too.
#[test]
fn ranks_compute_the_bits_of_one() {
    let mut rng = stream(5, Purpose::Test, 8);
    let mut text = "150 40\n".to_string();
    for taxon in 0..150 {
        let row: String = (0..40).map(|_| char::from(DNA[rng.random_range(0..4)])).collect();
        text.push_str(&format!("t{taxon} {row}\n"));
    }
    let partitions = partitions_of(&read_alignment_from(text.as_bytes(), "test").unwrap(), &["JC"]);
    let models = vec![partitions[0].model.clone()];
    let method = DistanceMethod::Likelihood { models, gamma: None };
    let bands = [0..64, 64..128, 128..150];
    let rows = |pairs: &PairDistances, width: fn(&Range<usize>) -> usize| -> Vec<u64> {
        let band = |rows: &Range<usize>| pairs.rows(rows.clone(), 0..width(rows)).unwrap();
        bands.iter().flat_map(band).map(f64::to_bits).collect()
    };
    let own = |ranks: Option<Ranks>| {
        let mut pairs = PairDistances::new(150, &partitions, &method, None);
        ranks.into_iter().for_each(|ranks| pairs.compute_on_ranks(ranks));
        [rows(&pairs, |_| 150), rows(&pairs, |band| band.end)]
    };
    let expected = own(None);
    for size in [1, 2, 3, 5] {
        let found = as_threads(size, |ranks| own(Some(ranks)));
        assert!(found[0] == expected, "{size} ranks");
    }
}
