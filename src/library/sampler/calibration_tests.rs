//! Parameters and data together: where data are simulated under parameters that come from the prior, the chains must give
//! back the prior. A wrong Hastings ratio, prior or likelihood of any proposal shows here, also one that is never a mistake
//! without data.
//!
//! The alignment has every pattern of four taxa once. Simulated sites are weights of these patterns, drawn by their
//! probabilities.

use super::chain::Chain;
use super::moves::Move;
use super::reference::Coordinates;
use super::step::Target;
use super::tests::{assert_distribution, evaluator, exponential, gamma, share_of, topology, visit};
use super::*;
use crate::alignment::read_alignment_from;
use crate::model::Model;
use crate::partition::Partition;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::random_tree;
use rand::RngExt;

const NUM_TAXA: usize = 4;
const NUM_SITES: usize = 12;
const PRIOR: BrlenPrior = BrlenPrior::Exponential { rate: 5.0 };

/// Every pattern of four taxa once.
fn all_patterns(model: &str) -> (Vec<Partition>, Vec<Model>) {
    let row = |taxon: usize| -> String {
        (0..256).map(|pattern| char::from(b"ACGT"[pattern >> (2 * taxon) & 3])).collect()
    };
    let rows: String = (0..NUM_TAXA).map(|taxon| format!("T{taxon} {}\n", row(taxon))).collect();
    let alignment =
        read_alignment_from(format!("{NUM_TAXA} 256\n{rows}").as_bytes(), "all").unwrap();
    let partitions = vec![Partition::whole(&alignment, model).unwrap()];
    let models = vec![partitions[0].model.clone()];
    (partitions, models)
}

/// A chain whose tree, lengths and parameters are drawn from the prior.
fn from_prior(model: &str, rng: &mut Rng, index: u64) -> (Chain, Target) {
    let (partitions, mut models) = all_patterns(model);
    let parameters = list_parameters(&models, false, &Priors::default()).unwrap();
    let exponential = |rate: f64, rng: &mut Rng| -libm::log(1.0 - rng.random::<f64>()) / rate;
    let mut tree = random_tree(NUM_TAXA, 0.1, rng);
    for edge in tree.edges() {
        tree.set_brlen(edge, exponential(5.0, rng));
    }
    for &parameter in &parameters {
        match parameter {
            Parameter::Alpha(_) => {
                parameter.set_number(&mut models[0], 0.02 + exponential(1.0, rng));
            }
            _ => {
                let size = parameter.size(&models[0]) + 1;
                let mut shares: Vec<f64> = (0..size).map(|_| exponential(1.0, rng)).collect();
                let sum: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= sum);
                parameter.set_shares(&mut models[0], &shares);
            }
        }
    }
    let target = Target {
        parameters,
        priors: Priors::with_brlens(PRIOR),
        prior_only: false,
        data_power: 1.0,
        constraint: None,
    };
    let evaluator = evaluator(&partitions, &models, tree);
    let rng = stream(51, Purpose::Test, index);
    (Chain::begin(evaluator, models, rng, &target).unwrap(), target)
}

/// Draws other data under the present state of a chain.
fn simulate((chain, target): &mut (Chain, Target)) {
    let lnls = chain.evaluator.pattern_log_likelihoods(0).unwrap();
    let mut weights = vec![0.0; lnls.len()];
    for _ in 0..NUM_SITES {
        let mut at = chain.rng.random::<f64>();
        let drawn = lnls.iter().position(|lnl| {
            at -= libm::exp(*lnl);
            at < 0.0
        });
        weights[drawn.unwrap_or(0)] += 1.0;
    }
    chain.evaluator.set_pattern_weights(0, &weights).unwrap();
    chain.partition_lnls = chain.calc_partition_lnls(target, None).unwrap();
}

/// Tree length, a share of the rates, a frequency and the shape.
fn numbers(chain: &Chain) -> [f64; 4] {
    let share = |parameter: Parameter| {
        parameter.shares(&chain.models, &chain.evaluator).expect("it has shares")[1]
    };
    let alpha = Parameter::Alpha(0).number(&chain.models).expect("a number");
    let length = chain.evaluator.tree().total_length();
    [length, share(Parameter::Rates(0)), share(Parameter::Freqs(0)), alpha]
}

fn all_kinds((chain, target): &(Chain, Target)) -> Vec<Move> {
    let coordinates = Coordinates::list(&target.parameters, &chain.models, false);
    let kinds = Move::list(&target.parameters, &coordinates, NUM_TAXA, false);
    kinds.into_iter().map(|kind| kind.0).collect()
}

/// The distribution of the sum of five branches.
fn tree_length(x: f64) -> f64 {
    gamma(5.0, 5.0)(x)
}

fn assert_prior(values: &[[f64; 4]], what: &str) {
    let column = |number: usize| values.iter().map(|row| row[number]).collect::<Vec<f64>>();
    assert_distribution(column(0), tree_length, &format!("{what}: tree length"));
    assert_distribution(column(1), share_of(2), &format!("{what}: rates"));
    assert_distribution(column(2), share_of(4), &format!("{what}: frequency"));
    let shape = |x: f64| exponential(1.0)(x - 0.02);
    assert_distribution(column(3), shape, &format!("{what}: shape"));
}

/// Geweke (2004, J. Am. Stat. Assoc. 99:799): steps of the chain and other data in turn.
#[test]
fn parameters_and_data_drawn_in_turn_have_the_prior() {
    let mut chain = from_prior("HKY+FO+G", &mut stream(52, Purpose::Test, 0), 0);
    let kinds = all_kinds(&chain);
    let (mut values, mut topologies) = (Vec::new(), Vec::new());
    for cycle in 0..12_000 {
        simulate(&mut chain);
        visit(&mut chain, &kinds, [1, 25], 1.0, |_| ());
        if cycle % 10 == 9 {
            values.push(numbers(&chain.0));
            topologies.push(topology(chain.0.evaluator.tree()));
        }
    }
    assert_prior(&values, "in turn");
    let first = topologies.iter().filter(|one| **one == topologies[0]).count() as f64;
    let share = first / topologies.len() as f64;
    assert!((share - 1.0 / 3.0).abs() < 0.06, "{share}");
}

/// Simulation-based calibration (Talts et al. 2018): the rank of the true value among draws from the posterior is uniform.
#[test]
fn the_true_values_have_uniform_ranks_among_the_samples() {
    const DATA_SETS: usize = 200;
    const DRAWS: usize = 19;
    let mut rng = stream(53, Purpose::Test, 0);
    let mut counts = [[0.0; DRAWS + 1]; 4];
    let mut topologies_found = 0.0;
    for index in 0..DATA_SETS as u64 {
        let mut truth = from_prior("HKY+FO+G", &mut rng, 2 * index + 1);
        simulate(&mut truth);
        let expected = numbers(&truth.0);
        let true_topology = topology(truth.0.evaluator.tree());
        let kinds = all_kinds(&truth);
        // The chain begins elsewhere: at draws from the prior.
        let other = from_prior("HKY+FO+G", &mut rng, 2 * index + 2).0;
        truth.0.evaluator.set_tree(other.evaluator.tree().clone());
        truth.0.models = other.models;
        truth.0.show_model(0);
        truth.0.ln_prior = other.ln_prior;
        truth.0.partition_lnls = truth.0.calc_partition_lnls(&truth.1, None).unwrap();
        visit(&mut truth, &kinds, [1, 1500], 2.0, |_| ());
        let draws = visit(&mut truth, &kinds, [DRAWS, 150], 2.0, |chain| {
            (numbers(chain), topology(chain.evaluator.tree()))
        });
        for (number, counts) in counts.iter_mut().enumerate() {
            counts[draws.iter().filter(|draw| draw.0[number] < expected[number]).count()] += 1.0;
        }
        let same = draws.iter().filter(|draw| draw.1 == true_topology).count();
        topologies_found += same as f64 / DRAWS as f64;
        assert!(!truth.1.prior_only);
    }
    // The posterior probability of the true topology, on average, is the same by either of two draws from the posterior.
    assert!(topologies_found / DATA_SETS as f64 > 0.4, "data say something: {topologies_found}");
    let expected = DATA_SETS as f64 / (DRAWS + 1) as f64;
    for (number, counts) in counts.iter().enumerate() {
        let squares = counts.iter().map(|count| (count - expected) * (count - expected));
        let chi: f64 = squares.sum::<f64>() / expected;
        // 19 degrees of freedom: chance exceeds this once in ten thousand.
        assert!(chi < 50.8, "number {number}: chi-square {chi}, {counts:?}");
    }
}

/// The same with free rates over sites.
#[test]
fn free_rates_and_data_drawn_in_turn_have_the_prior() {
    let mut chain = from_prior("JC+R3", &mut stream(54, Purpose::Test, 0), 0);
    let kinds = all_kinds(&chain);
    let mut values = Vec::new();
    for cycle in 0..12_000 {
        simulate(&mut chain);
        visit(&mut chain, &kinds, [1, 25], 1.0, |_| ());
        if cycle % 10 == 9 {
            let share = |parameter: Parameter| {
                parameter.shares(&chain.0.models, &chain.0.evaluator).expect("it has shares")[1]
            };
            let length = chain.0.evaluator.tree().total_length();
            values.push([length, share(Parameter::FreeRates(0)), share(Parameter::FreeWeights(0))]);
        }
    }
    let column = |number: usize| values.iter().map(|row| row[number]).collect::<Vec<f64>>();
    assert_distribution(column(0), tree_length, "tree length");
    assert_distribution(column(1), share_of(3), "rate");
    assert_distribution(column(2), share_of(3), "weight");
}
