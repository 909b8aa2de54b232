//! Correction of ascertainment bias in all operations of the engine, together with partitions without correction.

use super::tests::{
    Case, GTR, HKY_I, assert_scores_are_those_of_moved_trees, close, random_case, trace,
    vary_scalers,
};
use super::*;
use crate::alphabet::Code;
use crate::likelihood::cpu::all_kernels;
use crate::likelihood::engine::PartitionModel;
use crate::likelihood::naive::naive_log_likelihood;
use crate::model::Ascertainment::{self, Felsenstein, Lewis, Stamatakis};
use crate::model::Model;
use crate::tree::{EdgeId, Tree};

/// Partitions of different sizes with all corrections; one taxon of the first has no data.
fn corrected_case(seed: u64, num_taxa: usize) -> Case {
    let counts = || Stamatakis(vec![3.0, 0.0, 2.5, 9.0]);
    let partitions = [
        ((num_taxa, 300, GTR), Some(Lewis)),
        ((num_taxa * 2 / 3, 40, HKY_I), None),
        ((num_taxa / 2, 137, GTR), Some(Felsenstein(17.5))),
        ((num_taxa - 1, 260, GTR), Some(counts())),
        ((4, 20, "JC"), Some(Lewis)),
        ((3, 9, GTR), Some(counts())),
        ((2, 12, GTR), Some(Lewis)),
        ((2, 12, GTR), Some(Felsenstein(3.0))),
        ((1, 5, GTR), None),
        ((0, 0, GTR), Some(Lewis)),
    ];
    let (sizes, corrections): (Vec<_>, Vec<Option<Ascertainment>>) = partitions.into_iter().unzip();
    let mut case = random_case(seed, num_taxa, &sizes);
    for (data, correction) in case.data.iter_mut().zip(corrections) {
        data.ascertainment = correction;
    }
    let undetermined = case.data[0].undetermined;
    case.data[0].tip_codes[1].fill(undetermined);
    case
}

/// Partitions of [`corrected_case`] that have a tree.
const WITH_TREE: usize = 8;

const LINKAGES: [BrlenLinkage; 3] =
    [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked];

#[test]
fn corrected_likelihoods_are_the_naive_ones_at_every_virtual_root() {
    for seed in 0..3 {
        let case = corrected_case(seed, 9);
        let mut evaluator = case.evaluator(BrlenLinkage::Scaled);
        (0..WITH_TREE).for_each(|partition| {
            evaluator.set_brlen_scaler(partition, 0.6 + 0.1 * partition as f64)
        });
        for partition in 0..WITH_TREE {
            let local = evaluator.partition_tree(partition).0.clone();
            let scaler = evaluator.brlen_scaler(partition);
            let want = naive_log_likelihood(
                &local,
                &case.data[partition],
                &PartitionModel::new(&case.models[partition]),
                scaler,
            );
            for edge in local.edges() {
                evaluator.set_virtual_root(partition, edge);
                let got = evaluator.partition_log_likelihoods().unwrap()[partition];
                assert!(close(got, want), "partition {partition} at {edge:?}: {got} not {want}");
            }
        }
        assert_eq!(evaluator.partition_log_likelihoods().unwrap()[9], 0.0);
    }
}

#[test]
fn corrections_of_every_alphabet_are_the_naive_ones() {
    for model in ["BIN+FU{0.3/0.7}+G3{0.4}", "MULTI7_MK", "LG4X", "GY{2/0.3}+FE+G2{0.7}"] {
        let parsed = Model::parse(model).unwrap();
        let num_states = parsed.num_states();
        for correction in [Lewis, Felsenstein(20.0), Stamatakis(vec![2.5; num_states])] {
            let mut case = random_case(30, 7, &[(6, 40, "JC")]);
            case.models[0] = parsed.clone();
            let data = &mut case.data[0];
            data.num_states = num_states;
            data.num_rates = case.models[0].rate_cats().rates.len();
            data.code_masks = (0..num_states).map(|state| 1 << state).collect();
            data.code_masks.push(u64::MAX >> (64 - num_states));
            data.undetermined = num_states as Code;
            let codes = data.tip_codes.iter_mut().flatten();
            codes.for_each(|code| *code %= data.undetermined + 1);
            data.ascertainment = Some(correction);
            let mut evaluator = case.evaluator(BrlenLinkage::Linked);
            let local = evaluator.partition_tree(0).0.clone();
            let want = naive_log_likelihood(
                &local,
                &case.data[0],
                &PartitionModel::new(&case.models[0]),
                1.0,
            );
            let got = evaluator.log_likelihood().unwrap();
            assert!(close(got, want), "{model}: {got} not {want}");
            let options = BranchOptions { max_sweeps: 2, lnl_epsilon: 1e-3, gain_tolerance: 1e-6 };
            let better = evaluator.optimize_branches(&options).unwrap();
            let local = evaluator.partition_tree(0).0.clone();
            let want = naive_log_likelihood(
                &local,
                &case.data[0],
                &PartitionModel::new(&case.models[0]),
                1.0,
            );
            assert!(better > got && close(better, want), "{model}: {better} not {want}");
        }
    }
}

#[test]
fn sites_left_out_are_no_sites() {
    let case = corrected_case(4, 9);
    let mut evaluator = case.evaluator(BrlenLinkage::Linked);
    for (partition, data) in case.data.iter().enumerate().take(WITH_TREE) {
        let per_pattern = evaluator.pattern_log_likelihoods(partition).unwrap();
        assert_eq!(per_pattern.len(), data.num_patterns());
        assert_eq!(evaluator.num_sites_of(partition), data.weights.iter().sum::<f64>());
        let sum: f64 = per_pattern.iter().zip(&data.weights).map(|(lnl, w)| lnl * w).sum();
        let total = evaluator.partition_log_likelihoods().unwrap()[partition];
        match data.ascertainment {
            None | Some(Lewis) => {
                assert!(close(sum, total), "partition {partition}: {sum} not {total}")
            }
            Some(_) => assert!(sum > total + 1.0),
        }
    }
}

#[test]
fn a_correction_leaves_the_bits_of_other_partitions_and_of_real_patterns_alone() {
    let case = corrected_case(5, 9);
    let mut plain = corrected_case(5, 9);
    plain.data.iter_mut().for_each(|data| data.ascertainment = None);
    let mut corrected = case.evaluator(BrlenLinkage::Linked);
    let mut plain = plain.evaluator(BrlenLinkage::Linked);
    let with = corrected.partition_log_likelihoods().unwrap();
    let without = plain.partition_log_likelihoods().unwrap();
    assert_eq!(with[1], without[1]);
    assert!(with[0] > without[0] && with[2] < without[2] && with[3] < without[3]);
    for partition in [2, 3] {
        assert_eq!(
            corrected.pattern_log_likelihoods(partition),
            plain.pattern_log_likelihoods(partition)
        );
    }
}

#[test]
fn a_taxon_without_data_changes_nothing() {
    for correction in [Lewis, Felsenstein(20.0), Stamatakis(vec![5.0, 1.0, 2.0, 3.0])] {
        let mut all = random_case(7, 8, &[(8, 90, GTR)]);
        all.data[0].ascertainment = Some(correction);
        let undetermined = all.data[0].undetermined;
        all.data[0].tip_codes[3].fill(undetermined);
        let mut own = all.evaluator(BrlenLinkage::Linked);
        let want = own.log_likelihood().unwrap();
        all.data[0].tip_codes.remove(3);
        all.taxa[0].remove(3);
        let got = all.evaluator(BrlenLinkage::Linked).log_likelihood().unwrap();
        assert!(close(got, want), "{got} not {want}");
    }
}

#[test]
fn corrected_runs_have_the_same_bits_on_every_kernel_set_and_thread_count() {
    for linkage in LINKAGES {
        let case = corrected_case(8, 9);
        let want = trace(&mut case.evaluator(linkage));
        for kernels in 0..all_kernels().len() {
            for threads in [1, 2, 3, 5] {
                let got = trace(&mut case.evaluator_on(linkage, kernels, threads));
                assert_eq!(got, want, "{linkage:?}, kernels {kernels}, {threads} threads");
            }
        }
    }
}

#[test]
fn corrected_insertion_scores_are_those_of_the_moved_tree() {
    for linkage in LINKAGES {
        let mut evaluator = corrected_case(20, 8).evaluator(linkage);
        vary_scalers(&mut evaluator, WITH_TREE);
        assert_scores_are_those_of_moved_trees(&mut evaluator);
    }
}

#[test]
fn optimised_branches_have_no_slope_left() {
    for threads in [1, 3] {
        for linkage in LINKAGES {
            let case = corrected_case(60, 8);
            let mut evaluator = case.evaluator_on(linkage, 0, threads);
            let start = evaluator.log_likelihood().unwrap();
            let options =
                BranchOptions { max_sweeps: 200, lnl_epsilon: 1e-9, gain_tolerance: 1e-12 };
            let best = evaluator.optimize_branches(&options).unwrap();
            assert!(best > start);
            evaluator.forget();
            assert!(close(evaluator.log_likelihood().unwrap(), best));
            let lnl_at = |evaluator: &mut Evaluator, partition: Option<usize>, edge, length| {
                match partition {
                    None => evaluator.set_brlen(edge, length),
                    Some(partition) => {
                        let mut tree = evaluator.partition_tree(partition).0.clone();
                        tree.set_brlen(edge, length);
                        assert!(evaluator.set_partition_brlens(partition, &tree));
                    }
                }
                evaluator.log_likelihood().unwrap()
            };
            let trees: Vec<(Option<usize>, Tree)> = match linkage {
                BrlenLinkage::Unlinked => (0..WITH_TREE)
                    .map(|g| (Some(g), evaluator.partition_tree(g).0.clone()))
                    .collect(),
                _ => vec![(None, evaluator.tree().clone())],
            };
            let mut checked = 0;
            for (partition, tree) in trees {
                for edge in tree.edges() {
                    let length = tree.brlen(edge);
                    if !(1e-3..=10.0).contains(&length) {
                        continue;
                    }
                    let step = 1e-4 * length;
                    let up = lnl_at(&mut evaluator, partition, edge, length + step);
                    let down = lnl_at(&mut evaluator, partition, edge, length - step);
                    lnl_at(&mut evaluator, partition, edge, length);
                    let (slope, curvature) = (up - down, up + down - 2.0 * best);
                    assert!(curvature < 1e-7, "{linkage:?} {partition:?} {edge:?}: {curvature}");
                    assert!(slope.abs() < 1e-7, "{linkage:?} {partition:?} {edge:?}: {slope}");
                    checked += 1;
                }
            }
            assert!(checked > 8, "{linkage:?}: {checked}");
        }
    }
}

#[test]
fn constant_patterns_of_deep_trees_do_not_underflow() {
    // 2100 taxa: S itself underflows.
    let mut case = random_case(5, 2100, &[(2100, 10, GTR); 3]);
    let corrections = [Felsenstein(30.0), Lewis, Stamatakis(vec![1.0; 4])];
    for (data, correction) in case.data.iter_mut().zip(corrections) {
        data.ascertainment = Some(correction);
    }
    let mut evaluator = case.evaluator(BrlenLinkage::Linked);
    let lnl = evaluator.log_likelihood().unwrap();
    assert!(lnl.is_finite() && lnl < -1000.0);
    let lnls = evaluator.partition_log_likelihoods().unwrap();
    for edge in [5, 1000, 2500] {
        (0..3).for_each(|partition| evaluator.set_virtual_root(partition, EdgeId(edge)));
        for (got, want) in evaluator.partition_log_likelihoods().unwrap().into_iter().zip(&lnls) {
            assert!(close(got, *want), "{got} not {want}");
        }
    }
    let options = BranchOptions { max_sweeps: 1, lnl_epsilon: 1.0, gain_tolerance: 1e-3 };
    let better = evaluator.optimize_branches(&options).unwrap();
    evaluator.forget();
    assert!(better > lnl && close(evaluator.log_likelihood().unwrap(), better));
}
