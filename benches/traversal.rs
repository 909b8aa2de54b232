//! Full traversal and branch-length optimisation: over threads on an alignment without gaps, and
//! restricted against unrestricted on a gappy one.

mod comparison;
mod partitions;

use comparison::{FIXED_SWEEPS, assert_close, compare, is_test_run, print_head, unrestricted};
use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use mlsearch::likelihood::{BrlenLinkage, Evaluator};
use mlsearch::parallel::available_cores;
use partitions::{Shape, evaluator, simulate};
use std::time::{Duration, Instant};

const FULL: Shape =
    Shape { num_taxa: 80, num_partitions: 1, sites_per_partition: 6000, missing: 0.0 };
const GAPPY: Shape =
    Shape { num_taxa: 150, num_partitions: 10, sites_per_partition: 300, missing: 0.7 };

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    over_threads(&mut criterion);
    over_restriction(&mut criterion);
    criterion.final_summary();
}

fn over_threads(criterion: &mut Criterion) {
    let (tree, partitions) = simulate(&FULL);
    let mut group = criterion.benchmark_group("full alignment");
    let num_patterns = partitions[0].patterns.num_patterns();
    group.throughput(Throughput::Elements((num_patterns * (FULL.num_taxa - 2)) as u64));
    let mut want = None;
    for threads in 1..=available_cores() {
        let mut evaluator = evaluator(&partitions, &tree, BrlenLinkage::Linked, threads);
        let lnls = measure(&mut group, &format!("{threads} threads"), &mut evaluator);
        assert_eq!(*want.get_or_insert(lnls), lnls, "{threads} threads against one");
    }
    group.finish();
}

fn over_restriction(criterion: &mut Criterion) {
    let (tree, partitions) = simulate(&GAPPY);
    let all = unrestricted(&partitions, tree.num_tips());
    let mut group = criterion.benchmark_group("gappy alignment");
    let [ours, theirs] = [("restricted", &partitions), ("unrestricted", &all)].map(|(name, p)| {
        let mut evaluator = evaluator(p, &tree, BrlenLinkage::Unlinked, 1);
        measure(&mut group, name, &mut evaluator)[0]
    });
    assert_close(ours, theirs);
    group.finish();
    print_head();
    let repetitions = if is_test_run() { 1 } else { 5 };
    compare("simulated", &tree, &partitions, repetitions, None);
}

/// Both measurements with one evaluator. Every repetition must give the same bits; the two
/// log-likelihoods are returned.
fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    evaluator: &mut Evaluator,
) -> [f64; 2] {
    let start = evaluator.snapshot();
    evaluator.forget();
    let lnl = evaluator.log_likelihood().expect("an engine");
    group.bench_function(format!("traversal/{name}"), |b| {
        b.iter(|| {
            evaluator.forget();
            assert_eq!(evaluator.log_likelihood().expect("an engine"), lnl);
        });
    });
    let mut optimise = || {
        evaluator.restore(&start);
        let before = evaluator.log_likelihood().expect("an engine");
        assert_close(before, lnl);
        let started = Instant::now();
        let after = evaluator.optimize_branches(&FIXED_SWEEPS).expect("an engine");
        let time = started.elapsed();
        assert!(after > before, "optimised from {before} to {after}");
        (after, time)
    };
    let (optimised, _) = optimise();
    group.bench_function(format!("branch lengths/{name}"), |b| {
        b.iter_custom(|iterations| {
            let times = (0..iterations).map(|_| {
                let (lnl, time) = optimise();
                assert_eq!(lnl, optimised);
                time
            });
            times.sum()
        });
    });
    [lnl, optimised]
}
