//! Choice of the instruction set: the best one of this machine, or the requested one.

use crate::likelihood::engine::{EngineError, Result};
use mlsearch_kernels::{Kernels, all_kernels};

/// Names of all sets, including those that this machine lacks.
pub const INSTRUCTION_SETS: &[&str] = &["scalar", "avx2", "avx512"];

/// Help text of the option `--simd`.
pub const INSTRUCTION_SET_HELP: &str = "Instruction set: auto, scalar, avx2 or avx512; the result is the same with any of them [default: auto]";

/// Why a set is slow, if it is. The factors are those of searches of primates and anoles (GTR+G: 14 and 13) and of
/// ovomucoids (LG+G: 34) beside AVX2 on the same machine.
pub fn why_slow(set: &str) -> Option<&'static str> {
    let is_slow = cfg!(target_arch = "x86_64") && set == "scalar";
    is_slow.then_some(
        "the likelihood kernels for any x86-64 processor are used, which are about 12 times slower for DNA and 30 \
         times slower for proteins than those for processors with AVX2 and FMA (Intel since 2013, AMD since 2015)",
    )
}

/// The set with this name, or the best one for `None`.
///
/// # Errors
/// [`EngineError::Unknown`], with the available names, if this machine lacks the set.
pub fn select_kernels(name: Option<&str>) -> Result<Box<dyn Kernels>> {
    let mut sets = all_kernels();
    let Some(name) = name else { return Ok(sets.swap_remove(0)) };
    let known: Vec<_> = sets.iter().map(|set| set.name()).collect();
    match known.iter().position(|known| *known == name) {
        Some(i) => Ok(sets.swap_remove(i)),
        None => Err(EngineError::Unknown { name: name.to_string(), known }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernels_for_any_processor_are_slow() {
        for set in INSTRUCTION_SETS {
            let expected = cfg!(target_arch = "x86_64") && *set == "scalar";
            assert_eq!(why_slow(set).is_some(), expected, "{set}");
        }
    }
}
