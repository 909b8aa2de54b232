//! Newton-Raphson sweeps. A GPU runs all sweeps of a call in one launch (`tape`), and trials, too, unless they have several
//! sweeps each, whose first steps must be known before the others.
//!
//! Where that cannot be, because a GPU cannot let CTAs wait for each other, or the columns are on several GPUs, or CLVs
//! are forgotten, or what is asked of a branch is the density of its length, sumtables and their derivatives are computed on
//! the GPUs, and decisions are made on the host, with the same bits. Sweeps that do not depend on each other go on side by
//! side: each launch computes the next sumtables of all of them that begin with a branch, or their derivatives at the length
//! that each asks for. Launches and copies are therefore as many as the longest of the sweeps needs, however many there are.

use super::batch::{At, Batch};
use super::engine::CudaEngine;
use super::gpu::{Gpu, Results, Sumtable};
use super::kernels::KernelId;
use super::partition::GpuPartition;
use super::program::{ClvLocation, StepKind};
use super::tape::{Floor, MemberPlaces, Recorded, Shape, Tape};
use crate::gpu;
use crate::likelihood::engine::layout::{Dims, STATE_COUNTS};
use crate::likelihood::engine::newton::{StepSearch, end_step};
use crate::likelihood::engine::{
    BlockSum, Clv, EdgeJob, Goal, Places, Result, SweepJob, SweepProgram, SweepWork, TrialProgram,
    TrialSweep, chain_rule, run_trials,
};
use std::ops::Range;

/// Steps of a sweep in progress.
#[derive(Debug)]
struct Sweep<'a> {
    program: &'a mut SweepProgram,
    /// Steps that have not begun.
    left: Range<usize>,
    /// By partition of the program.
    places: &'a [MemberPlaces],
    /// The present step and the optimisation of its branch.
    present: Option<(usize, StepSearch)>,
    /// How often the derivatives of each step were evaluated so far.
    evaluations: Vec<u64>,
}

impl<'a> Sweep<'a> {
    /// Steps of a program, whose temporaries are at these places.
    fn new(program: &'a mut SweepProgram, steps: Range<usize>, places: &'a [MemberPlaces]) -> Self {
        Sweep { program, left: steps, places, present: None, evaluations: Vec::new() }
    }

    /// The sumtables of the present step at the length that is asked for, in the order of the partitions' numbers, in which the
    /// CPU engine adds them up, and the partitions' factors of lengths.
    fn asked(&self) -> Option<Vec<(Sumtable, f64)>> {
        let (step, search) = self.present.as_ref()?;
        let t = search.ask()?;
        let step = &self.program.steps[*step];
        let mut asked: Vec<(Sumtable, f64)> = self.program.jobs[step.jobs.clone()]
            .iter()
            .map(|job| {
                let member = &self.program.partitions[job.member];
                let brlen = self.program.job_length(job, step, t);
                let at = self.places[job.member].sumtable();
                (Sumtable { partition: member.partition, at, brlen }, member.brlen_scaler)
            })
            .collect();
        asked.sort_by_key(|(sumtable, _)| sumtable.partition);
        Some(asked)
    }

    /// Takes the derivatives that were asked for.
    fn tell(&mut self, derivatives: [f64; 3]) {
        let Some((step, search)) = &mut self.present else { return };
        search.tell(derivatives);
        *self.evaluations.last_mut().expect("a step has begun") += 1;
        if search.ask().is_none() {
            search.end(self.program, *step);
            self.present = None;
        }
    }
}

/// A tape that was run.
struct Made {
    tape: Tape,
    words: Vec<u64>,
}

impl Made {
    /// Takes over what the tape's program of this number made in these steps, of which the first is number `first` of the
    /// tape's. How often the derivatives of each step were evaluated.
    fn replay(
        &self,
        partitions: &[GpuPartition],
        number: usize,
        first: usize,
        program: &mut SweepProgram,
        steps: Range<usize>,
    ) -> Vec<u64> {
        let mut evaluations = Vec::with_capacity(steps.len());
        let (outcomes, mut results) = self.tape.outcome(&self.words, number);
        for (step, outcome) in steps.clone().zip(outcomes.skip(first)) {
            end_step(program, step, outcome.best);
            evaluations.push(outcome.evaluations);
        }
        if steps.end == program.steps.len() {
            let mut sum = |job: &SweepJob| {
                let partition = &partitions[program.partitions[job.member].partition];
                let of_blocks = results.by_ref().take(partition.num_blocks).enumerate();
                BlockSum::of(
                    of_blocks.map(|(block, entry)| [partition.lnl_of_block(block, &entry)]),
                )[0]
            };
            program.finish_lnls = program.finish.iter().map(&mut sum).collect();
        }
        evaluations
    }
}

/// What steps of a program have taken, whose derivatives were evaluated so often.
fn work_of(
    gpus: &[Gpu],
    dims: &[Dims],
    program: &SweepProgram,
    steps: Range<usize>,
    evaluations: &[u64],
) -> SweepWork {
    let inner =
        |ends: &[Clv; 2]| ends.iter().filter(|end| !matches!(end, Clv::Tip(_))).count() as u64;
    let mut work = SweepWork::default();
    for (step, &evaluations) in program.steps[steps].iter().zip(evaluations) {
        for job in &program.jobs[step.jobs.clone()] {
            let partition = program.partitions[job.member].partition;
            let patterns: usize =
                gpus.iter().map(|gpu| gpu.partitions[partition].num_patterns).sum();
            let numbers = (patterns * dims[partition].row()) as u64;
            let updates = &program.operations[job.operations.clone()];
            // Updates and the sumtable multiply what they read with matrices; an evaluation takes three sums.
            let read = updates.iter().map(|update| inner(&update.children)).sum::<u64>();
            let (read, made) = (read + inner(&job.ends), updates.len() as u64 + 1);
            let of_product = 2 * dims[partition].num_states as u64 - 1;
            work += SweepWork {
                evaluations,
                bytes: size_of::<f64>() as u64 * numbers * (read + made + evaluations),
                operations: numbers * (of_product * read + made + 6 * evaluations),
            };
        }
    }
    work
}

/// True if a trial is one sweep of which some steps are the first and others follow.
fn is_one_program(trial: &TrialProgram) -> bool {
    let [sweep] = &trial.sweeps[..] else { return false };
    (1..sweep.steps.len()).contains(&trial.num_first)
}

/// The floor of a trial of one sweep, whose log-likelihood takes the place of those of the partitions of its last first step.
fn floor_of(trial: &TrialProgram) -> Floor {
    let TrialProgram { sweeps, num_first, lnls, floor } = trial;
    let sweep = &sweeps[0];
    let last = &sweep.jobs[sweep.steps[num_first - 1].jobs.clone()];
    let mut lnls = lnls.clone();
    last.iter().for_each(|job| lnls[sweep.partitions[job.member].partition] = 0.0);
    let replaced = sweep.partitions[last[0].member].partition;
    Floor { num_first: *num_first, lnls, replaced, floor: *floor }
}

impl CudaEngine {
    /// Runs sweeps that do not depend on each other.
    ///
    /// # Errors
    /// Not enough memory, or a GPU is lost.
    pub(super) fn sweep_all(&mut self, mut programs: &mut [SweepProgram]) -> Result<()> {
        while !programs.is_empty() {
            let (together, places) = self.side_by_side(programs, std::slice::from_ref)?;
            let (now, later) = programs.split_at_mut(together);
            let all = now.iter_mut().zip(&places).map(|(program, places)| {
                let steps = 0..program.steps.len();
                Sweep::new(program, steps, places)
            });
            self.sweep(all.collect())?;
            programs = later;
        }
        Ok(())
    }

    /// Carries out trials.
    ///
    /// # Errors
    /// Not enough memory, or a GPU is lost.
    pub(super) fn try_all(&mut self, mut trials: &mut [TrialProgram]) -> Result<()> {
        while !trials.is_empty() {
            let (together, places) = self.side_by_side(trials, |trial| &trial.sweeps)?;
            let (now, later) = trials.split_at_mut(together);
            if self.takes_tapes() && now.iter().all(is_one_program) {
                self.try_on_tape(now, &places)?;
                trials = later;
                continue;
            }
            run_trials(now, |sweeps| {
                let all = sweeps.into_iter().map(|TrialSweep { number, program, steps }| {
                    Sweep::new(program, steps, &places[number])
                });
                self.sweep(all.collect())
            })?;
            trials = later;
        }
        Ok(())
    }

    /// How many of these jobs, from the first on, go on side by side, and where the temporaries of their sweeps are.
    ///
    /// # Errors
    /// Not enough memory, or a GPU is lost.
    fn side_by_side<Job>(
        &mut self,
        jobs: &[Job],
        sweeps_of: impl Fn(&Job) -> &[SweepProgram],
    ) -> Result<(usize, Vec<Vec<MemberPlaces>>)> {
        let mut num_temporaries = vec![0; self.dims.len()];
        let (mut bytes, mut num_jobs, mut all) = (0, 0, Vec::new());
        for job in jobs {
            let sweeps = sweeps_of(job);
            let of_job: Vec<Vec<Places>> = sweeps.iter().map(Places::of_sweep).collect();
            for (sweep, places) in sweeps.iter().zip(&of_job) {
                for (member, places) in sweep.partitions.iter().zip(places) {
                    let of_partition =
                        |gpu: &Gpu| gpu.partitions[member.partition].temporary_bytes();
                    bytes += (places.count() + 1)
                        * self.gpus.iter().map(of_partition).max().unwrap_or(0);
                }
            }
            let is_too_much = bytes as u64 > self.limits.temporaries || self.stored.is_some();
            if num_jobs > 0 && is_too_much {
                break;
            }
            num_jobs += 1;
            for (sweep, places) in sweeps.iter().zip(of_job) {
                let members = sweep.partitions.iter().zip(places).map(|(member, places)| {
                    let first = num_temporaries[member.partition];
                    num_temporaries[member.partition] += places.count() as u32 + 1;
                    MemberPlaces { places, first }
                });
                all.push(members.collect());
            }
        }
        for (partition, number) in
            num_temporaries.into_iter().enumerate().filter(|(_, number)| *number > 0)
        {
            self.reserve(partition, number as usize)?;
        }
        Ok((num_jobs, all))
    }

    /// Runs steps of sweeps side by side; evaluates the edges of [`SweepProgram::finish`] of those whose last step is among
    /// them.
    ///
    /// # Errors
    /// Not enough memory, or a GPU is lost.
    fn sweep(&mut self, mut sweeps: Vec<Sweep>) -> Result<()> {
        let are_maxima = sweeps.iter().all(|sweep| sweep.program.goal == Goal::Maximum);
        if are_maxima && self.takes_tapes() {
            let recorded = sweeps.iter().map(|Sweep { program, left, places, .. }| Recorded {
                program,
                steps: left.clone(),
                floor: None,
                places,
            });
            let made = self.run_tape(&recorded.collect::<Vec<_>>())?;
            for (number, Sweep { program, left, .. }) in sweeps.iter_mut().enumerate() {
                let partitions = &self.gpus[0].partitions;
                let evaluations = made.replay(partitions, number, 0, program, left.clone());
                self.swept += work_of(&self.gpus, &self.dims, program, left.clone(), &evaluations);
            }
            return Ok(());
        }
        loop {
            self.begin_steps(&mut sweeps)?;
            let asked: Vec<_> = sweeps.iter().map(Sweep::asked).collect();
            if asked.iter().all(Option::is_none) {
                break;
            }
            let sumtables: Vec<Sumtable> =
                asked.iter().flatten().flatten().map(|(sumtable, _)| *sumtable).collect();
            let mut derivatives = self.derivatives(&sumtables)?.into_iter();
            for (sweep, asked) in sweeps.iter_mut().zip(asked) {
                let Some(asked) = asked else { continue };
                let mut total = [0.0; 3];
                for ((_, scaler), own) in asked.into_iter().zip(derivatives.by_ref()) {
                    let own = chain_rule(own, scaler);
                    total.iter_mut().zip(own).for_each(|(total, own)| *total += own);
                }
                sweep.tell(total);
            }
        }
        for Sweep { program, left, evaluations, .. } in &sweeps {
            let steps = left.start - evaluations.len()..left.start;
            self.swept += work_of(&self.gpus, &self.dims, program, steps, evaluations);
        }
        self.finish_sweeps(&mut sweeps)
    }

    /// True if sweeps can be run by a GPU on its own.
    fn takes_tapes(&self) -> bool {
        let [gpu] = &self.gpus[..] else { return false };
        self.stored.is_none() && gpu.takes_tapes()
    }

    /// Runs sweeps that do not depend on each other in one launch on the only GPU.
    fn run_tape(&mut self, sweeps: &[Recorded]) -> Result<Made> {
        let gpu = &mut self.gpus[0];
        let shape = |(partition, &dims): (&GpuPartition, &Dims)| Shape {
            dims,
            num_blocks: partition.num_blocks,
        };
        let shapes: Vec<Shape> = gpu.partitions.iter().zip(&self.dims).map(shape).collect();
        let tape = Tape::record(sweeps, &shapes);
        let words = if sweeps.is_empty() { Vec::new() } else { gpu.run_tape(&tape)? };
        Ok(Made { tape, words })
    }

    /// Carries out trials of one sweep each in one launch: the GPU looks at their floors.
    fn try_on_tape(
        &mut self,
        trials: &mut [TrialProgram],
        places: &[Vec<MemberPlaces>],
    ) -> Result<()> {
        let recorded = trials.iter().zip(places).map(|(trial, places)| {
            let program = &trial.sweeps[0];
            Recorded {
                program,
                steps: 0..program.steps.len(),
                floor: Some(floor_of(trial)),
                places,
            }
        });
        let made = self.run_tape(&recorded.collect::<Vec<_>>())?;
        let (gpus, dims) = (&self.gpus, &self.dims);
        let swept = &mut self.swept;
        run_trials(trials, |sweeps| {
            for TrialSweep { number, program, steps } in sweeps {
                let partitions = &gpus[0].partitions;
                let evaluations =
                    made.replay(partitions, number, steps.start, program, steps.clone());
                *swept += work_of(gpus, dims, program, steps, &evaluations);
            }
            Ok(())
        })
    }

    /// Begins the next step of each sweep that is not in the middle of one: makes its sumtables.
    fn begin_steps(&mut self, sweeps: &mut [Sweep]) -> Result<()> {
        let mut batches = self.batches();
        for Sweep { program, left, places, present, evaluations } in sweeps {
            if present.is_some() {
                continue;
            }
            let Some(step) = left.next() else { continue };
            for job in &program.jobs[program.steps[step].jobs.clone()] {
                let partition = program.partitions[job.member].partition;
                let (dims, places) = (self.dims[partition], &places[job.member]);
                let batch = &mut batches[self.batch_of(partition)];
                batch.begin(partition, 0);
                for update in program.operations_of(job) {
                    if batch.is_full() {
                        self.run(KernelId::Sumtable, batch)?;
                        batch.begin(partition, 0);
                    }
                    let children = update.children.map(|child| places.at(child));
                    batch.update(dims, places.at(update.parent), children, update.brlens);
                }
                let ends = job.ends.map(|end| batch.end(dims, places.at(end), None));
                let out = At { place: ClvLocation::Temporary, index: places.sumtable() };
                batch.push(StepKind::Sumtable, out, ends);
            }
            *present = Some((step, StepSearch::begin(program, step)));
            evaluations.push(0);
        }
        for batch in batches.iter_mut().filter(|batch: &&mut Batch| !batch.steps.is_empty()) {
            self.run(KernelId::Sumtable, batch)?;
        }
        Ok(())
    }

    /// Evaluates the last edges of all sweeps whose steps have come to their end.
    fn finish_sweeps(&mut self, sweeps: &mut [Sweep]) -> Result<()> {
        let mut last: Vec<&mut Sweep> =
            sweeps.iter_mut().filter(|sweep| sweep.left.end == sweep.program.steps.len()).collect();
        let mut jobs: Vec<EdgeJob> = Vec::new();
        let mut places: Vec<&MemberPlaces> = Vec::new();
        for Sweep { program, places: of_members, .. } in last.iter() {
            jobs.extend(program.finish.iter().map(|job| program.edge_job(job)));
            places.extend(program.finish.iter().map(|job| &of_members[job.member]));
        }
        let lnls = self.edges(&jobs, |number, end| places[number].at(end))?;
        let mut lnls = lnls.into_iter();
        for sweep in &mut last {
            let count = sweep.program.finish.len();
            sweep.program.finish_lnls = lnls.by_ref().take(count).collect();
        }
        Ok(())
    }

    /// The derivatives of a sumtable whose number among those of a launch is given: sums over all blocks of all GPUs.
    fn derivative_sums(&self, results: &[Results], number: usize, partition: usize) -> [f64; 3] {
        let mut total = BlockSum::new();
        for (gpu, results) in self.gpus.iter().zip(results) {
            let GpuPartition { num_blocks, correction, .. } = gpu.partitions[partition];
            for (block, entry) in results.entries(number, 0, num_blocks).enumerate() {
                let own = [entry[0], entry[1], entry[2]];
                total.add(match correction.filter(|_| block + 1 == num_blocks) {
                    Some(correction) => correction.of_sum(own, entry[3] as u32),
                    None => own,
                });
            }
        }
        total.total()
    }

    /// Values and derivatives of sumtables, in their order.
    fn derivatives(&mut self, sumtables: &[Sumtable]) -> Result<Vec<[f64; 3]>> {
        let mut out = vec![[0.0; 3]; sumtables.len()];
        for (of_states, states) in STATE_COUNTS.into_iter().enumerate() {
            let chosen = |number: &usize| self.batch_of(sumtables[*number].partition) == of_states;
            let numbers: Vec<usize> = (0..sumtables.len()).filter(chosen).collect();
            if numbers.is_empty() {
                continue;
            }
            let chosen: Vec<Sumtable> = numbers.iter().map(|&number| sumtables[number]).collect();
            let started: Vec<_> = self
                .gpus
                .iter_mut()
                .map(|gpu| gpu.start_derivatives(states, &chosen))
                .collect::<gpu::Result<_>>()?;
            let gpus = self.gpus.iter().zip(started);
            let results: Vec<_> =
                gpus.map(|(gpu, started)| gpu.finish(started)).collect::<gpu::Result<_>>()?;
            for (at, number) in numbers.into_iter().enumerate() {
                out[number] = self.derivative_sums(&results, at, sumtables[number].partition);
            }
        }
        Ok(out)
    }
}
