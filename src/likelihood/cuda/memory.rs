//! The memory of a card, planned before anything is computed: what must be there at all times, and what sweeps, insertion
//! programs and P-matrices may take in addition. With less memory, less goes on side by side, with the same results.

use super::device::{mebibytes, not_enough};
use crate::likelihood::engine::Result;
use crate::likelihood::engine::layout::{BLOCK, Dims};

/// Most bytes of temporaries and sumtables of sweeps that go on side by side.
const MOST_TEMPORARIES: u64 = 1 << 30;
/// Most bytes of temporaries of insertion programs.
const MOST_SCRATCH: u64 = 512 << 20;
/// Most bytes of P-matrices and tip tables of a launch.
const MOST_MATRICES: u64 = 256 << 20;

/// Vectors of a gene that a sweep or trial needs at least: three temporaries and a sumtable.
const LEAST_TEMPORARIES: u64 = 4;
/// P-matrices of a launch, and places of an insertion program, for which there must be memory.
const LEAST_MATRICES: u64 = 32;
const LEAST_PLACES: u64 = 64;

/// What a gene takes on a card.
#[derive(Debug, Clone, Copy)]
pub(super) struct GeneNeeds {
    pub(super) dims: Dims,
    /// Bytes that are there at all times: data, stored vectors, models.
    pub(super) resident: u64,
    /// Bytes of a temporary.
    pub(super) temporary: u64,
}

/// What may be taken beside that, in bytes. Work of which one piece takes more goes on piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) temporaries: u64,
    pub(super) scratch: u64,
    pub(super) matrices: u64,
}

impl Limits {
    /// The limits on a card with so many free bytes.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`](crate::likelihood::EngineError::Unavailable) if these are not enough for these genes.
    pub(super) fn of_card(genes: &[GeneNeeds], free: u64) -> Result<Self> {
        let resident: u64 = genes.iter().map(|gene| gene.resident).sum();
        let numbers = |of_gene: fn(&Dims) -> usize| {
            let all = genes.iter().map(|gene| of_gene(&gene.dims));
            (all.max().unwrap_or(0) * size_of::<f64>()) as u64
        };
        let temporaries: u64 = genes.iter().map(|gene| LEAST_TEMPORARIES * gene.temporary).sum();
        let scratch = LEAST_PLACES * numbers(|dims| dims.row() * BLOCK);
        let matrices = LEAST_MATRICES * numbers(|dims| dims.pmatrix() + dims.tip_table());
        let least = resident + temporaries + scratch + matrices;
        let Some(spare) = free.checked_sub(least) else {
            let needed = format!(
                "{} at least, of which likelihood vectors and data are {}",
                mebibytes(least),
                mebibytes(resident)
            );
            return Err(not_enough(&needed, free));
        };
        // An eighth remains for lists of work and results.
        Ok(Limits {
            temporaries: (temporaries + spare / 2).min(MOST_TEMPORARIES.max(temporaries)),
            scratch: (scratch + spare / 8).min(MOST_SCRATCH.max(scratch)),
            matrices: (matrices + spare / 8).min(MOST_MATRICES.max(matrices)),
        })
    }

    /// The smaller of two cards' limits.
    pub(super) fn of_both(self, other: Self) -> Self {
        Limits {
            temporaries: self.temporaries.min(other.temporaries),
            scratch: self.scratch.min(other.scratch),
            matrices: self.matrices.min(other.matrices),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_leaves_little_for_work_side_by_side_and_too_little_is_refused() {
        let dims = Dims { num_states: 4, num_rates: 4, num_codes: 16, rate_scalers: false };
        let gene = GeneNeeds { dims, resident: 100 << 20, temporary: 1 << 20 };
        let limits = |free: u64| Limits::of_card(&[gene, gene], free << 20);
        let most = Limits {
            temporaries: MOST_TEMPORARIES,
            scratch: MOST_SCRATCH,
            matrices: MOST_MATRICES,
        };
        assert_eq!(limits(10_000), Ok(most));
        let (large, small) = (limits(1000).unwrap(), limits(220).unwrap());
        assert!(small.temporaries < large.temporaries && small.temporaries >= 8 << 20);
        for (free, limits) in [(1000, large), (220, small)] {
            let all = (200 << 20) + limits.temporaries + limits.scratch + limits.matrices;
            assert!(all <= free << 20, "{limits:?}");
        }
        assert_eq!(small.of_both(large), small);
        let said = limits(150).unwrap_err().to_string();
        assert!(said.contains("not enough memory") && said.contains("150 MiB are free"), "{said}");
    }
}
