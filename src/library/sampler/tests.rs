//! The sampler against the distributions it must have: priors, and a posterior computed by brute force.

use super::chain::Chain;
use super::moves::Move;
use super::proposal_context::ProposalContext;
use super::reference::{Coordinates, Learner};
use super::seen_splits::SeenSplits;
use super::step::Target;
use super::*;
use crate::alignment::read_alignment_from;
use crate::conformance::all_cases_are_asked;
use crate::likelihood::{BrlenLinkage, EngineOptions, Evaluator, make_evaluator};
use crate::model::Model;
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::rng::{Purpose, stream};
use crate::taxa::Taxa;
use crate::tree::{Tree, random_tree, read_newick, tree_splits};
use rand::RngExt;
use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, Exp};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const EXPONENTIAL: BrlenPrior = BrlenPrior::Exponential { rate: 10.0 };
const SKEWED: BrlenPrior =
    BrlenPrior::GammaDirichlet { shape: 3.0, rate: 2.0, alpha: 2.0, ratio: 0.5 };

/// Numbers of taxa, with those of their topologies. Six taxa take long.
fn numbers_of_topologies() -> impl Iterator<Item = (usize, usize)> {
    let all = [(4, 3), (5, 15), (6, 105)];
    all.into_iter().take(if all_cases_are_asked() { 3 } else { 2 })
}

/// The proposals of topologies, each of which reaches all of them by itself.
pub(super) const ALONE: [Move; 7] = [
    Move::Nni,
    Move::Local,
    Move::Espr,
    Move::Etbr,
    Move::ParsimonySpr,
    Move::ParsimonyTbr,
    Move::LikelihoodSpr,
];

/// A few sites that favour some of the topologies.
const ROWS: [&str; 6] =
    ["ACGTACGTAC", "ACGTACGAAC", "ACTTACCAAG", "ACTTGCCATG", "GCTTGCCGTC", "GATTGCAGTA"];

pub(super) fn data(num_taxa: usize, model: &str) -> (Vec<Partition>, Vec<Model>) {
    let rows = ROWS[..num_taxa].iter().enumerate();
    let rows: String = rows.map(|(i, row)| format!("T{i} {row}\n")).collect();
    let text = format!("{num_taxa} {}\n{rows}", ROWS[0].len());
    let alignment = read_alignment_from(text.as_bytes(), "test").unwrap();
    let partitions = vec![Partition::whole(&alignment, model).unwrap()];
    let models = vec![partitions[0].model.clone()];
    (partitions, models)
}

pub(super) fn evaluator(partitions: &[Partition], models: &[Model], tree: Tree) -> Evaluator {
    let engine = EngineOptions { threads: 1, ..EngineOptions::default() };
    make_evaluator(partitions, models, tree, BrlenLinkage::Linked, &engine).unwrap()
}

/// A chain on the prior alone.
fn prior_chain(
    num_taxa: usize,
    model: &str,
    brlen_prior: BrlenPrior,
    seed: u64,
) -> (Chain, Target) {
    chain_on(num_taxa, model, Priors::with_brlens(brlen_prior), seed)
}

/// A chain on these priors alone.
pub(super) fn chain_on(num_taxa: usize, model: &str, priors: Priors, seed: u64) -> (Chain, Target) {
    let (partitions, mut models) = data(num_taxa, model);
    let parameters = list_parameters(&models, false, &priors).unwrap();
    admit_parameters(&parameters, &priors, &mut models);
    let target = Target { parameters, priors, prior_only: true, data_power: 1.0, constraint: None };
    let mut rng = stream(seed, Purpose::Test, 0);
    let tree = random_tree(num_taxa, 0.1, &mut rng);
    let chain = Chain::begin(evaluator(&partitions, &models, tree), models, rng, &target).unwrap();
    (chain, target)
}

/// Values of a chain after every `thin` steps of these kinds in random order.
pub(super) fn visit<T>(
    (chain, target): &mut (Chain, Target),
    kinds: &[Move],
    [samples, thin]: [usize; 2],
    step_size: f64,
    value: impl Fn(&Chain) -> T,
) -> Vec<T> {
    let mut values = Vec::new();
    let has_own_lengths = chain.evaluator.linkage().has_own_lengths();
    let coordinates = Coordinates::list(&target.parameters, &chain.models, has_own_lengths);
    let learners: Vec<Learner> = coordinates.iter().map(|one| learned(one, chain)).collect();
    let num_taxa = chain.evaluator.tree().num_tips();
    let parsimony = (num_taxa <= ROWS.len())
        .then(|| ParsimonyData::of_partitions(num_taxa, &data(num_taxa, "JC").0));
    let mut seen = SeenSplits::default();
    let mut rng = stream(45, Purpose::Test, 0);
    (0..12).for_each(|_| seen.see(&random_tree(num_taxa, 0.1, &mut rng)));
    let context = ProposalContext {
        step_size,
        heat: 1.0,
        data_heat: target.data_power,
        coordinates: &coordinates,
        learners: &learners,
        seen: &seen,
        parsimony: parsimony.as_ref(),
        prior_only: target.prior_only,
        brlens: &target.priors.brlens,
    };
    for step in 1..=samples * thin {
        let kind = kinds[chain.rng.random_range(0..kinds.len())];
        chain.step(kind, &context, target).unwrap();
        if step % thin == 0 {
            values.push(value(chain));
        }
    }
    chain.evaluator.assert_integrity();
    chain.conflicts.assert_those_of(chain.evaluator.tree(), &context.guide());
    values
}

/// A wide distribution of a chain's parameters, in which these depend on each other.
fn learned(coordinates: &Coordinates, chain: &Chain) -> Learner {
    let mut rng = stream(31, Purpose::Test, 0);
    let mut learner = Learner::default();
    let size = coordinates.size(&chain.models);
    for _ in 0..200 {
        let shared = rng.random_range(-2.0..2.0);
        let vector: Vec<f64> = (0..size).map(|_| shared + rng.random_range(-3.0..3.0)).collect();
        learner.see(&vector);
    }
    learner.learn();
    learner
}

/// The largest difference of the empirical distribution from `cdf` is one of a hundred thousand or more at most that chance
/// makes (Kolmogorov and Smirnov).
pub(super) fn assert_distribution(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64, what: &str) {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = values.iter().enumerate().map(|(i, &value)| {
        let expected = cdf(value);
        (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
    });
    let distance = distance.fold(0.0, f64::max);
    let limit = 2.5 / n.sqrt();
    assert!(distance < limit, "{what}: distance {distance} above {limit}");
}

pub(super) fn exponential(rate: f64) -> impl Fn(f64) -> f64 {
    let distribution = Exp::new(rate).unwrap();
    move |x| distribution.cdf(x)
}

pub(super) fn gamma(shape: f64, rate: f64) -> impl Fn(f64) -> f64 {
    let distribution = statrs::distribution::Gamma::new(shape, rate).unwrap();
    move |x| distribution.cdf(x)
}

pub(super) fn beta(a: f64, b: f64) -> impl Fn(f64) -> f64 {
    let distribution = Beta::new(a, b).unwrap();
    move |x| distribution.cdf(x)
}

/// Of one of k shares that have the distribution Dirichlet(1, ..., 1).
pub(super) fn share_of(k: i32) -> impl Fn(f64) -> f64 {
    beta(1.0, f64::from(k - 1))
}

pub(super) fn topology(tree: &Tree) -> Vec<Vec<usize>> {
    let mut splits: Vec<Vec<usize>> =
        tree_splits(tree).iter().map(|(_, split)| split.tips().collect()).collect();
    splits.sort();
    splits
}

/// Chi-square of equal frequencies, with a limit that chance exceeds once in ten thousand.
pub(super) fn assert_uniform(found: Vec<Vec<Vec<usize>>>, number: usize, what: &str) {
    let expected = found.len() as f64 / number as f64;
    let mut counts = BTreeMap::new();
    for topology in found {
        *counts.entry(topology).or_insert(0.0) += 1.0;
    }
    assert_eq!(counts.len(), number, "{what}");
    let chi: f64 = counts.values().map(|n: &f64| (n - expected) * (n - expected) / expected).sum();
    let limit = ChiSquared::new((number - 1) as f64).unwrap().inverse_cdf(1.0 - 1e-4);
    assert!(chi < limit, "{what}: chi-square {chi} above {limit}");
}

#[test]
fn all_topologies_are_equally_probable_under_each_proposal_alone() {
    for (kinds, what) in [
        (vec![Move::Nni], "NNI"),
        (vec![Move::Espr], "eSPR"),
        (vec![Move::Nni, Move::Espr], "both"),
        (vec![Move::ParsimonySpr], "parsimony-guided SPR"),
        (vec![Move::Local], "LOCAL"),
        (vec![Move::Etbr], "eTBR"),
        (vec![Move::ParsimonyTbr], "parsimony-guided TBR"),
    ] {
        let is_tbr = matches!(kinds[0], Move::Etbr | Move::ParsimonyTbr);
        // One branch of four taxa has one place on each side.
        for (num_taxa, number) in numbers_of_topologies().skip(usize::from(is_tbr)) {
            let mut chain = prior_chain(num_taxa, "JC", SKEWED, 7);
            let samples = [200 * number, 60];
            let found =
                visit(&mut chain, &kinds, samples, 1.0, |chain| topology(chain.evaluator.tree()));
            assert_uniform(found, number, &format!("{what}, {num_taxa} taxa"));
        }
    }
}

/// Of the fifteen trees of five taxa, three have the branch between the first two and the others.
#[test]
fn all_topologies_that_satisfy_a_constraint_are_equally_probable() {
    let names: Vec<String> = (0..5).map(|taxon| format!("T{taxon}")).collect();
    let taxa = Taxa::new(names).unwrap();
    let read = read_newick("((T0,T1),T2,T3,T4);", "t").unwrap();
    let constraint = read[0].to_constraint(&taxa, "t").unwrap();
    for kind in ALONE {
        let mut chain = prior_chain(5, "JC", SKEWED, 16);
        let tree = constraint.random_tree(0.1, &mut stream(16, Purpose::Test, 1));
        chain.0.evaluator.set_tree(tree);
        chain.0.ln_prior = f64::NEG_INFINITY;
        chain.1.constraint = Some(constraint.clone());
        let kinds = [kind, Move::Branch];
        let found =
            visit(&mut chain, &kinds, [600, 100], 2.0, |chain| topology(chain.evaluator.tree()));
        assert_uniform(found, 3, &kind.name(&[1, 2]));
    }
}

/// Branches that subtrees leave and to which they come change their lengths, so that these moves need longer chains; weights by
/// likelihoods are tested against a posterior below.
#[test]
fn moves_of_subtrees_and_lengths_leave_the_prior_of_both_unchanged() {
    for kind in [Move::LikelihoodSpr, Move::ParsimonyTbr, Move::Local] {
        for (num_taxa, number) in numbers_of_topologies() {
            if kind == Move::ParsimonyTbr && num_taxa == 4 {
                continue;
            }
            let name = format!("{}, {num_taxa} taxa", kind.name(&[1, 2]));
            let mut chain = prior_chain(num_taxa, "JC", SKEWED, 8);
            let values =
                visit(&mut chain, &[kind, Move::Branch], [200 * number, 150], 3.0, |chain| {
                    let tree = chain.evaluator.tree();
                    (topology(tree), tree.total_length())
                });
            let lengths = values.iter().map(|value| value.1).collect();
            let gamma = gamma(3.0, 2.0);
            assert_distribution(lengths, gamma, &format!("tree length, {name}"));
            let found = values.into_iter().map(|value| value.0).collect();
            assert_uniform(found, number, &name);
        }
    }
}

#[test]
fn proposals_of_lengths_leave_their_prior_unchanged() {
    let length = |chain: &Chain| chain.evaluator.tree().brlen(crate::tree::EdgeId(2));
    let total = |chain: &Chain| chain.evaluator.tree().total_length();
    for kind in [Move::Branch, Move::DrawBranch, Move::NodeSlider, Move::Local] {
        let name = kind.name(&[1, 2]);
        let mut chain = prior_chain(5, "JC", EXPONENTIAL, 1);
        let values = visit(&mut chain, &[kind], [3000, 300], 4.0, length);
        assert_distribution(values, exponential(10.0), &name);
        // The tree length of MrBayes' default has an exponential distribution of mean 10, and each of seven branches a
        // share of Dirichlet(1, ..., 1) in it.
        let mut chain = prior_chain(5, "JC", BrlenPrior::default(), 2);
        let values = visit(&mut chain, &[kind], [3000, 600], 4.0, |chain| {
            [total(chain), length(chain) / total(chain)]
        });
        assert_distribution(values.iter().map(|v| v[0]).collect(), exponential(0.1), &name);
        assert_distribution(values.iter().map(|v| v[1]).collect(), share_of(7), &name);
    }
    let mut chain = prior_chain(5, "JC", BrlenPrior::default(), 3);
    let values = visit(&mut chain, &[Move::TreeLength], [3000, 60], 2.0, total);
    assert_distribution(values, exponential(0.1), "tree length");
}

/// A gamma distribution of shape 3 and rate 2, of which shares with the parameters 2 (terminal) and 1 (inner branches).
#[test]
fn a_gamma_dirichlet_prior_has_its_moments() {
    let kinds = [
        Move::Branch,
        Move::NodeSlider,
        Move::TreeLength,
        Move::Nni,
        Move::Local,
        Move::Espr,
        Move::Etbr,
        Move::ParsimonyTbr,
    ];
    let mut chain = prior_chain(5, "JC", SKEWED, 4);
    let values = visit(&mut chain, &kinds, [6000, 100], 1.5, |chain| {
        let tree = chain.evaluator.tree();
        let is_inner = |&edge: &_| tree.ends(edge).iter().all(|&end| !tree.is_tip(end));
        let inner: f64 = tree.edges().filter(is_inner).map(|edge| tree.brlen(edge)).sum();
        (tree.total_length(), inner / tree.total_length())
    });
    let gamma = gamma(3.0, 2.0);
    assert_distribution(values.iter().map(|v| v.0).collect(), gamma, "tree length");
    let mean = values.iter().map(|v| v.1).sum::<f64>() / values.len() as f64;
    // Two inner branches of parameter 1 among five terminal ones of parameter 2.
    assert!((mean - 2.0 / 12.0).abs() < 0.005, "{mean}");
}

#[test]
fn proposals_of_parameters_leave_their_priors_unchanged() {
    let first = |parameter: Parameter| {
        move |chain: &Chain| match parameter.shares(&chain.models, &chain.evaluator) {
            Some(shares) => shares[1],
            None => parameter.number(&chain.models).unwrap(),
        }
    };
    for (model, parameter, shares) in [
        ("GTR+FO+I+G", Parameter::Rates(0), 6),
        ("GTR+FO+I+G", Parameter::Freqs(0), 4),
        ("HKY+FE+G", Parameter::Rates(0), 2),
        ("TN93+FE+G", Parameter::Rates(0), 3),
    ] {
        let mut chain = prior_chain(5, model, EXPONENTIAL, 5);
        let kinds = [Move::Parameter(parameter)];
        let values = visit(&mut chain, &kinds, [3000, 60], 0.8, first(parameter));
        assert_distribution(values, share_of(shares), &format!("{model}, {parameter:?}"));
    }
    let mut chain = prior_chain(5, "GTR+FO+I+G", EXPONENTIAL, 6);
    let alpha = Parameter::Alpha(0);
    let values = visit(&mut chain, &[Move::Parameter(alpha)], [3000, 60], 3.0, first(alpha));
    // From 0.02 on: the likelihood knows no lower shape.
    assert_distribution(values, |x| exponential(1.0)(x - 0.02), "alpha");
    let pinv = Parameter::Pinv(0);
    let values = visit(&mut chain, &[Move::Parameter(pinv)], [3000, 60], 0.8, first(pinv));
    assert_distribution(values, |x| x / 0.99, "pinv");
}

#[test]
fn a_proposal_of_all_parameters_together_leaves_their_priors_unchanged() {
    let mut chain = prior_chain(5, "GTR+FO+I+G", SKEWED, 15);
    let values = visit(&mut chain, &[Move::Together(0, 0)], [3000, 200], 0.5, |chain| {
        let value = |parameter: Parameter| match parameter.shares(&chain.models, &chain.evaluator) {
            Some(shares) => shares[2],
            None => parameter.number(&chain.models).unwrap(),
        };
        let [rate, freq, alpha, pinv] =
            [Parameter::Rates(0), Parameter::Freqs(0), Parameter::Alpha(0), Parameter::Pinv(0)]
                .map(value);
        [rate, freq, alpha, pinv, chain.evaluator.tree().total_length()]
    });
    let column = |number: usize| values.iter().map(|row| row[number]).collect::<Vec<f64>>();
    assert_distribution(column(0), share_of(6), "rate");
    assert_distribution(column(1), share_of(4), "frequency");
    assert_distribution(column(2), |x| exponential(1.0)(x - 0.02), "alpha");
    assert_distribution(column(3), |x| x / 0.99, "pinv");
    let gamma = gamma(3.0, 2.0);
    assert_distribution(column(4), gamma, "tree length");
}

/// Two partitions of the same number of sites, under scaled lengths: the data change nothing in the prior, and the likelihood
/// that was kept from step to step is that of the state.
#[test]
fn multipliers_have_their_prior_and_the_kept_likelihood_is_that_of_the_state() {
    let (first, second) = (data(5, "HKY+FO+G"), data(5, "JC+I"));
    let partitions = [first.0, second.0].concat();
    let models = [first.1, second.1].concat();
    let begin = |prior_only, tree: Tree| {
        let engine = EngineOptions { threads: 1, ..EngineOptions::default() };
        let linkage = BrlenLinkage::Scaled;
        let evaluator = make_evaluator(&partitions, &models, tree, linkage, &engine).unwrap();
        let parameters = list_parameters(&models, true, &Priors::default()).unwrap();
        let target = Target {
            parameters,
            priors: Priors::with_brlens(EXPONENTIAL),
            prior_only,
            data_power: 1.0,
            constraint: None,
        };
        let rng = stream(14, Purpose::Test, 1);
        (Chain::begin(evaluator, models.clone(), rng, &target).unwrap(), target)
    };
    let tree = random_tree(5, 0.1, &mut stream(14, Purpose::Test, 0));
    let mut chain = begin(true, tree.clone());
    let kinds = [Move::Parameter(Parameter::Multipliers)];
    let scaler = |chain: &Chain| chain.evaluator.brlen_scaler(0);
    let values = visit(&mut chain, &kinds, [3000, 60], 0.8, scaler);
    assert_distribution(values, |x| x / 2.0, "multipliers");

    let mut chain = begin(false, tree);
    let coordinates = Coordinates::list(&chain.1.parameters, &chain.0.models, false);
    let kinds = Move::list(&chain.1.parameters, &coordinates, 5, false);
    let kinds: Vec<Move> = kinds.iter().map(|one| one.0).collect();
    assert_eq!(kinds.len(), 17);
    for _ in 0..5 {
        visit(&mut chain, &kinds, [300, 1], 0.5, |_| ());
        let (chain, target) = &chain;
        let mut fresh = begin(false, chain.evaluator.tree().clone()).0;
        for partition in 0..2 {
            fresh.evaluator.set_model(partition, &chain.models[partition]);
            fresh.evaluator.set_brlen_scaler(partition, chain.evaluator.brlen_scaler(partition));
        }
        let lnl = fresh.evaluator.log_likelihood().unwrap();
        assert!((lnl - chain.lnl()).abs() < 1e-8, "{} not {lnl}", chain.lnl());
        assert!(!target.prior_only);
    }
}

pub(super) fn options(
    (partitions, model): &(Vec<Partition>, Vec<Model>),
    prior_only: bool,
    brlen_prior: BrlenPrior,
) -> SamplerOptions {
    let num_taxa = partitions[0].patterns.tip_taxa.len();
    SamplerOptions {
        parameters: list_parameters(model, false, &Priors::default()).unwrap(),
        priors: Priors::with_brlens(brlen_prior),
        has_own_lengths: false,
        prior_only,
        num_chains: 3,
        temperature: Some(0.3),
        sample_every: 20,
        num_adapting: 3000,
        constraint: None,
        parsimony: Arc::new(ParsimonyData::of_partitions(num_taxa, partitions)),
        numbers: vec![1, 2],
        seed: 11,
        run: 0,
    }
}

pub(super) fn begin<'a>(
    (partitions, models): &(Vec<Partition>, Vec<Model>),
    options: &'a SamplerOptions,
    num_taxa: usize,
) -> CoupledRun<'a> {
    let mut rng = stream(9, Purpose::Test, 0);
    let one = |_| evaluator(partitions, models, random_tree(num_taxa, 0.1, &mut rng));
    CoupledRun::begin((0..options.num_chains).map(one).collect(), models, options).unwrap()
}

/// All proposals, three coupled chains, adaptation: the cold chain has the prior, of everything at once.
#[test]
fn a_coupled_run_on_the_prior_alone_reproduces_all_priors() {
    let data = data(5, "GTR+FO+I+G");
    let mut options = options(&data, true, BrlenPrior::default());
    // Few proposals are of parameters: their samples are to be independent.
    (options.sample_every, options.num_adapting) = (1600, 12_000);
    let mut run = begin(&data, &options, 5);
    let mut samples = Vec::new();
    while samples.len() < 3000 {
        samples.extend(run.go_on(u64::MAX).unwrap().filter(|sample| sample.generation > 16_000));
    }
    let columns = columns(&options.parameters, &data.1, false, &[1]);
    let names: Vec<String> = columns.into_iter().map(|column| column.name).collect();
    assert_eq!(names.len(), 13);
    for (column, name) in names.iter().enumerate() {
        let values: Vec<f64> = samples.iter().map(|sample| sample.values[column]).collect();
        match name.as_str() {
            "TL" => assert_distribution(values, exponential(0.1), name),
            "alpha" => assert_distribution(values, |x| exponential(1.0)(x - 0.02), name),
            "pinvar" => assert_distribution(values, |x| x / 0.99, name),
            rate if rate.starts_with("r(") => assert_distribution(values, share_of(6), name),
            _ => assert_distribution(values, share_of(4), name),
        }
    }
    let found = samples.iter().map(|sample| topology(&sample.tree)).collect();
    assert_uniform(found, 15, "coupled");
    let state = run.state();
    assert!(state.swaps().iter().all(|[tried, accepted]| 0 < *accepted && accepted < tried));
}

#[test]
fn a_run_that_is_resumed_from_its_state_goes_on_with_the_same_bits_on_any_threads() {
    let data = data(6, "GTR+FO+I+G");
    let mut options = options(&data, false, BrlenPrior::default());
    // Before and after the adaptation.
    options.num_adapting = 1400;
    let mut whole = begin(&data, &options, 6);
    let mut states = Vec::new();
    let mut samples = Vec::new();
    while whole.generation() < 3000 {
        // Not only where all chains meet.
        let stop = (whole.generation() / 271 + 1) * 271;
        if whole.generation().is_multiple_of(271) {
            states.push((samples.len(), postcard::to_stdvec(&whole.state()).unwrap()));
        }
        samples.extend(whole.go_on(stop.min(3000)).unwrap());
    }
    let bits = |samples: &[Sample]| format!("{samples:?}");
    let mut threads = 0;
    for (number, state) in states {
        let state: RunState = postcard::from_bytes(&state).unwrap();
        let mut rng = stream(8, Purpose::Test, number as u64);
        let one = |_| evaluator(&data.0, &data.1, random_tree(6, 0.1, &mut rng));
        let evaluators: Vec<Evaluator> = (0..3).map(one).collect();
        assert!(state.fits(&evaluators, &data.1, &options));
        threads = threads % 3 + 1;
        let mut run = CoupledRun::resume(evaluators, &data.1, &options, state).on_threads(threads);
        let mut rest = Vec::new();
        while run.generation() < 3000 {
            rest.extend(run.go_on(3000).unwrap());
        }
        assert_eq!(bits(&rest), bits(&samples[number..]));
    }
}
