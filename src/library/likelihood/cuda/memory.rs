//! The memory of a GPU, planned before anything is computed: what must be there at all times, and what sweeps, insertion
//! programs and P-matrices may take in addition. With less memory, less goes on side by side; if there is no room for all
//! stored CLVs, some are forgotten and computed again (`recomputation`). The results are the same.

use crate::gpu::{mebibytes, not_enough};
use crate::likelihood::engine::Result;
use crate::likelihood::engine::layout::{BLOCK, Dims};

/// Most bytes of temporaries and sumtables of sweeps that go on side by side.
const MOST_TEMPORARIES: u64 = 1 << 30;
/// Most bytes of temporaries of insertion programs.
const MOST_SCRATCH: u64 = 512 << 20;
/// Most bytes of P-matrices and tip tables of a launch.
const MOST_MATRICES: u64 = 256 << 20;

/// CLVs of a partition that a sweep or trial needs at least: three temporaries and a sumtable.
const LEAST_TEMPORARIES: u64 = 4;
/// P-matrices of a launch, and places of an insertion program, for which there must be memory.
const LEAST_MATRICES: u64 = 32;
const LEAST_PLACES: u64 = 64;

/// What a partition takes on a GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartitionNeeds {
    pub(super) dims: Dims,
    /// Bytes of data and model.
    pub(super) data: u64,
    /// Number of stored CLVs, and the number of those for which there must be room.
    pub(super) num_allocated_clvs: usize,
    pub(super) min_clvs: usize,
    /// Bytes of a CLV or a temporary.
    pub(super) clv: u64,
}

/// What may be taken beside that, in bytes. Work of which one piece takes more goes on piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) temporaries: u64,
    pub(super) scratch: u64,
    pub(super) matrices: u64,
}

/// How the memory of GPUs is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) limits: Limits,
    /// By partition, how many stored CLVs have a place at a time; `None` if all have one.
    pub(super) places: Option<Vec<usize>>,
}

impl Plan {
    /// The plan for a GPU with so many free bytes, of which stored CLVs take no more than `for_clvs` unless they must.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`](crate::likelihood::EngineError::Unavailable) if these are not enough for these partitions.
    pub(super) fn of_gpu(partitions: &[PartitionNeeds], free: u64, for_clvs: u64) -> Result<Self> {
        let sum = |of_partition: &dyn Fn(&PartitionNeeds) -> u64| {
            partitions.iter().map(of_partition).sum::<u64>()
        };
        let data = sum(&|partition| partition.data);
        let all_clvs = sum(&|partition| partition.num_allocated_clvs as u64 * partition.clv);
        let min_clvs = sum(&|partition| partition.min_clvs as u64 * partition.clv);
        let numbers = |of_partition: fn(&Dims) -> usize| {
            let all = partitions.iter().map(|partition| of_partition(&partition.dims));
            (all.max().unwrap_or(0) * size_of::<f64>()) as u64
        };
        let least = Limits {
            temporaries: sum(&|partition| LEAST_TEMPORARIES * partition.clv),
            scratch: LEAST_PLACES * numbers(|dims| dims.row() * BLOCK),
            matrices: LEAST_MATRICES * numbers(|dims| dims.pmatrix() + dims.tip_table()),
        };
        let for_work = least.temporaries + least.scratch + least.matrices;
        let spare = free.checked_sub(data + all_clvs + for_work);
        if let Some(spare) = spare.filter(|_| all_clvs <= for_clvs) {
            return Ok(Plan { limits: least.with(spare), places: None });
        }
        let Some(spare) = free.checked_sub(data + min_clvs + for_work) else {
            let needed = format!(
                "{} at least, of which likelihood vectors and data are {}",
                mebibytes(data + min_clvs + for_work),
                mebibytes(data + min_clvs)
            );
            return Err(not_enough(&needed, free).into());
        };
        let for_clvs = (spare / 8 * 7).min(for_clvs.saturating_sub(min_clvs));
        let places = partitions.iter().map(|partition| {
            let more = (partition.num_allocated_clvs - partition.min_clvs) as u64;
            let share = u128::from(more) * u128::from(for_clvs);
            let share = share / u128::from((all_clvs - min_clvs).max(1));
            partition.min_clvs + (share as usize).min(more as usize)
        });
        Ok(Plan { limits: least.with(spare - for_clvs), places: Some(places.collect()) })
    }

    /// A plan for two GPUs with the same CLVs.
    pub(super) fn of_both(self, other: &Self) -> Self {
        let places = match (self.places, &other.places) {
            (Some(own), Some(other)) => {
                Some(own.into_iter().zip(other).map(|(own, &other)| own.min(other)).collect())
            }
            (own, other) => own.or_else(|| other.clone()),
        };
        let (own, other) = (self.limits, other.limits);
        let limits = Limits {
            temporaries: own.temporaries.min(other.temporaries),
            scratch: own.scratch.min(other.scratch),
            matrices: own.matrices.min(other.matrices),
        };
        Plan { limits, places }
    }
}

impl Limits {
    /// More than these least, where so many bytes are spare; an eighth of which remains for lists of work and results.
    fn with(self, spare: u64) -> Self {
        let Limits { temporaries, scratch, matrices } = self;
        Limits {
            temporaries: (temporaries + spare / 2).min(MOST_TEMPORARIES.max(temporaries)),
            scratch: (scratch + spare / 8).min(MOST_SCRATCH.max(scratch)),
            matrices: (matrices + spare / 8).min(MOST_MATRICES.max(matrices)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_leaves_little_for_work_side_by_side_then_for_clvs_and_too_little_is_refused() {
        let dims = Dims { num_states: 4, num_rates: 4, num_codes: 16, rate_scalers: false };
        let partition = PartitionNeeds {
            dims,
            data: 10 << 20,
            num_allocated_clvs: 90,
            min_clvs: 9,
            clv: 1 << 20,
        };
        let plan = |free: u64| Plan::of_gpu(&[partition, partition], free << 20, u64::MAX);
        let most = Limits {
            temporaries: MOST_TEMPORARIES,
            scratch: MOST_SCRATCH,
            matrices: MOST_MATRICES,
        };
        assert_eq!(plan(10_000), Ok(Plan { limits: most, places: None }));
        let [large, small, few, least] = [1000, 220, 120, 50].map(|free| plan(free).unwrap());
        assert!(small.limits.temporaries < large.limits.temporaries);
        assert!(large.places.is_none() && small.places.is_none());
        for (free, Plan { limits, places }) in
            [(1000, &large), (220, &small), (120, &few), (50, &least)]
        {
            let clvs = places.as_ref().map_or(180, |places| places.iter().sum::<usize>());
            let work = limits.temporaries + limits.scratch + limits.matrices;
            assert!(((20 + clvs as u64) << 20) + work <= free << 20, "{limits:?} {places:?}");
            assert!(limits.temporaries >= 8 << 20);
        }
        let places = |plan: &Plan| plan.places.clone().unwrap();
        assert!(places(&few)[0] > places(&least)[0] && places(&least)[0] >= 9);
        assert!(places(&few)[0] >= 30 && places(&few)[0] < 90);
        assert_eq!(large.clone().of_both(&small), small);
        assert_eq!(large.clone().of_both(&few).places, few.places);
        assert_eq!(least.clone().of_both(&few).places, least.places);
        let limited = Plan::of_gpu(&[partition, partition], 10_000 << 20, 100 << 20).unwrap();
        assert_eq!(limited, Plan { limits: most, places: Some(vec![50, 50]) });
        let said = plan(40).unwrap_err().to_string();
        assert!(said.contains("not enough memory") && said.contains("40 MiB are free"), "{said}");
    }
}
