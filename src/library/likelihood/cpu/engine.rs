//! The CPU engine: all operations of the contract, on units that are distributed over workers.

use super::derivatives::{Of, Sweep, finish_job};
use super::select::select_kernels;
use super::unit::Unit;
use super::workers::{CpuEngine, Shared, lock};
use crate::likelihood::engine::layout::{BLOCK, num_clvs};
use crate::likelihood::engine::{
    BlockSum, Capabilities, EdgeJob, Engine, EngineOptions, Entry, Holders, InsertionProgram,
    ModelBlock, PartitionData, PartitionModel, Places, PointJob, Result, SweepProgram, SweepWork,
    TraversalDescriptor, TrialProgram, TrialSweep, pmatrix_gradient, run_sweep, run_trials,
    set_model,
};
use crate::model::Model;
use crate::parallel::{UnitCost, WholeTask, available_memory, deal, deal_whole, loads_of};
use mlsearch_kernels::PartitionKernels;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;

/// Entry of this engine for `select`.
pub const ENTRY: Entry = Entry { name: "cpu", make, instruction_set, gives_default_bits: true };

/// The instruction set that [`make`] would use.
fn instruction_set(options: &EngineOptions) -> Result<&'static str> {
    Ok(select_kernels(options.instruction_set)?.name())
}

fn make(data: &[PartitionData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let kernels = select_kernels(options.instruction_set)?;
    let mut engine = CpuEngine::new(data, kernels, options.threads)?;
    options.clv_bytes.iter().for_each(|&bytes| engine.limit_memory(bytes));
    Ok(Box::new(engine))
}

/// Cost of a meeting of all workers, in units of step costs: that of a DNA block with 4 rate categories, or about
/// 0.5 µs.
const MEETING: UnitCost = 128 * 16 * 4;

/// Number of meetings per optimised branch: one per Newton step.
const MEETINGS_PER_BRANCH: UnitCost = 4;

/// Cost of setting a model (eigensystem and tables), in units of step costs, divided by the cube of its number
/// of states.
const COST_OF_MODEL: UnitCost = 500;

impl Engine for CpuEngine {
    fn capabilities(&self) -> Capabilities {
        let sum = |of_unit: &dyn Fn(&Unit) -> u64| {
            self.shared.units.iter().map(|unit| of_unit(&lock(unit))).sum()
        };
        Capabilities {
            name: ENTRY.name,
            clv_bytes: sum(&|unit| unit.clv_bytes()),
            used_bytes: sum(&|unit| unit.bytes()),
            updates: [0, 1].map(|i| sum(&|unit| unit.updates()[i])),
            swept: SweepWork::default(),
            free_bytes: available_memory(),
            best_batch: 1,
        }
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        let cost = |(partition, _): &(usize, &Model)| {
            let states = self.shared.models[*partition].dims.num_states as UnitCost;
            COST_OF_MODEL * states.pow(3)
        };
        let costs: Vec<UnitCost> = models.iter().map(cost).collect();
        let partitions: Vec<usize> = models.iter().map(|(partition, _)| *partition).collect();
        self.take_models(&partitions, &costs, |i| Cow::Owned(PartitionModel::new(models[i].1)));
        Ok(())
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        let num_sites = weights.iter().sum();
        let first = self.shared.first_block(partition) * BLOCK;
        let weights = &weights[first.min(weights.len())..];
        for unit in self.shared.partition_units[partition].clone() {
            lock(&self.shared.units[unit]).set_pattern_weights(weights, num_sites);
        }
        Ok(())
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        let mut of_partition: Vec<Option<&TraversalDescriptor>> =
            vec![None; self.shared.models.len()];
        for descriptor in descriptors.iter().filter(|d| !d.operations.is_empty()) {
            of_partition[descriptor.partition] = Some(descriptor);
        }
        if of_partition.iter().all(Option::is_none) {
            return Ok(());
        }
        let steps = |descriptor: &Option<&TraversalDescriptor>| {
            descriptor.map_or(0, |descriptor| descriptor.operations.len())
        };
        let region = self.shared.region(&of_partition.iter().map(steps).collect::<Vec<_>>());
        self.for_units(&region, |with, unit, scratch| {
            let operations =
                &of_partition[unit.partition].expect("only active partitions are run").operations;
            unit.update_partials(with, operations.iter().copied(), scratch)
        })
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        if self.pool.num_workers() == 1 && self.shared.holders.is_none() {
            let scratch = &mut lock(&self.shared.scratch[0]);
            return jobs
                .iter()
                .map(|job| self.shared.whole_partition(job.partition, scratch).log_likelihood(job))
                .collect();
        }
        let partitions: Vec<usize> = jobs.iter().map(|job| job.partition).collect();
        let mut lnls = Vec::new();
        self.in_team(&partitions, &[], Of::AllRanks, &mut lnls, |together, lnls| {
            *lnls = together.log_likelihoods(jobs)?;
            Ok(())
        })?;
        Ok(lnls)
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        let (mut out, mut correction) = (Vec::new(), 0.0);
        let mut scratch = lock(&self.shared.scratch[0]);
        let with = PartitionKernels {
            kernels: self.shared.kernels.as_ref(),
            model: &self.shared.models[job.partition],
        };
        for unit in self.shared.partition_units[job.partition].clone() {
            let mut unit = lock(&self.shared.units[unit]);
            unit.log_likelihoods(with, job, Some(&mut out), &mut scratch)?;
            // Not 0 for the partition's last unit only; it applies to all patterns of the partition.
            correction = unit.correction_of_site();
        }
        if let Some(holders) = &self.shared.holders {
            out = holders.gather(job.partition, out);
            correction = holders.of_last(job.partition, correction);
        }
        if correction != 0.0 {
            out.iter_mut().for_each(|lnl| *lnl += correction);
        }
        Ok(out)
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        let mut of_partition: Vec<Option<&PointJob>> = vec![None; self.shared.models.len()];
        jobs.iter().for_each(|job| of_partition[job.partition] = Some(job));
        let steps: Vec<usize> = of_partition.iter().map(|job| job.map_or(0, |_| 1)).collect();
        let region = self.shared.region(&steps);
        self.for_units(&region, |with, unit, scratch| {
            unit.state_probabilities(
                with,
                of_partition[unit.partition].expect("an active partition"),
                scratch,
            )
        })?;
        let of_job = |job: &PointJob| self.gather(job.partition, |unit| &mut unit.states);
        Ok(jobs.iter().map(of_job).collect())
    }

    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        let mut of_partition: Vec<Option<(&EdgeJob, usize)>> = vec![None; self.shared.models.len()];
        for job in jobs {
            of_partition[job.partition] = Some((job, self.shared.first_block(job.partition)));
        }
        let steps: Vec<usize> = of_partition.iter().map(|job| usize::from(job.is_some())).collect();
        let region = self.shared.region(&steps);
        self.for_units(&region, |with, unit, scratch| {
            let (job, first_block) = of_partition[unit.partition].expect("an active partition");
            unit.pmatrix_gradient(with, job, first_block, scratch)
        })?;
        let of_job = |job: &EdgeJob| {
            let runs = self.gather(job.partition, |unit| &mut unit.gradient);
            pmatrix_gradient::total(&self.shared.models[job.partition], &runs)
        };
        Ok(jobs.iter().map(of_job).collect())
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        let mut of_partition: Vec<Vec<usize>> = vec![Vec::new(); self.shared.models.len()];
        for (i, program) in programs.iter().enumerate() {
            of_partition[program.partition].push(i);
        }
        let places: Vec<Places> = programs.iter().map(Places::of_insertions).collect();
        let steps = |own: &Vec<usize>| own.iter().map(|&i| programs[i].steps.len()).sum();
        let region = self.shared.region(&of_partition.iter().map(steps).collect::<Vec<_>>());
        self.for_units(&region, |with, unit, scratch| {
            let own = &of_partition[unit.partition];
            let scores =
                |&i: &usize| unit.insertion_scores(with, &programs[i], &places[i], scratch);
            unit.scores = own.iter().map(scores).collect::<Result<_>>()?;
            Ok(())
        })?;
        let mut numbers = vec![0; programs.len()];
        for own in &of_partition {
            own.iter().enumerate().for_each(|(number, &i)| numbers[i] = number);
        }
        let scores: Vec<(usize, usize)> = programs
            .iter()
            .enumerate()
            .flat_map(|(i, program)| (0..program.num_scores()).map(move |score| (i, score)))
            .collect();
        let blocks_of = |&(i, score): &(usize, usize)| {
            self.blocks_of_score(programs[i].partition, numbers[i], score)
        };
        let sums: Vec<[f64; 1]> = match &self.shared.holders {
            None => scores.iter().map(|score| BlockSum::of(blocks_of(score))).collect(),
            Some(holders) => {
                let partitions: Vec<usize> =
                    scores.iter().map(|&(i, _)| programs[i].partition).collect();
                holders.sums(&partitions, |score| blocks_of(&scores[score]))
            }
        };
        let mut sums = sums.into_iter();
        let of_program = |program: &InsertionProgram| {
            sums.by_ref().take(program.num_scores()).map(|[sum]| sum).collect()
        };
        Ok(programs.iter().map(of_program).collect())
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        let slots = self.slots_of_all(programs)?;
        let sweeps = programs.iter_mut().zip(&slots).map(|(program, slots)| Sweep {
            steps: 0..program.steps.len(),
            slots,
            program,
        });
        self.run_sweeps(sweeps.collect())
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        for trial in trials {
            let slots = self.slots_of_all(&trial.sweeps)?;
            if let ([sweep], [slots]) = (&trial.sweeps[..], &slots[..]) {
                let partitions = partitions_of(sweep);
                self.in_team(&partitions, slots, Of::AllRanks, trial, |together, trial| {
                    run_trials(std::slice::from_mut(trial), |sweeps| {
                        let mut sweeps = sweeps.into_iter();
                        sweeps.try_for_each(|sweep| together.run(sweep.program, sweep.steps))
                    })
                })?;
                continue;
            }
            run_trials(std::slice::from_mut(trial), |sweeps| {
                let sweeps = sweeps.into_iter().map(|TrialSweep { number, program, steps }| {
                    Sweep { steps, slots: &slots[number], program }
                });
                self.run_sweeps(sweeps.collect())
            })?;
        }
        Ok(())
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        let mut all = (Vec::new(), Vec::new());
        let kernels = self.shared.kernels.as_ref();
        let with = PartitionKernels { kernels, model: &self.shared.models[partition] };
        for unit in self.shared.partition_units[partition].clone() {
            let (numbers, counts) = lock(&self.shared.units[unit]).clv(
                with,
                slot,
                &mut lock(&self.shared.scratch[0]),
            )?;
            all.0.extend(numbers);
            all.1.extend(counts);
        }
        if let Some(holders) = &self.shared.holders {
            let counts = all.1.iter().map(|&count| f64::from(count)).collect();
            all.0 = holders.gather(partition, all.0);
            let counts = holders.gather(partition, counts);
            all.1 = counts.into_iter().map(|count| count as u32).collect();
        }
        Ok(all)
    }
}

impl CpuEngine {
    /// Takes numbers of all units of a partition, of all ranks, in the order of their blocks.
    fn gather(&self, partition: usize, of_unit: impl Fn(&mut Unit) -> &mut Vec<f64>) -> Vec<f64> {
        let units = &self.shared.units[self.shared.partition_units[partition].clone()];
        let own = units.iter().flat_map(|unit| std::mem::take(of_unit(&mut lock(unit)))).collect();
        match &self.shared.holders {
            None => own,
            Some(holders) => holders.gather(partition, own),
        }
    }

    fn slots_of_all(&self, programs: &[SweepProgram]) -> Result<Vec<Vec<Vec<u32>>>> {
        programs.iter().map(|program| self.slots(program)).collect()
    }

    /// Slots of the temporaries of each partition of a sweep, after those of the stored CLVs; allocates them.
    fn slots(&self, program: &SweepProgram) -> Result<Vec<Vec<u32>>> {
        let mut slots = Vec::with_capacity(program.partitions.len());
        for (member, places) in program.partitions.iter().zip(Places::of_sweep(program)) {
            let units = &self.shared.units[self.shared.partition_units[member.partition].clone()];
            let num_clvs = units.first().map_or(0, |unit| num_clvs(lock(unit).num_tips()));
            for unit in units {
                lock(unit).reserve_clvs(num_clvs + places.count())?;
            }
            slots.push(places.slots_from(num_clvs as u32));
        }
        Ok(slots)
    }

    /// Runs sweeps, and evaluates the edges of [`SweepProgram::finish`] after the last step of each.
    fn run_sweeps(&mut self, mut sweeps: Vec<Sweep>) -> Result<()> {
        // A program of a single partition is run by one worker, unless the partition is so large that the other workers
        // would wait for it.
        let (alone, together): (Vec<_>, Vec<_>) =
            sweeps.iter_mut().partition(|sweep| self.is_for_one_rank(sweep.program));
        let mut alone: Vec<&mut Sweep> =
            alone.into_iter().filter(|sweep| self.has_all_blocks(sweep.program)).collect();
        let tasks: Vec<WholeTask> = alone.iter().map(|sweep| self.sweep_cost(sweep)).collect();
        let (hands, split) = deal_whole(&tasks, self.pool.num_workers());
        let costs: Vec<UnitCost> = tasks.iter().map(|task| task.whole).collect();
        let loads = loads_of(&hands, &costs);
        self.sweep_whole_partitions(&mut alone, &hands, &loads)?;
        for &i in &split {
            self.run_in_team(alone[i], Of::ThisRank)?;
        }
        let are_apart = self.shared.holders.as_ref().is_some_and(Holders::are_apart);
        match are_apart && together.len() > 1 && are_of_different_partitions(&together) {
            true => self.run_side_by_side(together)?,
            false => {
                together.into_iter().try_for_each(|sweep| self.run_in_team(sweep, Of::AllRanks))?
            }
        }
        if let Some(holders) = &self.shared.holders {
            let sweeps = sweeps.iter_mut().filter(|sweep| self.is_for_one_rank(sweep.program));
            holders.exchange(sweeps.map(|sweep| &mut *sweep.program).collect());
        }
        Ok(())
    }

    fn run_in_team(&mut self, Sweep { program, steps, slots }: &mut Sweep, of: Of) -> Result<()> {
        let partitions = partitions_of(program);
        self.in_team(&partitions, slots, of, *program, |together, program| {
            together.run(program, steps.clone())
        })
    }

    /// Runs sweeps of a partition each, of whose blocks all ranks have some.
    fn run_side_by_side(&mut self, sweeps: Vec<&mut Sweep>) -> Result<()> {
        let mut programs: Vec<SweepProgram> =
            sweeps.iter().map(|sweep| sweep.program.clone()).collect();
        let steps: Vec<Range<usize>> = sweeps.iter().map(|sweep| sweep.steps.clone()).collect();
        let slots: Vec<&[Vec<u32>]> = sweeps.iter().map(|sweep| sweep.slots).collect();
        let partitions: Vec<usize> = programs.iter().flat_map(partitions_of).collect();
        self.in_team(&partitions, &[], Of::AllRanks, &mut programs, |together, programs| {
            together.run_side_by_side(programs, &steps, &slots)
        })?;
        for (sweep, program) in sweeps.into_iter().zip(programs) {
            *sweep.program = program;
        }
        Ok(())
    }

    /// True for a sweep of a single partition of which one rank has all blocks.
    fn is_for_one_rank(&self, program: &SweepProgram) -> bool {
        let [only] = &program.partitions[..] else { return false };
        self.shared.holders.as_ref().is_none_or(|holders| holders.sole(only.partition).is_some())
    }

    /// True if this rank has all blocks of the only partition of a sweep.
    fn has_all_blocks(&self, program: &SweepProgram) -> bool {
        let partition = program.partitions[0].partition;
        let holders = self.shared.holders.as_ref();
        holders
            .is_none_or(|holders| holders.sole(partition).is_some_and(|rank| holders.is_own(rank)))
    }

    /// Cost of the sweep of a single partition if run by one worker, and if run by all together.
    fn sweep_cost(&self, Sweep { program, steps, .. }: &Sweep) -> WholeTask {
        let units = self.shared.partition_units[program.partitions[0].partition].clone();
        // Besides CLV updates, each branch needs a sumtable and a few Newton steps.
        let jobs = program.steps[steps.clone()].iter().flat_map(|step| step.jobs.clone());
        let operations: usize = jobs.map(|job| program.jobs[job].operations.len()).sum();
        let num_steps = (operations + 2 * steps.len()) as UnitCost;
        let cost = |unit: usize| self.shared.step_costs[unit] * num_steps;
        let meetings = MEETINGS_PER_BRANCH * steps.len() as UnitCost;
        let longest = units.clone().map(cost).max().unwrap_or(0);
        WholeTask { whole: units.map(cost).sum(), split: longest + meetings * MEETING }
    }

    /// Runs sweeps of one partition each; every sweep is run completely by one worker.
    fn sweep_whole_partitions(
        &mut self,
        sweeps: &mut [&mut Sweep],
        hands: &[Vec<usize>],
        loads: &[UnitCost],
    ) -> Result<()> {
        let CpuEngine { pool, shared, .. } = self;
        let shared = &*shared;
        let sweeps: Vec<Mutex<(&mut Sweep, Result<()>)>> =
            sweeps.iter_mut().map(|sweep| Mutex::new((&mut **sweep, Ok(())))).collect();
        pool.run(loads, &|worker| {
            let scratch = &mut lock(&shared.scratch[worker]);
            for &i in &hands[worker] {
                let (sweep, result) = &mut *lock(&sweeps[i]);
                let Sweep { program, steps, slots } = &mut **sweep;
                let partition = program.partitions[0].partition;
                let mut whole = shared.whole_partition(partition, scratch);
                whole.slots = &slots[0];
                *result = run_sweep(program, steps.clone(), &mut whole);
                if steps.end == program.steps.len() {
                    let job = |job| finish_job(program, job, slots);
                    let jobs: Vec<EdgeJob> = program.finish.iter().map(job).collect();
                    let lnls = jobs.iter().map(|job| whole.log_likelihood(job));
                    match lnls.collect() {
                        Ok(lnls) => program.finish_lnls = lnls,
                        Err(error) => *result = Err(error),
                    }
                }
            }
        });
        sweeps.into_iter().try_for_each(|sweep| {
            let (_, result) = sweep.into_inner().unwrap_or_else(|e| e.into_inner());
            result
        })
    }

    /// What each block of this rank contributes to a score of a program. `number` is the program's index among those of its
    /// partition.
    fn blocks_of_score(&self, partition: usize, number: usize, score: usize) -> Vec<[f64; 1]> {
        let units = self.shared.partition_units[partition].clone();
        let mut blocks = Vec::new();
        for unit in units {
            let unit = lock(&self.shared.units[unit]);
            let own = score * unit.num_blocks()..(score + 1) * unit.num_blocks();
            blocks.extend(unit.scores[number][own].iter().map(|&block| [block]));
        }
        blocks
    }

    /// As [`Engine::set_models`], of models whose eigensystems are known.
    pub fn set_partition_models(&mut self, models: &[(usize, PartitionModel)]) {
        let partitions: Vec<usize> = models.iter().map(|(partition, _)| *partition).collect();
        let costs = vec![1; models.len()];
        self.take_models(&partitions, &costs, |i| Cow::Borrowed(&models[i].1));
    }

    /// Takes over models of these partitions, which `model` makes, with what that costs.
    fn take_models<'m>(
        &mut self,
        partitions: &[usize],
        costs: &[UnitCost],
        model: impl Fn(usize) -> Cow<'m, PartitionModel> + Sync,
    ) {
        let hands = deal(costs, self.pool.num_workers());
        let mut take =
            |partition: usize| Mutex::new(std::mem::take(&mut self.shared.models[partition]));
        let blocks: Vec<Mutex<ModelBlock>> =
            partitions.iter().map(|&partition| take(partition)).collect();
        let CpuEngine { pool, shared: Shared { units, partition_units, .. }, .. } = self;
        pool.run(&loads_of(&hands, costs), &|worker| {
            for &i in &hands[worker] {
                let model = model(i);
                set_model(&mut lock(&blocks[i]), &model);
                for unit in &units[partition_units[partitions[i]].clone()] {
                    lock(unit).set_model(&model.freqs, model.pinv);
                }
            }
        });
        for (&partition, block) in partitions.iter().zip(blocks) {
            let mut block = block.into_inner().unwrap_or_else(|e| e.into_inner());
            self.num_models_set += 1;
            block.serial = self.num_models_set;
            self.shared.models[partition] = block;
        }
    }
}

/// True for sweeps of a partition each, no two of the same.
fn are_of_different_partitions(sweeps: &[&mut Sweep]) -> bool {
    let mut seen = BTreeSet::new();
    sweeps.iter().all(|sweep| match &sweep.program.partitions[..] {
        [only] => seen.insert(only.partition),
        _ => false,
    })
}

fn partitions_of(program: &SweepProgram) -> Vec<usize> {
    program.partitions.iter().map(|member| member.partition).collect()
}
