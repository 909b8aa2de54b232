//! What the evaluation of a tree costs, phase by phase: models set, full traversals' worth of updates,
//! branches optimised and log-likelihoods computed.
//!
//! `cargo bench --bench evaluation -- ALIGNMENT MODEL` prints a table, for a parsimony tree;
//! without arguments it takes the primates of datasets/. The counts do not depend on the machine.

use mlsearch::alignment::read_alignment;
use mlsearch::likelihood::engine::{
    Capabilities, EdgeJob, Engine, InsertionProgram, PartitionData, PointJob, Result, SweepProgram,
    TraversalDescriptor, TrialProgram,
};
use mlsearch::likelihood::select::make_engine;
use mlsearch::likelihood::{BrlenLinkage, EngineOptions, Evaluator};
use mlsearch::model::Model;
use mlsearch::observer::{Event, Observer};
use mlsearch::optimize::{OptimizeOptions, optimize_from_several_starts};
use mlsearch::parsimony::ParsimonyData;
use mlsearch::partition::Partition;
use mlsearch::rng::Purpose;
use mlsearch::search::parsimony_start;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What an engine was asked for so far.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    models: usize,
    /// CLV updates for likelihoods, and on the way from branch to branch.
    updates: [usize; 2],
    branches: usize,
    likelihoods: usize,
}

/// Counts what it passes on.
struct Counting {
    engine: Box<dyn Engine>,
    counts: Arc<Mutex<Counts>>,
}

impl Counting {
    fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().expect("one thread"));
    }
}

impl Engine for Counting {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }
    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        self.count(|counts| counts.models += models.len());
        self.engine.set_models(models)
    }
    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        self.engine.set_pattern_weights(partition, weights)
    }
    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        let updates: usize = descriptors.iter().map(|d| d.operations.len()).sum();
        self.count(|counts| counts.updates[0] += updates);
        self.engine.update_partials(descriptors)
    }
    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        self.count(|counts| counts.likelihoods += jobs.len());
        self.engine.log_likelihoods(jobs)
    }
    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        self.engine.pattern_log_likelihoods(job)
    }
    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        self.engine.state_probabilities(jobs)
    }
    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        self.engine.pmatrix_gradients(jobs)
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        self.engine.insertion_scores(programs)
    }
    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        self.count(|counts| {
            counts.updates[1] += programs.iter().map(|p| p.operations.len()).sum::<usize>();
            counts.branches += programs.iter().map(|p| p.jobs.len()).sum::<usize>();
        });
        self.engine.optimize_branches(programs)
    }
    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        self.engine.try_insertions(trials)
    }
    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        self.engine.clv(partition, slot)
    }
}

/// Prints a row whenever something has been reached.
struct Table {
    counts: Arc<Mutex<Counts>>,
    num_updates: usize,
    started: Instant,
    phase: String,
}

impl Observer for Table {
    fn event(&mut self, event: &Event) {
        let (what, lnl) = match event {
            Event::Phase { name } => {
                self.phase.clone_from(name);
                return;
            }
            Event::Progress { round, lnl, .. } => (format!("{}, round {round}", self.phase), *lnl),
            _ => return,
        };
        self.row(&what, lnl);
    }
}

impl Table {
    fn row(&self, what: &str, lnl: f64) {
        let Counts { models, updates, branches, likelihoods } =
            *self.counts.lock().expect("one thread");
        let traversals = updates.map(|updates| updates as f64 / self.num_updates as f64);
        println!(
            "{what:45} {models:7} {:11.1} {:11.1} {branches:9} {likelihoods:11} {:8.3} {lnl:18.5}",
            traversals[0],
            traversals[1],
            self.started.elapsed().as_secs_f64()
        );
    }
}

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let word = |i: usize, default: &str| given.get(i).map_or(default, |word| word).to_string();
    let alignment =
        read_alignment(Path::new(&word(0, "datasets/primates.phy"))).expect("sequences");
    let model = word(1, "GTR+FO+G4");
    let partitions = [Partition::whole(&alignment, &model).expect("a model of these data")];
    let model = partitions[0].model.clone();
    let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
    let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
    let partition_data = [PartitionData::new(&partitions[0].patterns, &model)];
    let options = EngineOptions::default();
    let counts = Arc::new(Mutex::new(Counts::default()));
    let engine = make_engine(&partition_data, &options).expect("an engine");
    let engine = Box::new(Counting { engine, counts: Arc::clone(&counts) });
    let partition = (&partition_data[0], &partitions[0].patterns.tip_taxa[..], model.clone());
    let num_updates = alignment.num_taxa() - 2;
    let mut evaluator = Evaluator::new(tree, vec![partition], BrlenLinkage::Linked, engine);
    let started = Instant::now();
    let mut table = Table { counts, num_updates, started, phase: String::new() };
    println!(
        "{:45} {:>7} {:>11} {:>11} {:>9} {:>11} {:>8} {:>18}",
        "until", "models", "traversals", "of sweeps", "branches", "likelihoods", "seconds", "lnL"
    );
    let mut models = [model];
    let options = OptimizeOptions::to(1e-3);
    let lnl = optimize_from_several_starts(&mut evaluator, &mut models, &options, &mut table);
    let lnl = lnl.expect("an engine");
    table.row("the end", lnl);
    evaluator.forget();
    let afresh = evaluator.log_likelihood().expect("an engine");
    assert!((afresh / lnl - 1.0).abs() < 1e-12, "{afresh} when computed afresh, not {lnl}");
}
