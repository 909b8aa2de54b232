//! The engine: programs of work become batches, which all GPUs run on their own blocks. Sums over blocks are made here, in
//! the order of the blocks, so that they have the same bits for any number of GPUs.

use super::batch::{At, Batch, resolve, stored};
use super::gpu::{Gpu, Results};
use super::kernels::{KernelId, Kernels};
use super::memory::{Limits, PartitionNeeds, Plan};
use super::partition::{GpuPartition, PartitionPart};
use super::pmatrix_gradient::pmatrix_gradient;
use super::program::{ClvLocation, StepKind};
use super::rates::measure;
use super::recomputation::{StoredClvs, with_places};
use crate::gpu::{self, Device, Known, NAME, look_at};
use crate::likelihood::engine::layout::{Dims, STATE_COUNTS, block_lens, num_clvs};
use crate::likelihood::engine::states::InvariantParts;
use crate::likelihood::engine::{
    BlockSum, Capabilities, Clv, EdgeJob, Engine, EngineOptions, Entry, GpuRates, InsertionProgram,
    InsertionStep, ModelBlock, Operation, PartitionData, PartitionModel, Places, PointJob, Result,
    ScorePrecision, SweepProgram, SweepWork, TraversalDescriptor, TrialProgram, new_block,
    set_model,
};
use crate::model::Model;
use mlsearch_kernels::PartitionKernels;
use std::collections::BTreeSet;

/// Entry of this engine for `select`.
pub const ENTRY: Entry = Entry { name: NAME, make, instruction_set, gives_default_bits: true };

/// The GPUs of [`EngineOptions::gpus`], by their numbers.
fn gpus_of(options: &EngineOptions) -> Vec<usize> {
    gpu::numbers(options.gpus)
}

/// Bytes that are free on the GPUs, all together.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::likelihood::EngineError::Unavailable).
pub fn free_bytes(options: &EngineOptions) -> Result<u64> {
    let free = |gpu: usize| Ok(Device::open(gpu)?.free_bytes().unwrap_or(0));
    gpus_of(options).into_iter().map(free).sum()
}

/// What each GPU can do at best; `is_quick` for a rough measurement.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::likelihood::EngineError::Unavailable).
pub fn rates(options: &EngineOptions, is_quick: bool) -> Result<Vec<GpuRates>> {
    let of_gpu = |gpu: usize| Ok(measure(&Device::open(gpu)?, is_quick)?);
    gpus_of(options).into_iter().map(of_gpu).collect()
}

/// Name and compute capability of each GPU, and what its driver is for.
///
/// # Errors
/// [`EngineError::Unavailable`](crate::likelihood::EngineError::Unavailable).
pub fn describe(options: &EngineOptions) -> Result<Vec<String>> {
    let describe = |gpu| {
        let Known { name, capability: (major, minor), driver } = look_at(gpu)?;
        Ok(format!("{name}, compute capability {major}.{minor}, driver for CUDA {driver}"))
    };
    gpus_of(options).into_iter().map(describe).collect()
}

/// Tells whether the GPUs can be used. They have no instruction sets; a requested one is that of the engine with which a
/// run goes on when a GPU is lost.
fn instruction_set(options: &EngineOptions) -> Result<&'static str> {
    gpus_of(options).into_iter().try_for_each(|gpu| look_at(gpu).map(|_| ()))?;
    Ok("none")
}

fn make(data: &[PartitionData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let states: BTreeSet<usize> = data.iter().map(|data| new_block(data).dims.num_states).collect();
    let open = |&gpu: &usize| {
        let device = Device::open(gpu)?;
        let kernels = Kernels::load(&device, &states, options.score_precision)?;
        Ok((device, kernels))
    };
    let devices = gpus_of(options).iter().map(open).collect::<Result<Vec<_>>>()?;
    Ok(Box::new(CudaEngine::new(data, devices, options)?))
}

/// Likelihoods on one or more GPUs.
pub(super) struct CudaEngine {
    pub(super) gpus: Vec<Gpu>,
    pub(super) dims: Vec<Dims>,
    /// What may be taken on each GPU beside the partitions.
    pub(super) limits: Limits,
    /// By partition, if there is no room for all stored CLVs.
    pub(super) stored: Option<Vec<StoredClvs>>,
    score_precision: ScorePrecision,
    pub(super) swept: SweepWork,
    models: Vec<ModelBlock>,
    invariant: Vec<InvariantParts>,
}

impl CudaEngine {
    /// An engine on these GPUs: each has as many blocks of each partition as any other, or one less. Stored CLVs take no
    /// more than [`EngineOptions::clv_bytes`] on all GPUs together, as far as that is possible.
    ///
    /// # Errors
    /// Not enough memory, or a GPU is lost.
    fn new(
        data: &[PartitionData],
        devices: Vec<(Device, Kernels)>,
        options: &EngineOptions,
    ) -> Result<Self> {
        let for_clvs = options.clv_bytes.unwrap_or(u64::MAX);
        let models: Vec<ModelBlock> = data.iter().map(new_block).collect();
        let dims: Vec<Dims> = models.iter().map(|model| model.dims).collect();
        let num_gpus = devices.len();
        let mut planned = Vec::with_capacity(num_gpus);
        let mut plan: Option<Plan> = None;
        for (number, (device, kernels)) in devices.into_iter().enumerate() {
            let parts: Vec<PartitionPart> = data
                .iter()
                .map(|data| {
                    let num_blocks = block_lens(data.num_patterns()).len();
                    let blocks =
                        num_blocks * number / num_gpus..num_blocks * (number + 1) / num_gpus;
                    let is_last = number + 1 == num_gpus;
                    PartitionPart {
                        data,
                        blocks,
                        constants: data.constant_patterns().filter(|_| is_last),
                    }
                })
                .collect();
            let needs: Vec<PartitionNeeds> =
                parts.iter().zip(&models).map(|(part, model)| part.needs(model)).collect();
            let free = device.free_bytes_of_one(options.engines_on_gpus).unwrap_or(u64::MAX);
            let own = Plan::of_gpu(&needs, free, for_clvs / num_gpus as u64)?;
            plan = Some(plan.map_or(own.clone(), |plan| plan.of_both(&own)));
            planned.push((device, kernels, parts, own.limits));
        }
        let Plan { limits, places } = plan.expect("there is a GPU");
        let num_allocated_clvs: Vec<usize> =
            data.iter().map(|data| num_clvs(data.num_tips())).collect();
        let of_partition = places.as_ref().unwrap_or(&num_allocated_clvs);
        let mut gpus = Vec::with_capacity(num_gpus);
        for (device, kernels, parts, own) in planned {
            let partitions = parts.iter().zip(&dims).zip(of_partition);
            let partitions =
                partitions.map(|((part, &dims), &num)| GpuPartition::new(&device, part, dims, num));
            let partitions = partitions.collect::<gpu::Result<Vec<_>>>()?;
            gpus.push(Gpu::new((device, kernels), partitions, dims.clone(), own));
        }
        let stored = places.map(|places| {
            let of_partitions = num_allocated_clvs.iter().zip(places);
            of_partitions.map(|(&clvs, places)| StoredClvs::new(clvs, places)).collect()
        });
        let invariant = vec![InvariantParts::default(); data.len()];
        Ok(CudaEngine {
            gpus,
            dims,
            limits,
            stored,
            score_precision: options.score_precision,
            swept: SweepWork::default(),
            models,
            invariant,
        })
    }

    /// Runs a batch of updates, or of updates and sumtables, and empties it.
    pub(super) fn run(&mut self, id: KernelId, batch: &mut Batch) -> Result<()> {
        let batch = self.placed(batch.take())?;
        self.gpus.iter_mut().try_for_each(|gpu| Ok(gpu.run(id, &batch)?))
    }

    /// The batch, with updates of CLVs that were forgotten.
    fn placed(&mut self, batch: Batch) -> Result<Batch> {
        match &mut self.stored {
            Some(stored) => with_places(&batch, stored, &self.dims),
            None => Ok(batch),
        }
    }

    /// Runs a batch with scores: the results of each GPU.
    pub(super) fn scores(&mut self, batch: &mut Batch, with_logs: bool) -> Result<Vec<Results>> {
        *batch = self.placed(std::mem::take(batch))?;
        let started: Vec<_> = self
            .gpus
            .iter_mut()
            .map(|gpu| gpu.start_scores(batch, with_logs))
            .collect::<gpu::Result<_>>()?;
        let started = self.gpus.iter().zip(started);
        started.map(|(gpu, started)| Ok(gpu.finish(started)?)).collect()
    }

    /// The scores of a job: sums over all blocks of all GPUs.
    pub(super) fn sums(&self, batch: &Batch, results: &[Results], job: usize) -> Vec<f64> {
        let partition = batch.jobs[job].partition;
        let sum = |score: usize| {
            let mut total = BlockSum::new();
            for (gpu, results) in self.gpus.iter().zip(results) {
                let partition = &gpu.partitions[partition];
                let entries =
                    results.entries(job, score * partition.num_blocks, partition.num_blocks);
                for (block, entry) in entries.enumerate() {
                    total.add([partition.lnl_of_block(block, entry)]);
                }
            }
            total.total()[0]
        };
        (0..batch.jobs[job].num_scores).map(sum).collect()
    }

    /// Batches without work for each number of states.
    pub(super) fn batches(&self) -> [Batch; STATE_COUNTS.len()] {
        STATE_COUNTS.map(|states| Batch::new(states, self.limits.matrices))
    }

    /// Number of a partition's batch among [`CudaEngine::batches`].
    pub(super) fn batch_of(&self, partition: usize) -> usize {
        let states = self.dims[partition].num_states;
        STATE_COUNTS
            .iter()
            .position(|&count| count == states)
            .expect("one of the numbers of states")
    }

    /// Log-likelihoods at edges, at most one per partition, whose ends `resolve` finds.
    pub(super) fn edges(
        &mut self,
        jobs: &[EdgeJob],
        resolve: impl Fn(usize, Clv) -> At,
    ) -> Result<Vec<f64>> {
        let mut batches = self.batches();
        let mut places = Vec::with_capacity(jobs.len());
        for (number, job) in jobs.iter().enumerate() {
            let of_states = self.batch_of(job.partition);
            places.push((of_states, batches[of_states].jobs.len()));
            add_edge(&mut batches[of_states], self.dims[job.partition], job, |end| {
                resolve(number, end)
            });
        }
        let mut sums = Vec::new();
        for batch in &mut batches {
            let results =
                if batch.jobs.is_empty() { Vec::new() } else { self.scores(batch, false)? };
            let of_job = |job| self.sums(batch, &results, job)[0];
            sums.push((0..batch.jobs.len()).map(of_job).collect::<Vec<_>>());
        }
        Ok(places.into_iter().map(|(of_states, job)| sums[of_states][job]).collect())
    }

    /// Makes room for so many temporaries and sumtables of sweeps of a partition.
    pub(super) fn reserve(&mut self, partition: usize, num_temporaries: usize) -> Result<()> {
        for gpu in &mut self.gpus {
            if gpu.partitions[partition].reserve(&gpu.device, num_temporaries)? {
                gpu.note_moved();
            }
        }
        Ok(())
    }

    /// Runs insertion programs whose jobs are in a batch, and empties it: scores by the number of the program.
    fn finish_insertions(
        &mut self,
        batch: &mut Batch,
        numbers: &mut Vec<usize>,
        out: &mut [Vec<f64>],
    ) -> Result<()> {
        let mut batch = batch.take();
        if batch.jobs.is_empty() {
            return Ok(());
        }
        let results = self.scores(&mut batch, false)?;
        for (job, number) in numbers.drain(..).enumerate() {
            out[number] = self.sums(&batch, &results, job);
        }
        Ok(())
    }
}

fn add_edge(batch: &mut Batch, dims: Dims, job: &EdgeJob, resolve: impl Fn(Clv) -> At) {
    batch.begin(job.partition, 0);
    let [a, b] = job.ends.map(resolve);
    let ends = [batch.end(dims, a, None), batch.end(dims, b, Some(job.brlen))];
    batch.push(StepKind::Edge, At { place: ClvLocation::Tip, index: 0 }, ends);
}

/// Adds a step of an insertion program to a batch.
fn add_insertion_step(batch: &mut Batch, dims: Dims, at: impl Fn(Clv) -> At, step: &InsertionStep) {
    match *step {
        InsertionStep::Partials(Operation { parent, children, brlens }) => {
            batch.update(dims, at(parent), children.map(at), brlens);
        }
        InsertionStep::Pendant { out, source, brlen } => {
            let end = batch.end(dims, at(source), Some(brlen));
            batch.push(StepKind::Pendant, at(Clv::Temporary(out)), [end; 2]);
        }
        InsertionStep::Score { pendant, ends, brlens } => {
            let ends = [0, 1].map(|i| batch.end(dims, at(ends[i]), Some(brlens[i])));
            batch.push(StepKind::Score, at(Clv::Temporary(pendant)), ends);
        }
        InsertionStep::Edge { ends: [a, b], brlen } => {
            let ends = [batch.end(dims, at(a), None), batch.end(dims, at(b), Some(brlen))];
            batch.push(StepKind::Edge, At { place: ClvLocation::Tip, index: 0 }, ends);
        }
    }
}

impl Engine for CudaEngine {
    fn capabilities(&self) -> Capabilities {
        let partitions = self.gpus.iter().flat_map(|gpu| &gpu.partitions);
        let free = self.gpus.iter().map(|gpu| gpu.device.free_bytes());
        let updates = self.stored.iter().flatten().map(StoredClvs::updates);
        let multiprocessors = self.gpus.iter().map(|gpu| gpu.device.num_multiprocessors);
        Capabilities {
            name: NAME,
            clv_bytes: partitions.map(GpuPartition::clv_bytes).sum(),
            used_bytes: self.gpus.iter().map(Gpu::bytes).sum(),
            updates: updates.fold([0; 2], |[all, again], of_partition| {
                [all + of_partition[0], again + of_partition[1]]
            }),
            swept: self.swept,
            free_bytes: free.sum(),
            best_batch: multiprocessors.sum(),
        }
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        for &(partition, model) in models {
            let model = PartitionModel::new(model);
            set_model(&mut self.models[partition], &model);
            self.invariant[partition] = InvariantParts::new(&model.freqs, model.pinv);
            for gpu in &mut self.gpus {
                gpu.partitions[partition].set_model(
                    &gpu.device,
                    &model,
                    &self.models[partition],
                )?;
                gpu.note_moved();
            }
        }
        Ok(())
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        let num_sites = weights.iter().sum();
        for gpu in &mut self.gpus {
            gpu.partitions[partition].set_weights(&gpu.device, weights, num_sites)?;
            gpu.note_moved();
        }
        Ok(())
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        let mut batches = self.batches();
        for TraversalDescriptor { partition, operations } in descriptors {
            let batch = &mut batches[self.batch_of(*partition)];
            batch.begin(*partition, 0);
            for &Operation { parent, children, brlens } in operations {
                if batch.is_full() {
                    self.run(KernelId::Partials, batch)?;
                    batch.begin(*partition, 0);
                }
                let dims = self.dims[*partition];
                batch.update(dims, stored(parent), children.map(stored), brlens);
            }
        }
        for batch in batches.iter_mut().filter(|batch| !batch.steps.is_empty()) {
            self.run(KernelId::Partials, batch)?;
        }
        Ok(())
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        self.edges(jobs, |_, end| stored(end))
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        let mut batch = Batch::new(self.dims[job.partition].num_states, self.limits.matrices);
        add_edge(&mut batch, self.dims[job.partition], job, stored);
        let results = self.scores(&mut batch, true)?;
        let mut out = Vec::new();
        for (gpu, results) in self.gpus.iter().zip(&results) {
            out.extend(gpu.logs(job.partition)?);
            let partition = &gpu.partitions[job.partition];
            let Some(correction) = partition.correction else { continue };
            let last = partition.num_blocks - 1;
            let entry = results.entries(0, last, 1).next().expect("one block");
            let of_site = correction.of_site(partition.lnl_of_block(last, entry));
            if of_site != 0.0 {
                out.iter_mut().for_each(|lnl| *lnl += of_site);
            }
        }
        Ok(out)
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        let mut batches = self.batches();
        for job in jobs {
            self.reserve(job.partition, 1)?;
            let batch = &mut batches[self.batch_of(job.partition)];
            batch.begin(job.partition, 0);
            let out = At { place: ClvLocation::Temporary, index: 0 };
            batch.update(self.dims[job.partition], out, job.ends.map(stored), job.brlens);
        }
        for batch in batches.iter_mut().filter(|batch| !batch.steps.is_empty()) {
            self.run(KernelId::Partials, batch)?;
        }
        let of_job = |job: &PointJob| {
            let (dims, model) = (self.dims[job.partition], &self.models[job.partition]);
            let mut out = Vec::new();
            for gpu in &self.gpus {
                let partition = &gpu.partitions[job.partition];
                let (clv, scaler) = partition.clv(&gpu.device, 0, true)?;
                let rows = clv.chunks_exact(dims.row()).zip(scaler.chunks_exact(dims.scalers()));
                let rows = rows.zip(partition.shared_states()).take(partition.patterns.len());
                for (row, &shared) in rows {
                    self.invariant[job.partition].add_pattern(model, row, shared, &mut out);
                }
            }
            Ok(out)
        };
        jobs.iter().map(of_job).collect()
    }

    /// Copies the CLVs of the edge: it is too rare to need a kernel.
    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        let host = mlsearch_kernels::all_kernels().swap_remove(0);
        let mut out = Vec::with_capacity(jobs.len());
        for job in jobs {
            let mut clvs = Vec::new();
            for end in job.ends {
                clvs.push(match end {
                    Clv::Stored(slot) => Some(self.clv(job.partition, slot)?),
                    _ => None,
                });
            }
            let model = &self.models[job.partition];
            let with = PartitionKernels { kernels: host.as_ref(), model };
            let parts = self.gpus.iter().map(|gpu| (&gpu.device, &gpu.partitions[job.partition]));
            out.push(pmatrix_gradient(with, job, &clvs, &parts.collect::<Vec<_>>())?);
        }
        Ok(out)
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        let mut out = vec![Vec::new(); programs.len()];
        let precision = self.score_precision;
        let is_single = precision == ScorePrecision::Single;
        let mut batches = self.batches();
        batches.iter_mut().for_each(|batch| batch.precision = precision);
        let mut numbers = vec![Vec::new(); batches.len()];
        let mut order: Vec<usize> = (0..programs.len()).collect();
        if self.stored.is_some() {
            // Those of a partition are run one after the other.
            order.sort_by_key(|&number| programs[number].partition);
        }
        for number in order {
            let program = &programs[number];
            let of_states = self.batch_of(program.partition);
            let (batch, numbers) = (&mut batches[of_states], &mut numbers[of_states]);
            if batch.is_full() {
                self.finish_insertions(batch, numbers, &mut out)?;
            }
            let places = Places::of_insertions(program);
            batch.begin(program.partition, places.count());
            numbers.push(number);
            let at = |clv| match resolve(clv, &places, ClvLocation::Scratch) {
                at if is_single && !program.is_turned(clv) => at.in_single(),
                at => at,
            };
            for step in &program.steps {
                add_insertion_step(batch, self.dims[program.partition], at, step);
            }
        }
        for (batch, numbers) in batches.iter_mut().zip(&mut numbers) {
            self.finish_insertions(batch, numbers, &mut out)?;
        }
        Ok(out)
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        self.sweep_all(programs)
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        self.try_all(trials)
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        let mut place = slot;
        if let Some(stored) = &mut self.stored {
            let mut batch = Batch::new(self.dims[partition].num_states, self.limits.matrices);
            place = stored[partition].updates_to_read(
                &mut batch,
                partition,
                self.dims[partition],
                slot,
            )?;
            let id = KernelId::Partials;
            self.gpus.iter_mut().try_for_each(|gpu| gpu.run(id, &batch))?;
        }
        let mut all = (Vec::new(), Vec::new());
        for gpu in &self.gpus {
            let (numbers, counts) =
                gpu.partitions[partition].clv(&gpu.device, place as usize, false)?;
            all.0.extend(numbers);
            all.1.extend(counts);
        }
        Ok(all)
    }
}
