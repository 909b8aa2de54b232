//! [`SiteFrequencyEngine`]: all operations of the contract, on units that are distributed over workers.

use super::unit::{CodeStates, Unit};
use crate::likelihood::engine::layout::{BLOCK, num_clvs};
use crate::likelihood::engine::{
    BlockSum, Capabilities, Clv, Derivatives, EdgeJob, Engine, EngineError, EngineOptions, Entry,
    Holders, InsertionProgram, Operation, PartitionData, PartitionModel, Places, PointJob, Result,
    SweepJob, SweepProgram, SweepWork, TraversalDescriptor, TrialProgram, chain_rule, run_sweep,
    run_trials,
};
use crate::model::Model;
use crate::parallel::{Pool, UnitCost, available_memory, deal, loads_of};
use mlsearch_kernels::body::operand_of_pattern::STATES;
use mlsearch_kernels::{Kernels, all_kernels};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// Entry of this engine for `select`: it stands in for the default one where patterns have frequencies of their own.
pub(crate) const ENTRY: Entry =
    Entry { name: "cpu", make, instruction_set, gives_default_bits: true };

fn kernels(options: &EngineOptions) -> Result<Box<dyn Kernels>> {
    let mut sets = all_kernels();
    let Some(name) = options.instruction_set else { return Ok(sets.swap_remove(0)) };
    let known: Vec<_> = sets.iter().map(|set| set.name()).collect();
    match known.iter().position(|known| *known == name) {
        Some(i) => Ok(sets.swap_remove(i)),
        None => Err(EngineError::Unknown { name: name.to_string(), known }),
    }
}

fn instruction_set(options: &EngineOptions) -> Result<&'static str> {
    Ok(kernels(options)?.name())
}

fn make(data: &[PartitionData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let engine = SiteFrequencyEngine::new(data, kernels(options)?, options.threads)?;
    engine.check_memory(options.clv_bytes)?;
    Ok(Box::new(engine))
}

/// The engine of patterns with frequencies of their own, or a rank's part of it.
pub(in crate::likelihood) struct SiteFrequencyEngine {
    pool: Pool,
    kernels: Box<dyn Kernels>,
    /// Units of all partitions, in partition and block order. The locks are never contended.
    units: Vec<Mutex<Unit>>,
    /// Range of each partition's units.
    partition_units: Vec<Range<usize>>,
    num_tips: Vec<usize>,
    /// If this is a part: who has which blocks.
    holders: Option<Holders>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The CLV, with a temporary replaced by the slot in which it is stored.
fn resolve(clv: Clv, slots: &[u32]) -> Clv {
    match clv {
        Clv::Temporary(number) => Clv::Stored(slots[number as usize]),
        stored => stored,
    }
}

impl SiteFrequencyEngine {
    /// An engine for these partitions.
    ///
    /// # Errors
    /// Data for which it has no kernels, or [`EngineError::OutOfMemory`].
    pub(in crate::likelihood) fn new(
        data: &[PartitionData],
        kernels: Box<dyn Kernels>,
        num_workers: usize,
    ) -> Result<Self> {
        let (mut units, mut partition_units) = (Vec::new(), Vec::new());
        for (partition, data) in data.iter().enumerate() {
            let first = units.len();
            if data.num_tips() > 1 {
                check(data)?;
                let code_states = states_of_codes(data);
                let blocks = data.num_patterns().div_ceil(BLOCK);
                let parts = num_workers.min(blocks).max(1);
                for part in 0..parts {
                    let end =
                        |part: usize| (blocks * part / parts * BLOCK).min(data.num_patterns());
                    let patterns = end(part)..end(part + 1);
                    units.push(Mutex::new(Unit::new(
                        partition,
                        data,
                        patterns,
                        code_states.clone(),
                    )?));
                }
            }
            partition_units.push(first..units.len());
        }
        let num_tips = data.iter().map(PartitionData::num_tips).collect();
        Ok(SiteFrequencyEngine {
            pool: Pool::new(num_workers),
            kernels,
            units,
            partition_units,
            num_tips,
            holders: None,
        })
    }

    /// The same engine, as a part of that of several ranks.
    pub(in crate::likelihood) fn with_holders(self, holders: Holders) -> Self {
        SiteFrequencyEngine { holders: Some(holders), ..self }
    }

    /// Refuses to take more than so many bytes for stored CLVs.
    pub(in crate::likelihood) fn check_memory(&self, limit: Option<u64>) -> Result<()> {
        let bytes = self.capabilities().clv_bytes;
        let purpose = "the likelihood vectors under site frequencies, all of which are kept";
        match limit.is_some_and(|limit| limit < bytes) {
            true => Err(EngineError::OutOfMemory { bytes, purpose }),
            false => Ok(()),
        }
    }

    /// As [`Engine::set_models`], of models in the form that engines read.
    pub(in crate::likelihood) fn set_partition_models(
        &mut self,
        models: &[(usize, PartitionModel)],
    ) -> Result<()> {
        let mut of_partition = vec![None; self.partition_units.len()];
        models.iter().for_each(|(partition, model)| of_partition[*partition] = Some(model));
        self.for_units(models.iter().map(|(partition, _)| *partition), |_, unit| {
            unit.set_model(of_partition[unit.partition].expect("a new model"));
            Ok(())
        })
    }

    /// Runs `work` for each unit of these partitions.
    ///
    /// # Errors
    /// Those of `work`.
    fn for_units(
        &mut self,
        partitions: impl Iterator<Item = usize>,
        work: impl Fn(&dyn Kernels, &mut Unit) -> Result<()> + Sync,
    ) -> Result<()> {
        let SiteFrequencyEngine { pool, kernels, units, partition_units, .. } = self;
        let active: Vec<usize> =
            partitions.flat_map(|partition| partition_units[partition].clone()).collect();
        let cost = |unit: &usize| lock(&units[*unit]).num_patterns() as UnitCost;
        let costs: Vec<UnitCost> = active.iter().map(cost).collect();
        let hands = deal(&costs, pool.num_workers());
        let failure = Mutex::new(Ok(()));
        pool.run(&loads_of(&hands, &costs), &|worker| {
            for &i in &hands[worker] {
                let result = work(kernels.as_ref(), &mut lock(&units[active[i]]));
                if result.is_err() {
                    *lock(&failure) = result;
                }
            }
        });
        failure.into_inner().unwrap_or_else(|e| e.into_inner())
    }

    /// The units of a partition.
    fn units_of(&self, partition: usize) -> impl Iterator<Item = MutexGuard<'_, Unit>> {
        self.units[self.partition_units[partition].clone()].iter().map(lock)
    }

    /// Sums over all blocks, each of a partition: `own` has what the blocks here contribute to the sum of this number.
    fn sums<const N: usize>(
        &self,
        partitions: &[usize],
        own: impl Fn(usize) -> Vec<[f64; N]>,
    ) -> Vec<[f64; N]> {
        match &self.holders {
            Some(holders) => holders.sums(partitions, own),
            None => (0..partitions.len()).map(|number| BlockSum::of(own(number))).collect(),
        }
    }

    /// The sums of the last computation in these partitions.
    fn last_sums(&self, partitions: &[usize]) -> Vec<[f64; 3]> {
        self.sums(partitions, |number| {
            self.units_of(partitions[number]).flat_map(|unit| unit.sums.clone()).collect()
        })
    }

    /// The numbers of all blocks of a partition, of which these are here.
    fn gather(&self, partition: usize, own: Vec<f64>) -> Vec<f64> {
        match &self.holders {
            Some(holders) => holders.gather(partition, own),
            None => own,
        }
    }

    /// Slots of the temporaries of each partition of a sweep, after those of the stored CLVs; makes places for them.
    fn slots(&self, program: &SweepProgram) -> Result<Vec<Vec<u32>>> {
        let mut slots = Vec::with_capacity(program.partitions.len());
        for (member, places) in program.partitions.iter().zip(Places::of_sweep(program)) {
            let num_clvs = num_clvs(self.num_tips[member.partition]);
            for unit in &self.units[self.partition_units[member.partition].clone()] {
                lock(unit).reserve(num_clvs + places.count())?;
            }
            slots.push(places.slots_from(num_clvs as u32));
        }
        Ok(slots)
    }

    /// Runs some steps of a sweep, and evaluates its last edges after the last step.
    fn sweep(
        &mut self,
        program: &mut SweepProgram,
        steps: Range<usize>,
        slots: &[Vec<u32>],
    ) -> Result<()> {
        let is_last = steps.end == program.steps.len();
        run_sweep(program, steps, &mut Sweep { engine: self, slots })?;
        if is_last && !program.finish.is_empty() {
            let job = |job: &SweepJob| {
                let edge = program.edge_job(job);
                EdgeJob { ends: edge.ends.map(|end| resolve(end, &slots[job.member])), ..edge }
            };
            let jobs: Vec<EdgeJob> = program.finish.iter().map(job).collect();
            program.finish_lnls = self.log_likelihoods(&jobs)?;
        }
        Ok(())
    }
}

/// Refuses data for which this engine has no kernels.
fn check(data: &PartitionData) -> Result<()> {
    let reason = if data.pattern_freqs.is_none() {
        "either all partitions have site frequencies or none has"
    } else if data.num_states != STATES {
        "site frequencies are those of amino acids"
    } else if data.ascertainment.is_some() {
        "there is no correction for ascertainment bias under site frequencies"
    } else {
        return Ok(());
    };
    Err(EngineError::Unavailable { engine: "site frequency", reason: reason.to_string() })
}

fn states_of_codes(data: &PartitionData) -> CodeStates {
    let all = u64::MAX >> (64 - data.num_states);
    let states = |&mask: &u64| {
        let states = (0..data.num_states as u8).filter(|state| mask >> state & 1 == 1);
        (mask & all != all).then(|| states.collect())
    };
    Arc::new(data.code_masks.iter().map(states).collect())
}

/// Derivatives for a sweep.
struct Sweep<'a> {
    engine: &'a mut SiteFrequencyEngine,
    /// Slots of the temporaries of each partition of the program.
    slots: &'a [Vec<u32>],
}

impl Sweep<'_> {
    /// Does work on the units of a step's jobs.
    fn for_jobs(
        &mut self,
        program: &SweepProgram,
        step: usize,
        work: impl Fn(&dyn Kernels, &mut Unit, &SweepJob) -> Result<()> + Sync,
    ) -> Result<()> {
        let jobs = &program.jobs[program.steps[step].jobs.clone()];
        let partition = |job: &SweepJob| program.partitions[job.member].partition;
        self.engine.for_units(jobs.iter().map(partition), |kernels, unit| {
            let job = jobs.iter().find(|job| partition(job) == unit.partition);
            work(kernels, unit, job.expect("only partitions of the step are run"))
        })
    }
}

impl Derivatives for Sweep<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        let slots = self.slots;
        self.for_jobs(program, step, |kernels, unit, job| {
            let slots = &slots[job.member];
            let operations = program.operations_of(job).map(|operation| Operation {
                parent: resolve(operation.parent, slots),
                children: operation.children.map(|child| resolve(child, slots)),
                ..operation
            });
            unit.update_partials(kernels, &operations.collect::<Vec<_>>());
            unit.update_sumtable(kernels, job.ends.map(|end| resolve(end, slots)))
        })
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let of_step = &program.steps[step];
        self.for_jobs(program, step, |kernels, unit, job| {
            unit.derivatives(kernels, program.job_length(job, of_step, t));
            Ok(())
        })?;
        let mut total = [0.0; 3];
        // In the order of the partitions, whatever that of the jobs is.
        let jobs = &program.jobs[of_step.jobs.clone()];
        let mut members: Vec<usize> = jobs.iter().map(|job| job.member).collect();
        members.sort_unstable_by_key(|&member| program.partitions[member].partition);
        let partition = |&member: &usize| program.partitions[member].partition;
        let partitions: Vec<usize> = members.iter().map(partition).collect();
        for (member, sums) in members.into_iter().zip(self.engine.last_sums(&partitions)) {
            let sums = chain_rule(sums, program.partitions[member].brlen_scaler);
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        Ok(total)
    }
}

impl Engine for SiteFrequencyEngine {
    fn capabilities(&self) -> Capabilities {
        let sum = |of_unit: &dyn Fn(&Unit) -> u64| {
            self.units.iter().map(|unit| of_unit(&lock(unit))).sum()
        };
        Capabilities {
            name: ENTRY.name,
            clv_bytes: sum(&|unit| unit.clv_bytes()),
            used_bytes: sum(&|unit| unit.bytes()),
            updates: [0; 2],
            swept: SweepWork::default(),
            free_bytes: available_memory(),
            best_batch: 1,
        }
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        let model = |(partition, model): &(usize, &Model)| {
            (*partition, PartitionModel::of_site_frequencies(model))
        };
        let models: Vec<(usize, PartitionModel)> = models.iter().map(model).collect();
        self.set_partition_models(&models)
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        let held = self.holders.as_ref().and_then(|holders| holders.own(partition));
        let before = held.map_or(0, |held| held.blocks.start * BLOCK);
        let own = weights.get(before..).unwrap_or_default();
        self.units_of(partition).for_each(|mut unit| unit.set_pattern_weights(own));
        Ok(())
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        let mut of_partition: Vec<&[Operation]> = vec![&[]; self.partition_units.len()];
        for TraversalDescriptor { partition, operations } in descriptors {
            of_partition[*partition] = operations;
        }
        self.for_units(descriptors.iter().map(|d| d.partition), |kernels, unit| {
            unit.update_partials(kernels, of_partition[unit.partition]);
            Ok(())
        })
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        let mut of_partition = vec![None; self.partition_units.len()];
        jobs.iter().for_each(|job| of_partition[job.partition] = Some(job));
        self.for_units(jobs.iter().map(|job| job.partition), |kernels, unit| {
            let job = of_partition[unit.partition].expect("a partition with a job");
            unit.log_likelihoods(kernels, job.ends, job.brlen, None);
            Ok(())
        })?;
        let partitions: Vec<usize> = jobs.iter().map(|job| job.partition).collect();
        Ok(self.last_sums(&partitions).into_iter().map(|[lnl, ..]| lnl).collect())
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        let mut out = Vec::new();
        for mut unit in self.units_of(job.partition) {
            let kernels = self.kernels.as_ref();
            unit.log_likelihoods(kernels, job.ends, job.brlen, Some(&mut out));
        }
        Ok(self.gather(job.partition, out))
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        let mut of_partition = vec![None; self.partition_units.len()];
        jobs.iter().for_each(|job| of_partition[job.partition] = Some(job));
        self.for_units(jobs.iter().map(|job| job.partition), |kernels, unit| {
            let job = of_partition[unit.partition].expect("a partition with a job");
            unit.state_probabilities(kernels, job)
        })?;
        let of_job = |job: &PointJob| {
            let units = self.units_of(job.partition);
            let own = units.flat_map(|mut unit| std::mem::take(&mut unit.states)).collect();
            self.gather(job.partition, own)
        };
        Ok(jobs.iter().map(of_job).collect())
    }

    fn pmatrix_gradients(&mut self, _jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        unreachable!("patterns with state frequencies of their own share no P-matrix")
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        let mut of_partition: Vec<Vec<usize>> = vec![Vec::new(); self.partition_units.len()];
        for (i, program) in programs.iter().enumerate() {
            of_partition[program.partition].push(i);
        }
        let places: Vec<Places> = programs.iter().map(Places::of_insertions).collect();
        let active =
            (0..of_partition.len()).filter(|&partition| !of_partition[partition].is_empty());
        self.for_units(active, |kernels, unit| {
            let own = of_partition[unit.partition].iter();
            let scores = own.map(|&i| unit.insertion_scores(kernels, &programs[i], &places[i]));
            unit.scores = scores.collect::<Result<_>>()?;
            Ok(())
        })?;
        // Of each score: its partition, the number of its program among those of the partition, and its number there.
        let (mut of_scores, mut next) = (Vec::new(), vec![0; of_partition.len()]);
        for program in programs {
            let (partition, number) = (program.partition, next[program.partition]);
            of_scores.extend((0..program.num_scores()).map(|score| (partition, number, score)));
            next[partition] += 1;
        }
        let partitions: Vec<usize> = of_scores.iter().map(|&(partition, ..)| partition).collect();
        let sums = self.sums(&partitions, |at| {
            let (partition, number, score) = of_scores[at];
            let blocks = self.units_of(partition).flat_map(|unit| {
                let range = score * unit.num_blocks()..(score + 1) * unit.num_blocks();
                let of_unit: Vec<[f64; 1]> =
                    unit.scores[number][range].iter().map(|&block| [block]).collect();
                of_unit
            });
            blocks.collect()
        });
        let mut sums = sums.into_iter().map(|[sum]| sum);
        let scores =
            |program: &InsertionProgram| sums.by_ref().take(program.num_scores()).collect();
        Ok(programs.iter().map(scores).collect())
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        for program in programs {
            let slots = self.slots(program)?;
            let steps = 0..program.steps.len();
            self.sweep(program, steps, &slots)?;
        }
        Ok(())
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        // One after the other, because all have their temporaries in the same places.
        for trial in trials {
            let slots = trial.sweeps.iter().map(|sweep| self.slots(sweep));
            let slots = slots.collect::<Result<Vec<_>>>()?;
            run_trials(std::slice::from_mut(trial), |sweeps| {
                sweeps.into_iter().try_for_each(|sweep| {
                    self.sweep(sweep.program, sweep.steps, &slots[sweep.number])
                })
            })?;
        }
        Ok(())
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        let mut all: (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for unit in self.units_of(partition) {
            let (numbers, counts) = unit.clv(slot);
            all.0.extend_from_slice(numbers);
            all.1.extend(counts.iter().map(|&count| f64::from(count)));
        }
        let counts = self.gather(partition, all.1).into_iter().map(|count| count as u32);
        Ok((self.gather(partition, all.0), counts.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::PatternFreqs;
    use crate::alphabet::DataType;
    use crate::likelihood::engine::{SweepPartition, SweepStep};

    #[test]
    fn derivatives_are_the_differences_of_log_likelihoods() {
        for text in ["LG+G4{0.5}", "WAG+I{0.25}+R2{0.3/1.7}{0.5/0.5}"] {
            let model = Model::parse(text).unwrap();
            let data_type = DataType::Protein;
            let code = |tip: usize, pattern: usize| {
                data_type.code_of_state((pattern + tip * (pattern / 20)) % 20)
            };
            let row = |tip: usize| (0..300).map(|pattern| code(tip, pattern)).collect();
            let freq = |pattern: usize, i: usize| 1.0 + ((pattern + 3 * i) % 7) as f64;
            let freqs = |pattern: usize| {
                let sum: f64 = (0..20).map(|i| freq(pattern, i)).sum();
                (0..20).map(|i| freq(pattern, i) / sum).collect()
            };
            let data = PartitionData {
                tip_codes: (0..3).map(row).collect(),
                weights: (0..300).map(|pattern| 1.0 + f64::from(pattern % 2)).collect(),
                code_masks: data_type.code_masks(),
                undetermined: data_type.undetermined(),
                num_states: 20,
                num_rates: model.rate_cats().rates.len(),
                ascertainment: None,
                pattern_freqs: Some(PatternFreqs::new(&(0..300).map(freqs).collect::<Vec<_>>())),
            };
            let options = EngineOptions::default();
            let kernels = kernels(&options).unwrap();
            let mut engine = SiteFrequencyEngine::new(&[data], kernels, 2).unwrap();
            engine.set_models(&[(0, &model)]).unwrap();
            let (parent, children) = (Clv::Stored(0), [Clv::Tip(1), Clv::Tip(2)]);
            let operations = vec![Operation { parent, children, brlens: [0.1, 0.3] }];
            engine.update_partials(&[TraversalDescriptor { partition: 0, operations }]).unwrap();
            let ends = [Clv::Tip(0), parent];
            let mut program = SweepProgram::new(vec![0.2], 1e-3);
            let brlens = vec![0.2];
            program.partitions.push(SweepPartition { partition: 0, brlen_scaler: 2.0, brlens });
            program.jobs.push(SweepJob { member: 0, operations: 0..0, ends, edge: 0 });
            program.steps.push(SweepStep { jobs: 0..1, branch: 0 });
            let slots = vec![Vec::new()];
            for t in [0.01, 0.2, 1.5] {
                let mut lnl = |t: f64| {
                    let job = EdgeJob { partition: 0, ends, brlen: 2.0 * t };
                    engine.log_likelihoods(&[job]).unwrap()[0]
                };
                let h = 1e-4 * t;
                let [before, here, after] = [t - h, t, t + h].map(&mut lnl);
                let mut sweep = Sweep { engine: &mut engine, slots: &slots };
                sweep.start_step(&program, 0).unwrap();
                let [value, first, second] = sweep.at(&program, 0, t).unwrap();
                let slope = (after - before) / (2.0 * h);
                let curvature = (after - 2.0 * here + before) / (h * h);
                assert!((value - here).abs() < 1e-8, "{text}: {value}, not {here}");
                assert!((first - slope).abs() < 1e-5 * slope.abs().max(1.0), "{first}, {slope}");
                let scale = curvature.abs().max(1.0);
                assert!((second - curvature).abs() < 1e-2 * scale, "{second}, {curvature}");
            }
        }
    }
}
