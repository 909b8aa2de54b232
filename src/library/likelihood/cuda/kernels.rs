//! The kernels of the engine, and their names.

use super::program::SIZES;
use crate::gpu::{Device, Module, Result};
use crate::likelihood::engine::layout::{BLOCK, STATE_COUNTS};
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

/// Number of CTAs of a kernel that can wait for each other; 0 if none can.
pub(super) fn most_together(device: &Device, kernel: &CudaFunction) -> usize {
    device.most_together(kernel, BLOCK)
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
