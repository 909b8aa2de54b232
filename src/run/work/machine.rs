//! The number of threads, the engine, and evaluators made with them.

use super::cost::{Cost, format_bytes};
use crate::error::{Error, Result};
use crate::likelihood::select::{Choice, after_failure, choose_engine};
use crate::likelihood::{BrlenLinkage, EngineOptions, Evaluator, make_evaluator, replace_engine};
use crate::model::Model;
use crate::parallel::{available_cores, available_memory, used_memory};
use crate::partition::Partition;
use crate::run::plan::{Plan, Threads};
use crate::tree::Tree;

/// Pattern rows (as [`count_rows`] counts them) below which another thread costs more than it saves.
const MIN_ROWS_PER_THREAD: usize = 500;

/// Threads and engine of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    /// What computes one likelihood.
    engine: EngineOptions,
    /// Jobs at a time for which there is memory.
    jobs_in_memory: usize,
}

impl Machine {
    /// Threads for one likelihood over these partitions; a warning if the user wants more than there
    /// are cores.
    ///
    /// # Errors
    /// [`Error::Usage`] if this machine does not have the requested instruction set.
    pub(crate) fn new(plan: &Plan, partitions: &[Partition]) -> Result<(Self, Option<String>)> {
        let (threads, warning) = choose_threads(plan.run.threads, count_rows(partitions));
        let instruction_set = plan.run.instruction_set;
        let engine =
            EngineOptions { name: plan.run.engine, instruction_set, threads, vector_bytes: None };
        choose_engine(&engine).map_err(|error| Error::Usage(format!("--simd: {error}")))?;
        Ok((Machine { engine, jobs_in_memory: usize::MAX }, warning))
    }

    /// Threads inside one likelihood.
    pub(crate) fn threads(&self) -> usize {
        self.engine.threads
    }

    /// The engine's name, and that of its instruction set.
    pub(crate) fn engine(&self) -> Choice {
        choose_engine(&self.engine).expect("the engine was found when the machine was made")
    }

    /// The same machine, with no more jobs at a time than fit into its memory, or into what the user allows. If not even
    /// one does, its likelihood vectors get what there is.
    ///
    /// # Errors
    /// If that is not enough: [`Error::Usage`] if the user allows too little, else [`Error::Failed`].
    pub(crate) fn within_memory(self, plan: &Plan, cost: &Cost) -> Result<Self> {
        let machine = match available_memory() {
            Some(free) => self.within(cost, free).ok_or_else(|| too_little(cost, free))?,
            None => self,
        };
        let Some(allowed) = plan.run.memory else { return Ok(machine) };
        let used = used_memory().unwrap_or(0);
        let limited = machine.within(cost, allowed.saturating_sub(used)).ok_or_else(|| {
            Error::Usage(format!(
                "--mem: {} are not enough for this run, which needs {} at least; nothing was computed",
                format_bytes(allowed),
                format_bytes(used + cost.least_bytes())
            ))
        })?;
        // Both limits hold.
        let jobs_in_memory = limited.jobs_in_memory.min(machine.jobs_in_memory);
        let least = machine.vector_bytes().into_iter().chain(limited.vector_bytes()).min();
        let engine = EngineOptions { vector_bytes: least, ..limited.engine };
        Ok(Machine { engine, jobs_in_memory })
    }

    /// `None` if so many bytes are not enough.
    fn within(self, cost: &Cost, free: u64) -> Option<Self> {
        let (shared, job) = (cost.shared_bytes(), cost.job_bytes().max(1));
        let jobs_in_memory = (free.saturating_sub(shared) / job) as usize;
        let limited = |vector_bytes| EngineOptions { vector_bytes, ..self.engine };
        if jobs_in_memory > 0 {
            return Some(Machine { engine: limited(None), jobs_in_memory });
        }
        let is_enough = free >= cost.least_bytes();
        let vector_bytes = free.saturating_sub(shared + cost.job_bytes_beside_vectors());
        is_enough.then(|| Machine { engine: limited(Some(vector_bytes)), jobs_in_memory: 1 })
    }

    /// Most bytes of likelihood vectors, if there is not enough memory for all of them.
    pub(crate) fn vector_bytes(&self) -> Option<u64> {
        self.engine.vector_bytes
    }

    /// How `num_jobs` independent computations share the threads that the user allows: how many run at a
    /// time, and the machine for each. One thread for each job is fastest, because it never waits; with
    /// fewer jobs than threads, many threads in one job at a time are faster if there is enough work for
    /// them.
    pub(crate) fn share_out(self, plan: &Plan, num_jobs: usize) -> (usize, Self) {
        let threads = allowed_threads(plan);
        let at_once = threads.min(num_jobs).min(self.jobs_in_memory).max(1);
        if at_once < threads && self.threads() > at_once {
            (1, self)
        } else {
            let engine = EngineOptions { threads: 1, ..self.engine };
            (at_once, Machine { engine, ..self })
        }
    }

    /// An evaluator for a tree; gene g has the data of partition g and the model `models[g]`.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn evaluator(
        &self,
        partitions: &[Partition],
        models: &[Model],
        tree: Tree,
        linkage: BrlenLinkage,
    ) -> Result<Evaluator> {
        Ok(make_evaluator(partitions, models, tree, linkage, &self.engine)?)
    }

    /// The machine that a run goes on with when its engine has failed, if there is one.
    pub(crate) fn after_failure(self) -> Option<Self> {
        after_failure(&self.engine).map(|engine| Machine { engine, ..self })
    }

    /// Gives an evaluator of these partitions the machine's engine instead of the one it has.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn replace_engine(
        &self,
        evaluator: &mut Evaluator,
        partitions: &[Partition],
        models: &[Model],
    ) -> Result<()> {
        Ok(replace_engine(evaluator, partitions, models, &self.engine)?)
    }
}

/// Runs work that uses rayon on no more threads than the user allows.
pub(crate) fn with_threads<T: Send>(plan: &Plan, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(allowed_threads(plan));
    pool.build().expect("the system can start threads").install(work)
}

fn too_little(cost: &Cost, free: u64) -> Error {
    Error::Failed(format!(
        "this run needs about {} of memory, or {} if likelihood vectors are computed again and again, but only {} are \
         free; nothing was computed. Likelihood vectors take taxa x patterns x rate categories x states x 8 bytes: use \
         fewer rate categories (+G4), fewer taxa or columns, or a machine with more memory",
        format_bytes(cost.shared_bytes() + cost.job_bytes()),
        format_bytes(cost.least_bytes()),
        format_bytes(free)
    ))
}

fn allowed_threads(plan: &Plan) -> usize {
    match plan.run.threads {
        Threads::Fixed(threads) => threads,
        Threads::Auto { max } => max.unwrap_or(usize::MAX).min(available_cores()),
    }
}

/// Pattern rows (four rate categories of a pattern) of all partitions with a tree. A row of more states
/// than DNA's four counts as many times as it takes longer: by the square of their number.
fn count_rows(partitions: &[Partition]) -> usize {
    let informative = partitions.iter().filter(|p| p.patterns.num_tips() >= 2);
    let rows = informative.map(|partition| {
        let states = partition.model.num_states().max(4);
        let cats = partition.model.rate_cats().rates.len();
        partition.patterns.num_patterns() * cats * states * states / 16
    });
    rows.sum::<usize>() / 4
}

/// Threads that a likelihood over these partitions can keep busy.
pub(crate) fn useful_threads(partitions: &[Partition]) -> usize {
    useful_for(count_rows(partitions))
}

fn useful_for(rows: usize) -> usize {
    (rows / MIN_ROWS_PER_THREAD).max(1)
}

fn choose_threads(wanted: Threads, rows: usize) -> (usize, Option<String>) {
    let cores = available_cores();
    match wanted {
        Threads::Fixed(threads) => {
            let warning = (threads > cores).then(|| {
                format!(
                    "{threads} threads on {cores} cores: more threads than cores slow the run down"
                )
            });
            (threads, warning)
        }
        Threads::Auto { max } => {
            (useful_for(rows).min(cores).min(max.unwrap_or(cores)).max(1), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_jobs_run_at_a_time_than_fit_into_the_memory() {
        let machine = Machine { engine: EngineOptions::default(), jobs_in_memory: usize::MAX };
        let cost = Cost { clv_bytes: 1 << 30, ..Cost::default() };
        assert_eq!(machine.within(&cost, 4 << 30).unwrap().jobs_in_memory, 3);
        assert_eq!(machine.within(&cost, 4 << 30).unwrap().vector_bytes(), None);
        let limited = machine.within(&cost, 1 << 30).unwrap();
        assert_eq!(limited.jobs_in_memory, 1);
        assert!(limited.vector_bytes().is_some_and(|bytes| bytes < 1 << 30 && bytes > 700 << 20));
        let cost = Cost { least_vectors: 100 << 20, ..cost };
        assert!(machine.within(&cost, 100 << 20).is_none());
        let error = too_little(&cost, 100 << 20);
        assert!(error.to_string().contains("100.0 MiB are free"), "{error}");
    }

    #[test]
    fn automatic_threads_follow_the_work_and_explicit_ones_the_user() {
        let cores = available_cores();
        let auto = |max, rows| choose_threads(Threads::Auto { max }, rows).0;
        assert_eq!(auto(None, 0), 1);
        assert_eq!(auto(None, 999), 1);
        assert_eq!(auto(None, 1_000_000_000), cores);
        assert_eq!(auto(Some(1), 1_000_000_000), 1);
        let (threads, warning) = choose_threads(Threads::Fixed(cores + 1), 0);
        assert_eq!(threads, cores + 1);
        assert!(warning.unwrap().contains("slow"));
        assert_eq!(choose_threads(Threads::Fixed(1), 0), (1, None));
    }
}
