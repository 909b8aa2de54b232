//! Choice of the engine: apart from the engines' own folders, the only file that contains their names.

use super::distributed::{self, JobCounts};
use super::engine::layout::{STATE_COUNTS, num_allocated_clvs};
use super::engine::{
    Checked, Engine, EngineError, EngineOptions, Entry, GpuRates, PartitionData, Result,
};
use super::{cpu, cuda, naive, site_frequencies};
use crate::mpi::Ranks;
use crate::parallel::UnitCost;

/// The engine and instruction set that [`make_engine`] would use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Name of the engine.
    pub engine: &'static str,
    /// Its instruction set.
    pub instruction_set: &'static str,
}

/// All engines; the first one is the default.
const ENGINES: &[Entry] = &[
    cpu::ENTRY,
    cuda::ENTRY,
    naive::ENTRY,
    #[cfg(any(test, feature = "failing-engine"))]
    super::failing::ENTRY,
];

/// Names of the instruction sets for which likelihood kernels are compiled.
pub const INSTRUCTION_SETS: &[&str] = cpu::INSTRUCTION_SETS;

/// Help text of the option that selects one of [`INSTRUCTION_SETS`].
pub const INSTRUCTION_SET_HELP: &str = cpu::INSTRUCTION_SET_HELP;

fn entry(options: &EngineOptions) -> Result<&'static Entry> {
    let Some(name) = options.name else { return Ok(&ENGINES[0]) };
    ENGINES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| EngineError::Unknown { name: name.to_string(), known: engine_names() })
}

/// Name of the engine that computes on GPUs.
pub const ENGINE_OF_GPUS: &str = cuda::ENTRY.name;

/// True if an engine gives the bits of the default one.
pub fn gives_default_bits(name: &str) -> bool {
    ENGINES.iter().any(|entry| entry.name == name && entry.gives_default_bits)
}

/// True if the engine of this name, or the default one, can compute with state frequencies of patterns.
pub fn knows_site_frequencies(name: Option<&str>) -> bool {
    name.is_none_or(|name| name == site_frequencies::ENTRY.name)
}

/// The GPUs of these options: name and compute capability.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn describe_gpus(options: &EngineOptions) -> Result<Vec<String>> {
    cuda::describe(options)
}

/// What these GPUs can do at best; `is_quick` for a rough measurement.
///
/// # Errors
/// [`EngineError::Unavailable`].
pub fn rates_of_gpus(options: &EngineOptions, is_quick: bool) -> Result<Vec<GpuRates>> {
    cuda::rates(options, is_quick)
}

/// A partition's sizes, as far as the room on a GPU depends on them.
#[derive(Debug, Clone, Copy)]
pub struct PartitionSize {
    /// Number of taxa with data.
    pub num_tips: usize,
    /// Number of patterns.
    pub num_patterns: usize,
    /// Number of states.
    pub num_states: usize,
    /// Number of rate categories.
    pub num_rates: usize,
}

/// Bytes that a GPU must have free, relative to those of the CLVs.
const GPU_BYTES: f64 = 1.5;

/// Bytes of the CLVs of these partitions; `None` if one has more states than kernels know.
fn bytes_of_clvs(partitions: &[PartitionSize]) -> Option<f64> {
    let mut bytes = 0.0;
    for partition in partitions.iter().filter(|partition| partition.num_tips >= 2) {
        let states = STATE_COUNTS.into_iter().find(|&states| states >= partition.num_states)?;
        let rows = (partition.num_patterns * partition.num_rates) as f64;
        bytes += rows * (states * size_of::<f64>() * num_allocated_clvs(partition.num_tips)) as f64;
    }
    Some(bytes)
}

/// Bytes for each of several engines on a GPU, relative to those of the CLVs: with much room, much is computed side by side.
const BYTES_OF_EACH: f64 = 4.0;

/// For how many engines of these partitions, at the same time, there is room on the GPUs.
pub fn room_on_gpus(options: &EngineOptions, partitions: &[PartitionSize]) -> usize {
    let Some(bytes) = bytes_of_clvs(partitions) else { return 1 };
    let free = cuda::free_bytes(options).unwrap_or(0);
    (free as f64 / (BYTES_OF_EACH * bytes).max(1.0)) as usize
}

/// The bits of several GPUs, if each of them has enough memory for all partitions.
pub fn gpus_for_jobs(options: &EngineOptions, partitions: &[PartitionSize]) -> Option<u64> {
    let several = Some(options.gpus).filter(|gpus| gpus.count_ones() > 1)?;
    let bytes = bytes_of_clvs(partitions)?;
    let has_room = |gpus: u64| {
        let free = cuda::free_bytes(&EngineOptions { gpus, ..*options });
        free.is_ok_and(|free| free as f64 > GPU_BYTES * bytes)
    };
    let mut each = (0..u64::BITS).map(|gpu| several & 1 << gpu).filter(|&gpu| gpu != 0);
    each.all(has_room).then_some(several)
}

/// Names of all engines.
pub fn engine_names() -> Vec<&'static str> {
    ENGINES.iter().map(|entry| entry.name).collect()
}

/// The engine and instruction set that [`make_engine`] would use, without allocating anything.
///
/// # Errors
/// [`EngineError::Unknown`] if this machine lacks the requested engine or instruction set.
pub fn choose_engine(options: &EngineOptions) -> Result<Choice> {
    let entry = entry(options)?;
    Ok(Choice { engine: entry.name, instruction_set: (entry.instruction_set)(options)? })
}

/// What a user should know of an instruction set that is much slower than others.
pub fn why_slow(choice: &Choice) -> Option<&'static str> {
    cpu::why_slow(choice.instruction_set)
}

/// True if these ranks compute a likelihood of partitions of these sizes faster together than one of them alone.
pub fn is_worth_sharing(ranks: Ranks, partitions: &[PartitionSize]) -> bool {
    distributed::is_worth_it(ranks, step_of(partitions))
}

/// Bytes that an engine takes for each byte of its CLVs.
const ROOM_FOR_CLVS: f64 = 1.3;

/// How many of these ranks should compute each likelihood of partitions of these sizes together, so that such jobs end soonest. Each rank has
/// so many bytes of memory.
pub fn best_ranks_per_job(
    ranks: Ranks,
    partitions: &[PartitionSize],
    jobs: JobCounts,
    memory: Option<u64>,
) -> usize {
    if ranks.always_share() {
        return ranks.size();
    }
    let bytes = bytes_of_clvs(partitions).unwrap_or(0.0) * ROOM_FOR_CLVS;
    let least = memory.map_or(1.0, |memory| (bytes / memory.max(1) as f64).ceil());
    distributed::best_group(least as usize, ranks.size(), step_of(partitions), jobs)
}

/// What an update of a CLV of all patterns costs.
fn step_of(partitions: &[PartitionSize]) -> UnitCost {
    let cost = |partition: &PartitionSize| {
        let known = STATE_COUNTS.into_iter().find(|&states| states >= partition.num_states);
        let states = known.unwrap_or(partition.num_states);
        (partition.num_patterns * partition.num_rates * states * states) as UnitCost
    };
    let with_edges = partitions.iter().filter(|partition| partition.num_tips >= 2);
    with_edges.map(cost).sum()
}

/// Makes an engine for these partitions. Its programs of work are checked ([`Checked`]).
///
/// # Errors
/// [`EngineError::Unknown`] if this machine lacks the requested engine or instruction set, and
/// [`EngineError::OutOfMemory`].
pub fn make_engine(data: &[PartitionData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let entry = entry(options)?;
    let make = match data.iter().any(|data| data.pattern_freqs.is_some()) {
        true if knows_site_frequencies(Some(entry.name)) => site_frequencies::ENTRY.make,
        true => {
            let reason = "it does not know site frequencies".to_string();
            return Err(EngineError::Unavailable { engine: entry.name, reason });
        }
        false => entry.make,
    };
    let engine = match options.ranks {
        Some(ranks) if entry.name == cpu::ENTRY.name => distributed::make(data, options, ranks)?,
        _ => make(data, options)?,
    };
    Ok(Box::new(Checked::new(engine, data)))
}
