//! The parts of partitions that a rank gets, and the engine that it makes of them.

use super::request::{Sent, Setup};
use crate::likelihood::cpu::{CpuEngine, Held, Holders, Kernels, Part};
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::{PartitionData, Result};
use crate::mpi::Ranks;
use crate::parallel::Pool;
use std::borrow::Cow;

/// What a rank gets of a partition.
pub(super) fn part(
    rank: usize,
    holders: &[Held],
    data: &PartitionData,
    constants: &Option<PartitionData>,
) -> Sent {
    let held = holders.iter().find(|held| held.rank == rank);
    let blocks = held.map_or(0..0, |held| held.blocks.clone());
    let [start, end] =
        [blocks.start, blocks.end].map(|block| (block * BLOCK).min(data.num_patterns()));
    let has_last = held.is_some() && holders.last() == held;
    let codes = |codes: &Vec<_>| codes[start..end].to_vec();
    Sent {
        data: PartitionData {
            tip_codes: data.tip_codes.iter().map(codes).collect(),
            weights: data.weights[start..end].to_vec(),
            code_masks: data.code_masks.clone(),
            ascertainment: data.ascertainment.clone(),
            pattern_freqs: None,
            ..*data
        },
        constants: constants.clone().filter(|_| has_last),
    }
}

/// A rank's part of the engine.
///
/// # Errors
/// As of the CPU engine.
pub(super) fn make_own(
    ranks: Ranks,
    parts: Vec<Sent>,
    setup: &Setup,
    kernels: Box<dyn Kernels>,
) -> Result<CpuEngine> {
    let part = |Sent { data, constants }| Part { data: Cow::Owned(data), constants };
    let parts = parts.into_iter().map(part).collect();
    let holders = Holders::new(ranks, setup.holders.clone());
    let engine = CpuEngine::of_parts(parts, kernels, Pool::new(setup.threads))?;
    let mut engine = engine.with_holders(holders);
    for (partition, &num_sites) in setup.num_sites.iter().enumerate() {
        engine.set_num_sites(partition, num_sites);
    }
    setup.clv_bytes.iter().for_each(|&bytes| engine.limit_memory(bytes));
    Ok(engine)
}
