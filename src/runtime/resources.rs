//! [`Resources`]: threads, engine and memory of a run, and how jobs share them ([`Shares`]).

use super::calibration::{Calibration, GAPS, calibrate, first_tree, part_of};
use super::checkpoint::Identity;
use super::cost::{Cost, format_bytes};
use super::division::Division;
use super::shared_jobs::carry_out_on_all;
use super::threads::{allowed_threads, choose_threads, count_rows, useful_for};
use super::use_of_ranks::{deals_jobs, ranks_per_job};
use crate::dataset::Loaded;
use crate::error::{Error, Result};
use crate::likelihood::select::{
    Choice, ENGINE_OF_GPUS, PartitionSize, choose_engine, gpus_for_jobs, room_on_gpus,
};
use crate::likelihood::{
    BrlenLinkage, EngineError, EngineOptions, Evaluator, ScorePrecision, make_evaluator,
};
use crate::model::Model;
use crate::mpi::{Groups, Ranks};
use crate::parallel::{UnitCost, available_memory, used_memory};
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::plan::{MemoryPlan, Plan, TreeSource};
use crate::search::schedule::{EXPLORED_PER_WAVE, PERTURBATIONS_PER_WAVE};
use crate::stop::Stop;
use crate::tree::Tree;

/// Threads and engine of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resources {
    /// What computes one likelihood.
    engine: EngineOptions,
    /// Jobs at a time for which there is memory.
    jobs_in_memory: usize,
    /// Most threads inside one likelihood that are worth it.
    useful_threads: usize,
    /// The bits of several GPUs, each of which has room for all data: jobs are dealt to them.
    dealt_gpus: Option<u64>,
    /// For how many engines, at the same time, the GPUs have room.
    room_on_gpus: usize,
    /// Evaluators of a search, besides its own, on which climbs go on and subtrees are scanned side by side, and threads inside each.
    side_by_side: [usize; 2],
    /// The ranks to which jobs are dealt, if there are several: each computes them alone, or together with those of its group.
    job_ranks: Option<Ranks>,
    /// Before the other ranks know of jobs: how many ranks shall do each.
    per_job: usize,
    /// Whether the run is to end.
    stop: Stop,
}

/// How jobs of several parts share the threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Jobs at the same time.
    pub jobs: usize,
    /// Parts of each of them at the same time.
    pub parts: usize,
    /// What computes the likelihoods of a part.
    pub resources: Resources,
}

impl Shares {
    /// What computes the likelihoods of a job.
    pub(crate) fn resources_of(&self, job: usize) -> Resources {
        if self.jobs > 1 { self.resources.of_job(job) } else { self.resources }
    }

    /// True if there is memory for the engines of all of so many jobs at the same time, also of those that do not run.
    pub(crate) fn have_room_for(&self, num_jobs: usize) -> bool {
        let room = match self.resources.is_on_gpus() {
            true => self.jobs,
            false => self.resources.jobs_in_memory,
        };
        num_jobs <= room
    }
}

/// Most evaluators on which subtrees of a search are scanned side by side: in the first round from a parsimony tree of 181 taxa, about one
/// of 27 subtrees was moved, and what others have found out is then thrown away.
const MOST_SIDE_BY_SIDE: usize = 32;

/// Most climbs of a search that go on side by side on GPUs: those of the largest wave.
const MOST_CLIMBS: usize = match EXPLORED_PER_WAVE > PERTURBATIONS_PER_WAVE {
    true => EXPLORED_PER_WAVE,
    false => PERTURBATIONS_PER_WAVE,
};

/// The evaluators beside that of a search may take the free memory divided by this.
const PART_OF_MEMORY: usize = 2;

/// So many times as many threads as there are would be useful inside a likelihood that has enough work for all of them: these are
/// nearly as fast then, and take the memory of one evaluator.
const ENOUGH_INSIDE: usize = 10;

impl Resources {
    /// One thread, with memory for any number of jobs.
    #[cfg(test)]
    pub(super) fn with_one_thread() -> Self {
        Resources {
            engine: EngineOptions { threads: 1, ..EngineOptions::default() },
            jobs_in_memory: usize::MAX,
            useful_threads: 1,
            dealt_gpus: None,
            room_on_gpus: 1,
            side_by_side: [0, 1],
            job_ranks: None,
            per_job: 1,
            stop: Stop::default(),
        }
    }

    /// These, with jobs that are dealt to ranks.
    #[cfg(test)]
    pub(super) fn with_job_ranks(self, ranks: Ranks) -> Self {
        Resources { job_ranks: Some(ranks), ..self }
    }

    /// Threads and engine for one likelihood over these partitions; a warning if the user wants more threads than there
    /// are cores.
    ///
    /// # Errors
    /// [`Error::Usage`] if this machine does not have the requested instruction set or engine.
    pub(crate) fn new(plan: &Plan, partitions: &[Partition]) -> Result<(Self, Option<String>)> {
        let on_gpus = plan.run.engine == Some(ENGINE_OF_GPUS);
        if on_gpus && plan.run.ranks.is_some() {
            return Err(Error::Usage(format!(
                "--backend {ENGINE_OF_GPUS} computes in one process, and this one is one of several ranks: start it without \
                 mpirun"
            )));
        }
        let per_job = plan.run.ranks.map_or(1, |ranks| {
            let memory = free_memory(plan, used_memory().unwrap_or(0));
            ranks_per_job(plan, ranks, &sizes_of(partitions), memory)
        });
        let are_together = |ranks: &Ranks| per_job > 1 && ranks.size() / per_job <= 1;
        let ranks = plan.run.ranks.filter(are_together);
        let job_ranks = plan.run.ranks.filter(|_| ranks.is_none() && deals_jobs(plan));
        let (resources, warning) = Self::on_ranks(plan, partitions, [ranks, job_ranks])?;
        Ok((Resources { per_job, ..resources }, warning))
    }

    /// These, where the other ranks carry out the run, too, because jobs will be dealt to them or to groups of them.
    ///
    /// # Errors
    /// The run of this rank is not that of rank 0.
    pub(crate) fn begun_on_all(
        self,
        plan: &Plan,
        partitions: &[Partition],
        identity: &Identity,
    ) -> Result<Self> {
        let Some(ranks) = self.job_ranks else { return Ok(self) };
        carry_out_on_all(ranks, identity, self.per_job)?;
        match ranks.groups() {
            None => Ok(self),
            Some(Groups { own, first_ranks, .. }) => {
                Ok(Self::on_ranks(plan, partitions, [Some(own), first_ranks])?.0)
            }
        }
    }

    /// The same after models have changed. What the ranks do stays as it was: other ranks than rank 0 are doing it.
    ///
    /// # Errors
    /// As of [`Resources::new`].
    pub(crate) fn renewed(self, plan: &Plan, partitions: &[Partition]) -> Result<Self> {
        Ok(Self::on_ranks(plan, partitions, [self.engine.ranks, self.job_ranks])?.0)
    }

    /// Those with ranks that compute each likelihood together, or to which jobs are dealt.
    fn on_ranks(
        plan: &Plan,
        partitions: &[Partition],
        [ranks, job_ranks]: [Option<Ranks>; 2],
    ) -> Result<(Self, Option<String>)> {
        let rows = count_rows(partitions) / ranks.map_or(1, Ranks::size);
        let (threads, warning) = choose_threads(plan.run.threads, rows);
        let instruction_set = plan.run.instruction_set;
        let engine = EngineOptions {
            name: plan.run.engine,
            instruction_set,
            threads,
            clv_bytes: None,
            gpus: plan.run.gpus,
            engines_on_gpus: 1,
            ranks,
            score_precision: plan.run.score_precision,
        };
        choose_engine(&engine).map_err(|error| match error {
            EngineError::Unavailable { engine, reason } => {
                let why = match plan.run.score_precision {
                    ScorePrecision::Double => "",
                    ScorePrecision::Single => " (which --gpu-precision single needs)",
                };
                Error::Usage(format!(
                    "--backend {engine}{why}: {reason}. Leave the option out to compute on the processor"
                ))
            }
            other => Error::Usage(format!("--simd: {other}")),
        })?;
        let useful_threads = useful_for(rows);
        let resources = Resources {
            engine,
            jobs_in_memory: usize::MAX,
            useful_threads,
            dealt_gpus: None,
            room_on_gpus: 1,
            side_by_side: [0, 1],
            job_ranks,
            per_job: 1,
            stop: plan.run.stop,
        };
        Ok((resources, warning))
    }

    /// Whether the run is to end.
    pub(crate) fn stop(&self) -> Stop {
        self.stop
    }

    /// Threads inside one likelihood.
    pub(crate) fn threads(&self) -> usize {
        self.engine.threads
    }

    /// These, and if they are GPUs, what these have room for: each of several all data, and how many engines at the same
    /// time.
    pub(crate) fn with_room_on_gpus(self, partitions: &[Partition]) -> Self {
        if !self.is_on_gpus() {
            return self;
        }
        let sizes = sizes_of(partitions);
        Resources {
            dealt_gpus: gpus_for_jobs(&self.engine, &sizes),
            room_on_gpus: room_on_gpus(&self.engine, &sizes).max(1),
            ..self
        }
    }

    /// The GPUs that compute, by the bits of their numbers; `None` if the processor does.
    pub(crate) fn gpus(&self) -> Option<u64> {
        self.is_on_gpus().then_some(self.engine.gpus)
    }

    /// True if it computes on GPUs.
    fn is_on_gpus(&self) -> bool {
        self.engine.name == Some(ENGINE_OF_GPUS)
    }

    /// Those of a job of which others run at the same time: one of the GPUs, in turn.
    fn of_job(self, job: usize) -> Self {
        let Some(gpus) = self.dealt_gpus.filter(|_| self.is_on_gpus()) else { return self };
        let each = (0..u64::BITS).map(|gpu| gpus & 1 << gpu).filter(|&gpu| gpu != 0);
        let own = each.cycle().nth(job % gpus.count_ones() as usize).unwrap_or(gpus);
        let engine = EngineOptions { gpus: own, ..self.engine };
        Resources { engine, ..self }
    }

    /// The ranks to which jobs are dealt, if they are.
    pub(crate) fn job_ranks(&self) -> Option<Ranks> {
        self.job_ranks
    }

    /// What these ranks do, in words.
    pub(crate) fn use_of_ranks(&self, ranks: Ranks) -> String {
        let size = ranks.size();
        match (self.engine.ranks, self.job_ranks) {
            (Some(_), Some(groups)) => format!(
                "{size} ranks in {} groups, to which computations are dealt; those of a group compute each likelihood together",
                groups.size()
            ),
            (Some(_), None) => format!("{size} ranks, which compute each likelihood together"),
            (None, Some(_)) => format!("{size} ranks, to which computations are dealt"),
            (None, None) => format!(
                "{size} ranks, of which one computes: a likelihood of so few patterns is not faster on several, and other work is only \
                 for those who can read the alignment, too (from a file), in analyses that have some"
            ),
        }
    }

    /// Number of ranks that share a likelihood.
    pub(crate) fn num_ranks(&self) -> usize {
        self.engine.ranks.map_or(1, Ranks::size)
    }

    /// The engine's name, and that of its instruction set.
    pub(crate) fn engine(&self) -> Choice {
        choose_engine(&self.engine).expect("the engine was found when the run began")
    }

    /// These, with the memory and the GPUs that the analysis wants to be planned.
    ///
    /// # Errors
    /// As of [`Resources::within_memory`].
    pub(crate) fn planned(
        self,
        plan: &Plan,
        loaded: &Loaded,
    ) -> Result<(Self, Option<Calibration>)> {
        match plan.facts.workload.memory {
            MemoryPlan::Own => Ok((self, None)),
            MemoryPlan::Jobs | MemoryPlan::Chains(_) => {
                let (resources, calibration) = self.within_memory(plan, loaded)?;
                Ok((resources.with_room_on_gpus(&loaded.partitions), calibration))
            }
        }
    }

    /// These, with no more jobs at a time than fit into memory, or into what the user allows, as a short
    /// calibration says if there is not plenty. If not even one does, its CLVs get what there is.
    ///
    /// # Errors
    /// If that is not enough: [`Error::Usage`] if the user allows too little, else [`Error::Failed`].
    pub(crate) fn within_memory(
        self,
        plan: &Plan,
        loaded: &Loaded,
    ) -> Result<(Self, Option<Calibration>)> {
        let cost = Cost::of_data(loaded).of_each_of(self.num_ranks());
        let used = used_memory().unwrap_or(0);
        let Some(free) = free_memory(plan, used) else { return Ok((self, None)) };
        let allowed = plan.run.memory.map(|allowed| allowed.saturating_sub(used));
        let is_users_limit = allowed == Some(free);
        let free = free.saturating_sub(cost.shared_bytes());
        let beside = cost.bytes_beside_engine(plan);
        let jobs_in_memory = (free / (cost.engine_bytes() + beside).max(1)) as usize;
        let engines = plan.facts.workload.memory.engines_per_job();
        let per_job = cost.engine_bytes() * engines as u64 + beside;
        if engines > 1 {
            if per_job > free {
                let least = used + cost.shared_bytes() + per_job;
                return Err(too_little(plan.run.memory.filter(|_| is_users_limit), least));
            }
            return Ok((Resources { jobs_in_memory: (free / per_job) as usize, ..self }, None));
        }
        let is_one_search =
            plan.facts.workload.is_one_search && plan.search.trees == [TreeSource::Auto];
        let wanted = if is_one_search { 1 } else { allowed_threads(plan) };
        if jobs_in_memory >= wanted {
            return Ok((Resources { jobs_in_memory, ..self }, None));
        }
        // Under frequencies of sites, all CLVs are kept.
        if loaded.has_site_frequencies() {
            if jobs_in_memory > 0 {
                return Ok((Resources { jobs_in_memory, ..self }, None));
            }
            let least = used + cost.shared_bytes() + cost.engine_bytes() + beside;
            return Err(too_little(plan.run.memory.filter(|_| is_users_limit), least));
        }
        if free < cost.least_job_bytes(plan) {
            let least = used + cost.shared_bytes() + cost.least_job_bytes(plan);
            return Err(too_little(plan.run.memory.filter(|_| is_users_limit), least));
        }
        let (tree, _) = first_tree(plan, loaded);
        // What the parsimony tree has left behind is used again, or not.
        let left = used_memory().map_or(0, |now| now.saturating_sub(used));
        let free = free.saturating_sub(left).max(cost.least_job_bytes(plan));
        let resources = self.limited_to(((free - beside) as f64 / GAPS) as u64);
        let calibration = resources.calibrate(&loaded.partitions, &tree, plan.linkage());
        let calibration = calibration.map_err(not_enough)?;
        let jobs_in_memory = match calibration.is_complete() {
            true => (free / (calibration.most_engine_bytes(plan) + beside)).max(1) as usize,
            false => 1,
        };
        // The limit stays even if all CLVs fit, in case that a search takes more than was expected.
        let resources = self.limited_to(calibration.within(free / jobs_in_memory as u64 - beside));
        Ok((Resources { jobs_in_memory, ..resources }, Some(calibration)))
    }

    /// What a sweep over the branches of a tree takes with them.
    ///
    /// # Errors
    /// There is not enough memory.
    fn calibrate(
        &self,
        partitions: &[Partition],
        tree: &Tree,
        linkage: BrlenLinkage,
    ) -> Result<Calibration> {
        let models: Vec<Model> = partitions.iter().map(|p| p.model.clone()).collect();
        let make = || self.evaluator(partitions, &models, tree.clone(), linkage);
        calibrate(make, self.threads())
    }

    /// The same, for an estimate: from a part of the data if there are many.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn estimate(
        &self,
        loaded: &Loaded,
        tree: &Tree,
        linkage: BrlenLinkage,
    ) -> Result<Calibration> {
        let (partitions, times) = part_of(&loaded.partitions, Cost::of_data(loaded).sweep);
        let of_part = |bytes: u64| self.limited_to((bytes as f64 / times) as u64);
        let resources = self.clv_bytes().map_or(*self, of_part);
        Ok(resources.calibrate(&partitions, tree, linkage)?.times(times))
    }

    /// These, with engines of so many bytes.
    pub(crate) fn limited_to(self, bytes: u64) -> Self {
        let engine = EngineOptions { clv_bytes: Some(bytes), ..self.engine };
        Resources { engine, ..self }
    }

    /// Most bytes of CLVs, if there is not enough memory for all of them.
    pub(crate) fn clv_bytes(&self) -> Option<u64> {
        self.engine.clv_bytes
    }

    /// How `num_jobs` independent computations share the threads that the user allows. One thread for each job is fastest,
    /// because it never waits; with fewer jobs than threads, many threads in one job at a time are faster if there is enough
    /// work for them.
    pub(crate) fn share_out(self, plan: &Plan, num_jobs: usize) -> Shares {
        if self.is_on_gpus() {
            let shares = self.share_gpus(allowed_threads(plan), num_jobs, 1);
            let resources = match shares.jobs {
                1 => self.with_companions_on_gpus(allowed_threads(plan)),
                _ => shares.resources,
            };
            return Shares { resources, ..shares };
        }
        // All ranks work on one likelihood at a time.
        if self.engine.ranks.is_some() {
            return Shares { jobs: 1, parts: 1, resources: self };
        }
        let num_jobs = num_jobs.div_ceil(self.job_ranks.map_or(1, Ranks::size));
        let threads = allowed_threads(plan);
        let at_once = threads.min(num_jobs).min(self.jobs_in_memory).max(1);
        if num_jobs == 1 || at_once < threads && self.threads() > at_once {
            let resources = match plan.facts.workload.memory {
                MemoryPlan::Jobs => self.with_companions(threads),
                // It is not known for how many there is memory.
                MemoryPlan::Own | MemoryPlan::Chains(_) => self,
            };
            Shares { jobs: 1, parts: 1, resources }
        } else {
            let engine = EngineOptions { threads: 1, ..self.engine };
            Shares { jobs: at_once, parts: 1, resources: Resources { engine, ..self } }
        }
    }

    /// These, for a single search of the plan, if there is memory for that.
    pub(crate) fn of_one_search(self, plan: &Plan) -> Self {
        match self.engine.ranks {
            Some(_) => self,
            None if self.is_on_gpus() => self.with_companions_on_gpus(allowed_threads(plan)),
            None => self.with_companions(allowed_threads(plan)),
        }
    }

    /// These, for a search of which parts can go on side by side on the same GPUs.
    fn with_companions_on_gpus(self, threads: usize) -> Self {
        let companions = threads.min(MOST_CLIMBS).min(self.room_on_gpus.saturating_sub(1));
        if companions < 2 {
            return self;
        }
        let engine = EngineOptions { engines_on_gpus: companions + 1, ..self.engine };
        Resources { engine, side_by_side: [companions, 1], ..self }
    }

    /// How jobs of so many parts share the GPUs: a small likelihood fills a small part of one, and those on threads of their own
    /// have streams of their own there.
    fn share_gpus(self, threads: usize, num_jobs: usize, num_parts: usize) -> Shares {
        let gpus = self.dealt_gpus.map_or(1, u64::count_ones) as usize;
        let room = threads.max(gpus).min(self.room_on_gpus.max(gpus));
        let jobs = (room / num_parts).clamp(1, num_jobs);
        // A single job is on all GPUs.
        let dealt = if jobs > 1 { gpus } else { 1 };
        let engines_on_gpus = (jobs * num_parts).div_ceil(dealt);
        let engine = EngineOptions { threads: 1, engines_on_gpus, ..self.engine };
        let resources = Resources { engine, ..self };
        Shares { jobs, parts: (room / jobs).clamp(1, num_parts), resources }
    }

    /// These, for a search that has so many threads, and parts that can go on side by side. Where a likelihood has
    /// enough work for all threads, they stay inside of it, which takes less memory.
    fn with_companions(self, threads: usize) -> Self {
        let in_memory = self.jobs_in_memory / PART_OF_MEMORY;
        let companions = threads.min(MOST_SIDE_BY_SIDE).min(in_memory);
        if companions < 2 || self.useful_threads > ENOUGH_INSIDE * threads {
            return self;
        }
        let inside = (threads / companions).clamp(1, self.useful_threads);
        Resources { side_by_side: [companions, inside], ..self }
    }

    /// What computes on each of the evaluators of a search besides its own, on which parts of it go on side by side.
    pub(crate) fn companions(&self) -> impl Iterator<Item = Resources> + use<> {
        let [companions, threads] = self.side_by_side;
        let engine = EngineOptions { threads, ..self.engine };
        let resources = Resources { engine, ..self.without_companions() };
        std::iter::repeat_n(resources, companions)
    }

    /// These, without other evaluators.
    pub(crate) fn without_companions(self) -> Self {
        Resources { side_by_side: [0, 1], ..self }
    }

    /// Parsimony data with shares of the columns for all who compute a likelihood, if they are worth it: ranks, threads. Evaluators
    /// that scan subtrees side by side have all columns each.
    pub(super) fn divide(&self, data: ParsimonyData) -> ParsimonyData {
        let (useful, threads) = (data.useful_shares(), self.engine.threads);
        match self.engine.ranks {
            Some(ranks) if useful >= ranks.size() => {
                data.on_ranks(ranks, threads.min(useful / ranks.size()))
            }
            _ if self.side_by_side[0] > 0 => data,
            _ => data.on_threads(threads),
        }
    }

    /// How `num_jobs` independent computations, each of parts with these costs, which meet often, share the threads that the
    /// user allows: jobs at the same time never wait for each other, parts and threads inside a likelihood do.
    pub(crate) fn share_out_parts(
        self,
        plan: &Plan,
        num_jobs: usize,
        parts: &[UnitCost],
    ) -> Shares {
        let (threads, num_parts) = (allowed_threads(plan), parts.len());
        if self.is_on_gpus() {
            return self.share_gpus(threads, num_jobs, num_parts);
        }
        if self.engine.ranks.is_some() {
            return Shares { jobs: 1, parts: 1, resources: self };
        }
        let num_jobs = num_jobs.div_ceil(self.job_ranks.map_or(1, Ranks::size));
        let most = threads.min(num_jobs).min(self.jobs_in_memory).max(1);
        let division = Division::fastest([threads, most], num_jobs, parts, self.useful_threads);
        let engine = EngineOptions { threads: division.inside, ..self.engine };
        let resources = Resources { engine, ..self };
        Shares { jobs: division.jobs, parts: division.parts, resources }
    }

    /// An evaluator for a tree; partition g has the data of partition g and the model `models[g]`.
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
        let options = self.options_of_engine();
        let mut evaluator = make_evaluator(partitions, models, tree, linkage, &options)?;
        evaluator.ends_by(self.stop);
        Ok(evaluator)
    }

    /// The limit of memory is that of the processor: a GPU keeps what it has room for.
    fn options_of_engine(&self) -> EngineOptions {
        let clv_bytes = self.engine.clv_bytes.filter(|_| !self.is_on_gpus());
        EngineOptions { clv_bytes, ..self.engine }
    }
}

fn sizes_of(partitions: &[Partition]) -> Vec<PartitionSize> {
    let size_of = |partition: &Partition| PartitionSize {
        num_tips: partition.patterns.num_tips(),
        num_patterns: partition.patterns.num_patterns(),
        num_states: partition.model.num_states(),
        num_rates: partition.model.rate_cats().rates.len(),
    };
    partitions.iter().map(size_of).collect()
}

/// Bytes that a run that has used so many may still take: what is free, or what the user allows; `None` if neither is known.
pub(crate) fn free_memory(plan: &Plan, used: u64) -> Option<u64> {
    let allowed = plan.run.memory.map(|allowed| allowed.saturating_sub(used));
    available_memory().into_iter().chain(allowed).min()
}

fn too_little(allowed: Option<u64>, least: u64) -> Error {
    let least = format_bytes(least);
    match allowed {
        Some(allowed) => Error::Usage(format!(
            "--mem: {} are not enough for this run, which needs {least} at least; nothing was computed",
            format_bytes(allowed),
        )),
        None => not_enough(Error::Failed(format!("this run needs {least} of memory at least"))),
    }
}

/// A failure for lack of memory, with what can be done.
fn not_enough(error: Error) -> Error {
    let Error::Failed(what) = error else { return error };
    Error::Failed(format!(
        "{what}, but only {} are free; nothing was computed. Likelihood vectors take taxa x patterns x rate categories x \
         states x 8 bytes: use fewer rate categories (+G4), fewer taxa or columns, or a resources with more memory",
        format_bytes(available_memory().unwrap_or(0))
    ))
}
