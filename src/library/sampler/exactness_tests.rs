//! The posterior of all topologies against its definition: the likelihood integrated over the prior of the branch lengths.

use super::chain::Chain;
use super::moves::Move;
use super::step::Target;
use super::tests::{ALONE, EXPONENTIAL, begin, data, evaluator, options, topology, visit};
use super::*;
use crate::alignment::read_alignment_from;
use crate::conformance::{all_cases_are_asked, some_of};
use crate::model::Model;
use crate::partition::Partition;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::{Tree, random_tree};
use rand::RngExt;
use std::collections::BTreeMap;

/// Probabilities of topologies and the mean tree length, by the definition: the mean likelihood over draws from the prior.
pub(super) fn by_definition(
    data: &(Vec<Partition>, Vec<Model>),
    trees: &BTreeMap<Vec<Vec<usize>>, Tree>,
    rng: &mut Rng,
) -> (Vec<f64>, f64) {
    let (mut sums, mut lengths) = (Vec::new(), 0.0);
    for tree in trees.values() {
        let mut evaluator = evaluator(&data.0, &data.1, tree.clone());
        let mut sum = 0.0;
        for _ in 0..20_000 {
            let draw: Vec<_> =
                tree.edges().map(|e| (e, -libm::log(1.0 - rng.random::<f64>()) / 10.0)).collect();
            evaluator.set_brlens(&draw);
            let likelihood = libm::exp(evaluator.log_likelihood().unwrap() + 40.0);
            sum += likelihood;
            lengths += likelihood * evaluator.tree().total_length();
        }
        sums.push(sum);
    }
    let all: f64 = sums.iter().sum();
    (sums.iter().map(|sum| sum / all).collect(), lengths / all)
}

#[test]
fn the_posterior_of_fifteen_topologies_is_that_of_brute_force() {
    let data = data(5, "JC");
    let mut rng = stream(21, Purpose::Test, 0);
    let trees = all_topologies(5, 15, &mut rng);
    let (expected, mean_length) = by_definition(&data, &trees, &mut rng);
    assert!(expected.iter().any(|p| *p > 0.2) && expected.iter().any(|p| *p < 0.05));
    // Each proposal of topologies alone, with one of lengths; the others are tried on 105 topologies.
    for &kind in some_of(&ALONE, 1, 2) {
        let parameters = Vec::new();
        let (prior_only, data_power) = (false, 1.0);
        let target = Target {
            parameters,
            priors: Priors::with_brlens(EXPONENTIAL),
            prior_only,
            data_power,
            constraint: None,
        };
        let rng = stream(22, Purpose::Test, 0);
        let tree = random_tree(5, 0.1, &mut stream(22, Purpose::Test, 1));
        let chain = Chain::begin(evaluator(&data.0, &data.1, tree), data.1.clone(), rng, &target);
        let kinds = [kind, Move::Branch, Move::DrawBranch];
        let mut chain = (chain.unwrap(), target);
        let found = visit(&mut chain, &kinds, [20_000, 20], 4.0, |chain| {
            let tree = chain.evaluator.tree();
            (topology(tree), tree.total_length())
        });
        let number = found.len() as f64;
        for (topology, expected) in trees.keys().zip(&expected) {
            let found = found.iter().filter(|one| one.0 == *topology).count() as f64 / number;
            let what = kind.name(&[1, 2]);
            assert!((found - expected).abs() < 0.015, "{what}: {found}, not {expected}");
        }
        let length = found.iter().map(|one| one.1).sum::<f64>() / number;
        assert!((length - mean_length).abs() < 0.02 * mean_length, "{length}, not {mean_length}");
    }
    let options = options(&data, false, EXPONENTIAL);
    let mut run = begin(&data, &options, 5);
    let mut counts: BTreeMap<Vec<Vec<usize>>, f64> = BTreeMap::new();
    let (mut number, mut length) = (0.0, 0.0);
    while number < 20_000.0 {
        if let Some(sample) = run.go_on(u64::MAX).unwrap().filter(|sample| sample.generation > 4000)
        {
            *counts.entry(topology(&sample.tree)).or_insert(0.0) += 1.0;
            number += 1.0;
            length += sample.values[0];
        }
    }
    for (topology, expected) in trees.keys().zip(expected) {
        let found = counts.get(topology).unwrap_or(&0.0) / number;
        assert!((found - expected).abs() < 0.015, "{topology:?}: {found}, not {expected}");
    }
    let found = length / number;
    assert!((found - mean_length).abs() < 0.02 * mean_length, "{found}, not {mean_length}");
}

/// Kappa and omega of a codon model, as shares, and the tree length of three taxa: means over draws from the prior, weighted by the
/// likelihood, and those of a chain.
#[test]
fn the_posterior_of_a_codon_model_is_that_of_draws_from_the_prior() {
    let text = "3 24\nA ATGACTCCAGTACCTGGAGATCTA\nB ATGACCCCAGTGCGTGGAGATCTA\nC ATAACCCCTGTACCTGCAGAACTG\n";
    let alignment = read_alignment_from(text.as_bytes(), "codons").unwrap();
    let partitions = vec![Partition::whole(&alignment, "GY+FE").unwrap()];
    let models = vec![partitions[0].model.clone()];
    let priors = Priors::with_brlens(EXPONENTIAL);
    let parameters = list_parameters(&models, false, &priors).unwrap();
    assert_eq!(parameters, [Parameter::Kappa(0), Parameter::Omega(0)]);
    let mut rng = stream(26, Purpose::Test, 0);
    let tree = random_tree(3, 0.1, &mut rng);
    let begin = || evaluator(&partitions, &models, tree.clone());
    let (mut draw, mut model) = (begin(), models[0].clone());
    let (mut sum, mut sums) = (0.0, [0.0; 3]);
    for _ in 0..15_000 {
        let shares = [rng.random::<f64>(), rng.random::<f64>()];
        for (parameter, share) in parameters.iter().zip(shares) {
            parameter.set_shares(&mut model, &[share, 1.0 - share]);
        }
        draw.set_model(0, &model);
        let lengths: Vec<_> =
            tree.edges().map(|e| (e, -libm::log(1.0 - rng.random::<f64>()) / 10.0)).collect();
        draw.set_brlens(&lengths);
        let likelihood = libm::exp(draw.log_likelihood().unwrap() + 60.0);
        sum += likelihood;
        let all = [shares[0], shares[1], draw.tree().total_length()];
        sums.iter_mut().zip(all).for_each(|(sum, value)| *sum += likelihood * value);
    }
    let (prior_only, data_power) = (false, 1.0);
    let target = Target { parameters, priors, prior_only, data_power, constraint: None };
    let chain = Chain::begin(begin(), models, stream(27, Purpose::Test, 0), &target);
    let kinds = [
        Move::DrawBranch,
        Move::Parameter(Parameter::Kappa(0)),
        Move::Parameter(Parameter::Omega(0)),
    ];
    let visits = if all_cases_are_asked() { 4000 } else { 2000 };
    let found = visit(&mut (chain.unwrap(), target), &kinds, [visits, 20], 1.0, |chain| {
        let share = |one: Parameter| one.shares(&chain.models, &chain.evaluator).unwrap()[0];
        let length = chain.evaluator.tree().total_length();
        [share(Parameter::Kappa(0)), share(Parameter::Omega(0)), length]
    });
    for (number, expected) in sums.iter().map(|one| one / sum).enumerate() {
        let found = found.iter().map(|row| row[number]).sum::<f64>() / found.len() as f64;
        assert!(
            (found - expected).abs() < 0.02 * expected.max(0.5),
            "{number}: {found}, not {expected}"
        );
    }
}

/// The marginal likelihood of ten sites on four taxa, by stepping stones and as the mean over draws from the prior.
#[test]
fn stepping_stones_lead_to_the_marginal_likelihood() {
    let data = data(4, "JC");
    let mut rng = stream(23, Purpose::Test, 0);
    let (mut sum, number) = (0.0, 60_000);
    let mut draw = evaluator(&data.0, &data.1, random_tree(4, 0.1, &mut rng));
    for _ in 0..number {
        let mut tree = random_tree(4, 0.1, &mut rng);
        for edge in tree.edges() {
            tree.set_brlen(edge, -libm::log(1.0 - rng.random::<f64>()) / 10.0);
        }
        draw.set_tree(tree);
        sum += libm::exp(draw.log_likelihood().unwrap() + 40.0);
    }
    let expected = libm::log(sum / f64::from(number)) - 40.0;
    let options = options(&data, false, EXPONENTIAL);
    let tree = random_tree(4, 0.1, &mut rng);
    let evaluator = evaluator(&data.0, &data.1, tree);
    let mut run = SteppingStones::begin(evaluator, &data.1, &options).unwrap();
    while run.steps_done() <= 15 {
        run.step(15, 40_000).unwrap();
    }
    let found = run.ln_marginal();
    assert!((found - expected).abs() < 0.15, "{found}, not {expected}");
}

/// All topologies of so many taxa.
pub(super) fn all_topologies(
    num_taxa: usize,
    number: usize,
    rng: &mut Rng,
) -> BTreeMap<Vec<Vec<usize>>, Tree> {
    let mut trees = BTreeMap::new();
    while trees.len() < number {
        let tree = random_tree(num_taxa, 0.1, rng);
        trees.insert(topology(&tree), tree);
    }
    trees
}

/// Points of a rank-1 lattice in nine dimensions, and the shifts that make an unbiased integral of it each (Cranley &
/// Patterson 1976).
const POINTS: u64 = 1021;
const GENERATOR: u64 = 76;
const SHIFTS: usize = 8;

/// The likelihood counts to this power: as it is, most topologies have hardly any probability.
const POWER: f64 = 0.4;

/// Probabilities of topologies by numerical integration over nine branch lengths, and the standard error of each.
fn by_integration(
    data: &(Vec<Partition>, Vec<Model>),
    trees: &BTreeMap<Vec<Vec<usize>>, Tree>,
    rng: &mut Rng,
) -> Vec<[f64; 2]> {
    let shifts: Vec<[f64; 9]> =
        (0..SHIFTS).map(|_| std::array::from_fn(|_| rng.random::<f64>())).collect();
    // `[topology][shift]`.
    let mut integrals = Vec::new();
    for tree in trees.values() {
        let mut evaluator = evaluator(&data.0, &data.1, tree.clone());
        let integral = |shift: &[f64; 9]| {
            let mut sum = 0.0;
            for point in 0..POINTS {
                let mut multiple = point;
                let draw: Vec<_> = tree
                    .edges()
                    .zip(shift)
                    .map(|(edge, shift)| {
                        let at = (multiple as f64 / POINTS as f64 + shift).fract();
                        multiple = multiple * GENERATOR % POINTS;
                        (edge, -libm::log(1.0 - at) / 10.0)
                    })
                    .collect();
                evaluator.set_brlens(&draw);
                sum += libm::exp(POWER * (evaluator.log_likelihood().unwrap() + 50.0));
            }
            sum
        };
        integrals.push(shifts.iter().map(integral).collect::<Vec<f64>>());
    }
    let all = |shift: usize| integrals.iter().map(|one| one[shift]).sum::<f64>();
    let all: Vec<f64> = (0..SHIFTS).map(all).collect();
    let estimate = |one: &Vec<f64>| {
        let shares: Vec<f64> = one.iter().zip(&all).map(|(integral, all)| integral / all).collect();
        let n = SHIFTS as f64;
        let mean = shares.iter().sum::<f64>() / n;
        let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
        [mean, (squares / (n * (n - 1.0))).sqrt()]
    };
    integrals.iter().map(estimate).collect()
}

/// Every proposal of topologies alone, with one of lengths.
#[test]
fn the_posterior_of_105_topologies_is_that_of_numerical_integration() {
    let data = data(6, "JC");
    let mut rng = stream(24, Purpose::Test, 0);
    let trees = all_topologies(6, 105, &mut rng);
    let expected = by_integration(&data, &trees, &mut rng);
    let most = expected.iter().map(|one| one[0]).fold(0.0, f64::max);
    let error = expected.iter().map(|one| one[1]).fold(0.0, f64::max);
    assert!((0.05..0.5).contains(&most) && error < 0.002, "{most}, {error}");
    for &kind in some_of(&ALONE, 0, 2) {
        let priors = Priors::with_brlens(EXPONENTIAL);
        let (parameters, prior_only) = (Vec::new(), false);
        let target = Target { parameters, priors, prior_only, data_power: POWER, constraint: None };
        let rng = stream(25, Purpose::Test, 0);
        let tree = random_tree(6, 0.1, &mut stream(25, Purpose::Test, 1));
        let chain = Chain::begin(evaluator(&data.0, &data.1, tree), data.1.clone(), rng, &target);
        let mut chain = (chain.unwrap(), target);
        let kinds = [kind, Move::Branch, Move::DrawBranch];
        let found =
            visit(&mut chain, &kinds, [20_000, 20], 4.0, |chain| topology(chain.evaluator.tree()));
        let mut counts: BTreeMap<&Vec<Vec<usize>>, f64> = BTreeMap::new();
        found.iter().for_each(|one| *counts.entry(one).or_default() += 1.0);
        let mut variation = 0.0;
        for (topology, [expected, _]) in trees.keys().zip(&expected) {
            let found = counts.get(topology).unwrap_or(&0.0) / found.len() as f64;
            variation += 0.5 * (found - expected).abs();
            let what = kind.name(&[1, 2]);
            assert!((found - expected).abs() < 0.015, "{what}: {found}, not {expected}");
        }
        assert!(variation < 0.06, "{}: total variation {variation}", kind.name(&[1, 2]));
    }
}
