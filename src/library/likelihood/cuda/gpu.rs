//! One GPU with its part of all partitions: runs batches on it.

use super::batch::Batch;
use super::kernels::{KernelId, Kernels, SLICES, parts, threads_of_block, threads_of_slice};
use super::launch::{self, Jobs, OwnMatrices, Scores, Steps, words_of};
use super::memory::Limits;
use super::partition::GpuPartition;
use super::program::{DERIVATIVE_NUMBERS, DerivativeJob, Job, Partition, SCORE_NUMBERS};
use super::tape::Tape;
use crate::gpu::{Buffer, Device, Grid, Result};
use crate::likelihood::engine::ScorePrecision;
use crate::likelihood::engine::layout::{BLOCK, Dims};

/// CTAs per multiprocessor that run programs with scores: each has buffers for its temporaries.
const CTAS_PER_MULTIPROCESSOR: usize = 8;

/// A GPU, its partitions, and buffers for work.
#[derive(Debug)]
pub(super) struct Gpu {
    /// The GPU.
    pub(super) device: Device,
    kernels: Kernels,
    /// Its part of each partition.
    pub(super) partitions: Vec<GpuPartition>,
    dims: Vec<Dims>,
    limits: Limits,
    /// The partitions as kernels read them.
    read_partitions: Buffer<Partition>,
    /// True if that must be copied again.
    has_moved: bool,
    /// What a batch consists of, one list after the other.
    lists: Buffer<u64>,
    derivative_jobs: Buffer<DerivativeJob>,
    matrices: Buffer<f64>,
    /// Counts the CTAs that have met in launches so far, and how many they were.
    counter: Buffer<u32>,
    counted: u32,
    scratch: Buffer<f64>,
    scratch_scalers: Buffer<u32>,
    results: Buffer<f64>,
    logs: Buffer<f64>,
    tape: Buffer<u64>,
}

/// A batch on a GPU: what its kernels are told.
#[derive(Debug)]
struct Prepared {
    jobs: Jobs,
    matrix_jobs: Jobs,
    steps: Steps,
    /// By job, where its results begin, and their number.
    starts: Vec<usize>,
    num_results: usize,
}

/// Results of jobs on one GPU, in the order of its blocks.
#[derive(Debug)]
pub(super) struct Results {
    numbers: Vec<f64>,
    /// By job, where its results begin, in entries.
    starts: Vec<usize>,
    /// Numbers of an entry.
    width: usize,
}

impl Results {
    /// The entries of a job from entry `first` on, `count` of them.
    pub(super) fn entries(
        &self,
        job: usize,
        first: usize,
        count: usize,
    ) -> impl Iterator<Item = &[f64]> {
        let at = (self.starts[job] + first) * self.width;
        self.numbers[at..at + count * self.width].chunks_exact(self.width)
    }
}

impl Gpu {
    /// A GPU with its part of the partitions, and what may be taken beside them.
    pub(super) fn new(
        (device, kernels): (Device, Kernels),
        partitions: Vec<GpuPartition>,
        dims: Vec<Dims>,
        limits: Limits,
    ) -> Self {
        Gpu {
            device,
            kernels,
            partitions,
            dims,
            limits,
            read_partitions: Buffer::new("genes"),
            has_moved: true,
            lists: Buffer::new("jobs"),
            derivative_jobs: Buffer::new("jobs"),
            matrices: Buffer::new("P-matrices on the GPU"),
            counter: Buffer::new("counters"),
            counted: 0,
            scratch: Buffer::new("temporary vectors on the GPU"),
            scratch_scalers: Buffer::new("temporary scaler counts on the GPU"),
            results: Buffer::new("results"),
            logs: Buffer::new("results"),
            tape: Buffer::new("sweeps"),
        }
    }

    /// Notes that a partition's buffers may be elsewhere now.
    pub(super) fn note_moved(&mut self) {
        self.has_moved = true;
    }

    /// Bytes of everything.
    pub(super) fn bytes(&self) -> u64 {
        let partitions: u64 = self.partitions.iter().map(GpuPartition::bytes).sum();
        let buffers = self.matrices.bytes() + self.scratch.bytes() + self.scratch_scalers.bytes();
        let lists = self.lists.bytes() + self.tape.bytes();
        partitions + buffers + self.results.bytes() + lists
    }

    fn upload_partitions(&mut self) -> Result<()> {
        if std::mem::take(&mut self.has_moved) {
            let partitions: Vec<Partition> =
                self.partitions.iter().map(|partition| partition.as_read(&self.device)).collect();
            self.read_partitions.upload(&self.device, &partitions)?;
        }
        Ok(())
    }

    /// Copies a batch to the GPU.
    fn prepare(&mut self, batch: &Batch) -> Result<Prepared> {
        self.upload_partitions()?;
        let device = &self.device;
        let (mut first_item, mut num_results) = (0, 0);
        let mut starts = Vec::with_capacity(batch.jobs.len());
        let mut jobs: Vec<Job> = Vec::with_capacity(batch.jobs.len());
        for job in &batch.jobs {
            let num_blocks = self.partitions[job.partition].num_blocks;
            starts.push(num_results);
            match jobs.last_mut().filter(|_| job.follows) {
                // The results of its scores follow, too.
                Some(before) => before.num_steps += job.num_steps as u32,
                None => {
                    jobs.push(Job {
                        partition: job.partition as u32,
                        first_step: job.first_step as u32,
                        num_steps: job.num_steps as u32,
                        first_item: first_item as u32,
                        results: num_results as u64,
                    });
                    first_item += num_blocks;
                }
            }
            num_results += num_blocks * job.num_scores;
        }
        // In one copy, as each takes its time.
        let [of_jobs, of_steps, of_matrices] =
            [words_of(&jobs), words_of(&batch.steps), words_of(&batch.matrices)];
        self.lists.upload(device, &[of_jobs, of_steps, of_matrices].concat())?;
        self.matrices.reserve(device, batch.matrix_numbers as usize)?;
        let partitions = self.read_partitions.address(device);
        let matrices = self.matrices.address(device);
        let lists = self.lists.address(device);
        let after = |list: &[u64]| size_of_val(list) as u64;
        let matrix_jobs = Jobs {
            partitions,
            jobs: lists + after(of_jobs) + after(of_steps),
            num_jobs: batch.matrices.len() as u32,
            num_items: 0,
        };
        let of_gpu = Jobs {
            partitions,
            jobs: lists,
            num_jobs: jobs.len() as u32,
            num_items: first_item as u32,
        };
        let steps = Steps { steps: lists + after(of_jobs), matrices };
        Ok(Prepared { jobs: of_gpu, matrix_jobs, steps, starts, num_results })
    }

    /// Starts a batch of updates, or of updates and sumtables.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn run(&mut self, id: KernelId, batch: &Batch) -> Result<()> {
        let Prepared { jobs, matrix_jobs, steps, .. } = self.prepare(batch)?;
        launch::pmatrix(&self.kernels, batch.states, matrix_jobs, steps.matrices)?;
        let num_blocks = jobs.num_items as usize;
        let (ctas, threads) = match id {
            KernelId::Partials => {
                let parts = batch.jobs.iter().map(|job| parts(&self.dims[job.partition]));
                let parts = parts.max().unwrap_or(1);
                (num_blocks * SLICES, threads_of_slice(&self.device, batch.states, parts))
            }
            _ => (num_blocks, threads_of_block(&self.device, Some(batch.states), num_blocks)),
        };
        let grid = Grid { ctas: ctas as u32, threads: threads as u32 };
        launch::traversal(&self.kernels, id, batch.states, jobs, steps, grid)
    }

    /// Starts a batch with scores; the logarithms of all patterns of its only partition are kept if wanted.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn start_scores(&mut self, batch: &Batch, with_logs: bool) -> Result<Started> {
        let Prepared { jobs, matrix_jobs, steps, starts, num_results } = self.prepare(batch)?;
        let device = &self.device;
        let places = |per_pattern: fn(&Dims) -> usize| {
            let of_job = batch
                .jobs
                .iter()
                .map(|job| job.num_places * per_pattern(&self.dims[job.partition]));
            of_job.max().unwrap_or(0) * BLOCK
        };
        let (mut clvs, scalers) = (places(Dims::row), places(Dims::scalers));
        let id = match batch.precision {
            ScorePrecision::Double => KernelId::Likelihood,
            ScorePrecision::Single => {
                // Each place has another of half the size for numbers in single precision.
                clvs += clvs / 2;
                KernelId::LikelihoodSingle
            }
        };
        let kernel = self.kernels.function(id, batch.states);
        let threads = threads_of_block(device, Some(batch.states), jobs.num_items as usize);
        let together = device.most_together(kernel, threads);
        let (useful, most) = match together {
            0 => (jobs.num_items, device.num_multiprocessors * CTAS_PER_MULTIPROCESSOR),
            _ => (jobs.num_items.max(matrix_jobs.num_jobs), together),
        };
        let affordable = self.limits.scratch as usize / (clvs * size_of::<f64>()).max(1);
        let num_ctas = (useful as usize).min(most).min(affordable.max(1));
        self.scratch.reserve(device, num_ctas * clvs)?;
        self.scratch_scalers.reserve(device, num_ctas * scalers)?;
        self.results.reserve(device, num_results * SCORE_NUMBERS)?;
        if with_logs {
            let partition = &self.partitions[batch.jobs[0].partition];
            self.logs.reserve(device, partition.shared_states().len())?;
        }
        let scores = Scores {
            scratch: self.scratch.address(device),
            scratch_scalers: self.scratch_scalers.address(device),
            strides: [clvs as u64, scalers as u64],
            results: self.results.address(device),
            logs: if with_logs { self.logs.address(device) } else { 0 },
        };
        if self.counter.address(device) == 0 {
            self.counter.upload(device, &[0])?;
        }
        let (counter, counted) = (self.counter.address(device), self.counted);
        let own = (together > 0).then_some(OwnMatrices { jobs: matrix_jobs, counter, counted });
        if own.is_none() {
            launch::pmatrix(&self.kernels, batch.states, matrix_jobs, steps.matrices)?;
        } else if num_ctas > 1 && jobs.num_items > 0 && matrix_jobs.num_jobs > 0 {
            self.counted = counted.wrapping_add(num_ctas as u32);
        }
        let grid = Grid { ctas: num_ctas as u32, threads: threads as u32 };
        launch::likelihood(&self.kernels, kernel, jobs, steps, own, scores, grid)?;
        Ok(Started { starts, len: num_results, width: SCORE_NUMBERS })
    }

    /// Starts the evaluation of sumtables of partitions with so many states.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn start_derivatives(
        &mut self,
        states: usize,
        sumtables: &[Sumtable],
    ) -> Result<Started> {
        self.upload_partitions()?;
        let device = &self.device;
        let mut first_item = 0;
        let mut starts = Vec::with_capacity(sumtables.len());
        let jobs: Vec<DerivativeJob> = sumtables
            .iter()
            .map(|&Sumtable { partition, at, brlen }| {
                let start = first_item;
                starts.push(start);
                first_item += self.partitions[partition].num_blocks;
                DerivativeJob {
                    partition: partition as u32,
                    first_item: start as u32,
                    brlen,
                    results: start as u64,
                    sumtable: at,
                    ..DerivativeJob::default()
                }
            })
            .collect();
        self.derivative_jobs.upload(device, &jobs)?;
        self.results.reserve(device, first_item * DERIVATIVE_NUMBERS)?;
        let of_gpu = Jobs {
            partitions: self.read_partitions.address(device),
            jobs: self.derivative_jobs.address(device),
            num_jobs: jobs.len() as u32,
            num_items: first_item as u32,
        };
        launch::derivatives(&self.kernels, states, of_gpu, self.results.address(device))?;
        Ok(Started { starts, len: first_item, width: DERIVATIVE_NUMBERS })
    }

    /// True if the GPU can run sweeps on its own, also with CTAs of as many threads as they can have.
    pub(super) fn takes_tapes(&self) -> bool {
        let first = self.dims.first().map(|dims| dims.num_states);
        let same = first.filter(|first| self.dims.iter().all(|dims| dims.num_states == *first));
        let threads = threads_of_block(&self.device, same, 1);
        self.device.most_together(self.kernels.sweep(same), threads) > 0
    }

    /// Runs a tape: the words that it has made, when they are there.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn run_tape(&mut self, tape: &Tape) -> Result<Vec<u64>> {
        self.upload_partitions()?;
        let device = &self.device;
        let threads = threads_of_block(device, tape.states, tape.num_blocks());
        let most = device.most_together(self.kernels.sweep(tape.states), threads);
        let laid = tape.lay(most, self.limits.matrices);
        self.tape.reserve(device, laid.read.end)?;
        self.tape.upload(device, &laid.words)?;
        self.matrices.reserve(device, laid.matrix_numbers)?;
        self.results.reserve(device, laid.result_numbers)?;
        let addresses = [
            self.read_partitions.address(device),
            self.tape.address(device),
            self.matrices.address(device),
            self.results.address(device),
        ];
        let grid = Grid { ctas: laid.num_ctas as u32, threads: threads as u32 };
        launch::sweep(&self.kernels, tape.states, addresses, grid)?;
        self.tape.download(device, laid.read)
    }

    /// The results of what was started last, when they are there.
    ///
    /// # Errors
    /// The GPU is lost.
    pub(super) fn finish(&self, Started { starts, len, width }: Started) -> Result<Results> {
        let numbers = self.results.download(&self.device, 0..len * width)?;
        Ok(Results { numbers, starts, width })
    }

    /// The logarithms of the patterns of sites of a partition.
    ///
    /// # Errors
    /// The GPU is lost.
    pub(super) fn logs(&self, partition: usize) -> Result<Vec<f64>> {
        self.logs.download(&self.device, 0..self.partitions[partition].patterns.len())
    }
}

/// A sumtable to be evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sumtable {
    pub(super) partition: usize,
    /// The partition's temporary that it is.
    pub(super) at: u32,
    /// Length of the edge.
    pub(super) brlen: f64,
}

/// What was started on a GPU.
#[derive(Debug)]
pub(super) struct Started {
    starts: Vec<usize>,
    len: usize,
    width: usize,
}
