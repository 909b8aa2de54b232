//! What every engine must compute: a suite that takes an engine's constructor, goes through every verb on
//! every type of data, and compares the numbers with those of another engine.

use mlsearch::conformance::{
    self, CASES, Case, CaseShape, Found, GTR, HKY_I, Lengths, WIDE_CASES, some_of,
};
use mlsearch::likelihood::cpu::{CpuEngine, select_kernels};
use mlsearch::likelihood::distributed::Engines;
use mlsearch::likelihood::engine::{Engine, PartitionData};
use mlsearch::likelihood::select::{INSTRUCTION_SETS, choose_engine, make_engine};
use mlsearch::likelihood::{BrlenLinkage, EngineOptions, Evaluator, NodeStates, ScorePrecision};
use mlsearch::mpi::{Ranks, Subject, as_threads, follow};
use mlsearch::tree::NodeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Makes an engine for the data of some partitions.
type Constructor<'a> = &'a dyn Fn(&[PartitionData]) -> Box<dyn Engine>;

/// Every verb on a case, with what must hold for each engine: jobs alone have the numbers that they have in a batch, and no vector
/// is taken to be valid that is not.
fn everything(case: &Case, linkage: BrlenLinkage, make: Constructor) -> Found {
    let check = |evaluator: &mut Evaluator| {
        evaluator.assert_clvs();
        evaluator.assert_integrity();
    };
    let found = conformance::everything(case, linkage, make(&case.data()), check);
    let found = found.expect("an engine");
    assert_batches(&found);
    found
}

fn assert_batches(found: &Found) {
    for what in ["score", "trial", "lengths of a trial"] {
        // Both without and with another length of the merged branch.
        let [alone, batch] = [found.lists(what), found.lists(&format!("{what} in a batch"))];
        assert!(!alone.is_empty() && alone == batch, "{what} alone and in a batch");
    }
}

/// Most by which a score in single precision may differ for each site (log units).
const SINGLE_TOLERANCE: f64 = 1e-6;

fn options(name: Option<&'static str>, set: Option<&'static str>, threads: usize) -> EngineOptions {
    EngineOptions { name, instruction_set: set, threads, ..EngineOptions::default() }
}

fn made(options: EngineOptions) -> impl Fn(&[PartitionData]) -> Box<dyn Engine> {
    move |data| make_engine(data, &options).expect("an engine")
}

/// Everything on one thread of the processor, with which other engines are compared: computed once for all tests.
fn on_one_thread(shape: &CaseShape, case: &Case, linkage: BrlenLinkage) -> &'static Found {
    type Known = BTreeMap<String, &'static OnceLock<Found>>;
    static KNOWN: Mutex<Known> = Mutex::new(Known::new());
    let found: &OnceLock<Found> = {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{}, {linkage:?}", shape.name);
        known.entry(key).or_insert_with(|| Box::leak(Box::default()))
    };
    found.get_or_init(|| everything(case, linkage, &made(options(None, None, 1))))
}

/// The ways to share lengths with which a test computes the case of this number: one, another for the next case, unless all cases
/// are asked for. Tests begin at different numbers.
fn linkages(shape: &CaseShape, number: usize) -> impl Iterator<Item = &'static BrlenLinkage> {
    let all = shape.linkages();
    some_of(all, number % all.len(), all.len())
}

#[test]
fn the_engine_computes_what_textbook_formulas_give() {
    for (number, shape) in CASES.iter().enumerate().filter(|(_, shape)| !shape.is_deep()) {
        let (name, case) = (shape.name, Case::new(shape));
        for &linkage in linkages(shape, number) {
            let want = everything(&case, linkage, &made(options(Some("naive"), None, 1)));
            let got = on_one_thread(shape, &case, linkage);
            assert_eq!(got.numbers().count(), want.numbers().count());
            for ((what, got), (_, want)) in got.numbers().zip(want.numbers()) {
                // Where a likelihood is flat, the length at its maximum may be another.
                if what.starts_with("lengths") {
                    continue;
                }
                // Likelihoods at optimised lengths end within their tolerance of each other.
                let is_exact = what.starts_with("likelihood") || what.starts_with("score");
                let tolerance = if is_exact { 1e-8 } else { 1e-4 };
                let close = (got - want).abs() <= tolerance * want.abs().max(1.0);
                assert!(close, "{name}, {linkage:?}, {what}: {got}, not {want}");
            }
        }
    }
}

#[test]
fn deep_trees_have_the_likelihoods_of_textbook_formulas() {
    for shape in CASES.iter().filter(|shape| shape.is_deep()) {
        let (name, case) = (shape.name, Case::new(shape));
        let found = |name| {
            let engine = made(options(name, None, 1))(&case.data());
            let mut evaluator = case.evaluator(BrlenLinkage::Linked, engine);
            let lnls = evaluator.partition_log_likelihoods().expect("an engine");
            let states = NodeStates::new(&mut evaluator).at(NodeId(shape.num_taxa as u32 + 20));
            let states = states.expect("an engine").into_iter().flatten().flatten();
            let states: Vec<f64> = states.collect();
            let mut gradients = Found::default();
            conformance::gradients(&mut evaluator, &mut gradients).expect("an engine");
            (lnls, states, gradients)
        };
        let (got, got_states, got_gradients) = found(None);
        let (want, want_states, want_gradients) = found(Some("naive"));
        for (got, want) in got.into_iter().zip(want) {
            assert!((got / want - 1.0).abs() < 1e-10, "{name}: {got}, not {want}");
        }
        assert!(!got_states.is_empty() && got_states.len() == want_states.len());
        for (got, want) in got_states.into_iter().zip(want_states) {
            assert!((got - want).abs() < 1e-10, "{name}: {got}, not {want}");
        }
        assert!(got_gradients.numbers().count() > 0);
        assert_eq!(got_gradients.numbers().count(), want_gradients.numbers().count());
        for ((what, got), (_, want)) in got_gradients.numbers().zip(want_gradients.numbers()) {
            let close = (got - want).abs() <= 1e-8 * want.abs().max(1.0);
            assert!(close, "{name}, {what}: {got}, not {want}");
        }
    }
}

/// Bytes for CLVs of a deep tree with which some are forgotten. With fewer, each is made from hundreds of others.
const DEEP_CLV_BYTES: u64 = 100_000;

/// Bytes for CLVs when there should be as few as this.
fn few_clv_bytes(shape: &CaseShape, bytes: u64) -> u64 {
    if shape.is_deep() { bytes.max(DEEP_CLV_BYTES) } else { bytes }
}

/// Compares what two engines have found.
fn assert_same_bits(got: &Found, want: &Found, case: &str) {
    assert_eq!(got.numbers().count(), want.numbers().count(), "{case}");
    for ((what, got), (_, want)) in got.numbers().zip(want.numbers()) {
        assert!(got.to_bits() == want.to_bits(), "{case}, {what}: {got}, not {want}");
    }
}

/// The kernels without vector instructions take most of the time, and have what one thread computes with the widest ones to agree
/// with: they run once, on several threads.
#[test]
fn every_instruction_set_and_number_of_threads_gives_the_same_bits() {
    for (number, shape) in CASES.iter().enumerate() {
        let (name, case) = (shape.name, Case::new(shape));
        for &linkage in linkages(shape, number + 1) {
            let want = on_one_thread(shape, &case, linkage);
            for &set in INSTRUCTION_SETS {
                let threads = if set == "scalar" { &[3][..] } else { &[1, 2] };
                for options in threads.iter().map(|&threads| options(None, Some(set), threads)) {
                    if choose_engine(&options).is_err() {
                        continue;
                    }
                    let got = everything(&case, linkage, &made(options));
                    assert_same_bits(&got, want, &format!("{name}, {linkage:?}, {options:?}"));
                }
            }
        }
    }
}

/// The engine of the CPU with a row for each pattern.
fn without_repeats(data: &[PartitionData]) -> Box<dyn Engine> {
    let kernels = select_kernels(None).expect("an instruction set");
    Box::new(CpuEngine::new(data, kernels, 1).expect("an engine").without_repeats())
}

#[test]
fn repeated_patterns_have_the_same_bits_as_if_each_was_computed() {
    for (number, shape) in CASES.iter().enumerate() {
        let (name, case) = (shape.name, Case::new(shape));
        for &linkage in linkages(shape, number + 2) {
            let want = everything(&case, linkage, &without_repeats);
            assert_same_bits(
                on_one_thread(shape, &case, linkage),
                &want,
                &format!("{name}, {linkage:?}"),
            );
            let got = everything(&case, linkage, &made(options(None, None, 3)));
            assert_same_bits(&got, &want, &format!("{name}, {linkage:?}, 3 threads"));
        }
    }
}

#[test]
fn clvs_that_are_forgotten_and_computed_again_have_the_same_bits() {
    for (number, shape) in CASES.iter().enumerate() {
        let (name, case) = (shape.name, Case::new(shape));
        for &linkage in linkages(shape, number) {
            let want = on_one_thread(shape, &case, linkage);
            let ways = [(1, 1), (20_000, 3), (200_000, 1)];
            for &(clv_bytes, threads) in some_of(&ways, number % ways.len(), ways.len()) {
                let clv_bytes = Some(few_clv_bytes(shape, clv_bytes));
                let limited = EngineOptions { clv_bytes, ..options(None, None, threads) };
                let got = everything(&case, linkage, &made(limited));
                assert_same_bits(&got, want, &format!("{name}, {linkage:?}, {limited:?}"));
            }
        }
    }
}

/// Partitions that are divided among ranks, and others that are not.
const CASES_FOR_RANKS: &[CaseShape] = &[
    CaseShape::new("many patterns", 20, &[(GTR, 20, 2000)]),
    CaseShape::new(
        "a large partition and small ones",
        14,
        &[
            ("JC", 5, 30),
            (GTR, 14, 1500),
            (HKY_I, 9, 400),
            ("LG+G4{0.7}", 14, 150),
            ("HKY{2}+FU{0.3/0.2/0.2/0.3}+ASC_LEWIS", 12, 700),
            (GTR, 4, 60),
        ],
    ),
];

/// Everything on so many ranks with so many threads each.
fn on_ranks(case: &Case, linkage: BrlenLinkage, num_ranks: usize, threads: usize) -> Found {
    let work = |ranks: Ranks| {
        if !ranks.leads() {
            let mut engines = Engines::default();
            follow(ranks, &mut [(Subject::Likelihood, &mut engines)]);
            return None;
        }
        let shared = EngineOptions { ranks: Some(ranks), ..options(None, None, threads) };
        let found = everything(case, linkage, &made(shared));
        ranks.end();
        Some(found)
    };
    as_threads(num_ranks, work).into_iter().flatten().next().expect("rank 0")
}

#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    let cases = CASES.iter().chain(CASES_FOR_RANKS);
    for (number, shape) in cases.enumerate() {
        let (name, case) = (shape.name, Case::new(shape));
        for &linkage in linkages(shape, number + 1) {
            let want = on_one_thread(shape, &case, linkage);
            for &(num_ranks, threads) in some_of(&[(2, 1), (1, 1), (4, 1), (3, 2)], number % 2, 2) {
                let got = on_ranks(&case, linkage, num_ranks, threads);
                let case = format!("{name}, {linkage:?}, {num_ranks} ranks with {threads} threads");
                assert_same_bits(&got, want, &case);
            }
        }
    }
}

/// Proteins whose patterns have frequencies of their own: partitions of several blocks, of less than one, of two taxa and of one.
const CASES_OF_SITE_FREQUENCIES: &[CaseShape] = &[CaseShape::new(
    "site frequencies",
    9,
    &[("LG+G4{0.7}", 9, 200), ("WAG+I{0.2}+G3{0.5}", 6, 30), ("LG", 2, 9), ("JTT", 1, 4)],
)];

#[test]
fn frequencies_of_patterns_have_the_same_bits_on_any_number_of_threads_and_ranks() {
    for shape in CASES_OF_SITE_FREQUENCIES {
        let case = Case::new(shape).with_site_frequencies();
        for &linkage in shape.linkages() {
            let want = everything(&case, linkage, &made(options(None, None, 1)));
            let got = everything(&case, linkage, &made(options(None, None, 3)));
            assert_same_bits(&got, &want, &format!("{linkage:?}, 3 threads"));
            for (num_ranks, threads) in [(2, 1), (4, 2)] {
                let got = on_ranks(&case, linkage, num_ranks, threads);
                let case = format!("{linkage:?}, {num_ranks} ranks with {threads} threads");
                assert_same_bits(&got, &want, &case);
            }
        }
    }
}

/// The GPUs of this machine or of the stand-in of `cuda_stand_in.rs`; `None` if there are none.
fn gpus() -> Option<EngineOptions> {
    let given = std::env::var("MLSEARCH_TEST_GPUS").ok();
    let gpus = given.map_or(0, |bits| bits.parse().expect("bits of GPUs"));
    let clv_bytes = std::env::var("MLSEARCH_TEST_CLV_BYTES").ok();
    let clv_bytes = clv_bytes.map(|bytes| bytes.parse().expect("a number of bytes"));
    let on_gpus = EngineOptions { gpus, clv_bytes, ..options(Some("cuda"), None, 1) };
    match choose_engine(&on_gpus) {
        Ok(_) => Some(on_gpus),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

/// Cases for GPUs with their numbers: with a number in `MLSEARCH_TEST_THIRD`, every third from that one on, unless all are asked for.
fn cases_for_gpus<'a>(cases: impl Iterator<Item = &'a CaseShape>) -> Vec<(usize, &'a CaseShape)> {
    let third = std::env::var("MLSEARCH_TEST_THIRD").ok();
    let third: Option<usize> = third.map(|third| third.parse().expect("a number"));
    let numbered: Vec<_> = cases.enumerate().collect();
    match third {
        None => numbered,
        Some(third) => some_of(&numbered, third, 3).copied().collect(),
    }
}

#[test]
fn gpus_give_the_bits_of_the_processor() {
    let Some(on_gpus) = gpus() else { return };
    for (number, shape) in cases_for_gpus(CASES.iter()) {
        let (name, case) = (shape.name, Case::new(shape));
        for &linkage in linkages(shape, number) {
            let want = on_one_thread(shape, &case, linkage);
            let clv_bytes = on_gpus.clv_bytes.map(|bytes| few_clv_bytes(shape, bytes));
            let got = everything(&case, linkage, &made(EngineOptions { clv_bytes, ..on_gpus }));
            assert_same_bits(&got, want, &format!("{name}, {linkage:?}, GPUs"));
            println!("{name}, {linkage:?}: {} numbers have the same bits", got.numbers().count());
        }
    }
}

/// More partitions for scores in single precision: proteins and codons of several blocks.
const SINGLE_CASES: &[CaseShape] = &[
    CaseShape::new("proteins", 12, &[("LG+G4{0.7}", 12, 300)]),
    CaseShape::new("codons", 9, &[("GY{2/0.3}+FE+G2{0.7}", 9, 200)]),
    CaseShape::new("many patterns", 20, &[(GTR, 20, 2000)]),
    // Sequences of long branches on short ones.
    CaseShape::new("improbable", 16, &[(GTR, 16, 150), ("LG", 16, 60), ("JC", 9, 40)])
        .with(Lengths::Short),
];

/// Scores of single precision differ by little from those of double precision, relative to the number of sites; trials and
/// moves have the same bits. What is printed of the bits must be the same for any grid and number of GPUs (`cuda_stand_in.rs`).
#[test]
fn scores_in_single_precision_are_close_and_nothing_else_changes() {
    let Some(on_gpus) = gpus() else { return };
    let single = EngineOptions { score_precision: ScorePrecision::Single, ..on_gpus };
    for (number, shape) in cases_for_gpus(CASES.iter().chain(SINGLE_CASES)) {
        let (name, case) = (shape.name, Case::new(shape));
        let num_sites = case.num_sites();
        let linkages = match case.partitions.len() {
            1 => &[BrlenLinkage::Linked][..],
            _ => &[BrlenLinkage::Linked, BrlenLinkage::Unlinked],
        };
        for &linkage in some_of(linkages, number % linkages.len(), linkages.len()) {
            let clv_bytes = single.clv_bytes.map(|bytes| few_clv_bytes(shape, bytes));
            let on_gpus = EngineOptions { clv_bytes, ..single };
            let [want, got] = [options(None, None, 1), on_gpus].map(|options| {
                let engine = made(options)(&case.data());
                let mut evaluator = case.evaluator(linkage, engine);
                let mut found = Found::default();
                conformance::regrafts(&mut evaluator, &mut found).expect("an engine");
                evaluator.assert_clvs();
                evaluator.assert_integrity();
                assert_batches(&found);
                found
            });
            let (mut largest, mut bits, mut equal) = (0.0_f64, 0_u64, 0);
            for ((what, got), (_, want)) in got.numbers().zip(want.numbers()) {
                let place = format!("{name}, {linkage:?}, {what}: {got}, not {want}");
                if !what.starts_with("score") {
                    assert!(got.to_bits() == want.to_bits(), "{place}");
                    continue;
                }
                largest = largest.max((got - want).abs());
                assert!((got - want).abs() <= SINGLE_TOLERANCE * num_sites.max(1.0), "{place}");
                bits = bits.rotate_left(5) ^ got.to_bits();
                equal += usize::from(got.to_bits() == want.to_bits());
            }
            println!("single: {name}, {linkage:?}, {equal} equal, {largest:.1e}, {bits:x}");
        }
    }
}

/// What only `gpu-selftest` takes is what it says, and the processor can compute it.
#[test]
fn wide_cases_are_what_they_say_and_any_number_of_threads_gives_the_same_bits() {
    for shape in WIDE_CASES.iter().filter(|shape| !shape.is_deep()) {
        let case = Case::new(shape);
        if shape.name.starts_with("more than 128 blocks") {
            let patterns = case.partitions.iter().map(|partition| partition.data.num_patterns());
            assert!(patterns.max() > Some(128 * 128), "{}", shape.name);
            continue;
        }
        let found = [1, 3].map(|threads| {
            everything(&case, BrlenLinkage::Linked, &made(options(None, None, threads)))
        });
        assert_same_bits(&found[1], &found[0], shape.name);
    }
}

/// The cases whose names have one of these words (`MLSEARCH_CASES`, with `;` between them; otherwise all), also those for which the
/// stand-in takes long, with the seconds of processor and GPU.
#[test]
#[ignore = "takes minutes"]
fn gpus_give_the_bits_of_the_processor_on_wide_cases_which_may_take_minutes() {
    let Some(on_gpus) = gpus() else { return };
    let words = std::env::var("MLSEARCH_CASES").unwrap_or_default();
    let is_asked =
        |shape: &&CaseShape| words.split(';').any(|words| shape.name.contains(words.trim()));
    for shape in CASES.iter().chain(WIDE_CASES).filter(is_asked) {
        let case = Case::new(shape);
        for &linkage in shape.linkages() {
            let timed = |options| {
                let start = Instant::now();
                (everything(&case, linkage, &made(options)), start.elapsed().as_secs_f64())
            };
            let ((want, own), (got, gpu)) = (timed(options(None, None, 2)), timed(on_gpus));
            println!("{}, {linkage:?}: {own:.2} s, on GPUs {gpu:.2} s", shape.name);
            assert_same_bits(&got, &want, &format!("{}, {linkage:?}", shape.name));
        }
    }
}
