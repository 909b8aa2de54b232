//! The kernels of the engine, and their names.

use super::program::SIZES;
use crate::gpu::{Device, Module, Result};
use crate::likelihood::engine::layout::{BLOCK, Dims, STATE_COUNTS};
use cudarc::driver::{CudaFunction, CudaStream, LaunchArgs};
use std::sync::Arc;

/// The kernels in NVIDIA's intermediate language.
const PTX: &str = include_str!("../../../../cuda/ptx/kernels_75.ptx");

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

/// The kernels on a GPU.
#[derive(Debug)]
pub(super) struct Kernels {
    stream: Arc<CudaStream>,
    module: Module,
    functions: Vec<CudaFunction>,
    sweep_of_any: CudaFunction,
}

impl Kernels {
    /// Loads them.
    ///
    /// # Errors
    /// [`crate::gpu::GpuError::Unavailable`].
    pub(super) fn load(device: &Device) -> Result<Self> {
        let module = Module::load(device, PTX, "common_sizes", &SIZES)?;
        let mut functions = Vec::new();
        for id in KernelId::ALL {
            for states in STATE_COUNTS {
                functions.push(module.function(&id.function(states))?);
            }
        }
        let sweep_of_any = module.function(SWEEP_OF_ANY)?;
        Ok(Kernels { stream: device.stream.clone(), module, functions, sweep_of_any })
    }

    /// Seconds in which the driver loaded them.
    pub(super) fn load_seconds(&self) -> f64 {
        self.module.load_seconds
    }

    /// A kernel for so many states.
    pub(super) fn function(&self, id: KernelId, states: usize) -> &CudaFunction {
        &self.functions[id.number(states)]
    }

    /// The kernel of sweeps over partitions with so many states, or with different ones.
    pub(super) fn sweep(&self, states: Option<usize>) -> &CudaFunction {
        states.map_or(&self.sweep_of_any, |states| self.function(KernelId::Sweep, states))
    }

    /// Any kernel by its name.
    ///
    /// # Errors
    /// [`crate::gpu::GpuError::Unavailable`].
    pub(super) fn named(&self, name: &str) -> Result<CudaFunction> {
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
pub(super) const MOST_THREADS: usize = 512;
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
pub(super) fn threads_of_slice(states: usize, parts: usize) -> usize {
    let most =
        STATE_COUNTS.into_iter().zip(MOST_THREADS_OF_SLICE).find(|(count, _)| *count == states);
    let (_, most) = most.expect("one of the numbers of states");
    (SLICE * parts.next_power_of_two()).clamp(BLOCK, most)
}

/// Threads of a CTA that works on whole blocks, if there are so many of them at a time: as many as it can have where these are few,
/// so that they are still enough for the GPU; `None` for partitions with different numbers of states.
pub(super) fn threads_of_block(device: &Device, states: Option<usize>, num_blocks: usize) -> usize {
    let most = if states.is_some() { MOST_THREADS } else { MOST_THREADS_OF_ANY };
    let wanted = device.num_multiprocessors * MOST_THREADS / num_blocks.max(1);
    (BLOCK * (wanted / BLOCK).max(1).next_power_of_two()).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_has_every_kernel() {
        for states in STATE_COUNTS {
            for id in KernelId::ALL {
                let entry = format!(".entry {}(", id.function(states));
                assert!(PTX.contains(&entry), "there is no {entry}");
            }
        }
        assert!(PTX.contains(&format!(".entry {SWEEP_OF_ANY}(")));
        assert!(PTX.contains(".target sm_75"));
    }

    #[test]
    fn numbers_of_kernels_are_distinct() {
        let number = |id: KernelId| STATE_COUNTS.map(|states| id.number(states));
        let mut numbers: Vec<usize> = KernelId::ALL.into_iter().flat_map(number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..21).collect::<Vec<_>>());
    }
}
