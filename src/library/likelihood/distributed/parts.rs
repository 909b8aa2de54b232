//! The parts of partitions that a rank gets, and the engine that it makes of them.

use super::request::{Sent, Setup};
use crate::likelihood::cpu::{CpuEngine, Kernels, Part};
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::{Engine, Held, Holders, PartitionData, PartitionModel, Result};
use crate::likelihood::site_frequencies::SiteFrequencyEngine;
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
    Sent { data: data.of_patterns(start..end), constants: constants.clone().filter(|_| has_last) }
}

/// An engine of which every rank has a part.
pub(super) trait PartEngine: Engine {
    /// As [`Engine::set_models`], of models whose eigensystems are known.
    fn set_partition_models(&mut self, models: &[(usize, PartitionModel)]) -> Result<()>;
}

impl PartEngine for CpuEngine {
    fn set_partition_models(&mut self, models: &[(usize, PartitionModel)]) -> Result<()> {
        CpuEngine::set_partition_models(self, models);
        Ok(())
    }
}

impl PartEngine for SiteFrequencyEngine {
    fn set_partition_models(&mut self, models: &[(usize, PartitionModel)]) -> Result<()> {
        SiteFrequencyEngine::set_partition_models(self, models)
    }
}

/// True if patterns have frequencies of their own.
pub(super) fn has_site_frequencies<'d>(data: impl IntoIterator<Item = &'d PartitionData>) -> bool {
    data.into_iter().any(|data| data.pattern_freqs.is_some())
}

/// A rank's part of the engine.
///
/// # Errors
/// As of the CPU engine, or of that of site frequencies.
pub(super) fn make_own(
    ranks: Ranks,
    parts: Vec<Sent>,
    setup: &Setup,
    kernels: Box<dyn Kernels>,
) -> Result<Box<dyn PartEngine>> {
    let holders = Holders::new(ranks, setup.holders.clone());
    if has_site_frequencies(parts.iter().map(|part| &part.data)) {
        let data: Vec<PartitionData> = parts.into_iter().map(|part| part.data).collect();
        let engine = SiteFrequencyEngine::new(&data, kernels, setup.threads)?;
        let engine = engine.with_holders(holders);
        engine.check_memory(setup.clv_bytes)?;
        return Ok(Box::new(engine));
    }
    let part = |Sent { data, constants }| Part { data: Cow::Owned(data), constants };
    let parts = parts.into_iter().map(part).collect();
    let engine = CpuEngine::of_parts(parts, kernels, Pool::new(setup.threads))?;
    let mut engine = engine.with_holders(holders);
    for (partition, &num_sites) in setup.num_sites.iter().enumerate() {
        engine.set_num_sites(partition, num_sites);
    }
    setup.clv_bytes.iter().for_each(|&bytes| engine.limit_memory(bytes));
    Ok(Box::new(engine))
}
