//! What `--backend cuda` would take on several GPUs, predicted from counts: bytes, operations, launches and answers.
//!
//! `cargo bench --bench gpus` prints two tables: whole likelihoods of some shapes, and a round of a search (of simulated
//! data and, if the environment variable MLSEARCH_DATA names their folder, of published alignments) that looks one and
//! many subtrees ahead. Nothing here was measured on a GPU: where `mlsearch gpu-selftest` finds other times on one, it
//! shows which of the assumptions is wrong. With the constants of a GPU, a call takes
//!
//! ```text
//!   launches * LAUNCH + answers * ANSWER + barriers * BARRIER + sent / HOST + max(bytes / bandwidth, operations / peak)
//! ```
//!
//! (`barriers` are those of a GPU's CTAs in a launch for sweeps of Newton-Raphson, and `sent` is what such a launch is told.)
//!
//! All vectors are taken to be read from and written to memory once per operation, although those just written may still be
//! in a cache; a fused multiply-add is two operations. Rounds are predicted with scores in double and in single precision, in
//! which the temporaries of insertion programs have half the bytes, but vectors that are turned to a subtree remain in double;
//! each number that is read from a vector of double precision takes two operations of that to become single, four times with
//! codons.

#[expect(dead_code, reason = "the evaluators of this bench have an engine that counts")]
mod partitions;
mod published;

use mlsearch::likelihood::engine::{
    Capabilities, Clv, EdgeJob, Engine, InsertionProgram, InsertionStep, PartitionData, PointJob,
    Result, SweepProgram, TraversalDescriptor, TrialProgram,
};
use mlsearch::likelihood::select::make_engine;
use mlsearch::likelihood::{BranchOptions, BrlenLinkage, EngineOptions, Evaluator, ScorePrecision};
use mlsearch::model::Model;
use mlsearch::parsimony::ParsimonyData;
use mlsearch::partition::Partition;
use mlsearch::rng::{Purpose, stream};
use mlsearch::search::schedule::{FAST, ROUND_TOLERANCE};
use mlsearch::search::{Changed, RoundResult, parsimony_start, spr_round};
use mlsearch::simulate::{sample_partition, yule_tree};
use partitions::{MODEL, Shape, simulate};
use published::{chosen_names, read_partitions};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A GPU: memory bandwidth (GB/s) and operations in double and in single precision (GFLOP/s, without tensor cores), as in
/// NVIDIA's data sheets: H100 and H200 SXM (2023), A100 SXM 80 GB (2021), Ada whitepaper (2022; a 64th in double precision).
type Rates = (&'static str, f64, [f64; 2]);
const GPUS: [Rates; 4] = [
    ("H200", 4800.0, [34_000.0, 67_000.0]),
    ("H100", 3350.0, [34_000.0, 67_000.0]),
    ("A100", 2039.0, [9_700.0, 19_500.0]),
    ("RTX 4090", 1008.0, [1_290.0, 82_600.0]),
];

/// Share of the bandwidth and of the operations that is taken to be reached.
const REACHED: f64 = 0.8;
/// Seconds of a launch, and of waiting for a result and copying it to the host: assumed.
const LAUNCH: f64 = 3e-6;
const ANSWER: f64 = 10e-6;
/// Seconds until the CTAs of a launch have all met, and bytes per second from the host to a GPU: assumed.
const BARRIER: f64 = 1.5e-6;
const HOST: f64 = 10e9;
/// Bytes of a job, an update or a sumtable, and a matrix on a tape (`cuda/common.cuh`).
const TAPE: [f64; 3] = [40.0, 48.0, 40.0];
/// Evaluations of a branch length's derivatives: 3 to 6 are usual.
const EVALUATIONS: usize = 4;

/// Shapes of whole likelihoods: name, taxa, patterns, states, rate categories.
const SHAPES: [(&str, usize, usize, usize, usize); 4] = [
    ("62 taxa, 3600 codons", 62, 3600, 64, 1),
    ("100 taxa, 1 000 000 DNA patterns", 100, 1_000_000, 4, 4),
    ("140 taxa, 1041 protein patterns", 140, 1041, 20, 4),
    ("125 taxa, 19 436 DNA patterns", 125, 19_436, 4, 4),
];

const MEDIUM: Shape =
    Shape { num_taxa: 100, num_partitions: 1, sites_per_partition: 1000, missing: 0.0 };
const SMALL: Shape =
    Shape { num_taxa: 12, num_partitions: 2, sites_per_partition: 300, missing: 0.2 };
/// Other data types, simulated: name, model, taxa, sites.
const OTHER_TYPES: [(&str, &str, usize, usize); 2] =
    [("proteins", "LG+G4{0.7}", 60, 1000), ("codons", "GY{2/0.3}+FE", 30, 1000)];
const PUBLISHED: [&str; 3] = ["d218", "d125_34", "d404_11"];

/// Subtrees of a step of a search, beyond which it does not look ahead. (An H100 or H200 would take 132 at a time.)
const SUBTREES_OF_STEP: usize = 48;

/// Work on a GPU.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    launches: usize,
    /// Those for scores of regraft positions.
    scoring: usize,
    answers: usize,
    barriers: usize,
    sent: f64,
    bytes: f64,
    operations: f64,
    /// Bytes and operations of scores; of these, in double and in single precision.
    score_bytes: f64,
    score_operations: [f64; 2],
}

impl Work {
    /// Seconds on a GPU, and the share of launches, answers and barriers in them.
    fn seconds(&self, gpu: Rates) -> (f64, f64) {
        let of_launches = self.launches as f64 * LAUNCH + self.answers as f64 * ANSWER;
        let waiting = of_launches + self.barriers as f64 * BARRIER + self.sent / HOST;
        let (_, bandwidth, [peak, _]) = gpu;
        let others = (self.bytes / bandwidth).max(self.operations / peak) / (1e9 * REACHED);
        let computing = others + self.seconds_of_scores(gpu);
        (waiting + computing, waiting / (waiting + computing))
    }

    /// Seconds of scores, without launches.
    fn seconds_of_scores(&self, (_, bandwidth, peaks): Rates) -> f64 {
        let of_precision = self.score_operations.iter().zip(peaks);
        let computing: f64 = of_precision.map(|(operations, peak)| operations / peak).sum();
        (self.score_bytes / bandwidth).max(computing) / (1e9 * REACHED)
    }

    /// Counts a part of a program with scores.
    fn add_scores(&mut self, part: Work, precision: ScorePrecision) {
        self.score_bytes += part.bytes;
        self.score_operations[precision as usize] += part.operations;
    }
}

/// Sizes of a partition.
#[derive(Debug, Clone, Copy)]
struct Dims {
    patterns: f64,
    states: f64,
    rates: f64,
}

impl Dims {
    fn vector(self) -> f64 {
        8.0 * self.patterns * self.states * self.rates
    }

    /// What a step of an insertion program takes, and the precision in which it is computed.
    fn scores(
        self,
        program: &InsertionProgram,
        step: &InsertionStep,
        wanted: ScorePrecision,
        work: &mut Work,
    ) {
        let is_turned = step.makes().is_some_and(|made| program.is_turned(Clv::Temporary(made)));
        let precision = if is_turned { ScorePrecision::Double } else { wanted };
        let mut part = Work::default();
        let (ends, makes) = match step {
            InsertionStep::Partials(operation) => (operation.children.to_vec(), true),
            InsertionStep::Pendant { source, .. } => (vec![*source], true),
            InsertionStep::Score { ends, .. } | InsertionStep::Edge { ends, .. } => {
                (ends.to_vec(), false)
            }
        };
        ends.iter().for_each(|end| self.end(*end, &mut part));
        if makes {
            part.bytes += self.vector();
            part.operations += self.vector() / 8.0;
        } else {
            // The pendant vector is read.
            part.bytes += self.vector();
            self.sum(3.0, &mut part);
        }
        if precision == ScorePrecision::Single {
            let is_double = |end: &&Clv| match **end {
                Clv::Tip(_) => false,
                Clv::Stored(_) => true,
                made => program.is_turned(made),
            };
            let is_single = |end: &&Clv| matches!(**end, Clv::Temporary(_)) && !is_double(end);
            let num_single = ends.iter().filter(is_single).count() as f64;
            part.bytes -= (num_single + 1.0) * self.vector() / 2.0;
            let num_double = ends.iter().filter(is_double).count() as f64;
            let conversions = 2.0 * (self.states / 20.0).ceil();
            work.score_operations[ScorePrecision::Double as usize] +=
                num_double * conversions * self.vector() / 8.0;
        }
        work.add_scores(part, precision);
    }

    /// Reads an end of an edge and, unless it is a tip, multiplies it with a P-matrix.
    fn end(self, clv: Clv, work: &mut Work) {
        match clv {
            Clv::Tip(_) => work.bytes += 2.0 * self.patterns,
            _ => {
                work.bytes += self.vector();
                work.operations +=
                    self.patterns * self.rates * self.states * (2.0 * self.states - 1.0);
            }
        }
    }

    /// An update, a sumtable, or another vector from two.
    fn update(self, ends: [Clv; 2], work: &mut Work) {
        ends.into_iter().for_each(|end| self.end(end, work));
        work.bytes += self.vector();
        work.operations += self.vector() / 8.0;
    }

    /// A log-likelihood from vectors, or derivatives from a sumtable.
    fn sum(self, operations_per_number: f64, work: &mut Work) {
        work.operations += self.vector() / 8.0 * operations_per_number + 32.0 * self.patterns;
    }
}

/// A likelihood of a whole tree: all updates in one launch after one for their P-matrices, and an edge with its P-matrix
/// in another.
fn likelihood(taxa: usize, dims: Dims) -> Work {
    let mut work = Work { launches: 3, answers: 1, barriers: 1, ..Work::default() };
    // As many tips as inner nodes are children, but for three.
    for i in 0..taxa - 2 {
        let other = if i < 3 { Clv::Tip(0) } else { Clv::Stored(0) };
        dims.update([Clv::Tip(0), other], &mut work);
    }
    dims.end(Clv::Stored(0), &mut work);
    dims.sum(3.0, &mut work);
    work
}

/// Computes with the processor, and counts what the GPUs' engine would do.
struct Counting {
    engine: Box<dyn Engine>,
    dims: Vec<Dims>,
    best_batch: usize,
    precision: ScorePrecision,
    work: Arc<Mutex<Work>>,
}

impl Counting {
    fn count(&self, change: impl FnOnce(&mut Work)) {
        change(&mut self.work.lock().expect("one thread"));
    }

    /// Sweeps that go on side by side, each by its own CTAs, in so many launches.
    fn sweeps<'a>(&self, launches: usize, sweeps: impl Iterator<Item = &'a SweepProgram>) {
        self.count(|work| {
            let mut most_barriers = 0;
            for sweep in sweeps {
                let finishes = usize::from(!sweep.finish.is_empty());
                most_barriers = most_barriers.max(sweep.steps.len() * (1 + EVALUATIONS) + finishes);
                for job in &sweep.jobs {
                    let dims = self.dims[sweep.partitions[job.member].partition];
                    let updates = job.operations.len() as f64;
                    let sent = [1.0, 1.0 + updates, 2.0 * updates];
                    work.sent +=
                        sent.iter().zip(TAPE).map(|(number, of_one)| number * of_one).sum::<f64>();
                    for operation in &sweep.operations[job.operations.clone()] {
                        dims.update(operation.children, work);
                    }
                    dims.update(job.ends, work);
                    work.bytes += EVALUATIONS as f64 * dims.vector();
                    (0..EVALUATIONS).for_each(|_| dims.sum(6.0, work));
                }
            }
            work.launches += launches;
            work.answers += launches;
            work.barriers += most_barriers;
        });
    }
}

impl Engine for Counting {
    fn capabilities(&self) -> Capabilities {
        Capabilities { best_batch: self.best_batch, ..self.engine.capabilities() }
    }
    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        self.engine.set_models(models)
    }
    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        self.engine.set_pattern_weights(partition, weights)
    }
    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        self.count(|work| {
            work.launches += 2;
            for TraversalDescriptor { partition, operations } in descriptors {
                for operation in operations {
                    self.dims[*partition].update(operation.children, work);
                }
            }
        });
        self.engine.update_partials(descriptors)
    }
    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        self.count(|work| {
            work.launches += 1;
            work.answers += 1;
            work.barriers += 1;
            for job in jobs {
                job.ends.into_iter().for_each(|end| self.dims[job.partition].end(end, work));
                self.dims[job.partition].sum(3.0, work);
            }
        });
        self.engine.log_likelihoods(jobs)
    }
    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        self.engine.pattern_log_likelihoods(job)
    }
    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        self.engine.state_probabilities(jobs)
    }
    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        self.count(|work| {
            work.launches += 1;
            work.scoring += 1;
            work.answers += 1;
            work.barriers += 1;
            for program in programs {
                let dims = self.dims[program.partition];
                for step in &program.steps {
                    dims.scores(program, step, self.precision, work);
                }
            }
        });
        self.engine.insertion_scores(programs)
    }
    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        self.sweeps(1, programs.iter());
        self.engine.optimize_branches(programs)
    }
    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        // All steps are counted, although some trials end after the first.
        let launches = if trials.iter().all(|trial| trial.sweeps.len() == 1) { 1 } else { 2 };
        self.sweeps(launches, trials.iter().flat_map(|trial| &trial.sweeps));
        self.engine.try_insertions(trials)
    }
    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        self.engine.clv(partition, slot)
    }
}

/// A fast round of a search that looks so far ahead.
fn round(
    num_taxa: usize,
    partitions: &[Partition],
    best_batch: usize,
    precision: ScorePrecision,
) -> (RoundResult, Work) {
    let data = ParsimonyData::of_partitions(num_taxa, partitions);
    let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
    let partition_data: Vec<PartitionData> = partitions
        .iter()
        .map(|partition| PartitionData::new(&partition.patterns, &partition.model))
        .collect();
    let dims = partition_data.iter().map(|data| Dims {
        patterns: data.num_patterns() as f64,
        states: data.num_states as f64,
        rates: data.num_rates as f64,
    });
    let work = Arc::new(Mutex::new(Work::default()));
    let engine = Box::new(Counting {
        engine: make_engine(&partition_data, &EngineOptions::default()).expect("an engine"),
        dims: dims.collect(),
        best_batch,
        precision,
        work: Arc::clone(&work),
    });
    let of_partitions = partition_data.iter().zip(partitions);
    let of_partitions = of_partitions
        .map(|(data, partition)| (data, &partition.patterns.tip_taxa[..], partition.model.clone()));
    let mut evaluator = Evaluator::new(tree, of_partitions.collect(), BrlenLinkage::Linked, engine);
    let options =
        BranchOptions { max_sweeps: 4, lnl_epsilon: 1.0, gain_tolerance: ROUND_TOLERANCE };
    evaluator.optimize_branches(&options).expect("an engine");
    *work.lock().expect("one thread") = Work::default();
    let mut changed = Changed::all(evaluator.tree());
    let result = spr_round(&mut evaluator, &data, &FAST, &mut changed).expect("an engine");
    let work = *work.lock().expect("one thread");
    (result, work)
}

/// Prints what a round takes with one subtree at a time, and with as many as a GPU takes.
fn predict_round(name: &str, num_taxa: usize, partitions: &[Partition]) {
    let round = |best_batch, precision| round(num_taxa, partitions, best_batch, precision);
    let one = round(1, ScorePrecision::Double);
    let many = round(SUBTREES_OF_STEP, ScorePrecision::Double);
    let single = round(SUBTREES_OF_STEP, ScorePrecision::Single);
    assert_eq!(one.0, many.0, "looking ahead changes no result");
    for (ahead, (result, work)) in [("one", one), ("many", many), ("single", single)] {
        let per_1000 = |launches: usize| 1000.0 * launches as f64 / result.scored as f64;
        let (scoring, all) = (per_1000(work.scoring), per_1000(work.launches));
        print!("{name:20} {ahead:6} {:6} {scoring:9.0} {all:12.0}", result.scored);
        for gpu in GPUS {
            let (seconds, waiting) = work.seconds(gpu);
            print!(" {:9.1} ms {:3.0} %", 1e3 * seconds, 100.0 * waiting);
        }
        println!();
        if ahead != "one" {
            print!("{:56}", "  of which scores without launches");
            for gpu in GPUS {
                print!(" {:9.3} ms      ", 1e3 * work.seconds_of_scores(gpu));
            }
            println!();
        }
    }
}

/// A partition of this model, without gaps, on a random tree.
fn simulate_partition(text: &str, num_taxa: usize, num_sites: usize) -> Partition {
    let model = Model::parse(text).expect("the model is well written");
    let rng = |purpose| stream(1, purpose, 0);
    let tree = yule_tree(num_taxa, 0.08, &mut rng(Purpose::SimulatedTree));
    let mut rng = rng(Purpose::SimulatedSequences);
    let patterns = sample_partition(&tree, &model, num_taxa, num_sites, &mut rng);
    Partition { name: text.to_string(), model, patterns, sites: Vec::new() }
}

fn head(columns: &str) {
    print!("\n{columns:56}");
    GPUS.iter().for_each(|(name, ..)| print!(" {name:>17}"));
    println!();
}

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let has = |word: &str| std::env::args().any(|argument| argument == word);
    let is_test = has("--test") || !has("--bench");
    println!(
        "Predicted, not measured: time, and the share of launches, answers and barriers in it."
    );
    head("whole likelihood");
    for (name, taxa, patterns, states, rates) in SHAPES {
        let dims = Dims { patterns: patterns as f64, states: states as f64, rates: rates as f64 };
        let work = likelihood(taxa, dims);
        assert!(work.bytes > 0.0 && work.operations > 0.0);
        print!("{name:56}");
        for gpu in GPUS {
            let (seconds, waiting) = work.seconds(gpu);
            print!(" {:9.3} ms {:3.0} %", 1e3 * seconds, 100.0 * waiting);
        }
        println!();
    }
    head("round of a fast search  ahead scored  launches per 1000:");
    println!("{:40}to score, all", "");
    if is_test {
        predict_round("simulated", SMALL.num_taxa, &simulate(&SMALL).1);
        return;
    }
    let wanted = chosen_names();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    if is_wanted("100 taxa") {
        predict_round("100 taxa, 1000 sites", MEDIUM.num_taxa, &simulate(&MEDIUM).1);
    }
    for (name, model, num_taxa, num_sites) in OTHER_TYPES {
        if is_wanted(name) {
            let name = format!("{name}, {num_taxa} x {num_sites}");
            predict_round(&name, num_taxa, &[simulate_partition(model, num_taxa, num_sites)]);
        }
    }
    let Some(folder) = std::env::var_os("MLSEARCH_DATA") else { return };
    for name in PUBLISHED.into_iter().filter(|name| is_wanted(name)) {
        match read_partitions(Path::new(&folder), name) {
            Ok((alignment, partitions)) => predict_round(name, alignment.num_taxa(), &partitions),
            Err(why) => println!("{name}: not counted: {why}"),
        }
    }
    println!("All genes of DNA under {MODEL}.");
}
