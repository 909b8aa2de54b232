//! One function per kernel: the only place where kernels of the engine are launched.

use super::kernels::{KernelId, Kernels, Probes};
use super::program::{
    DerivativeJob, End, Job, MatrixJob, Partition, Seat, Step, TapeHead, TapeJob, TapeMatrix,
    TapeProgram, TapeStep,
};
use crate::gpu::{self, Grid, Result};
use crate::likelihood::engine::ScorePrecision;
use crate::likelihood::engine::layout::BLOCK;
use cudarc::driver::{CudaFunction, DeviceRepr, LaunchArgs, PushKernelArg};

/// Structs that are laid out as in C and consist of whole words of 64 bits.
pub(super) trait Words: DeviceRepr {}

/// Implements [`DeviceRepr`] for structs of numbers that are laid out as in C.
macro_rules! laid_out_as_in_c {
    ($($name:ty),*) => {$(
        // SAFETY: the struct is `repr(C)`, has only numbers, and has the size that the kernels' own has (`Module::load`).
        #[allow(unsafe_code)]
        unsafe impl DeviceRepr for $name {}
        impl Words for $name {}
    )*};
}
laid_out_as_in_c!(Partition, End, Step, Job, MatrixJob, DerivativeJob);
laid_out_as_in_c!(TapeHead, Seat, TapeProgram, TapeStep, TapeJob, TapeMatrix);

/// A list of structs as words.
pub(super) fn words_of<T: Words>(list: &[T]) -> &[u64] {
    const {
        assert!(
            size_of::<T>().is_multiple_of(size_of::<u64>()) && align_of::<T>() == align_of::<u64>()
        )
    };
    // SAFETY: the structs have the size and alignment of so many words, and have no padding that is not a field: the kernels'
    // own, which have the same fields, are compared with them in size (`Module::load`).
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts(list.as_ptr().cast(), size_of_val(list) / size_of::<u64>())
    }
}

/// Addresses of a list of jobs on a GPU, and its length.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Jobs {
    /// The partitions, to which jobs refer by number.
    pub(super) partitions: u64,
    /// The jobs.
    pub(super) jobs: u64,
    /// Number of jobs.
    pub(super) num_jobs: u32,
    /// Number of items: blocks of all jobs.
    pub(super) num_items: u32,
}

/// CTAs with the least number of threads.
fn small(ctas: u32) -> Grid {
    Grid { ctas, threads: BLOCK as u32 }
}

/// Addresses of what steps read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    /// The steps.
    pub(super) steps: u64,
    /// P-matrices and tip tables.
    pub(super) matrices: u64,
}

/// P-matrices that the CTAs of a launch make themselves before they go on together.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnMatrices {
    /// Their jobs.
    pub(super) jobs: Jobs,
    /// Address of a counter, and what it is before the launch.
    pub(super) counter: u64,
    pub(super) counted: u32,
}

/// Addresses of what the kernel of scores writes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scores {
    /// Temporaries of each CTA.
    pub(super) scratch: u64,
    /// Their scaler counts.
    pub(super) scratch_scalers: u64,
    /// Numbers per CTA in them.
    pub(super) strides: [u64; 2],
    /// Results.
    pub(super) results: u64,
    /// The logarithm of each pattern, or 0.
    pub(super) logs: u64,
}

/// Launches CTAs that wait for each other.
fn launch_together(arguments: &mut LaunchArgs, grid: Grid) -> Result<()> {
    // SAFETY: as for `launch`; a tape refers to its own lists only (`tape`), and has room for all that is written to it.
    #[allow(unsafe_code)]
    unsafe {
        gpu::launch_together(arguments, grid)
    }
}

fn launch(arguments: &mut LaunchArgs, grid: Grid) -> Result<()> {
    // SAFETY: the arguments have the types and the order of the kernel's parameters (each function below beside its
    // kernel), and the addresses are those of buffers with room for all partitions, jobs, steps and results: `gpu` computes
    // their lengths from the same lists that it uploads, and `Checked` has checked that programs refer to what exists.
    #[allow(unsafe_code)]
    unsafe {
        gpu::launch(arguments, grid)
    }
}

/// Computes P-matrices, one CTA for each.
pub(super) fn pmatrix(kernels: &Kernels, states: usize, jobs: Jobs, matrices: u64) -> Result<()> {
    let Jobs { partitions, jobs, num_jobs, .. } = jobs;
    if num_jobs == 0 {
        return Ok(());
    }
    let function = kernels.function(KernelId::Pmatrix, states);
    let mut arguments = kernels.launcher(function);
    launch(arguments.arg(&partitions).arg(&jobs).arg(&num_jobs).arg(&matrices), small(num_jobs))
}

/// Runs jobs of updates ([`KernelId::Partials`]), of whose slices each CTA has one, or of updates and sumtables
/// ([`KernelId::Sumtable`]), with a block for each CTA.
pub(super) fn traversal(
    kernels: &Kernels,
    id: KernelId,
    states: usize,
    jobs: Jobs,
    steps: Steps,
    grid: Grid,
) -> Result<()> {
    let Jobs { partitions, jobs, num_jobs, num_items } = jobs;
    if num_items == 0 {
        return Ok(());
    }
    let mut arguments = kernels.launcher(kernels.function(id, states));
    arguments.arg(&partitions).arg(&jobs).arg(&num_jobs).arg(&num_items);
    launch(arguments.arg(&steps.steps).arg(&steps.matrices), grid)
}

/// Runs jobs with scores on these CTAs, by one of the kernels for that. With `own`, all of them must be on the GPU at the
/// same time.
pub(super) fn likelihood(
    kernels: &Kernels,
    function: &CudaFunction,
    jobs: Jobs,
    steps: Steps,
    own: Option<OwnMatrices>,
    scores: Scores,
    grid: Grid,
) -> Result<()> {
    let Jobs { partitions, jobs, num_jobs, num_items } = jobs;
    if num_items == 0 {
        return Ok(());
    }
    let none = OwnMatrices { jobs: Jobs::default(), counter: 0, counted: 0 };
    let OwnMatrices { jobs: matrix_jobs, counter, counted } = own.unwrap_or(none);
    let Jobs { jobs: matrix_jobs, num_jobs: num_matrices, .. } = matrix_jobs;
    let Scores { scratch, scratch_scalers, strides: [clvs, scalers], results, logs } = scores;
    let mut arguments = kernels.launcher(function);
    arguments.arg(&partitions).arg(&jobs).arg(&num_jobs).arg(&num_items);
    arguments.arg(&steps.steps).arg(&steps.matrices);
    arguments.arg(&matrix_jobs).arg(&num_matrices).arg(&counter).arg(&counted);
    arguments.arg(&scratch).arg(&scratch_scalers);
    arguments.arg(&clvs).arg(&scalers).arg(&results).arg(&logs);
    match own {
        Some(_) => launch_together(&mut arguments, grid),
        None => launch(&mut arguments, grid),
    }
}

/// Evaluates sumtables.
pub(super) fn derivatives(
    kernels: &Kernels,
    states: usize,
    jobs: Jobs,
    results: u64,
) -> Result<()> {
    let Jobs { partitions, jobs, num_jobs, num_items } = jobs;
    if num_items == 0 {
        return Ok(());
    }
    let function = kernels.function(KernelId::Derivatives, states);
    let mut arguments = kernels.launcher(function);
    arguments.arg(&partitions).arg(&jobs).arg(&num_jobs).arg(&num_items);
    launch(arguments.arg(&results), small(num_items))
}

/// Runs a tape whose partitions all have so many states (`None`: different ones) on these CTAs, which are all on the GPU at
/// the same time.
pub(super) fn sweep(
    kernels: &Kernels,
    states: Option<usize>,
    [partitions, words, matrices, results]: [u64; 4],
    grid: Grid,
) -> Result<()> {
    let mut arguments = kernels.launcher(kernels.sweep(states));
    arguments.arg(&partitions).arg(&words).arg(&matrices).arg(&results);
    launch_together(&mut arguments, grid)
}

/// A measurement of what a GPU can do (`probe.cu`), with addresses of buffers of doubles.
#[derive(Debug, Clone, Copy)]
pub(super) enum Probe {
    /// A launch.
    Nothing,
    /// A copy of so many doubles.
    Copy { from: u64, to: u64, count: u64 },
    /// So many rounds of fused multiply-adds; each thread writes a double.
    Fma { precision: ScorePrecision, out: u64, rounds: u32 },
    /// So many barriers of all CTAs, counted in a `u32` that is 0.
    Barriers { counter: u64, rounds: u32 },
}

/// Starts a measurement on so many CTAs.
pub(super) fn probe(probes: &Probes, probe: Probe, num_ctas: usize) -> Result<()> {
    let name = match probe {
        Probe::Nothing => "probe_nothing",
        Probe::Copy { .. } => "probe_copy",
        Probe::Fma { precision: ScorePrecision::Double, .. } => "probe_fma",
        Probe::Fma { precision: ScorePrecision::Single, .. } => "probe_fma_single",
        Probe::Barriers { .. } => "probe_barriers",
    };
    let function = probes.function(name)?;
    let mut arguments = probes.launcher(&function);
    let grid = small(num_ctas as u32);
    match &probe {
        Probe::Nothing => launch(&mut arguments, grid),
        Probe::Copy { from, to, count } => launch(arguments.arg(from).arg(to).arg(count), grid),
        Probe::Fma { out, rounds, .. } => launch(arguments.arg(out).arg(rounds), grid),
        Probe::Barriers { counter, rounds } => {
            launch_together(arguments.arg(counter).arg(rounds), grid)
        }
    }
}
