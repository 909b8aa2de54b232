//! What every engine must compute: a suite that takes an engine's constructor, goes through every verb on
//! every type of data, and compares the numbers with those of another engine.

use mlsearch::likelihood::cpu::{CpuEngine, select_kernels};
use mlsearch::likelihood::distributed::Engines;
use mlsearch::likelihood::engine::{Engine, PartitionData};
use mlsearch::likelihood::select::{INSTRUCTION_SETS, choose_engine, make_engine};
use mlsearch::likelihood::{
    BranchOptions, BrlenLinkage, EngineOptions, Evaluator, Gamma, GammaPrior, NodeStates,
    ScorePrecision,
};
use mlsearch::model::Model;

use mlsearch::mpi::{Ranks, Subject, as_threads, follow};
use mlsearch::rng::{Purpose, Rng, stream};
use mlsearch::simulate::{sample_partition, yule_tree};
use mlsearch::tree::{EdgeId, NodeId, Tree};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Makes an engine for the data of some partitions.
type Constructor<'a> = &'a dyn Fn(&[PartitionData]) -> Box<dyn Engine>;

/// A tree with partitions, each over some of the taxa.
struct Case {
    name: &'static str,
    tree: Tree,
    partitions: Vec<(PartitionData, Vec<usize>, Model)>,
}

/// A partition: model, number of taxa, number of sites.
type Shape = (&'static str, usize, usize);

const GTR: &str = "GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}";
const HKY_I: &str = "HKY{2.5}+FU{0.1/0.4/0.3/0.2}+I{0.2}+G3{0.8}";

/// Data types, mixtures, corrections of ascertainment bias, partitions of every size, several blocks of
/// patterns, and trees so deep that CLVs are scaled (above 1 000 taxa per rate category).
const CASES: &[(&str, usize, &[Shape])] = &[
    ("DNA, one gene", 9, &[(GTR, 9, 300)]),
    ("DNA, one taxon has no data", 8, &[(GTR, 7, 60)]),
    (
        "DNA, gappy",
        11,
        &[
            (GTR, 11, 200),
            (HKY_I, 7, 40),
            (GTR, 5, 137),
            ("JC", 4, 20),
            (GTR, 3, 9),
            (HKY_I, 2, 12),
            (GTR, 1, 5),
            (GTR, 0, 0),
        ],
    ),
    (
        "mixed types",
        8,
        &[
            (HKY_I, 8, 90),
            ("LG+G4{0.7}", 6, 30),
            ("BIN+FU{0.3/0.7}+G3{0.4}", 7, 40),
            ("MULTI7_MK+FE", 5, 20),
            ("GY{2/0.3}+FE+G2{0.7}", 5, 12),
        ],
    ),
    ("profile mixture", 6, &[("LG+C10+G2{0.7}", 6, 20)]),
    ("protein mixture", 7, &[("LG4X", 7, 25), ("LG+R3{0.4/0.8/2}{0.3/0.4/0.3}", 5, 140)]),
    (
        "ascertainment bias",
        8,
        &[
            ("GTR{1/2/1/1/2/1}+FU{0.3/0.2/0.2/0.3}+G4{0.5}+ASC_LEWIS", 8, 150),
            ("HKY{2}+FU{0.3/0.2/0.2/0.3}+ASC_FELS{17}", 6, 40),
            ("JC+G4{0.4}+ASC_STAM{3/1/2/9}", 5, 30),
            ("MULTI5_MK+FE+ASC_LEWIS", 7, 20),
        ],
    ),
    ("scaled per pattern", 400, &[(GTR, 400, 12), (HKY_I, 300, 9)]),
    ("scaled per category", 1100, &[(GTR, 1100, 8)]),
];

fn case(name: &'static str, num_taxa: usize, shapes: &[Shape]) -> Case {
    let mut rng = stream(11, Purpose::Test, num_taxa as u64);
    let tree = yule_tree(num_taxa, 0.15, &mut rng);
    let partitions = shapes.iter().map(|shape| partition(&tree, *shape, &mut rng)).collect();
    Case { name, tree, partitions }
}

fn partition(
    tree: &Tree,
    (text, num_taxa, num_sites): Shape,
    rng: &mut Rng,
) -> (PartitionData, Vec<usize>, Model) {
    let model = Model::parse(text).expect("a model");
    let patterns = sample_partition(tree, &model, num_taxa, num_sites, rng);
    (PartitionData::new(&patterns, &model), patterns.tip_taxa, model)
}

impl Case {
    fn evaluator(&self, linkage: BrlenLinkage, make: Constructor) -> Evaluator {
        let data: Vec<PartitionData> =
            self.partitions.iter().map(|partition| partition.0.clone()).collect();
        let partitions =
            self.partitions.iter().map(|(data, taxa, model)| (data, &taxa[..], model.clone()));
        let mut evaluator =
            Evaluator::new(self.tree.clone(), partitions.collect(), linkage, make(&data));
        if linkage == BrlenLinkage::Scaled {
            for partition in 0..self.partitions.len() {
                evaluator.set_brlen_scaler(partition, 0.7 + 0.1 * partition as f64);
            }
        }
        evaluator
    }
}

/// Numbers with what they are.
#[derive(Default)]
struct Found(Vec<(String, f64)>);

impl Found {
    fn note(&mut self, what: &str, values: impl IntoIterator<Item = f64>) {
        self.0.extend(values.into_iter().map(|value| (what.to_string(), value)));
    }
}

/// Subtrees of a tree, a few of them, in deep trees fewer: where each hangs, and edges that it could be put into.
fn subtrees(tree: &Tree) -> Vec<((NodeId, EdgeId), Vec<EdgeId>)> {
    let inner: Vec<NodeId> = tree.nodes().skip(tree.num_tips()).collect();
    let num_nodes = if is_deep(tree.num_tips()) { 2 } else { 4 };
    let mut found = Vec::new();
    for &attach in inner.iter().step_by(inner.len().div_ceil(num_nodes)) {
        for (_, pendant) in tree.links(attach) {
            let mut edges = Vec::new();
            for (node, edge) in tree.other_links(attach, pendant) {
                edges.extend(tree.preorder(node, edge).into_iter().skip(1).map(|(_, edge)| edge));
            }
            edges.truncate(8);
            if !edges.is_empty() {
                found.push(((attach, pendant), edges));
            }
        }
    }
    found
}

/// Every verb, on one case: what an engine computes.
fn everything(case: &Case, linkage: BrlenLinkage, make: Constructor) -> Found {
    let mut found = Found::default();
    let mut evaluator = case.evaluator(linkage, make);
    let evaluator = &mut evaluator;
    found.note("likelihood", evaluator.partition_log_likelihoods().expect("an engine"));
    for partition in 0..evaluator.num_partitions() {
        let lnls = evaluator.pattern_log_likelihoods(partition).expect("an engine");
        found.note("likelihood of a pattern", lnls);
        if evaluator.num_taxa_of(partition) >= 2 {
            evaluator.set_virtual_root(
                partition,
                EdgeId(1.min(evaluator.num_taxa_of(partition) as u32 - 2)),
            );
        }
    }
    found.note(
        "likelihood at another root",
        evaluator.partition_log_likelihoods().expect("an engine"),
    );
    let inner: Vec<NodeId> = case.tree.nodes().skip(case.tree.num_tips()).collect();
    for &node in inner.iter().step_by(inner.len().div_ceil(8)) {
        let states = NodeStates::new(evaluator).at(node).expect("an engine");
        for (partition, states) in states.iter().enumerate() {
            let states = states.iter().flatten().copied();
            found.note(
                &format!("likelihood of the states of partition {partition} at {node:?}"),
                states,
            );
        }
    }
    regrafts(evaluator, &mut found);
    let partition = linkage.has_own_lengths().then_some(0);
    let num_edges = evaluator.partition_tree(0).0.num_edges().min(case.tree.num_edges());
    for edge in (0..num_edges as u32).step_by(num_edges.div_ceil(6).max(1)) {
        let prior = GammaPrior { power: 0.9, gamma: Gamma { shape: 1.0, rate: 10.0 } };
        let density =
            evaluator.length_density(partition, EdgeId(edge), prior, 0.1).expect("an engine");
        let Gamma { shape, rate } = density.expect("one with a prior");
        found.note(&format!("density of the length of edge {edge}"), [shape, rate]);
    }
    if !linkage.has_own_lengths() {
        let edges: Vec<EdgeId> = evaluator.tree().edges().collect();
        let derivatives = evaluator.brlen_derivatives(&edges).expect("an engine");
        found.note("derivatives of the lengths", derivatives.into_iter().flatten());
    }
    let options = BranchOptions { max_sweeps: 2, lnl_epsilon: 0.01, gain_tolerance: 1e-6 };
    found.note("optimised", [evaluator.optimize_branches(&options).expect("an engine")]);
    found.note("optimised gene", evaluator.partition_log_likelihoods().expect("an engine"));
    // A replicate of the same sites, and another model.
    for (partition, (data, ..)) in case.partitions.iter().enumerate() {
        let weights: Vec<f64> = (0..data.weights.len()).map(|i| (i % 3) as f64).collect();
        evaluator.set_pattern_weights(partition, &weights).expect("an engine");
    }
    found.note("other weights", evaluator.partition_log_likelihoods().expect("an engine"));
    for (partition, (.., model)) in case.partitions.iter().enumerate() {
        let mut model = model.clone();
        let values = model.free_parameters().into_iter().map(|p| (p.value * 1.1).clamp(p.lo, p.hi));
        let values: Vec<f64> = values.collect();
        model.set_free_parameters(&values);
        evaluator.set_model(partition, &model);
    }
    found.note("other model", evaluator.partition_log_likelihoods().expect("an engine"));
    found.note("optimised again", [evaluator.optimize_branches(&options).expect("an engine")]);
    found
}

/// Pruning, scoring, trying and moving, one by one and as one batch, which must be the same.
fn regrafts(evaluator: &mut Evaluator, found: &mut Found) {
    let subtrees = subtrees(evaluator.tree());
    let places: Vec<_> = subtrees.iter().map(|(place, _)| *place).collect();
    for tolerance in [None, Some(1e-2)] {
        let prunes = evaluator.prune(&places, tolerance).expect("an engine");
        let requests: Vec<_> =
            prunes.iter().zip(&subtrees).map(|(prune, (_, edges))| (prune, &edges[..])).collect();
        let together = evaluator.score(&requests).expect("an engine");
        let pairs: Vec<_> = requests.iter().map(|(prune, edges)| (*prune, edges[0])).collect();
        let tried_together = evaluator.try_insertions(&pairs, 1e-2, -1e9).expect("an engine");
        for (i, (place, edges)) in subtrees.iter().enumerate() {
            let prune = &evaluator.prune(&[*place], tolerance).expect("an engine")[0];
            let scores = evaluator.score(&[(prune, edges)]).expect("an engine").swap_remove(0);
            assert_eq!(scores, together[i], "scored alone and in a batch");
            let trials = evaluator.try_insertions(&[(prune, edges[0])], 1e-2, -1e9);
            let trials = trials.expect("an engine");
            assert_eq!(trials[0], tried_together[i], "tried alone and in a batch");
            found.note("score", scores);
            found.note("trial", [trials[0].lnl]);
            // One that is given up after its first branch.
            let given_up = evaluator.try_insertions(&[(prune, edges[0])], 1e-2, 0.0);
            found.note("trial given up", [given_up.expect("an engine")[0].lnl]);
        }
        for (place, edges) in &subtrees {
            let prune = &evaluator.prune(&[*place], tolerance).expect("an engine")[0];
            let trials = evaluator.try_insertions(&[(prune, edges[0])], 1e-2, -1e9);
            let mut moved = evaluator.insert(prune, &trials.expect("an engine")[0]);
            found.note("moved", [evaluator.log_likelihood().expect("an engine")]);
            evaluator.optimize_around(&mut moved, 1, 1e-2).expect("an engine");
            found.note("optimised around", [evaluator.log_likelihood().expect("an engine")]);
            evaluator.undo_move(moved);
        }
    }
    evaluator.assert_clvs();
    evaluator.assert_integrity();
}

/// Most by which a score in single precision may differ for each site (log units).
const SINGLE_TOLERANCE: f64 = 1e-6;

const LINKAGES: [BrlenLinkage; 3] =
    [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked];

fn options(name: Option<&'static str>, set: Option<&'static str>, threads: usize) -> EngineOptions {
    EngineOptions { name, instruction_set: set, threads, ..EngineOptions::default() }
}

fn made(options: EngineOptions) -> impl Fn(&[PartitionData]) -> Box<dyn Engine> {
    move |data| make_engine(data, &options).expect("an engine")
}

/// Everything on one thread of the processor, with which other engines are compared: computed once for all tests.
fn on_one_thread(case: &Case, linkage: BrlenLinkage) -> &'static [(String, f64)] {
    type Known = BTreeMap<String, &'static OnceLock<Found>>;
    static KNOWN: Mutex<Known> = Mutex::new(Known::new());
    let found: &OnceLock<Found> = {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{}, {linkage:?}", case.name);
        known.entry(key).or_insert_with(|| Box::leak(Box::default()))
    };
    &found.get_or_init(|| everything(case, linkage, &made(options(None, None, 1)))).0
}

#[test]
fn the_engine_computes_what_textbook_formulas_give() {
    for (name, num_taxa, shapes) in CASES.iter().filter(|case| !is_deep(case.1)) {
        let case = case(name, *num_taxa, shapes);
        for linkage in LINKAGES {
            let want = everything(&case, linkage, &made(options(Some("naive"), None, 1))).0;
            let got = on_one_thread(&case, linkage);
            assert_eq!(got.len(), want.len());
            for ((what, got), (_, want)) in got.iter().zip(want) {
                // Optimised lengths end within their tolerance of each other.
                let is_exact = what.starts_with("likelihood") || what == "score";
                let tolerance = if is_exact { 1e-8 } else { 1e-4 };
                let close = (got - want).abs() <= tolerance * want.abs().max(1.0);
                assert!(close, "{}, {linkage:?}, {what}: {got}, not {want}", case.name);
            }
        }
    }
}

#[test]
fn deep_trees_have_the_likelihoods_of_textbook_formulas() {
    for (name, num_taxa, shapes) in CASES.iter().filter(|case| is_deep(case.1)) {
        let case = case(name, *num_taxa, shapes);
        let found = |name| {
            let engine = made(options(name, None, 1));
            let mut evaluator = case.evaluator(BrlenLinkage::Linked, &engine);
            let lnls = evaluator.partition_log_likelihoods().expect("an engine");
            let states = NodeStates::new(&mut evaluator).at(NodeId(*num_taxa as u32 + 20));
            let states = states.expect("an engine").into_iter().flatten().flatten();
            (lnls, states.collect::<Vec<f64>>())
        };
        let ((got, got_states), (want, want_states)) = (found(None), found(Some("naive")));
        for (got, want) in got.into_iter().zip(want) {
            assert!((got / want - 1.0).abs() < 1e-10, "{name}: {got}, not {want}");
        }
        assert!(!got_states.is_empty() && got_states.len() == want_states.len());
        for (got, want) in got_states.into_iter().zip(want_states) {
            assert!((got - want).abs() < 1e-10, "{name}: {got}, not {want}");
        }
    }
}

/// True for the trees that are there for their scaling.
fn is_deep(num_taxa: usize) -> bool {
    num_taxa >= 100
}

/// The ways to share lengths with which a case is computed. For deep trees, one is enough.
fn linkages_of(num_taxa: usize) -> &'static [BrlenLinkage] {
    if is_deep(num_taxa) { &LINKAGES[..1] } else { &LINKAGES }
}

/// Bytes for CLVs of a deep tree with which some are forgotten. With fewer, each is made from hundreds of others.
const DEEP_CLV_BYTES: u64 = 100_000;

/// Bytes for CLVs when there should be as few as this.
fn few_clv_bytes(num_taxa: usize, bytes: u64) -> u64 {
    if is_deep(num_taxa) { bytes.max(DEEP_CLV_BYTES) } else { bytes }
}

/// Compares what two engines have found.
fn assert_same_bits(got: &[(String, f64)], want: &[(String, f64)], case: &str) {
    assert_eq!(got.len(), want.len(), "{case}");
    for ((what, got), (_, want)) in got.iter().zip(want) {
        assert!(got.to_bits() == want.to_bits(), "{case}, {what}: {got}, not {want}");
    }
}

/// The kernels without vector instructions take most of the time, and have what one thread computes with the widest ones to agree
/// with: they run once, on several threads.
#[test]
fn every_instruction_set_and_number_of_threads_gives_the_same_bits() {
    for (name, num_taxa, shapes) in CASES {
        let case = case(name, *num_taxa, shapes);
        for &linkage in linkages_of(*num_taxa) {
            let want = on_one_thread(&case, linkage);
            for &set in INSTRUCTION_SETS {
                let threads = if set == "scalar" { &[3][..] } else { &[1, 2] };
                for options in threads.iter().map(|&threads| options(None, Some(set), threads)) {
                    if choose_engine(&options).is_err() {
                        continue;
                    }
                    let got = everything(&case, linkage, &made(options)).0;
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
    for (name, num_taxa, shapes) in CASES {
        let case = case(name, *num_taxa, shapes);
        for &linkage in linkages_of(*num_taxa) {
            let want = everything(&case, linkage, &without_repeats).0;
            assert_same_bits(on_one_thread(&case, linkage), &want, &format!("{name}, {linkage:?}"));
            let got = everything(&case, linkage, &made(options(None, None, 3))).0;
            assert_same_bits(&got, &want, &format!("{name}, {linkage:?}, 3 threads"));
        }
    }
}

#[test]
fn clvs_that_are_forgotten_and_computed_again_have_the_same_bits() {
    for (name, num_taxa, shapes) in CASES {
        let case = case(name, *num_taxa, shapes);
        for &linkage in linkages_of(*num_taxa) {
            let want = on_one_thread(&case, linkage);
            for (clv_bytes, threads) in [(1, 1), (20_000, 3), (200_000, 1)] {
                let clv_bytes = Some(few_clv_bytes(*num_taxa, clv_bytes));
                let limited = EngineOptions { clv_bytes, ..options(None, None, threads) };
                let got = everything(&case, linkage, &made(limited)).0;
                assert_same_bits(&got, want, &format!("{name}, {linkage:?}, {limited:?}"));
            }
        }
    }
}

/// Partitions that are divided among ranks, and others that are not.
const CASES_FOR_RANKS: &[(&str, usize, &[Shape])] = &[
    ("many patterns", 20, &[(GTR, 20, 2000)]),
    (
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

#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    let cases = CASES.iter().chain(CASES_FOR_RANKS);
    for (name, num_taxa, shapes) in cases {
        let case = case(name, *num_taxa, shapes);
        for &linkage in linkages_of(*num_taxa) {
            let want = on_one_thread(&case, linkage);
            for (num_ranks, threads) in [(1, 1), (2, 1), (3, 2), (4, 1)] {
                let work = |ranks: Ranks| {
                    if !ranks.leads() {
                        let mut engines = Engines::default();
                        follow(ranks, &mut [(Subject::Likelihood, &mut engines)]);
                        return None;
                    }
                    let shared =
                        EngineOptions { ranks: Some(ranks), ..options(None, None, threads) };
                    let got = everything(&case, linkage, &made(shared)).0;
                    ranks.end();
                    Some(got)
                };
                let got = as_threads(num_ranks, work).into_iter().flatten().next().expect("rank 0");
                let case = format!("{name}, {linkage:?}, {num_ranks} ranks with {threads} threads");
                assert_same_bits(&got, want, &case);
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

#[test]
fn gpus_give_the_bits_of_the_processor() {
    let Some(on_gpus) = gpus() else { return };
    for (name, num_taxa, shapes) in CASES {
        let case = case(name, *num_taxa, shapes);
        for &linkage in linkages_of(*num_taxa) {
            let want = on_one_thread(&case, linkage);
            let clv_bytes = on_gpus.clv_bytes.map(|bytes| few_clv_bytes(*num_taxa, bytes));
            let got = everything(&case, linkage, &made(EngineOptions { clv_bytes, ..on_gpus })).0;
            assert_same_bits(&got, want, &format!("{name}, {linkage:?}, GPUs"));
            println!("{name}, {linkage:?}: {} numbers have the same bits", got.len());
        }
    }
}

/// More partitions for scores in single precision: proteins and codons of several blocks.
const SINGLE_CASES: &[(&str, usize, &[Shape])] = &[
    ("proteins", 12, &[("LG+G4{0.7}", 12, 300)]),
    ("codons", 9, &[("GY{2/0.3}+FE+G2{0.7}", 9, 200)]),
    ("many patterns", 20, &[(GTR, 20, 2000)]),
];

/// Patterns that are hardly possible: sequences of long branches on short ones.
fn improbable() -> Case {
    let mut case = case("improbable", 16, &[(GTR, 16, 150), ("LG", 16, 60), ("JC", 9, 40)]);
    for edge in case.tree.edges() {
        case.tree.set_brlen(edge, 1e-6);
    }
    case
}

/// Scores of single precision differ by little from those of double precision, relative to the number of sites; trials and
/// moves have the same bits. What is printed of the bits must be the same for any grid and number of GPUs (`cuda_stand_in.rs`).
#[test]
fn scores_in_single_precision_are_close_and_nothing_else_changes() {
    let Some(on_gpus) = gpus() else { return };
    let single = EngineOptions { score_precision: ScorePrecision::Single, ..on_gpus };
    let cases = CASES.iter().chain(SINGLE_CASES);
    let cases = cases.map(|(name, num_taxa, shapes)| case(name, *num_taxa, shapes));
    for case in cases.chain([improbable()]) {
        let num_sites: f64 =
            case.partitions.iter().map(|partition| partition.0.weights.iter().sum::<f64>()).sum();
        for linkage in [BrlenLinkage::Linked, BrlenLinkage::Unlinked] {
            if linkage == BrlenLinkage::Unlinked && case.partitions.len() == 1 {
                continue;
            }
            let clv_bytes =
                single.clv_bytes.map(|bytes| few_clv_bytes(case.tree.num_tips(), bytes));
            let on_gpus = EngineOptions { clv_bytes, ..single };
            let [want, got] = [options(None, None, 1), on_gpus].map(|options| {
                let mut found = Found::default();
                regrafts(&mut case.evaluator(linkage, &made(options)), &mut found);
                found.0
            });
            let (mut largest, mut bits, mut equal) = (0.0_f64, 0_u64, 0);
            for ((what, got), (_, want)) in got.iter().zip(&want) {
                let place = format!("{}, {linkage:?}, {what}: {got}, not {want}", case.name);
                if what != "score" {
                    assert!(got.to_bits() == want.to_bits(), "{place}");
                    continue;
                }
                largest = largest.max((got - want).abs());
                assert!((got - want).abs() <= SINGLE_TOLERANCE * num_sites.max(1.0), "{place}");
                bits = bits.rotate_left(5) ^ got.to_bits();
                equal += usize::from(got.to_bits() == want.to_bits());
            }
            println!("single: {}, {linkage:?}, {equal} equal, {largest:.1e}, {bits:x}", case.name);
        }
    }
}
