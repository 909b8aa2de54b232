//! Choice of the kernel set: the best the machine has, or the one that was asked for.

use super::kernels::Kernels;
use super::scalar::Scalar;

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

/// The set of this name, or the best for `None`; on an unknown or unsupported name, the names that
/// this machine has.
pub fn select_kernels(name: Option<&str>) -> Result<Box<dyn Kernels>, Vec<&'static str>> {
    let mut sets = all_kernels();
    let names: Vec<_> = sets.iter().map(|set| set.name()).collect();
    match name {
        None => Ok(sets.swap_remove(0)),
        Some(name) => match names.iter().position(|n| *n == name) {
            Some(i) => Ok(sets.swap_remove(i)),
            None => Err(names),
        },
    }
}
