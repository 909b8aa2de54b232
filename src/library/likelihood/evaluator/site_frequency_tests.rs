//! All operations of the engine for patterns with frequencies of their own, compared with single patterns under one matrix, with the engine of
//! one matrix for all patterns, and with itself for all instruction sets and numbers of threads.

use super::tests::{
    Case, assert_scores_are_those_of_moved_trees, assert_trials_are_those_of_moved_trees,
    candidates, compare_virtual_roots, trace,
};
use super::*;
use crate::alignment::PatternFreqs;
use crate::alphabet::DataType;
use crate::likelihood::cpu::all_kernels;
use crate::likelihood::engine::{PartitionData, PartitionModel};
use crate::likelihood::naive::naive_pattern_log_likelihoods;
use crate::model::Model;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::random_tree;
use rand::RngExt;

/// Frequencies that sum to 1, some of them a thousandth.
fn random_freqs(rng: &mut Rng) -> Vec<f64> {
    let freqs: Vec<f64> = (0..20).map(|_| rng.random_range(0.0f64..1.0)).collect();
    let cubes: Vec<f64> = freqs.iter().map(|x| x * x * x + 5e-3).collect();
    let sum: f64 = cubes.iter().sum();
    cubes.iter().map(|x| x / sum).collect()
}

/// Partitions of proteins, each with these numbers of taxa and patterns, with frequencies of patterns.
fn case(seed: u64, num_taxa: usize, partitions: &[(usize, usize, &str)]) -> Case {
    let mut rng = stream(seed, Purpose::Test, 0);
    let mut tree = random_tree(num_taxa, 0.1, &mut rng);
    for edge in tree.edges() {
        // Halves of these are exact, too: otherwise, which of the two is longer by the last digit depends on the order of moves.
        tree.set_brlen(edge, f64::from(rng.random_range(1..400u16)) / 1024.0);
    }
    let mut case = Case { tree, data: Vec::new(), taxa: Vec::new(), models: Vec::new() };
    for &(num_tips, num_patterns, model) in partitions {
        let mut taxa: Vec<usize> = (0..num_taxa).collect();
        while taxa.len() > num_tips {
            taxa.remove(rng.random_range(0..taxa.len()));
        }
        let model = Model::parse(model).unwrap();
        let data_type = DataType::Protein;
        let common = |rng: &mut Rng| data_type.code_of_state(rng.random_range(0..20));
        let commons: Vec<_> = (0..num_patterns).map(|_| common(&mut rng)).collect();
        let num_codes = data_type.code_masks().len() as u16;
        let mut row = || -> Vec<_> {
            let code = |common: &u16| match rng.random_range(0..4) {
                0 => rng.random_range(0..num_codes),
                _ => *common,
            };
            commons.iter().map(code).collect()
        };
        let tip_codes = taxa.iter().map(|_| row()).collect();
        let freqs: Vec<Vec<f64>> = (0..num_patterns).map(|_| random_freqs(&mut rng)).collect();
        case.data.push(PartitionData {
            tip_codes,
            weights: (0..num_patterns).map(|_| f64::from(rng.random_range(1..4u8))).collect(),
            code_masks: data_type.code_masks(),
            undetermined: data_type.undetermined(),
            num_states: 20,
            num_rates: model.rate_cats().rates.len(),
            ascertainment: None,
            pattern_freqs: Some(PatternFreqs::new(&freqs)),
        });
        case.taxa.push(taxa);
        case.models.push(model);
    }
    case
}

/// Partitions of several sizes; the first has several blocks.
fn mixed_case(seed: u64, num_taxa: usize) -> Case {
    let partitions = [
        (num_taxa, 300, "LG+G4{0.6}"),
        (num_taxa * 2 / 3, 40, "WAG+I{0.2}+G3{0.8}"),
        (num_taxa / 2, 17, "JTT+R5{0.1/0.5/1/2/3}{0.2/0.2/0.2/0.2/0.2}"),
        (3, 9, "LG"),
        (2, 12, "LG+I{0.3}"),
        (1, 5, "LG+G4{1}"),
    ];
    case(seed, num_taxa, &partitions)
}

/// The naive log-likelihood of each pattern under a matrix with its frequencies.
fn naive_lnls(case: &Case, evaluator: &Evaluator, partition: usize) -> Vec<f64> {
    let data = &case.data[partition];
    let freqs = data.pattern_freqs.as_ref().unwrap();
    let lnl = |pattern: usize| {
        let mut model = case.models[partition].clone();
        model.set_freqs(freqs.of(pattern));
        let alone = PartitionData {
            tip_codes: data.tip_codes.iter().map(|row| vec![row[pattern]]).collect(),
            weights: vec![1.0],
            pattern_freqs: None,
            ..data.clone()
        };
        let tree = evaluator.partition_tree(partition).0;
        let model = PartitionModel::new(&model);
        naive_pattern_log_likelihoods(tree, &alone, &model, evaluator.brlen_scaler(partition))[0]
    };
    (0..data.num_patterns()).map(lnl).collect()
}

#[test]
fn each_pattern_has_the_likelihood_under_its_own_matrix() {
    for seed in 0..3 {
        let case = mixed_case(seed, 11);
        let mut evaluator = case.evaluator(BrlenLinkage::Scaled);
        (0..6).for_each(|g| evaluator.set_brlen_scaler(g, 0.6 + 0.1 * g as f64));
        let sums = evaluator.partition_log_likelihoods().unwrap();
        for (partition, lnl) in sums[..5].iter().enumerate() {
            let want = naive_lnls(&case, &evaluator, partition);
            let found = evaluator.pattern_log_likelihoods(partition).unwrap();
            for (found, want) in found.iter().zip(&want) {
                assert!((found - want).abs() < 1e-9, "{partition}: {found}, not {want}");
            }
            let weights = case.data[partition].weights.iter();
            let sum: f64 = want.iter().zip(weights).map(|(lnl, weight)| lnl * weight).sum();
            assert!((sum - lnl).abs() < 1e-8, "{sum}, not {lnl}");
        }
        // A single taxon has no tree, but its states have frequencies.
        let data = &case.data[5];
        let freqs = data.pattern_freqs.as_ref().unwrap();
        let want: f64 = (0..5)
            .map(|pattern| {
                let states = data.code_masks[data.tip_codes[0][pattern] as usize];
                let of_states = freqs.of(pattern).iter().enumerate();
                let sum: f64 = of_states.filter(|(i, _)| states >> i & 1 == 1).map(|f| f.1).sum();
                data.weights[pattern] * libm::log(sum)
            })
            .sum();
        assert!((sums[5] - want).abs() < 1e-9);
    }
}

#[test]
fn equal_frequencies_give_what_one_matrix_gives() {
    let mut own = mixed_case(4, 10);
    let mut one = mixed_case(4, 10);
    for partition in 0..6 {
        let freqs = random_freqs(&mut stream(5, Purpose::Test, partition as u64));
        let all = vec![freqs.clone(); own.data[partition].num_patterns()];
        own.data[partition].pattern_freqs = Some(PatternFreqs::new(&all));
        one.data[partition].pattern_freqs = None;
        one.models[partition].set_freqs(&freqs);
    }
    let [mut own, mut one] = [own, one].map(|case| case.evaluator(BrlenLinkage::Linked));
    let [lnl, want] = [&mut own, &mut one].map(|one| one.log_likelihood().unwrap());
    assert!((lnl - want).abs() < 1e-8, "{lnl}, not {want}");
    let [states, want] = [&mut own, &mut one].map(|evaluator| {
        let inner = evaluator.tree().nodes().nth(12).unwrap();
        NodeStates::new(evaluator).at(inner).unwrap()
    });
    for (states, want) in states.iter().flatten().zip(want.iter().flatten()) {
        assert!(states.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-9));
    }
    let options = BranchOptions { max_sweeps: 20, lnl_epsilon: 1e-7, gain_tolerance: 1e-9 };
    let [lnl, want] = [own, one].map(|mut one| one.optimize_branches(&options).unwrap());
    assert!((lnl - want).abs() < 1e-5, "{lnl}, not {want}");
}

#[test]
fn the_likelihood_under_frequencies_of_sites_is_the_same_at_every_virtual_root() {
    let mut evaluator = mixed_case(6, 14).evaluator(BrlenLinkage::Linked);
    compare_virtual_roots(&mut evaluator, 5, |got, want| (got - want).abs() < 1e-8);
}

#[test]
fn scores_and_trials_under_frequencies_of_sites_are_those_of_moved_trees() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Unlinked] {
        let mut evaluator = mixed_case(7, 8).evaluator(linkage);
        assert_scores_are_those_of_moved_trees(&mut evaluator);
        let node = evaluator.tree().nodes().nth(10).unwrap();
        let pendant = evaluator.tree().links(node).next().unwrap().1;
        let candidates = candidates(evaluator.tree(), node, pendant);
        let prune = evaluator.prune(&[(node, pendant)], Some(1e-3)).unwrap().swap_remove(0);
        assert_trials_are_those_of_moved_trees(&mut evaluator, &prune, &candidates);
    }
}

#[test]
fn frequencies_of_sites_give_the_same_bits_on_every_kernel_set_and_thread_count() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Unlinked] {
        let case = mixed_case(8, 6);
        let want = trace(&mut case.evaluator(linkage));
        for (kernels, set) in all_kernels().iter().enumerate() {
            // Without vector instructions, once: they take most of the time, and agree with the others or not on any number of threads.
            let threads = if set.name() == "scalar" { &[3][..] } else { &[1, 2, 3] };
            for &threads in threads {
                let got = trace(&mut case.evaluator_on(linkage, kernels, threads));
                assert_eq!(got, want, "{linkage:?}, kernels {kernels}, {threads} threads");
            }
        }
    }
}

/// In a tree of many taxa with different states everywhere, likelihoods are far below the range of numbers.
#[test]
fn frequencies_of_sites_do_not_underflow() {
    let mut case = case(9, 400, &[(400, 9, "LG+I{0.1}+G4{0.3}")]);
    let data_type = DataType::Protein;
    for (tip, row) in case.data[0].tip_codes.iter_mut().enumerate() {
        for (pattern, code) in row.iter_mut().enumerate() {
            *code = data_type.code_of_state(tip * (pattern + 3) % 20);
        }
    }
    let mut evaluator = case.evaluator(BrlenLinkage::Linked);
    let lnl = evaluator.log_likelihood().unwrap();
    assert!(lnl.is_finite() && lnl < -9000.0, "{lnl}");
    evaluator.set_virtual_root(0, case.tree.edges().nth(500).unwrap());
    let again = evaluator.log_likelihood().unwrap();
    assert!((again - lnl).abs() < 1e-6, "{again}, not {lnl}");
}
