//! The kernels of the engine, and their names.

use super::program::SIZES;
use crate::gpu::{Device, Module, Result};
use crate::likelihood::engine::ScorePrecision;
use crate::likelihood::engine::layout::{BLOCK, Dims, STATE_COUNTS};
use cudarc::driver::{CudaFunction, CudaStream, LaunchArgs};
use mlsearch_cuda::{PROBE, SINGLE, STATES, STATES_ANY, Unit};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A kernel for each of [`STATE_COUNTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelId {
    /// P-matrices.
    Pmatrix,
    /// Traversals.
    Partials,
    /// Programs with scores.
    Likelihood,
    /// The same in single precision.
    LikelihoodSingle,
    /// Updates, then a sumtable.
    Sumtable,
    /// Derivatives from a sumtable.
    Derivatives,
    /// Sweeps.
    Sweep,
}

/// The kernel for sweeps over partitions with different numbers of states.
pub(super) const SWEEP_OF_ANY: &str = "sweep_any";

impl KernelId {
    /// All kernels, in the order of their numbers.
    pub(super) const ALL: [KernelId; 7] = [
        KernelId::Pmatrix,
        KernelId::Partials,
        KernelId::Likelihood,
        KernelId::LikelihoodSingle,
        KernelId::Sumtable,
        KernelId::Derivatives,
        KernelId::Sweep,
    ];

    /// The name of the function for one of [`STATE_COUNTS`].
    pub(super) fn function(self, states: usize) -> String {
        let stem = match self {
            KernelId::Pmatrix => "pmatrix",
            KernelId::Partials => "partials",
            KernelId::Likelihood => "likelihood",
            KernelId::LikelihoodSingle => "likelihood_single",
            KernelId::Sumtable => "derivatives_sumtable",
            KernelId::Derivatives => "derivatives",
            KernelId::Sweep => "sweep",
        };
        format!("{stem}_{states}")
    }

    /// Its number among the kernels of all state counts.
    pub(super) fn number(self, states: usize) -> usize {
        let of_states = STATE_COUNTS.iter().position(|&count| count == states);
        self as usize * STATE_COUNTS.len() + of_states.expect("one of the numbers of states")
    }
}

/// The kernels on a GPU that a run needs.
#[derive(Debug)]
pub(super) struct Kernels {
    stream: Arc<CudaStream>,
    /// By their numbers.
    functions: Vec<Option<CudaFunction>>,
    sweep_of_any: Option<CudaFunction>,
}

fn load(device: &Device, unit: Unit) -> Result<Module> {
    Module::load(device, unit.name, unit.ptx, "common_sizes", &SIZES)
}

impl Kernels {
    /// Loads those for partitions with these numbers of states, and for scores in this precision.
    ///
    /// # Errors
    /// [`crate::gpu::GpuError::Unavailable`].
    pub(super) fn load(
        device: &Device,
        states: &BTreeSet<usize>,
        precision: ScorePrecision,
    ) -> Result<Self> {
        let mut functions = vec![None; KernelId::ALL.len() * STATE_COUNTS.len()];
        let units = STATE_COUNTS.into_iter().zip(STATES.into_iter().zip(SINGLE));
        for (states, (in_double, in_single)) in units.filter(|(count, _)| states.contains(count)) {
            let module = load(device, in_double)?;
            for id in KernelId::ALL.into_iter().filter(|id| *id != KernelId::LikelihoodSingle) {
                functions[id.number(states)] = Some(module.function(&id.function(states))?);
            }
            if precision == ScorePrecision::Single {
                let id = KernelId::LikelihoodSingle;
                let function = load(device, in_single)?.function(&id.function(states))?;
                functions[id.number(states)] = Some(function);
            }
        }
        let sweep_of_any = match states.len() {
            0 | 1 => None,
            _ => Some(load(device, STATES_ANY)?.function(SWEEP_OF_ANY)?),
        };
        Ok(Kernels { stream: device.stream.clone(), functions, sweep_of_any })
    }

    /// A kernel for so many states.
    pub(super) fn function(&self, id: KernelId, states: usize) -> &CudaFunction {
        self.functions[id.number(states)].as_ref().expect("kernels are loaded for all partitions")
    }

    /// The kernel of sweeps over partitions with so many states, or with different ones.
    pub(super) fn sweep(&self, states: Option<usize>) -> &CudaFunction {
        match states {
            Some(states) => self.function(KernelId::Sweep, states),
            None => self.sweep_of_any.as_ref().expect("it is loaded for different partitions"),
        }
    }

    /// A launch of a kernel, without arguments so far.
    pub(super) fn launcher<'a>(&'a self, kernel: &'a CudaFunction) -> LaunchArgs<'a> {
        self.stream.launch_builder(kernel)
    }
}

/// The kernels that measure a GPU.
#[derive(Debug)]
pub(super) struct Probes {
    stream: Arc<CudaStream>,
    module: Module,
}

impl Probes {
    /// Loads them.
    ///
    /// # Errors
    /// [`crate::gpu::GpuError::Unavailable`].
    pub(super) fn load(device: &Device) -> Result<Self> {
        Ok(Probes { stream: device.stream.clone(), module: load(device, PROBE)? })
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// [`crate::gpu::GpuError::Unavailable`].
    pub(super) fn function(&self, name: &str) -> Result<CudaFunction> {
        self.module.function(name)
    }

    /// A launch of a kernel, without arguments so far.
    pub(super) fn launcher<'a>(&'a self, kernel: &'a CudaFunction) -> LaunchArgs<'a> {
        self.stream.launch_builder(kernel)
    }
}

/// Patterns of a slice, and slices of a block (`SLICE` and `SLICES` in `common.cuh`).
const SLICE: usize = 32;
pub(super) const SLICES: usize = BLOCK / SLICE;

/// Most threads of a CTA (`MOST_THREADS` and `MOST_THREADS_OF_ANY` in `common.cuh`, and the bounds of `partials`): for each of
/// [`STATE_COUNTS`] if it works on slices; on whole blocks; and in sweeps over partitions with different numbers of states.
const MOST_THREADS_OF_SLICE: [usize; STATE_COUNTS.len()] = [128, 256, 512];
const MOST_THREADS: usize = 512;
const MOST_THREADS_OF_ANY: usize = 256;

/// Number of parts of the rows of a partition, which different threads compute (`Part` in `operand.cuh`).
pub(super) fn parts(dims: &Dims) -> usize {
    let of_rate = match dims.num_states {
        4 => 1,
        20 => 2,
        _ => 8,
    };
    of_rate * dims.num_rates
}

/// Threads of a CTA that works on slices of partitions with so many states and, at most, parts.
pub(super) fn threads_of_slice(device: &Device, states: usize, parts: usize) -> usize {
    let most =
        STATE_COUNTS.into_iter().zip(MOST_THREADS_OF_SLICE).find(|(count, _)| *count == states);
    let (_, most) = most.expect("one of the numbers of states");
    (SLICE * parts.next_power_of_two()).clamp(BLOCK, most.min(device.most_threads))
}

/// Threads of a CTA that works on whole blocks, if there are so many of them at a time: as many as it can have where these are few,
/// so that they are still enough for the GPU. `states` is `None` for partitions with different numbers of states.
pub(super) fn threads_of_block(device: &Device, states: Option<usize>, num_blocks: usize) -> usize {
    let most = if states.is_some() { MOST_THREADS } else { MOST_THREADS_OF_ANY };
    let wanted = device.num_multiprocessors * MOST_THREADS / num_blocks.max(1);
    (BLOCK * (wanted / BLOCK).max(1).next_power_of_two()).min(most).min(device.most_threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_has_every_kernel() {
        let has = |unit: Unit, function: &str| {
            let entry = format!(".entry {function}(");
            assert!(unit.ptx.contains(&entry), "there is no {entry} in {}", unit.name);
            assert!(unit.ptx.contains(".target sm_75"));
        };
        for (number, states) in STATE_COUNTS.into_iter().enumerate() {
            for id in KernelId::ALL {
                let units = if id == KernelId::LikelihoodSingle { SINGLE } else { STATES };
                has(units[number], &id.function(states));
            }
        }
        has(STATES_ANY, SWEEP_OF_ANY);
    }

    #[test]
    fn numbers_of_kernels_are_distinct() {
        let number = |id: KernelId| STATE_COUNTS.map(|states| id.number(states));
        let mut numbers: Vec<usize> = KernelId::ALL.into_iter().flat_map(number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..21).collect::<Vec<_>>());
    }
}
