//! Launches of kernels.

use super::device::lost;
use super::error::Result;
use cudarc::driver::{LaunchArgs, LaunchConfig};

/// How many threads run a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    /// Thread blocks.
    pub(crate) ctas: u32,
    /// Threads of each.
    pub threads: u32,
}

impl Grid {
    fn config(self) -> LaunchConfig {
        LaunchConfig {
            grid_dim: (self.ctas, 1, 1),
            block_dim: (self.threads, 1, 1),
            shared_mem_bytes: 0,
        }
    }
}

/// Launches a kernel.
///
/// # Errors
/// [`super::GpuError::Lost`].
///
/// # Safety
/// The arguments have the types and the order of the kernel's parameters, and addresses among them are those of buffers with room
/// for all that the kernel reads and writes on this grid.
#[allow(unsafe_code)]
pub(crate) unsafe fn launch(arguments: &mut LaunchArgs, grid: Grid) -> Result<()> {
    // SAFETY: the caller promises what the kernel needs.
    let result = unsafe { arguments.launch(grid.config()) };
    result.map(|_| ()).map_err(lost)
}

/// The same for a kernel whose CTAs wait for each other.
///
/// # Errors
/// [`super::GpuError::Lost`].
///
/// # Safety
/// As for [`launch`].
#[allow(unsafe_code)]
pub(crate) unsafe fn launch_together(arguments: &mut LaunchArgs, grid: Grid) -> Result<()> {
    // SAFETY: the caller promises what the kernel needs.
    let result = unsafe { arguments.launch_cooperative(grid.config()) };
    result.map(|_| ()).map_err(lost)
}
