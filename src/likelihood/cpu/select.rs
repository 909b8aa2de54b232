//! Choice of the kernel set: the best the machine has, or the one that was asked for.

use super::kernels::Kernels;
use super::scalar::Scalar;
use crate::likelihood::engine::{EngineError, Result};

/// Names of all sets, on whatever machine.
pub const INSTRUCTION_SETS: &[&str] = &["scalar", "avx2", "avx512"];

/// What a user reads of them.
pub const INSTRUCTION_SET_HELP: &str = "Instruction set: auto, scalar, avx2 or avx512; the result is the same with any of them [default: auto]";

/// All sets this machine can run, best first.
pub fn all_kernels() -> Vec<Box<dyn Kernels>> {
    let mut sets: Vec<Box<dyn Kernels>> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(set) = super::avx512::Avx512::detect() {
            sets.push(Box::new(set));
        }
        if let Some(set) = super::avx2::Avx2::detect() {
            sets.push(Box::new(set));
        }
    }
    sets.push(Box::new(Scalar));
    sets
}

/// The set of this name, or the best for `None`.
///
/// # Errors
/// [`EngineError::Unknown`] for a name that this machine does not have, with those that it has.
pub fn select_kernels(name: Option<&str>) -> Result<Box<dyn Kernels>> {
    let mut sets = all_kernels();
    let Some(name) = name else { return Ok(sets.swap_remove(0)) };
    let known: Vec<_> = sets.iter().map(|set| set.name()).collect();
    match known.iter().position(|known| *known == name) {
        Some(i) => Ok(sets.swap_remove(i)),
        None => Err(EngineError::Unknown { name: name.to_string(), known }),
    }
}
