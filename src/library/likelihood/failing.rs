//! An engine for tests of failure: it delegates to the CPU engine and fails after a given number of calls, or panics if it is told to
//! or the environment has `MLSEARCH_TEST_PANIC`.

use super::engine::{
    Capabilities, EdgeJob, Engine, EngineError, EngineOptions, Entry, InsertionProgram,
    PartitionData, PointJob, Result, SweepProgram, TraversalDescriptor, TrialProgram,
};
use crate::model::Model;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The engine's name.
const NAME: &str = "failing";

/// Entry of this engine for `select`.
pub(super) const ENTRY: Entry =
    Entry { name: NAME, make, instruction_set: |_| Ok("none"), gives_default_bits: true };

/// Number of successful calls of the next engine that is made.
pub static CALLS: AtomicUsize = AtomicUsize::new(0);

/// After these it panics.
pub static PANICS: AtomicBool = AtomicBool::new(false);

/// Held by a test as long as it needs both as they are.
pub static TURN: Mutex<()> = Mutex::new(());

fn make(data: &[PartitionData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let engine = (super::cpu::ENTRY.make)(data, options)?;
    Ok(Box::new(Failing { engine, calls_left: CALLS.load(Ordering::Relaxed) }))
}

struct Failing {
    engine: Box<dyn Engine>,
    calls_left: usize,
}

impl Failing {
    fn engine(&mut self) -> Result<&mut dyn Engine> {
        let Some(left) = self.calls_left.checked_sub(1) else {
            let panics = PANICS.load(Ordering::Relaxed);
            let panics = panics || std::env::var_os("MLSEARCH_TEST_PANIC").is_some();
            assert!(!panics, "the failing engine panics");
            return Err(EngineError::Lost {
                engine: NAME,
                reason: "it was pulled out".to_string(),
            });
        };
        self.calls_left = left;
        Ok(self.engine.as_mut())
    }
}

impl Engine for Failing {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: NAME, ..self.engine.capabilities() }
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        self.engine()?.set_models(models)
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        self.engine()?.set_pattern_weights(partition, weights)
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        self.engine()?.update_partials(descriptors)
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        self.engine()?.log_likelihoods(jobs)
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        self.engine()?.pattern_log_likelihoods(job)
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        self.engine()?.state_probabilities(jobs)
    }

    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        self.engine()?.pmatrix_gradients(jobs)
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        self.engine()?.insertion_scores(programs)
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        self.engine()?.optimize_branches(programs)
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        self.engine()?.try_insertions(trials)
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        self.engine()?.clv(partition, slot)
    }
}
