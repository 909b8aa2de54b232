//! The CPU engine compared with the naive one and with itself for all instruction sets and numbers of threads,
//! and the evaluator's state compared with one built anew.

use super::*;
use crate::alphabet::Code;
use crate::likelihood::BRLEN_BOUNDS;
use crate::likelihood::cpu::all_kernels;
use crate::likelihood::engine::{EngineOptions, PartitionData, PartitionModel};
use crate::likelihood::naive::naive_log_likelihood;
use crate::likelihood::select::make_engine;
use crate::model::Model;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::{EdgeId, NodeId, Tree, random_tree};
use rand::RngExt;

/// Partitions over random subsets of the taxa, with random codes, on a random tree.
pub(super) struct Case {
    pub(super) tree: Tree,
    pub(super) data: Vec<PartitionData>,
    pub(super) taxa: Vec<Vec<usize>>,
    pub(super) models: Vec<Model>,
}

pub(super) fn random_case(seed: u64, num_taxa: usize, partitions: &[(usize, usize, &str)]) -> Case {
    let mut rng = stream(seed, Purpose::Test, 0);
    let mut tree = random_tree(num_taxa, 0.1, &mut rng);
    for edge in tree.edges() {
        tree.set_brlen(edge, rng.random_range(0.001..0.4));
    }
    let mut case = Case { tree, data: Vec::new(), taxa: Vec::new(), models: Vec::new() };
    for &(num_tips, num_patterns, model) in partitions {
        let mut taxa: Vec<usize> = (0..num_taxa).collect();
        while taxa.len() > num_tips {
            taxa.remove(rng.random_range(0..taxa.len()));
        }
        let model = Model::parse(model).unwrap();
        let row = |rng: &mut Rng| -> Vec<Code> {
            (0..num_patterns)
                .map(|_| if rng.random_range(0..4) == 0 { 1 } else { rng.random_range(1..16) })
                .collect()
        };
        case.data.push(PartitionData {
            tip_codes: taxa.iter().map(|_| row(&mut rng)).collect(),
            weights: (0..num_patterns).map(|_| f64::from(rng.random_range(1..4u8))).collect(),
            code_masks: (0..16).collect(),
            undetermined: 15,
            num_states: 4,
            num_rates: model.rate_cats().rates.len(),
            ascertainment: None,
            pattern_freqs: None,
        });
        case.taxa.push(taxa);
        case.models.push(model);
    }
    case
}

pub(super) const GTR: &str = "GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}";
pub(super) const HKY_I: &str = "HKY{2.5}+FU{0.1/0.4/0.3/0.2}+I{0.2}+G3{0.8}";

/// Partitions of all relevant sizes: none, one, two, three and many taxa; one block and several.
fn mixed_case(seed: u64, num_taxa: usize) -> Case {
    let partitions = [
        (num_taxa, 300, GTR),
        (num_taxa * 2 / 3, 40, HKY_I),
        (num_taxa / 2, 137, GTR),
        (4, 20, "JC"),
        (3, 9, GTR),
        (2, 12, HKY_I),
        (1, 5, GTR),
        (0, 0, GTR),
    ];
    random_case(seed, num_taxa, &partitions)
}

impl Case {
    pub(super) fn evaluator_on(
        &self,
        linkage: BrlenLinkage,
        kernels: usize,
        threads: usize,
    ) -> Evaluator {
        let instruction_set = Some(all_kernels()[kernels].name());
        let options = EngineOptions { instruction_set, threads, ..EngineOptions::default() };
        let engine = make_engine(&self.data, &options).unwrap();
        let partitions = self
            .data
            .iter()
            .zip(&self.taxa)
            .zip(&self.models)
            .map(|((data, taxa), model)| (data, &taxa[..], model.clone()))
            .collect();
        Evaluator::new(self.tree.clone(), partitions, linkage, engine)
    }

    pub(super) fn evaluator(&self, linkage: BrlenLinkage) -> Evaluator {
        self.evaluator_on(linkage, 0, 1)
    }
}

pub(super) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * a.abs().max(1.0)
}

#[test]
fn agrees_with_the_naive_truth_partition_by_partition() {
    for seed in 0..5 {
        let case = mixed_case(seed, 11);
        let mut evaluator = case.evaluator(BrlenLinkage::Scaled);
        for partition in 0..case.data.len() {
            evaluator.set_brlen_scaler(partition, 0.5 + partition as f64 * 0.2);
        }
        let lnls = evaluator.partition_log_likelihoods().unwrap();
        for (partition, &lnl) in lnls.iter().enumerate().take(6) {
            let (local, _) = evaluator.partition_tree(partition);
            let scaler = evaluator.brlen_scaler(partition);
            let want = naive_log_likelihood(
                local,
                &case.data[partition],
                &PartitionModel::new(&case.models[partition]),
                scaler,
            );
            assert!(close(lnl, want), "partition {partition}: {lnl} not {want}");
        }
        assert_eq!(lnls[7], 0.0);
    }
}

/// Moves the virtual root of each of the first partitions to every edge: the likelihood must agree.
pub(super) fn compare_virtual_roots(
    evaluator: &mut Evaluator,
    num_partitions: usize,
    agree: impl Fn(f64, f64) -> bool,
) {
    let want = evaluator.log_likelihood().unwrap();
    for partition in 0..num_partitions {
        for edge in evaluator.partition_tree(partition).0.clone().edges() {
            evaluator.set_virtual_root(partition, edge);
            let got = evaluator.log_likelihood().unwrap();
            assert!(agree(got, want), "partition {partition} at {edge:?}: {got} not {want}");
        }
    }
}

#[test]
fn the_likelihood_is_the_same_at_every_virtual_root() {
    let mut evaluator = mixed_case(3, 14).evaluator(BrlenLinkage::Linked);
    compare_virtual_roots(&mut evaluator, 6, close);
}

/// Results of all operations that a search uses, as bits.
pub(super) fn trace(evaluator: &mut Evaluator) -> Vec<u64> {
    let mut bits = vec![evaluator.log_likelihood().unwrap().to_bits()];
    for node in evaluator.tree().clone().nodes().skip(evaluator.tree().num_tips()) {
        let pendant = evaluator.tree().links(node).next().unwrap().1;
        let candidates = candidates(evaluator.tree(), node, pendant);
        let prune = evaluator.prune(&[(node, pendant)], None).unwrap().swap_remove(0);
        let scores = evaluator.score(&[(&prune, &candidates)]).unwrap().swap_remove(0);
        let prune = evaluator.prune(&[(node, pendant)], Some(1e-2)).unwrap().swap_remove(0);
        for &candidate in &candidates {
            let trials = evaluator.try_insertions(&[(&prune, candidate)], 1e-2, -1e9).unwrap();
            bits.push(trials[0].lnl.to_bits());
        }
        bits.extend(scores.iter().map(|lnl| lnl.to_bits()));
    }
    let options = BranchOptions { max_sweeps: 2, lnl_epsilon: 0.01, gain_tolerance: 1e-6 };
    bits.push(evaluator.optimize_branches(&options).unwrap().to_bits());
    bits.extend(evaluator.pattern_log_likelihoods(0).unwrap().iter().map(|lnl| lnl.to_bits()));
    for partition in 0..evaluator.num_partitions() {
        let (tree, _) = evaluator.partition_tree(partition);
        bits.extend(tree.edges().map(|edge| tree.brlen(edge).to_bits()));
    }
    bits
}

pub(super) fn candidates(tree: &Tree, attach: NodeId, pendant: EdgeId) -> Vec<EdgeId> {
    let mut edges = Vec::new();
    for (node, edge) in tree.other_links(attach, pendant) {
        edges.extend(tree.preorder(node, edge).into_iter().skip(1).map(|(_, edge)| edge));
    }
    edges
}

#[test]
fn same_bits_on_every_kernel_set_and_thread_count() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Unlinked] {
        let case = mixed_case(8, 9);
        let want = trace(&mut case.evaluator(linkage));
        for kernels in 0..all_kernels().len() {
            for threads in [1, 2, 3, 5] {
                let got = trace(&mut case.evaluator_on(linkage, kernels, threads));
                assert_eq!(got, want, "{linkage:?}, kernels {kernels}, {threads} threads");
            }
        }
    }
}

/// All subtrees of the tree: attachment node, pendant edge, and the edges into which it can be regrafted.
fn prunes(tree: &Tree) -> Vec<(NodeId, EdgeId, Vec<EdgeId>)> {
    let mut found = Vec::new();
    for attach in tree.nodes().skip(tree.num_tips()) {
        for (_, pendant) in tree.links(attach) {
            found.push((attach, pendant, candidates(tree, attach, pendant)));
        }
    }
    found
}

/// Under scaled lengths: a different scaler for each of the first partitions.
pub(super) fn vary_scalers(evaluator: &mut Evaluator, num_partitions: usize) {
    if evaluator.linkage() == BrlenLinkage::Scaled {
        for partition in 0..num_partitions {
            evaluator.set_brlen_scaler(partition, 0.7 + 0.1 * partition as f64);
        }
    }
}

pub(super) fn assert_scores_are_those_of_moved_trees(evaluator: &mut Evaluator) {
    for (attach, pendant, candidates) in prunes(evaluator.tree()) {
        let prune = evaluator.prune(&[(attach, pendant)], None).unwrap().swap_remove(0);
        let scores = evaluator.score(&[(&prune, &candidates)]).unwrap().swap_remove(0);
        for (&candidate, &score) in candidates.iter().zip(&scores) {
            let moved = evaluator.move_subtree(attach, pendant, candidate);
            let want = evaluator.log_likelihood().unwrap();
            evaluator.undo_move(moved);
            assert!(
                close(score, want),
                "{:?}: {attach:?} {pendant:?} into {candidate:?}: {score} not {want}",
                evaluator.linkage()
            );
        }
    }
}

#[test]
fn insertion_scores_are_those_of_the_moved_tree() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked] {
        for seed in 0..3 {
            let mut evaluator = mixed_case(20 + seed, 10).evaluator(linkage);
            vary_scalers(&mut evaluator, 6);
            assert_scores_are_those_of_moved_trees(&mut evaluator);
        }
    }
}

#[test]
fn a_trial_gives_the_likelihood_that_the_tree_then_has() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked] {
        for seed in 0..3 {
            let mut evaluator = mixed_case(30 + seed, 9).evaluator(linkage);
            vary_scalers(&mut evaluator, 6);
            for (attach, pendant, candidates) in prunes(evaluator.tree()) {
                for tolerance in [None, Some(1e-3)] {
                    let prune =
                        evaluator.prune(&[(attach, pendant)], tolerance).unwrap().swap_remove(0);
                    assert_trials_are_those_of_moved_trees(&mut evaluator, &prune, &candidates);
                    evaluator.assert_integrity();
                }
            }
        }
    }
}

pub(super) fn assert_trials_are_those_of_moved_trees(
    evaluator: &mut Evaluator,
    prune: &Prune,
    candidates: &[EdgeId],
) {
    let to_the_end = f64::NEG_INFINITY;
    let scores = evaluator.score(&[(prune, candidates)]).unwrap().swap_remove(0);
    let mut trials = Vec::new();
    for (&candidate, &score) in candidates.iter().zip(&scores) {
        let trial = evaluator
            .try_insertions(&[(prune, candidate)], 1e-3, to_the_end)
            .unwrap()
            .swap_remove(0);
        assert!(trial.lnl >= score - 1e-6, "{} below {score}", trial.lnl);
        // Nor does a trial that ends early leave any changes.
        let part =
            evaluator.try_insertions(&[(prune, candidate)], 1e-3, 0.0).unwrap().swap_remove(0);
        assert!(part.lnl <= trial.lnl + 1e-6);
        trials.push(trial);
    }
    evaluator.assert_clvs();
    for (trial, &candidate) in trials.iter().zip(candidates) {
        let again = evaluator
            .try_insertions(&[(prune, candidate)], 1e-3, to_the_end)
            .unwrap()
            .swap_remove(0);
        assert_eq!(again, *trial, "after another move was taken back");
        let moved = evaluator.insert(prune, trial);
        let want = evaluator.log_likelihood().unwrap();
        evaluator.undo_move(moved);
        assert!(
            close(trial.lnl, want),
            "{:?}: {prune:?}: {trial:?}, not {want}",
            evaluator.linkage()
        );
    }
}

#[test]
fn moves_and_undos_keep_everything_as_a_fresh_build_would() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Unlinked] {
        for seed in 0..4 {
            let case = mixed_case(40 + seed, 13);
            let mut evaluator = case.evaluator(linkage);
            let mut rng = stream(seed, Purpose::Test, 1);
            for step in 0..60 {
                let tree = evaluator.tree().clone();
                let attach = NodeId(rng.random_range(13..tree.num_nodes() as u32));
                let pendant = tree.links(attach).nth(rng.random_range(0..3)).unwrap().1;
                let candidates = candidates(&tree, attach, pendant);
                if candidates.is_empty() {
                    continue;
                }
                let target = candidates[rng.random_range(0..candidates.len())];
                let before = evaluator.log_likelihood().unwrap();
                let mut moved = evaluator.move_subtree(attach, pendant, target);
                evaluator.assert_integrity();
                let mut again = moved.tree_before(evaluator.tree());
                assert!(crate::tree::same_topology(&again, &tree));
                let pruned = again.prune(attach, pendant);
                again.regraft(&pruned, target, [0.0; 2]);
                for edge in again.edges() {
                    assert_eq!(again.ends(edge), evaluator.tree().ends(edge));
                }
                if step % 3 == 0 {
                    evaluator.optimize_around(&mut moved, step % 2, 1e-4).unwrap();
                }
                let _ = evaluator.log_likelihood().unwrap();
                evaluator.assert_clvs();
                if step % 2 == 0 {
                    evaluator.undo_move(moved);
                    evaluator.assert_integrity();
                    assert!(close(evaluator.log_likelihood().unwrap(), before));
                    evaluator.assert_clvs();
                    evaluator.forget();
                    let after = evaluator.log_likelihood().unwrap();
                    assert!(close(after, before));
                }
            }
        }
    }
}

#[test]
fn optimised_branches_are_a_maximum_and_never_worse() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked] {
        let case = mixed_case(60, 9);
        let mut evaluator = case.evaluator(linkage);
        vary_scalers(&mut evaluator, 6);
        let start = evaluator.log_likelihood().unwrap();
        let options = BranchOptions { max_sweeps: 50, lnl_epsilon: 1e-7, gain_tolerance: 1e-10 };
        let best = evaluator.optimize_branches(&options).unwrap();
        assert!(best > start);
        evaluator.forget();
        assert!(close(evaluator.log_likelihood().unwrap(), best));
        if linkage != BrlenLinkage::Unlinked {
            for edge in evaluator.tree().clone().edges() {
                let length = evaluator.tree().brlen(edge);
                for factor in [0.99, 1.01] {
                    let other = length * factor;
                    if other > BRLEN_BOUNDS[0] {
                        evaluator.set_brlen(edge, other);
                        assert!(
                            evaluator.log_likelihood().unwrap() <= best + 1e-6,
                            "{edge:?} x {factor}"
                        );
                    }
                }
                evaluator.set_brlen(edge, length);
            }
        }
    }
}

#[test]
fn deep_trees_do_not_underflow() {
    // 1100 taxa: scaler counts per rate category; 700: per pattern.
    for num_taxa in [700, 1100] {
        let case = random_case(5, num_taxa, &[(num_taxa, 30, GTR), (num_taxa, 30, HKY_I)]);
        let mut evaluator = case.evaluator(BrlenLinkage::Linked);
        let lnl = evaluator.log_likelihood().unwrap();
        assert!(lnl.is_finite() && lnl < -1000.0);
        for edge in [5, 500, 1000] {
            evaluator.set_virtual_root(0, EdgeId(edge));
            evaluator.set_virtual_root(1, EdgeId(edge));
            assert!(close(evaluator.log_likelihood().unwrap(), lnl));
        }
        let options = BranchOptions { max_sweeps: 1, lnl_epsilon: 1.0, gain_tolerance: 1e-3 };
        let better = evaluator.optimize_branches(&options).unwrap();
        evaluator.forget();
        assert!(better > lnl && close(evaluator.log_likelihood().unwrap(), better));
    }
}

/// A case of which two of three inner branches have no length. Where partitions have their own lengths, few taxa are
/// missing, because a partition's branch of which only a part has no length has a length.
fn case_with_polytomies(seed: u64, linkage: BrlenLinkage) -> Case {
    let complete = [(16, 300, GTR), (16, 40, HKY_I), (15, 137, GTR), (1, 5, GTR), (0, 0, GTR)];
    let mut case = match linkage {
        BrlenLinkage::Unlinked => random_case(seed, 16, &complete),
        _ => mixed_case(seed, 16),
    };
    for (i, edge) in inner_edges(&case.tree).into_iter().enumerate() {
        if !(i + seed as usize).is_multiple_of(3) {
            case.tree.set_brlen(edge, BRLEN_BOUNDS[0]);
        }
    }
    case
}

const LINKAGES: [BrlenLinkage; 3] =
    [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked];

fn inner_edges(tree: &Tree) -> Vec<EdgeId> {
    let is_inner = |edge: &EdgeId| tree.ends(*edge).iter().all(|&end| !tree.is_tip(end));
    tree.edges().filter(is_inner).collect()
}

#[test]
fn subtrees_are_swapped_in_all_trees_and_back() {
    for linkage in LINKAGES {
        let case = mixed_case(5, 16);
        let mut evaluator = case.evaluator(linkage);
        let before = evaluator.partition_log_likelihoods().unwrap();
        let tree = evaluator.tree().clone();
        for edge in inner_edges(&tree) {
            let [first, second] = tree.ends(edge).map(|end| tree.other_links(end, edge)[0].1);
            evaluator.swap_subtrees(edge, first, second);
            evaluator.assert_integrity();
            let swapped = evaluator.partition_log_likelihoods().unwrap();
            evaluator.assert_clvs();
            assert!(swapped[0] != before[0] && swapped[7] == before[7], "{linkage:?}, {edge:?}");
            evaluator.swap_subtrees(edge, second, first);
            evaluator.assert_integrity();
            assert!(
                *evaluator.tree() == tree || crate::tree::same_topology(evaluator.tree(), &tree)
            );
            let after = evaluator.partition_log_likelihoods().unwrap();
            let same = after.iter().zip(&before).all(|(&a, &b)| close(a, b));
            assert!(same, "{linkage:?}, {edge:?}: {after:?} not {before:?}");
        }
    }
}

/// The likelihood of every partition depends on the resolution only through branches of minimum length.
#[test]
fn the_canonical_resolution_keeps_all_other_branches_and_the_likelihood() {
    for (seed, linkage) in (0..4).flat_map(|seed| LINKAGES.map(|linkage| (seed, linkage))) {
        let case = case_with_polytomies(seed, linkage);
        let mut evaluator = case.evaluator(linkage);
        let before = evaluator.partition_log_likelihoods().unwrap();
        let unresolved = evaluator.edges_without_length();
        let lengths = |evaluator: &Evaluator| -> Vec<Vec<u64>> {
            let sorted = |partition: usize| {
                let (tree, _) = evaluator.partition_tree(partition);
                let mut lengths: Vec<f64> = tree.edges().map(|edge| tree.brlen(edge)).collect();
                // Sums along paths with more or fewer edges of minimum length are the same but for these.
                lengths.sort_by(f64::total_cmp);
                lengths.iter().map(|length| (length * 1e3).round() as u64).collect()
            };
            (0..evaluator.num_partitions()).map(sorted).collect()
        };
        let lengths_before = lengths(&evaluator);
        assert!(inner_edges(evaluator.tree()).iter().any(|edge| unresolved[edge.index()]));
        evaluator.resolve_polytomies(&unresolved, None);
        evaluator.assert_integrity();
        let once = evaluator.tree().clone();
        let after = evaluator.partition_log_likelihoods().unwrap();
        evaluator.assert_clvs();
        assert_eq!(lengths(&evaluator), lengths_before, "seed {seed}, {linkage:?}");
        for (partition, (after, before)) in after.iter().zip(&before).enumerate() {
            assert!(
                (after - before).abs() < 0.05,
                "seed {seed}, partition {partition}: {after} not {before}"
            );
        }
        // Swaps across branches without length are undone by the canonical resolution.
        for edge in inner_edges(&once).into_iter().filter(|edge| unresolved[edge.index()]) {
            let tree = evaluator.tree();
            let [first, second] = tree.ends(edge).map(|end| tree.other_links(end, edge)[1].1);
            evaluator.swap_subtrees(edge, first, second);
        }
        evaluator.resolve_polytomies(&unresolved, None);
        assert!(crate::tree::same_topology(evaluator.tree(), &once), "seed {seed}, {linkage:?}");
    }
}

#[test]
fn another_tree_keeps_what_has_not_changed() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked] {
        let case = mixed_case(50, 13);
        let mut evaluator = case.evaluator(linkage);
        let mut rng = stream(0, Purpose::Test, 2);
        // How many CLVs are still valid, by the way in which the evaluator got the tree.
        let mut kept = [0; 4];
        for step in 0..20 {
            let before = evaluator.snapshot();
            let lnl = evaluator.log_likelihood().unwrap();
            let tree = evaluator.tree().clone();
            let attach = NodeId(rng.random_range(13..tree.num_nodes() as u32));
            let pendant = tree.links(attach).nth(rng.random_range(0..3)).unwrap().1;
            if let Some(&target) = candidates(&tree, attach, pendant).first() {
                let mut moved = evaluator.move_subtree(attach, pendant, target);
                evaluator.optimize_around(&mut moved, 1, 1e-4).unwrap();
                let _ = evaluator.log_likelihood().unwrap();
            }
            if linkage == BrlenLinkage::Scaled && step % 4 == 0 {
                evaluator.set_brlen_scaler(0, 0.5 + 0.1 * f64::from(step));
            }
            let models: Vec<Model> =
                evaluator.partitions.iter().map(|state| state.model.clone()).collect();
            match step % 4 {
                1 => evaluator.return_to(&before),
                2 => evaluator.resume(&before, &models),
                3 if linkage != BrlenLinkage::Unlinked => evaluator.set_tree(tree),
                _ => evaluator.restore(&before),
            }
            kept[step as usize % 4] += evaluator.partitions.iter().fold(0, |count, state| {
                let tree = state.tree.tree();
                let inner = tree.nodes().filter(|&node| !tree.is_tip(node));
                count + inner.filter(|&node| state.tree.is_valid(node)).count()
            });
            evaluator.assert_integrity();
            // Compares the CLVs that are still valid with new ones.
            evaluator.assert_clvs();
            assert!(close(evaluator.log_likelihood().unwrap(), lnl));
        }
        assert!(kept.iter().all(|&kept| kept > 0), "{linkage:?}: {kept:?}");
    }
}

#[test]
fn some_edges_are_optimised_and_no_others() {
    for linkage in LINKAGES {
        let case = mixed_case(7, 16);
        let mut evaluator = case.evaluator(linkage);
        let some: Vec<EdgeId> = evaluator.tree().edges().step_by(3).collect();
        // The edges of a partition's tree on which these lie.
        let images = |evaluator: &Evaluator, partition: usize| -> Vec<EdgeId> {
            let restriction = &evaluator.restrictions[evaluator.partitions[partition].set];
            let on_path = some
                .iter()
                .filter(|&&edge| restriction.taxa().len() >= 2 && restriction.is_on_path(edge));
            on_path.map(|&edge| restriction.image(edge).edge).collect()
        };
        let before = evaluator.snapshot();
        let lnl = evaluator.log_likelihood().unwrap();
        evaluator.optimize_edges(&some, 1e-6).unwrap();
        evaluator.assert_integrity();
        evaluator.assert_clvs();
        let better = evaluator.log_likelihood().unwrap();
        assert!(better > lnl + 1.0, "{linkage:?}: {better}, before {lnl}");
        let own = linkage.has_own_lengths();
        // At the end, none of these lengths can be improved.
        (0..60).for_each(|_| evaluator.optimize_edges(&some, 1e-9).unwrap());
        let end = evaluator.log_likelihood().unwrap();
        for &edge in some.iter().filter(|_| !own) {
            let length = evaluator.tree().brlen(edge);
            for factor in [0.8, 1.25] {
                evaluator.set_brlen(edge, (factor * length).max(BRLEN_BOUNDS[0]));
                let lnl = evaluator.log_likelihood().unwrap();
                assert!(lnl < end + 1e-4, "{linkage:?}, {edge:?}: {lnl}, not {end}");
            }
            evaluator.set_brlen(edge, length);
        }
        for edge in evaluator.tree().edges().filter(|edge| own || !some.contains(edge)) {
            assert_eq!(evaluator.tree().brlen(edge), before.tree().brlen(edge), "{linkage:?}");
        }
        let fresh = case.evaluator(linkage);
        for partition in (0..evaluator.num_partitions()).filter(|_| own) {
            let images = images(&evaluator, partition);
            let (now, then) =
                (evaluator.partition_tree(partition).0, fresh.partition_tree(partition).0);
            for edge in now.edges().filter(|edge| !images.contains(edge)) {
                assert_eq!(now.brlen(edge), then.brlen(edge), "partition {partition}");
            }
        }
    }
}
