//! Priors other than the default ones, free rates, and unlinked lengths: the chains must have these distributions.

use super::chain::Chain;
use super::exactness_tests::{all_topologies, by_definition};
use super::moves::Move;
use super::reference::Coordinates;
use super::step::Target;
use super::tests::{
    EXPONENTIAL, assert_distribution, assert_uniform, beta, chain_on, data, exponential, options,
    share_of, topology, visit,
};
use super::*;
use crate::likelihood::{BrlenLinkage, EngineOptions, Evaluator, make_evaluator};
use crate::model::Model;
use crate::partition::Partition;
use crate::rng::{Purpose, stream};
use crate::tree::{EdgeId, random_tree};
use std::collections::BTreeMap;

fn first_of(parameter: Parameter) -> impl Fn(&Chain) -> f64 {
    move |chain| match parameter.shares(&chain.models, &chain.evaluator) {
        Some(shares) => shares[0],
        None => parameter.number(&chain.models).unwrap(),
    }
}

#[test]
fn other_priors_are_left_unchanged_by_proposals() {
    let priors = Priors {
        brlens: BrlenPrior::Uniform { from: 0.0, to: 2.0 },
        exchange: SharesPrior::new(vec![3.0, 1.0, 1.0, 1.0, 1.0, 2.0]),
        freqs: SharesPrior::new(vec![2.0]),
        kappa: SharesPrior::new(vec![3.0, 2.0]),
        shape: NumberPrior::Uniform { from: 2.0, to: 4.0 },
        pinv: NumberPrior::Uniform { from: 0.25, to: 0.5 },
        ..Priors::default()
    };
    let [rates, freqs, alpha, pinv] =
        [Parameter::Rates(0), Parameter::Freqs(0), Parameter::Alpha(0), Parameter::Pinv(0)];
    let test = |model: &str, kind: Move, of: Parameter, cdf: &dyn Fn(f64) -> f64| {
        let mut chain = chain_on(5, model, priors.clone(), 60);
        let kinds = [kind, Move::Branch];
        let values = visit(&mut chain, &kinds, [3000, 240], 0.6, first_of(of));
        assert_distribution(values, cdf, &format!("{}, {of:?}", kind.name(&[1, 2])));
    };
    // Few numbers each: all of them together rarely have a density under narrow priors.
    for kind in [|one| Move::Parameter(one), |_| Move::Together(0, 0)] {
        test("GTR+FE", kind(rates), rates, &beta(3.0, 6.0));
        test("F81+FO", kind(freqs), freqs, &beta(2.0, 6.0));
        test("JC+G", kind(alpha), alpha, &|x| (x - 2.0) / 2.0);
        test("JC+I", kind(pinv), pinv, &|x| (x - 0.25) / 0.25);
        // The first class are the transversions.
        test("HKY+FE", kind(rates), rates, &beta(2.0, 3.0));
    }
    for kind in [Move::Branch, Move::DrawBranch, Move::NodeSlider, Move::Local] {
        let mut chain = chain_on(5, "JC", priors.clone(), 61);
        let length = |chain: &Chain| chain.evaluator.tree().brlen(EdgeId(2));
        let values = visit(&mut chain, &[kind], [3000, 300], 4.0, length);
        assert_distribution(values, |x| x / 2.0, &kind.name(&[1, 2]));
    }
}

#[test]
fn free_rates_and_their_weights_have_their_priors() {
    let [rates, weights] = [Parameter::FreeRates(0), Parameter::FreeWeights(0)];
    let priors = Priors { free_weights: SharesPrior::new(vec![4.0]), ..Priors::default() };
    for kinds in
        [vec![Move::Parameter(rates), Move::Parameter(weights)], vec![Move::Together(0, 0)]]
    {
        let mut chain = chain_on(5, "JC+R3", priors.clone(), 62);
        let values = visit(&mut chain, &kinds, [3000, 120], 0.8, |chain| {
            let cats = chain.models[0].rate_cats();
            let mean: f64 = cats.rates.iter().zip(&cats.weights).map(|(r, w)| r * w).sum();
            assert!((mean - 1.0).abs() < 1e-9);
            let written = rates.written(&chain.models, &chain.evaluator);
            assert!(written.is_sorted());
            [first_of(rates)(chain), first_of(weights)(chain)]
        });
        let column = |number: usize| values.iter().map(|row| row[number]).collect::<Vec<f64>>();
        let name = kinds[0].name(&[1, 2]);
        assert_distribution(column(0), share_of(3), &format!("{name}: rates"));
        assert_distribution(column(1), beta(4.0, 8.0), &format!("{name}: weights"));
    }
}

/// A partition of all five taxa, and one that lacks the last.
fn gappy(model: &str) -> Vec<(Vec<Partition>, Vec<Model>)> {
    vec![data(5, model), data(4, model)]
}

/// A chain over these partitions with lengths of their own.
fn unlinked(
    parts: &[(Vec<Partition>, Vec<Model>)],
    prior_only: bool,
    seed: u64,
) -> (Chain, Target) {
    let partitions: Vec<Partition> = parts.iter().flat_map(|part| part.0.clone()).collect();
    let models: Vec<Model> = parts.iter().flat_map(|part| part.1.clone()).collect();
    let engine = EngineOptions { threads: 1, ..EngineOptions::default() };
    let tree = random_tree(5, 0.1, &mut stream(seed, Purpose::Test, 1));
    let evaluator =
        make_evaluator(&partitions, &models, tree, BrlenLinkage::Unlinked, &engine).unwrap();
    let parameters = list_parameters(&models, false, &Priors::default()).unwrap();
    let priors = Priors::with_brlens(EXPONENTIAL);
    let target = Target { parameters, priors, prior_only, data_power: 1.0, constraint: None };
    let rng = stream(seed, Purpose::Test, 0);
    (Chain::begin(evaluator, models, rng, &target).unwrap(), target)
}

#[test]
fn own_lengths_of_partitions_have_their_priors_under_every_proposal_of_topologies() {
    for kind in [Move::Nni, Move::Espr, Move::Etbr, Move::ParsimonySpr] {
        let mut chain = unlinked(&gappy("JC"), true, 63);
        let kinds = [kind, Move::Branch, Move::NodeSlider, Move::TreeLength];
        let values = visit(&mut chain, &kinds, [3000, 400], 3.0, |chain| {
            let first =
                |partition: usize| chain.evaluator.partition_tree(partition).0.brlen(EdgeId(1));
            (topology(chain.evaluator.tree()), [first(0), first(1)])
        });
        for partition in 0..2 {
            let lengths = values.iter().map(|value| value.1[partition]).collect();
            assert_distribution(
                lengths,
                exponential(10.0),
                &format!("{}, {partition}", kind.name(&[1, 2])),
            );
        }
        let found = values.into_iter().map(|value| value.0).collect();
        assert_uniform(found, 15, &kind.name(&[1, 2]));
    }
}

/// Given the topology the partitions are independent: its probability is proportional to the product of their mean
/// likelihoods over draws from the prior.
#[test]
fn the_posterior_under_unlinked_lengths_is_that_of_brute_force() {
    let parts = gappy("JC");
    let mut rng = stream(64, Purpose::Test, 0);
    let trees = all_topologies(5, 15, &mut rng);
    let (first, _) = by_definition(&parts[0], &trees, &mut rng);
    // The trees of the first four taxa.
    let restricted: Vec<_> = trees
        .values()
        .map(|tree| unlinked_tree(&parts, tree))
        .map(|tree| (topology(&tree), tree))
        .collect();
    let quartets: BTreeMap<_, _> = restricted.iter().cloned().collect();
    assert_eq!(quartets.len(), 3);
    let (second, _) = by_definition(&parts[1], &quartets, &mut rng);
    let of_quartet = |key: &Vec<Vec<usize>>| {
        second[quartets.keys().position(|one| one == key).expect("one of three")]
    };
    let both: Vec<f64> =
        first.iter().zip(&restricted).map(|(p, one)| p * of_quartet(&one.0)).collect();
    let all: f64 = both.iter().sum();
    let mut chain = unlinked(&parts, false, 65);
    let coordinates = Coordinates::list(&chain.1.parameters, &chain.0.models, true);
    let kinds = Move::list(&chain.1.parameters, &coordinates, 5, true);
    let kinds: Vec<Move> = kinds.iter().map(|one| one.0).collect();
    assert_eq!(kinds.len(), 8);
    let found =
        visit(&mut chain, &kinds, [20_000, 20], 2.0, |chain| topology(chain.evaluator.tree()));
    for (topology, expected) in trees.keys().zip(&both) {
        let count = found.iter().filter(|one| *one == topology).count() as f64;
        let (share, expected) = (count / found.len() as f64, expected / all);
        assert!((share - expected).abs() < 0.015, "{topology:?}: {share}, not {expected}");
    }
}

/// The tree of the second partition if this is the global one.
fn unlinked_tree(
    parts: &[(Vec<Partition>, Vec<Model>)],
    tree: &crate::tree::Tree,
) -> crate::tree::Tree {
    let mut chain = unlinked(parts, true, 66).0;
    chain.evaluator.set_tree(tree.clone());
    chain.evaluator.partition_tree(1).0.clone()
}

#[test]
fn a_run_with_own_lengths_that_is_resumed_goes_on_with_the_same_bits() {
    let parts = gappy("HKY+FO+R2");
    let models: Vec<Model> = parts.iter().flat_map(|part| part.1.clone()).collect();
    let options = SamplerOptions {
        parameters: list_parameters(&models, false, &Priors::default()).unwrap(),
        has_own_lengths: true,
        num_chains: 2,
        ..options(&parts[0], false, BrlenPrior::default())
    };
    let evaluators = |seed| (0..2).map(|_| unlinked(&parts, false, seed).0.evaluator).collect();
    let mut whole = CoupledRun::begin(evaluators(67), &models, &options).unwrap();
    let (mut samples, mut states) = (Vec::new(), Vec::new());
    while whole.generation() < 2000 {
        states.push((samples.len(), whole.state()));
        let stop = (whole.generation() + 331).min(2000);
        while whole.generation() < stop {
            samples.extend(whole.go_on(stop).unwrap());
        }
    }
    for (number, state) in states {
        let others: Vec<Evaluator> = evaluators(68);
        assert!(state.fits(&others, &models, &options));
        let mut run = CoupledRun::resume(others, &models, &options, state).on_threads(2);
        let mut rest = Vec::new();
        while run.generation() < 2000 {
            rest.extend(run.go_on(2000).unwrap());
        }
        assert_eq!(format!("{rest:?}"), format!("{:?}", &samples[number..]));
    }
}
