//! Derivatives for a sweep: computed by one worker for a whole partition, or by all workers together, who meet once for each
//! Newton step; where ranks share partitions with lengths of their own, once for a Newton step of all of these.

use super::unit::{Scratch, Unit};
use super::workers::{CpuEngine, Region, Shared, lock};
use crate::likelihood::engine::newton::StepSearch;
use crate::likelihood::engine::{
    BlockSum, Clv, Derivatives, EdgeJob, EngineError, Holders, Operation, Result, SweepJob,
    SweepProgram, chain_rule, run_sweep,
};
use crate::parallel::{Abandoned, Team};
use mlsearch_kernels::PartitionKernels;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Whose work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// That of all ranks, if there are several, on the blocks that each has.
    AllRanks,
    /// Of this rank alone, which has all blocks.
    ThisRank,
}

/// A part of a sweep program that is to be run.
pub(super) struct Sweep<'a> {
    /// The program.
    pub program: &'a mut SweepProgram,
    /// The steps to be run.
    pub steps: Range<usize>,
    /// Slot of each temporary, by partition of the program.
    pub slots: &'a [Vec<u32>],
}

/// The CLV, with a temporary replaced by the slot in which it is stored.
pub(super) fn resolve(clv: Clv, slots: &[u32]) -> Clv {
    match clv {
        Clv::Temporary(number) => Clv::Stored(slots[number as usize]),
        stored => stored,
    }
}

/// Computation of all steps of a partition by one worker.
pub(super) struct WholePartition<'a> {
    pub with: PartitionKernels<'a>,
    /// All units of the partition, in block order.
    pub units: Vec<MutexGuard<'a, Unit>>,
    /// Slots of the partition's temporaries.
    pub slots: &'a [u32],
    pub scratch: &'a mut Scratch,
}

impl Shared {
    /// A partition for one worker, without temporaries.
    pub(super) fn whole_partition<'a>(
        &'a self,
        partition: usize,
        scratch: &'a mut Scratch,
    ) -> WholePartition<'a> {
        WholePartition {
            with: PartitionKernels {
                kernels: self.kernels.as_ref(),
                model: &self.models[partition],
            },
            units: self.units[self.partition_units[partition].clone()].iter().map(lock).collect(),
            slots: &[],
            scratch,
        }
    }
}

impl WholePartition<'_> {
    /// The partition's log-likelihood at an edge whose ends are stored CLVs.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn log_likelihood(&mut self, job: &EdgeJob) -> Result<f64> {
        let mut total = BlockSum::new();
        for unit in &mut self.units {
            unit.log_likelihoods(self.with, job, None, self.scratch)?;
            unit.sums.iter().for_each(|sums| total.add([sums[0]]));
        }
        Ok(total.total()[0])
    }
}

impl Derivatives for WholePartition<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        for job in &program.jobs[program.steps[step].jobs.clone()] {
            for unit in &mut self.units {
                start_job(self.with, unit, self.scratch, program, job, self.slots)?;
            }
        }
        Ok(())
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let step = &program.steps[step];
        let length = program.job_length(&program.jobs[step.jobs.start], step, t);
        let mut total = BlockSum::new();
        for unit in &mut self.units {
            unit.derivatives(self.with, length, self.scratch);
            unit.sums.iter().for_each(|sums| total.add(*sums));
        }
        Ok(chain_rule(total.total(), program.partitions[0].brlen_scaler))
    }
}

impl CpuEngine {
    /// Lets all workers carry out work on these partitions together, by threads that meet: each goes through all of it, on
    /// `work` itself or on a copy. If it is of all ranks, each of them does this at the same time.
    ///
    /// # Errors
    /// Those of `run`.
    pub(super) fn in_team<T: Clone + Send + Sync>(
        &mut self,
        partitions: &[usize],
        slots: &[Vec<u32>],
        of: Of,
        work: &mut T,
        run: impl Fn(&mut Together, &mut T) -> Result<()> + Sync,
    ) -> Result<()> {
        let CpuEngine { pool, shared, .. } = self;
        let mut steps = vec![0; shared.num_partitions()];
        partitions.iter().for_each(|&partition| steps[partition] = 1);
        let loads = shared.region(&steps).loads;
        let copy = pool.has_company(&loads).then(|| work.clone());
        let (original, failure) = (Mutex::new(work), Mutex::new(None));
        pool.run_team(&loads, &|team| {
            let leads = team.leads();
            let mut together = Together::new(shared, team, &failure, slots, of);
            let result = match leads {
                true => run(&mut together, &mut lock(&original)),
                false => run(&mut together, &mut copy.clone().expect("only a company has others")),
            };
            if let Err(error) = result {
                lock(&failure).get_or_insert(error);
            }
        });
        match failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// A thread's part in what all workers compute together: sweeps of several partitions, or of a partition that is too large for
/// one worker. Every thread of the team goes through the whole program; each computes its units only, and they meet to
/// add up the sums of all.
pub(super) struct Together<'a, 'b> {
    shared: &'a Shared,
    team: &'a mut Team<'b>,
    /// Why a thread has left the team.
    failure: &'a Mutex<Option<EngineError>>,
    /// Slots of the temporaries of each partition of the program.
    slots: &'a [Vec<u32>],
    /// Those with whose blocks the sums of this rank's are added up.
    holders: Option<&'a Holders>,
    /// Index of the step's job, by partition; `None` for partitions without a job.
    job_of_partition: Vec<Option<usize>>,
    region: Region,
    /// Number of meetings so far.
    meetings: usize,
}

impl<'a, 'b> Together<'a, 'b> {
    pub(super) fn new(
        shared: &'a Shared,
        team: &'a mut Team<'b>,
        failure: &'a Mutex<Option<EngineError>>,
        slots: &'a [Vec<u32>],
        of: Of,
    ) -> Self {
        let (job_of_partition, region) = (vec![None; shared.num_partitions()], Region::default());
        let holders = shared.holders.as_ref().filter(|_| of == Of::AllRanks);
        Together { shared, team, failure, slots, holders, job_of_partition, region, meetings: 0 }
    }

    /// Runs some steps of a program, and evaluates the edges of [`SweepProgram::finish`] after the last.
    pub(super) fn run(&mut self, program: &mut SweepProgram, steps: Range<usize>) -> Result<()> {
        self.region = Region::default();
        run_sweep(program, steps.clone(), self)?;
        // Before the next sweep, which may overwrite the temporaries of this one.
        if steps.end == program.steps.len() && !program.finish.is_empty() {
            let job = |job| finish_job(program, job, self.slots);
            let jobs: Vec<EdgeJob> = program.finish.iter().map(job).collect();
            program.finish_lnls = self.log_likelihoods(&jobs)?;
        }
        Ok(())
    }

    /// Runs steps of several programs side by side, each of a partition of its own and with its own slots: the sums of a Newton
    /// step of all of them are exchanged at once. Each number is that of the program alone.
    pub(super) fn run_side_by_side(
        &mut self,
        programs: &mut [SweepProgram],
        steps: &[Range<usize>],
        slots: &[&[Vec<u32>]],
    ) -> Result<()> {
        let numbers = 0..programs.len();
        let partition_of: Vec<usize> =
            programs.iter().map(|program| program.partitions[0].partition).collect();
        let mut number_of = vec![0; self.shared.num_partitions()];
        numbers.clone().for_each(|number| number_of[partition_of[number]] = number);
        let mut next: Vec<usize> = steps.iter().map(|steps| steps.start).collect();
        let mut searches: Vec<Option<StepSearch>> = numbers.clone().map(|_| None).collect();
        loop {
            let mut costs = vec![0; self.shared.num_partitions()];
            let mut begins = vec![false; programs.len()];
            let mut lengths = vec![None; programs.len()];
            for number in numbers.clone().filter(|&number| next[number] < steps[number].end) {
                let (program, step) = (&programs[number], next[number]);
                let search = searches[number].get_or_insert_with(|| {
                    begins[number] = true;
                    StepSearch::begin(program, step)
                });
                lengths[number] = search.ask();
                let operations = program.jobs[program.steps[step].jobs.start].operations.len();
                costs[partition_of[number]] = 1 + if begins[number] { operations + 1 } else { 0 };
            }
            if costs.iter().all(|&cost| cost == 0) {
                break;
            }
            self.region = self.shared.region(&costs);
            let asked = numbers.clone().filter(|&number| lengths[number].is_some());
            let partitions = self.to_be_added_up(asked.map(|number| partition_of[number]));
            let sums = self.share_sums(&partitions, |with, unit, scratch| {
                let number = number_of[unit.partition];
                let program = &programs[number];
                let step = &program.steps[next[number]];
                let job = &program.jobs[step.jobs.start];
                if begins[number] {
                    start_job(with, unit, scratch, program, job, &slots[number][job.member])?;
                }
                if let Some(t) = lengths[number] {
                    unit.derivatives(with, program.job_length(job, step, t), scratch);
                }
                Ok(())
            })?;
            for number in numbers.clone() {
                let Some(search) = &mut searches[number] else { continue };
                let (program, step) = (&mut programs[number], next[number]);
                if lengths[number].is_some() {
                    let sums = self.sum(sums, partition_of[number]);
                    search.tell(chain_rule(sums, program.partitions[0].brlen_scaler));
                }
                if search.ask().is_none() {
                    search.end(program, step);
                    searches[number] = None;
                    next[number] += 1;
                }
            }
        }
        let ends = |&number: &usize| steps[number].end == programs[number].steps.len();
        let finished: Vec<usize> = numbers.filter(ends).collect();
        let jobs_of = |&number: &usize| {
            let program = &programs[number];
            program.finish.iter().map(move |job| finish_job(program, job, slots[number]))
        };
        let jobs: Vec<EdgeJob> = finished.iter().flat_map(jobs_of).collect();
        if !jobs.is_empty() {
            let mut lnls = self.log_likelihoods(&jobs)?.into_iter();
            for number in finished {
                let program = &mut programs[number];
                program.finish_lnls = lnls.by_ref().take(program.finish.len()).collect();
            }
        }
        Ok(())
    }

    /// Log-likelihoods at edges whose ends are stored CLVs, at most one per partition.
    pub(super) fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        let mut of_partition = vec![None; self.shared.num_partitions()];
        jobs.iter().for_each(|job| of_partition[job.partition] = Some(job));
        let steps: Vec<usize> = of_partition.iter().map(|job| usize::from(job.is_some())).collect();
        self.region = self.shared.region(&steps);
        let partitions = jobs.iter().map(|job| job.partition);
        let partitions = self.to_be_added_up(partitions);
        let sums = self.share_sums(&partitions, |with, unit, scratch| {
            let job = of_partition[unit.partition].expect("only active partitions are run");
            unit.log_likelihoods(with, job, None, scratch)
        })?;
        Ok(jobs.iter().map(|job| self.sum(sums, job.partition)[0]).collect())
    }

    /// Does work on this thread's units of the region, which have these numbers.
    fn share(
        &mut self,
        work: impl Fn(PartitionKernels, &mut Unit, usize, &mut Scratch) -> Result<()>,
    ) -> Result<()> {
        let Together { shared, region, .. } = self;
        let result = self.team.share(|member| shared.run_hand(region, member, &work));
        if let Err(error) = &result {
            *lock(self.failure) = Some(error.clone());
            self.team.leave();
        }
        result
    }

    /// The same, after which units of these partitions have new sums (they need not be named if no other rank takes part). Returns the
    /// number of the meeting from which on the board has those of all units.
    fn share_sums(
        &mut self,
        partitions: &[usize],
        work: impl Fn(PartitionKernels, &mut Unit, &mut Scratch) -> Result<()>,
    ) -> Result<usize> {
        let (meeting, board) = (self.meetings, &self.shared.board);
        self.share(|with, unit, number, scratch| {
            work(with, unit, scratch)?;
            board.write(meeting, number, &unit.sums);
            Ok(())
        })?;
        self.meet()?;
        if let Some(holders) = self.holders {
            if self.team.leads() {
                board.add_up(holders, meeting, partitions);
            }
            self.meet()?;
        }
        self.meetings += 1;
        Ok(meeting)
    }

    /// These partitions, if other ranks take part; nobody else asks for them.
    fn to_be_added_up(&self, partitions: impl Iterator<Item = usize>) -> Vec<usize> {
        if self.holders.is_some() { partitions.collect() } else { Vec::new() }
    }

    fn meet(&mut self) -> Result<()> {
        self.team.meet().map_err(|Abandoned| {
            let left = EngineError::Lost { engine: "cpu", reason: "a thread panicked".into() };
            lock(self.failure).clone().unwrap_or(left)
        })
    }

    /// Sums over the blocks of a partition, of those that take part.
    fn sum(&self, meeting: usize, partition: usize) -> [f64; 3] {
        match self.holders {
            Some(_) => self.shared.board.total(meeting, partition),
            None => self.shared.board.sum(meeting, partition),
        }
    }
}

impl Derivatives for Together<'_, '_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        self.job_of_partition.fill(None);
        for job in program.steps[step].jobs.clone() {
            self.job_of_partition[program.partitions[program.jobs[job].member].partition] =
                Some(job);
        }
        if program.partitions.len() > 1 || self.region.is_empty() {
            // The sumtable counts as a further step.
            let steps =
                |job: &Option<usize>| job.map_or(0, |job| program.jobs[job].operations.len() + 1);
            let steps: Vec<usize> = self.job_of_partition.iter().map(steps).collect();
            self.region = self.shared.region(&steps);
        }
        let job_of_partition = std::mem::take(&mut self.job_of_partition);
        let slots = self.slots;
        self.share(|with, unit, _, scratch| {
            let job =
                job_of_partition[unit.partition].expect("only partitions of the step are run");
            let job = &program.jobs[job];
            start_job(with, unit, scratch, program, job, &slots[job.member])
        })?;
        self.job_of_partition = job_of_partition;
        Ok(())
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let job_of_partition = std::mem::take(&mut self.job_of_partition);
        let step = &program.steps[step];
        let jobs = job_of_partition.iter().enumerate();
        let partitions =
            self.to_be_added_up(jobs.filter_map(|(partition, job)| job.map(|_| partition)));
        let sums = self.share_sums(&partitions, |with, unit, scratch| {
            let job =
                job_of_partition[unit.partition].expect("only partitions of the step are run");
            unit.derivatives(with, program.job_length(&program.jobs[job], step, t), scratch);
            Ok(())
        })?;
        let mut total = [0.0; 3];
        for (partition, job) in job_of_partition.iter().enumerate() {
            if let Some(job) = job {
                let scaler = program.partitions[program.jobs[*job].member].brlen_scaler;
                let sums = chain_rule(self.sum(sums, partition), scaler);
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        self.job_of_partition = job_of_partition;
        Ok(total)
    }
}

/// An edge that is evaluated at the end of a sweep, with temporaries replaced by their slots.
pub(super) fn finish_job(program: &SweepProgram, job: &SweepJob, slots: &[Vec<u32>]) -> EdgeJob {
    let edge = program.edge_job(job);
    EdgeJob { ends: edge.ends.map(|end| resolve(end, &slots[job.member])), ..edge }
}

fn start_job(
    with: PartitionKernels,
    unit: &mut Unit,
    scratch: &mut Scratch,
    program: &SweepProgram,
    job: &SweepJob,
    slots: &[u32],
) -> Result<()> {
    let operations = program.operations_of(job).map(|operation| Operation {
        parent: resolve(operation.parent, slots),
        children: operation.children.map(|child| resolve(child, slots)),
        ..operation
    });
    unit.update_edge(with, operations, job.ends.map(|end| resolve(end, slots)), scratch)
}
