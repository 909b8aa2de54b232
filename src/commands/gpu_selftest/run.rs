//! `mlsearch gpu-selftest`: whether GPUs give the processor's bits, and how fast they are.

use super::report::{Agreement, Roofline, SelftestReport, SingleScores, TimeRow};
use crate::alignment::Patterns;
use crate::bootstrap::{Sampling, SamplingUnit, replicate_weights};
use crate::commands::Command;
use crate::error::{Error, Result};
use crate::likelihood::engine::PartitionData;
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::select::{
    ENGINE_OF_GPUS, describe_gpus, engine_names, make_engine, rates_of_gpus,
};
use crate::likelihood::{
    BranchOptions, BrlenLinkage, EngineOptions, Evaluator, NodeStates, Result as EngineResult,
    ScorePrecision,
};
use crate::model::Model;
use crate::observer::Silent;
use crate::output::Section;
use crate::parallel::available_cores;
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::plan::{Facts, Plan};
use crate::rng::{Purpose, stream};
use crate::runtime::RunRecord;
use crate::search::{SearchEffort, SearchOptions, parsimony_start, search};
use crate::simulate::{sample_partition, yule_tree};
use crate::tree::{EdgeId, NodeId, Tree};
use std::time::Instant;

/// Its section of the JSON file.
pub(super) const SECTION: Section<SelftestReport> = Section::new("gpu_selftest");

/// A partition: model, number of taxa, number of sites.
type Shape = (&'static str, usize, usize);

/// Sets of partitions over so many taxa, on which all numbers are compared: data types, mixtures, corrections, gaps, trees
/// so deep that CLVs are scaled, and so many blocks of patterns that all threads add their sums.
const AGREE: &[(&str, usize, &[Shape])] = &[
    (
        "DNA with gaps",
        14,
        &[
            ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 14, 700),
            ("HKY{2.5}+FU{0.1/0.4/0.3/0.2}+I{0.2}+G3{0.8}", 9, 200),
            ("JC", 4, 20),
        ],
    ),
    (
        "several data types",
        9,
        &[
            ("LG+G4{0.7}", 8, 150),
            ("LG4X", 7, 60),
            ("BIN+FU{0.3/0.7}+G3{0.4}", 7, 90),
            ("GY{2/0.3}+FE+G2{0.7}", 6, 40),
        ],
    ),
    (
        "ascertainment bias",
        8,
        &[
            ("GTR{1/2/1/1/2/1}+FU{0.3/0.2/0.2/0.3}+G4{0.5}+ASC_LEWIS", 8, 300),
            ("JC+G4{0.4}+ASC_STAM{3/1/2/9}", 5, 60),
        ],
    ),
    ("scaling", 1100, &[("HKY{2.5}+FU{0.1/0.4/0.3/0.2}+I{0.2}+G3{0.8}", 1100, 12)]),
    ("many blocks", 12, &[("JC", 12, 40_000)]),
];

/// Alignments whose times are measured. The small one has hardly any arithmetic: it shows what launches and copies take.
const TIMED: &[(&str, Shape)] = &[
    ("DNA, 20 taxa x 100", ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 20, 100)),
    (
        "DNA, 50 taxa x 20 000",
        ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 50, 20_000),
    ),
    (
        "DNA, 50 taxa x 200 000",
        ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 50, 200_000),
    ),
    ("protein, 50 taxa x 10 000", ("LG+G4{0.7}", 50, 10_000)),
    ("codons, 30 taxa x 2 000", ("GY{2/0.3}+FE+G4{0.7}", 30, 2_000)),
];

/// Alignments on which a search is run, and searches of so many bootstrap replicates.
const SEARCHED: &[(&str, Shape, usize)] = &[
    ("DNA, 8 taxa x 200", ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 8, 200), 1),
    (
        "DNA, 40 taxa x 5 000",
        ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 40, 5_000),
        3,
    ),
    ("protein, 20 taxa x 2 000", ("LG+G4{0.7}", 20, 2_000), 1),
    ("codons, 12 taxa x 1 000", ("GY{2/0.3}+FE", 12, 1_000), 1),
];

/// Least seconds for which a work is repeated, and most repetitions.
const SECONDS: f64 = 0.2;
const REPETITIONS: usize = 200;

/// A tree with simulated partitions, each over some of the taxa.
struct Case {
    tree: Tree,
    data: Vec<(PartitionData, Vec<usize>, Model)>,
    /// The partitions as parsimony reads them.
    partitions: Vec<Partition>,
}

/// A self-test of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GpuSelftest {
    /// Only what takes seconds.
    pub quick: bool,
}

impl Command for GpuSelftest {
    fn facts(&self, _: &Plan) -> Facts {
        Facts { task: "self-test of GPUs".into(), ..Facts::default() }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        gpu_selftest(plan, self, record)
    }
}

/// Compares and measures the GPUs, and writes what was found.
///
/// # Errors
/// [`Error::Usage`] if there is no GPU that can be used; [`Error::Failed`] if its numbers differ.
fn gpu_selftest(plan: &Plan, options: &GpuSelftest, record: &mut RunRecord) -> Result<()> {
    let threads = available_cores();
    let base = EngineOptions { gpus: plan.run.gpus, threads, ..EngineOptions::default() };
    let on_gpus = EngineOptions { name: Some(ENGINE_OF_GPUS), ..base };
    let on_processor = EngineOptions { name: Some(engine_names()[0]), ..base };
    let in_single = EngineOptions { score_precision: ScorePrecision::Single, ..on_gpus };
    let mut report = SelftestReport {
        gpus: describe_gpus(&on_gpus).map_err(|error| Error::Usage(error.to_string()))?,
        threads,
        ..SelftestReport::default()
    };
    for (number, (name, num_taxa, shapes)) in AGREE.iter().enumerate() {
        record.progress.stage(&format!("comparing: {name}"), None);
        let case = Case::new(plan.seed, number as u64, *num_taxa, shapes);
        let want = numbers_of(&mut case.evaluator(&on_processor)?)?;
        let got = numbers_of(&mut case.evaluator(&on_gpus)?)?;
        let differing = got.iter().zip(&want).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        let differing = differing + got.len().abs_diff(want.len());
        let partitions = name.to_string();
        report.agreement.push(Agreement { partitions, numbers: want.len(), differing });
        report.single.push(case.single_scores(name, [&on_gpus, &in_single, &in_single])?);
    }
    let timed = if options.quick { &TIMED[..1] } else { TIMED };
    for (number, (name, shape)) in timed.iter().enumerate() {
        record.progress.stage(&format!("measuring: {name}"), None);
        let case = Case::new(plan.seed, 100 + number as u64, shape.1, &[*shape]);
        let processor = times_of(&mut case.evaluator(&on_processor)?)?;
        let gpus = times_of(&mut case.evaluator(&on_gpus)?)?;
        let single_seconds = seconds_of_scores(&mut case.evaluator(&in_single)?)?;
        for (number, counts) in [
            (WHOLE, case.counts_of_updates()),
            (SCORES, case.counts_of_scores(ScorePrecision::Double)),
        ] {
            let (work, seconds) = gpus.works[number];
            report.rooflines.push(case.roofline((name, work), counts, seconds));
        }
        let counts = case.counts_of_scores(ScorePrecision::Single);
        let single = case.roofline((name, SINGLE_SCORES), counts, single_seconds);
        report.rooflines.push(Roofline { is_single: true, ..single });
        let (sweep, seconds) = gpus.works[SWEEP];
        report.rooflines.push(Roofline {
            data: name.to_string(),
            work: format!("{sweep}, {:.1} evaluations each", gpus.evaluations_per_branch),
            bytes_per_second: gpus.bytes_of_sweep / seconds,
            operations_per_second: gpus.operations_of_sweep / seconds,
            is_single: false,
        });
        let of_processor = (SINGLE_SCORES, processor.works[SCORES].1);
        let of_gpu = (SINGLE_SCORES, single_seconds);
        let rows = processor.works.into_iter().chain([of_processor]);
        for ((work, cpu_seconds), (_, gpu_seconds)) in
            rows.zip(gpus.works.into_iter().chain([of_gpu]))
        {
            let (data, work) = (name.to_string(), work.to_string());
            report.times.push(TimeRow { data, work, cpu_seconds, gpu_seconds });
        }
    }
    let searched = if options.quick { &SEARCHED[..1] } else { SEARCHED };
    for (number, (name, shape, replicates)) in searched.iter().enumerate() {
        record.progress.stage(&format!("searching: {name}"), None);
        let case = Case::new(plan.seed, 200 + number as u64, shape.1, &[*shape]);
        let (mut numbers, mut differing) = (0, 0);
        for replicate in 0..=*replicates {
            let [own, on_gpu] =
                [&on_processor, &on_gpus].map(|options| case.search(plan.seed, replicate, options));
            let ((own, cpu_seconds), (on_gpu, gpu_seconds)) = (own?, on_gpu?);
            let work = match replicate {
                0 => "a fast search".to_string(),
                number => format!("bootstrap replicate {number}"),
            };
            report.times.push(TimeRow { data: name.to_string(), work, cpu_seconds, gpu_seconds });
            numbers += 1;
            differing += usize::from(own.to_bits() != on_gpu.to_bits());
        }
        let partitions = format!("searches: {name}");
        report.agreement.push(Agreement { partitions, numbers, differing });
    }
    record.progress.stage("rates of the GPU", None);
    report.rates = rates_of_gpus(&on_gpus, options.quick)?;
    record.progress.result(&report.tables());
    let num_differing = report.num_differing();
    record.report.write_section(&SECTION, &report);
    if num_differing == 0 {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{num_differing} numbers of the GPU differ from those of the processor: do not use it, and please report this \
         with the tables above"
    )))
}

impl Case {
    fn new(seed: u64, number: u64, num_taxa: usize, shapes: &[Shape]) -> Self {
        let mut rng = stream(seed, Purpose::SimulatedSequences, number);
        let tree = yule_tree(num_taxa, 0.15, &mut rng);
        let (mut all, mut partitions) = (Vec::new(), Vec::new());
        for &(text, num_taxa, num_sites) in shapes {
            let model = Model::parse(text).expect("models of the self-test can be read");
            let patterns = sample_partition(&tree, &model, num_taxa, num_sites, &mut rng);
            let data = PartitionData::new(&patterns, &model);
            all.push((data, patterns.tip_taxa.clone(), model.clone()));
            partitions.push(Partition {
                name: text.to_string(),
                model,
                patterns,
                sites: Vec::new(),
            });
        }
        Case { tree, data: all, partitions }
    }

    /// What a work on the only partition reaches, which reads and writes so many CLVs, multiplies so many with a matrix, and
    /// does so many other operations for each number of a CLV.
    fn roofline(
        &self,
        (name, work): (&str, &str),
        [moved, multiplied, others]: [f64; 3],
        seconds: f64,
    ) -> Roofline {
        let data = &self.data[0].0;
        let states = Dims::new(data.num_states, data.num_rates, 1, 2).num_states as f64;
        let numbers = (data.num_patterns() * data.num_rates) as f64 * states;
        Roofline {
            data: name.to_string(),
            work: work.to_string(),
            bytes_per_second: size_of::<f64>() as f64 * numbers * moved / seconds,
            operations_per_second: numbers * ((2.0 * states - 1.0) * multiplied + others) / seconds,
            is_single: false,
        }
    }

    /// Updates of all CLVs: each is written, and but for those at the root is read by the next and multiplied with a
    /// matrix.
    fn counts_of_updates(&self) -> [f64; 3] {
        let num_tips = self.tree.num_tips() as f64;
        let (written, read) = (num_tips - 2.0, num_tips - 4.0);
        [written + read, read, written]
    }

    /// Scores of all regraft positions of a subtree. A position has an up-CLV, which is made from that of the next edge and
    /// the sibling's CLV; a score reads it, the pendant CLV and the CLV behind the edge. Tips are not counted. In
    /// single precision, the up-CLV and the pendant CLV have half the size.
    fn counts_of_scores(&self, precision: ScorePrecision) -> [f64; 3] {
        let (_, edges) = subtree(&self.tree);
        let is_inner = |edge: &&EdgeId| !self.tree.is_terminal(**edge);
        let (positions, inner) = (edges.len() as f64, edges.iter().filter(is_inner).count() as f64);
        let temporaries = match precision {
            ScorePrecision::Double => 4.0 * positions,
            ScorePrecision::Single => 2.0 * positions,
        };
        [temporaries + 2.0 * inner, 2.0 * positions + 2.0 * inner, 4.0 * positions]
    }

    /// Scores in double precision, and twice in single, on engines of these options.
    fn single_scores(&self, name: &str, options: [&EngineOptions; 3]) -> Result<SingleScores> {
        let of = |options: &EngineOptions| scores_of(&mut self.evaluator(options)?);
        let [exact, scores, again] = options.map(of);
        let (exact, scores, again) = (exact?, scores?, again?);
        let differing = scores.iter().zip(&again).filter(|(a, b)| a.to_bits() != b.to_bits());
        let num_sites: f64 = self.data.iter().flat_map(|partition| &partition.0.weights).sum();
        let differences = scores.iter().zip(&exact).map(|(a, b)| (a - b).abs() / num_sites);
        Ok(SingleScores {
            partitions: name.to_string(),
            scores: scores.len(),
            differing: differing.count(),
            largest_difference: differences.fold(0.0, f64::max),
        })
    }

    /// A fast search on the partitions, or on a bootstrap replicate of their sites if `replicate` is not 0: its log-likelihood,
    /// and its seconds.
    fn search(&self, seed: u64, replicate: usize, options: &EngineOptions) -> Result<(f64, f64)> {
        let data = ParsimonyData::of_partitions(self.tree.num_tips(), &self.partitions);
        let mut evaluator = self.evaluator(options)?;
        if replicate > 0 {
            let sampling = Sampling { unit: SamplingUnit::Sites, jackknife: None };
            let patterns: Vec<&Patterns> =
                self.partitions.iter().map(|partition| &partition.patterns).collect();
            let drawn = replicate_weights(sampling, seed, replicate, &patterns);
            for (partition, weights) in drawn.iter().enumerate() {
                let weights: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
                evaluator.set_pattern_weights(partition, &weights)?;
            }
        }
        let start = Instant::now();
        evaluator.set_tree(parsimony_start(&data, seed, Purpose::ParsimonyTree, replicate as u64));
        let mut models: Vec<Model> = self.data.iter().map(|(.., model)| model.clone()).collect();
        let options = SearchOptions {
            effort: SearchEffort::Fast,
            optimize_model: false,
            ..SearchOptions::default()
        };
        let lnl = search(&mut evaluator, &mut models, &data, &options, &mut Silent)?;
        Ok((lnl, start.elapsed().as_secs_f64()))
    }

    fn evaluator(&self, options: &EngineOptions) -> EngineResult<Evaluator> {
        let data: Vec<PartitionData> =
            self.data.iter().map(|partition| partition.0.clone()).collect();
        let engine = make_engine(&data, options)?;
        let partitions =
            self.data.iter().map(|(data, taxa, model)| (data, &taxa[..], model.clone()));
        Ok(Evaluator::new(self.tree.clone(), partitions.collect(), BrlenLinkage::Linked, engine))
    }
}

/// A subtree, and edges that it could be put into.
fn subtree(tree: &Tree) -> ((NodeId, EdgeId), Vec<EdgeId>) {
    let attach = tree.nodes().nth(tree.num_tips()).expect("a tree of four taxa or more");
    let (_, pendant) = tree.links(attach).next().expect("an inner node has neighbours");
    let behind = |(node, edge)| tree.preorder(node, edge).into_iter().skip(1).map(|(_, edge)| edge);
    ((attach, pendant), tree.other_links(attach, pendant).into_iter().flat_map(behind).collect())
}

/// What every verb of an engine computes.
fn numbers_of(evaluator: &mut Evaluator) -> EngineResult<Vec<f64>> {
    let mut found = evaluator.partition_log_likelihoods()?;
    for partition in 0..evaluator.num_partitions() {
        found.extend(evaluator.pattern_log_likelihoods(partition)?);
    }
    let inner = evaluator.tree().nodes().nth(evaluator.tree().num_tips());
    for node in inner.into_iter().chain([NodeId(0)]) {
        let states = NodeStates::new(evaluator).at(node)?;
        found.extend(states.into_iter().flatten().flatten());
    }
    found.extend(scores_of(evaluator)?);
    let (place, edges) = subtree(evaluator.tree());
    let prune = &evaluator.prune(&[place], None)?[0];
    for edge in edges.iter().take(3) {
        found.push(evaluator.try_insertions(&[(prune, *edge)], 1e-2, f64::NEG_INFINITY)?[0].lnl);
    }
    let options = BranchOptions { max_sweeps: 1, lnl_epsilon: 0.01, gain_tolerance: 1e-6 };
    found.push(evaluator.optimize_branches(&options)?);
    found.extend(evaluator.partition_log_likelihoods()?);
    Ok(found)
}

/// Scores of regraft positions of a subtree.
fn scores_of(evaluator: &mut Evaluator) -> EngineResult<Vec<f64>> {
    let (place, edges) = subtree(evaluator.tree());
    let prune = &evaluator.prune(&[place], None)?[0];
    Ok(evaluator.score(&[(prune, &edges[..])])?.swap_remove(0))
}

/// Seconds of one run of a work, which is repeated after a first run.
fn seconds(mut work: impl FnMut() -> EngineResult<()>) -> EngineResult<f64> {
    work()?;
    let (start, mut times) = (Instant::now(), 0);
    while times < REPETITIONS && (times == 0 || start.elapsed().as_secs_f64() < SECONDS) {
        work()?;
        times += 1;
    }
    Ok(start.elapsed().as_secs_f64() / times as f64)
}

/// The number of the work that updates all CLVs among those of `times_of`, of that which scores regraft positions, and of
/// that which optimises branches.
const WHOLE: usize = 1;
const SCORES: usize = 2;
const SWEEP: usize = 3;

const SINGLE_SCORES: &str = "the same positions in single precision";

/// Times of an engine.
struct Times {
    /// Each kind of work, with its seconds.
    works: Vec<(&'static str, f64)>,
    /// What the work of number [`SWEEP`] takes, if the engine counts it.
    bytes_of_sweep: f64,
    operations_of_sweep: f64,
    evaluations_per_branch: f64,
}

/// Times each kind of work.
fn times_of(evaluator: &mut Evaluator) -> EngineResult<Times> {
    let again = seconds(|| evaluator.pattern_log_likelihoods(0).map(drop))?;
    let whole = seconds(|| {
        evaluator.forget();
        evaluator.log_likelihood().map(drop)
    })?;
    let scores = seconds_of_scores(evaluator)?;
    let options = BranchOptions { max_sweeps: 1, lnl_epsilon: 0.0, gain_tolerance: 1e-6 };
    // Later sweeps take fewer evaluations than the first.
    evaluator.optimize_branches(&options)?;
    let before = evaluator.capabilities().swept;
    let mut sweeps = 0.0;
    let sweep = seconds(|| {
        sweeps += 1.0;
        evaluator.optimize_branches(&options).map(drop)
    })?;
    let after = evaluator.capabilities().swept;
    let per_sweep = |after: u64, before: u64| (after - before) as f64 / sweeps;
    let num_branches = evaluator.tree().edges().count() as f64;
    Ok(Times {
        works: vec![
            ("likelihoods of patterns, vectors at hand", again),
            ("likelihood, all vectors anew", whole),
            ("scores of all regraft positions of a subtree", scores),
            ("all branches optimised once", sweep),
        ],
        bytes_of_sweep: per_sweep(after.bytes, before.bytes),
        operations_of_sweep: per_sweep(after.operations, before.operations),
        evaluations_per_branch: per_sweep(after.evaluations, before.evaluations) / num_branches,
    })
}

/// Seconds in which a subtree is pruned and its regraft positions are scored.
fn seconds_of_scores(evaluator: &mut Evaluator) -> EngineResult<f64> {
    seconds(|| scores_of(evaluator).map(drop))
}
