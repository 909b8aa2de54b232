//! One round of subtree pruning and regrafting from a parsimony tree.

mod partitions;

use criterion::Criterion;
use mlsearch::alignment::read_alignment;
use mlsearch::likelihood::{BranchOptions, BrlenLinkage};
use mlsearch::parsimony::ParsimonyData;
use mlsearch::partition::{Partition, whole_alignment};
use mlsearch::rng::Purpose;
use mlsearch::search::schedule::{FAST, ROUND_TOLERANCE};
use mlsearch::search::{Changed, RoundResult, parsimony_start, spr_round};
use partitions::{Shape, build_partitions, evaluator, simulate};
use std::path::Path;
use std::time::{Duration, Instant};

const MEDIUM: Shape =
    Shape { num_taxa: 100, num_partitions: 1, sites_per_partition: 1000, missing: 0.0 };

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/primates.phy");
    let primates = read_alignment(&file).expect("a data set of this repository");
    let defs = whole_alignment(primates.num_sites(), "");
    bench_round(
        &mut criterion,
        "primates",
        &build_partitions(&primates, defs),
        primates.num_taxa(),
    );
    bench_round(&mut criterion, "100 taxa", &simulate(&MEDIUM).1, MEDIUM.num_taxa);
    criterion.final_summary();
}

fn bench_round(criterion: &mut Criterion, name: &str, partitions: &[Partition], num_taxa: usize) {
    let data = ParsimonyData::of_partitions(num_taxa, partitions);
    let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
    let mut evaluator = evaluator(partitions, &tree, BrlenLinkage::Linked, 1);
    let options =
        BranchOptions { max_sweeps: 10, lnl_epsilon: 1.0, gain_tolerance: ROUND_TOLERANCE };
    evaluator.optimize_branches(&options).expect("an engine");
    let start = evaluator.snapshot();
    let mut round = || -> (RoundResult, Duration) {
        evaluator.restore(&start);
        let before = evaluator.log_likelihood().expect("an engine");
        let mut changed = Changed::all(evaluator.tree());
        let started = Instant::now();
        let result = spr_round(&mut evaluator, &data, &FAST, &mut changed).expect("an engine");
        let time = started.elapsed();
        assert!(result.lnl >= before, "from {before} to {}", result.lnl);
        assert!(result.scored > 0, "nothing was tried");
        // What the round says is what a computation from nothing finds.
        evaluator.forget();
        let fresh = evaluator.log_likelihood().expect("an engine");
        assert!((fresh - result.lnl).abs() <= 1e-9 * fresh.abs(), "{fresh}, not {}", result.lnl);
        (result, time)
    };
    let (first, _) = round();
    criterion.bench_function(&format!("SPR round/{name}"), |b| {
        b.iter_custom(|iterations| {
            let times = (0..iterations).map(|_| {
                let (result, time) = round();
                assert_eq!(result, first, "every run of the round gives the same bits");
                time
            });
            times.sum()
        });
    });
}
