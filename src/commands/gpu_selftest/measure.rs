//! Times of the processor and of GPUs, and searches on both.

use super::compare::{evaluator, scores_of, subtree};
use super::report::{Agreement, Roofline, SelftestReport, TimeRow};
use crate::alignment::Patterns;
use crate::bootstrap::{Sampling, SamplingUnit, replicate_weights};
use crate::conformance::{Case, CaseShape, GTR, Sampled};
use crate::error::Result;
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::select::rates_of_gpus;
use crate::likelihood::{
    BranchOptions, EngineOptions, Evaluator, Result as EngineResult, ScorePrecision,
};
use crate::model::Model;
use crate::observer::Silent;
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::rng::Purpose;
use crate::runtime::RunRecord;
use crate::search::{SearchEffort, SearchOptions, parsimony_start, search};
use crate::tree::{EdgeId, Tree};
use std::time::Instant;

/// Alignments whose times are measured. The small one has hardly any arithmetic: it shows what launches and copies take.
const TIMED: &[CaseShape] = &[
    CaseShape::new("DNA, 20 taxa x 100", 20, &[(GTR, 20, 100)]),
    CaseShape::new("DNA, 50 taxa x 20 000", 50, &[(GTR, 50, 20_000)]),
    CaseShape::new("DNA, 50 taxa x 200 000", 50, &[(GTR, 50, 200_000)]),
    CaseShape::new("protein, 50 taxa x 10 000", 50, &[("LG+G4{0.7}", 50, 10_000)]),
    CaseShape::new("codons, 30 taxa x 2 000", 30, &[("GY{2/0.3}+FE+G4{0.7}", 30, 2_000)]),
];

/// Alignments on which a search is run, and searches of so many bootstrap replicates.
const SEARCHED: &[(CaseShape, usize)] = &[
    (CaseShape::new("DNA, 8 taxa x 200", 8, &[(GTR, 8, 200)]), 1),
    (CaseShape::new("DNA, 40 taxa x 5 000", 40, &[(GTR, 40, 5_000)]), 3),
    (CaseShape::new("protein, 20 taxa x 2 000", 20, &[("LG+G4{0.7}", 20, 2_000)]), 1),
    (CaseShape::new("codons, 12 taxa x 1 000", 12, &[("GY{2/0.3}+FE", 12, 1_000)]), 1),
];

/// Least seconds for which a work is repeated, and most repetitions.
const SECONDS: f64 = 0.2;
const REPETITIONS: usize = 200;

/// Times on engines of these options (the processor's, the GPUs', and those with scores in single precision), searches, and what
/// the GPUs can do at best.
pub(super) fn measure(
    seed: u64,
    is_quick: bool,
    [on_processor, on_gpus, in_single]: [&EngineOptions; 3],
    report: &mut SelftestReport,
    record: &mut RunRecord,
) -> Result<()> {
    let timed = if is_quick { &TIMED[..1] } else { TIMED };
    for shape in timed {
        let name = shape.name;
        record.progress.stage(&format!("measuring: {name}"), None);
        let case = Case::new(shape);
        let processor = times_of(&mut evaluator(&case, on_processor)?)?;
        let gpus = times_of(&mut evaluator(&case, on_gpus)?)?;
        let single_seconds = seconds_of_scores(&mut evaluator(&case, in_single)?)?;
        for (number, counts) in [
            (WHOLE, counts_of_updates(&case.tree)),
            (SCORES, counts_of_scores(&case.tree, ScorePrecision::Double)),
        ] {
            let (work, seconds) = gpus.works[number];
            report.rooflines.push(roofline(&case, (name, work), counts, seconds));
        }
        let counts = counts_of_scores(&case.tree, ScorePrecision::Single);
        let single = roofline(&case, (name, SINGLE_SCORES), counts, single_seconds);
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
    let searched = if is_quick { &SEARCHED[..1] } else { SEARCHED };
    for (shape, replicates) in searched {
        let name = shape.name;
        record.progress.stage(&format!("searching: {name}"), None);
        let case = Case::new(shape);
        let (mut numbers, mut differing) = (0, 0);
        for replicate in 0..=*replicates {
            let [own, on_gpu] =
                [on_processor, on_gpus].map(|options| search_on(&case, seed, replicate, options));
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
    report.rates = rates_of_gpus(on_gpus, is_quick)?;
    Ok(())
}

/// What a work on the only partition reaches, which reads and writes so many CLVs, multiplies so many with a matrix, and
/// does so many other operations for each number of a CLV.
fn roofline(
    case: &Case,
    (name, work): (&str, &str),
    [moved, multiplied, others]: [f64; 3],
    seconds: f64,
) -> Roofline {
    let data = &case.partitions[0].data;
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
fn counts_of_updates(tree: &Tree) -> [f64; 3] {
    let num_tips = tree.num_tips() as f64;
    let (written, read) = (num_tips - 2.0, num_tips - 4.0);
    [written + read, read, written]
}

/// Scores of all regraft positions of a subtree. A position has an up-CLV, which is made from that of the next edge and
/// the sibling's CLV; a score reads it, the pendant CLV and the CLV behind the edge. Tips are not counted. In
/// single precision, the up-CLV and the pendant CLV have half the size.
fn counts_of_scores(tree: &Tree, precision: ScorePrecision) -> [f64; 3] {
    let (_, edges) = subtree(tree);
    let is_inner = |edge: &&EdgeId| !tree.is_terminal(**edge);
    let (positions, inner) = (edges.len() as f64, edges.iter().filter(is_inner).count() as f64);
    let temporaries = match precision {
        ScorePrecision::Double => 4.0 * positions,
        ScorePrecision::Single => 2.0 * positions,
    };
    [temporaries + 2.0 * inner, 2.0 * positions + 2.0 * inner, 4.0 * positions]
}

/// A fast search on the partitions, or on a bootstrap replicate of their sites if `replicate` is not 0: its log-likelihood,
/// and its seconds.
fn search_on(
    case: &Case,
    seed: u64,
    replicate: usize,
    options: &EngineOptions,
) -> Result<(f64, f64)> {
    let partition = |sampled: &Sampled| Partition {
        name: sampled.model.to_string(),
        model: sampled.model.clone(),
        patterns: sampled.patterns.clone(),
        sites: Vec::new(),
    };
    let partitions: Vec<Partition> = case.partitions.iter().map(partition).collect();
    let data = ParsimonyData::of_partitions(case.tree.num_tips(), &partitions);
    let mut evaluator = evaluator(case, options)?;
    if replicate > 0 {
        let sampling = Sampling { unit: SamplingUnit::Sites, jackknife: None };
        let patterns: Vec<&Patterns> =
            partitions.iter().map(|partition| &partition.patterns).collect();
        let drawn = replicate_weights(sampling, seed, replicate, &patterns);
        for (partition, weights) in drawn.iter().enumerate() {
            let weights: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
            evaluator.set_pattern_weights(partition, &weights)?;
        }
    }
    let start = Instant::now();
    evaluator.set_tree(parsimony_start(&data, seed, Purpose::ParsimonyTree, replicate as u64));
    let mut models: Vec<Model> =
        partitions.iter().map(|partition| partition.model.clone()).collect();
    let options = SearchOptions {
        effort: SearchEffort::Fast,
        optimize_model: false,
        ..SearchOptions::default()
    };
    let lnl = search(&mut evaluator, &mut models, &data, &options, &mut Silent)?;
    Ok((lnl, start.elapsed().as_secs_f64()))
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
