//! The compiled kernels, by compute capability, and their names.

use crate::likelihood::engine::layout::STATE_COUNTS;

/// The engine's name.
pub(super) const NAME: &str = "cuda";

/// Oldest compute capability that runs the kernels: Turing (2018), the oldest that CUDA 13 still supports.
const OLDEST: (i32, i32) = (7, 5);

/// The kernels in NVIDIA's intermediate language; the driver translates it for the card, and remembers the result.
const PTX: &str = include_str!("../../../cuda/ptx/kernels_75.ptx");

/// The kernels' code for a card of this compute capability, or the oldest capability that would have it.
pub(super) fn ptx_for(capability: (i32, i32)) -> Result<&'static str, (i32, i32)> {
    if capability >= OLDEST { Ok(PTX) } else { Err(OLDEST) }
}

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

/// The kernel for sweeps over genes with different numbers of states.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_since_turing_has_code() {
        assert_eq!(ptx_for((7, 0)), Err((7, 5)));
        for capability in [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0), (12, 0)] {
            let text = ptx_for(capability).unwrap();
            for states in STATE_COUNTS {
                for id in KernelId::ALL {
                    let entry = format!(".entry {}(", id.function(states));
                    assert!(text.contains(&entry), "{capability:?} has no {entry}");
                }
            }
            assert!(text.contains(&format!(".entry {SWEEP_OF_ANY}(")));
        }
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
