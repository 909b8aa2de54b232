//! [`CpuEngine`]: distribution of units over worker threads, and sums over blocks. The operations on units
//! are in `engine`.

use super::unit::{Scratch, Unit};
use crate::likelihood::engine::layout::{Dims, block_lens};
use crate::likelihood::engine::{BlockSum, Holders, ModelBlock, PartitionData, Result, new_block};
use crate::parallel::{Pool, UnitCost, deal, loads_of};
use mlsearch_kernels::{Kernels, PartitionKernels};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The engine that computes likelihoods on the CPU.
pub struct CpuEngine {
    pub(super) pool: Pool,
    pub(super) shared: Shared,
    /// Number of models that were set so far.
    pub(super) num_models_set: u64,
}

/// What an engine has of a partition.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// Its patterns, or those of some consecutive blocks.
    pub data: Cow<'a, PartitionData>,
    /// Its constant patterns, for whoever has its last blocks, if its ascertainment bias is corrected.
    pub constants: Option<PartitionData>,
}

impl<'a> Part<'a> {
    /// All of a partition.
    pub fn whole(data: &'a PartitionData) -> Self {
        Part { data: Cow::Borrowed(data), constants: data.constant_patterns() }
    }
}

/// What the workers share.
pub(super) struct Shared {
    /// The ranks that share the work, if there are several.
    pub(super) holders: Option<Holders>,
    pub(super) kernels: Box<dyn Kernels>,
    pub(super) models: Vec<ModelBlock>,
    /// Units of all partitions, in partition and block order. The locks are never contended: between two meetings each unit
    /// is assigned to one worker, and the caller locks units only between regions.
    pub(super) units: Vec<Mutex<Unit>>,
    /// Range of each partition's units.
    pub(super) partition_units: Vec<Range<usize>>,
    /// Cost of one step (such as a CLV update) in each unit.
    pub(super) step_costs: Vec<UnitCost>,
    /// The worker that allocated each unit and, unless the work would be unbalanced, processes it.
    pub(super) homes: Vec<usize>,
    pub(super) scratch: Vec<Mutex<Scratch>>,
    pub(super) board: Board,
}

/// Minimum number of blocks per unit of a partition that is split: with fewer, the P-matrices that each unit computes
/// separately cost more than the split saves.
const MIN_BLOCKS_PER_UNIT: usize = 2;

/// Numbers in a cache line, which no two workers should write.
const WORDS_PER_LINE: usize = 8;

/// A partition is not split if its cost is below an equal share of a worker divided by this: so many partitions are
/// distributed evenly enough without splitting, even if only some of them are active.
const WHOLE_PARTITIONS_PER_WORKER: usize = 16;

/// Distribution of units over workers for one parallel region.
#[derive(Default)]
pub struct Region {
    hands: Vec<Vec<usize>>,
    /// What each worker has to do.
    pub(super) loads: Vec<UnitCost>,
}

impl Region {
    /// True if nothing has been distributed.
    pub(super) fn is_empty(&self) -> bool {
        self.hands.is_empty()
    }
}

/// The sums of all blocks, as the workers of a team leave them for each other: two sets, used in turn, so that one
/// can be read by those who have met while others already write the next.
pub(super) struct Board {
    sets: [Vec<AtomicU64>; 2],
    /// Of the same meetings: the sums of each partition over the blocks of all ranks, if there are several.
    totals: [Vec<AtomicU64>; 2],
    /// Where the sums of each unit are.
    units: Vec<Range<usize>>,
    partition_units: Vec<Range<usize>>,
}

impl Board {
    /// For units with these numbers of blocks.
    fn new(num_blocks: impl Iterator<Item = usize>, partition_units: &[Range<usize>]) -> Self {
        let mut end = 0;
        let places = num_blocks.map(|num_blocks| {
            let start = usize::next_multiple_of(end, WORDS_PER_LINE);
            end = start + 3 * num_blocks;
            start..end
        });
        let units = places.collect();
        let set = || (0..end).map(|_| AtomicU64::new(0)).collect();
        let partition_units = partition_units.to_vec();
        Board { sets: [set(), set()], totals: [Vec::new(), Vec::new()], units, partition_units }
    }

    /// There are other ranks, with blocks of so many partitions.
    pub(super) fn share_totals(&mut self, num_partitions: usize) {
        self.totals =
            [(); 2].map(|()| (0..3 * num_partitions).map(|_| AtomicU64::new(0)).collect());
    }

    /// Writes the sums of a unit's blocks, to be read after the next meeting, which has this number.
    pub(super) fn write(&self, meeting: usize, unit: usize, sums: &[[f64; 3]]) {
        let places = &self.sets[meeting % 2][self.units[unit].clone()];
        for (place, sum) in places.iter().zip(sums.as_flattened()) {
            place.store(sum.to_bits(), Ordering::Relaxed);
        }
    }

    /// The sums of this rank's blocks of a partition.
    fn blocks(&self, meeting: usize, partition: usize) -> impl Iterator<Item = [f64; 3]> {
        let set = &self.sets[meeting % 2];
        let units = self.partition_units[partition].clone();
        units.flat_map(move |unit| set[self.units[unit].clone()].chunks_exact(3).map(read))
    }

    /// Sums over this rank's blocks of a partition.
    pub(super) fn sum(&self, meeting: usize, partition: usize) -> [f64; 3] {
        let mut total = BlockSum::new();
        self.blocks(meeting, partition).for_each(|sums| total.add(sums));
        total.total()
    }

    /// Finds the sums over the blocks of all ranks, for one of the workers of each rank.
    pub(super) fn add_up(&self, holders: &Holders, meeting: usize, partitions: &[usize]) {
        let sums = holders.sums(partitions, |number| self.blocks(meeting, partitions[number]));
        for (partition, sums) in partitions.iter().zip(sums) {
            let places = &self.totals[meeting % 2][3 * partition..];
            for (place, sum) in places.iter().zip(sums) {
                place.store(sum.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Sums over the blocks of all ranks, after they have been [added up](Board::add_up).
    pub(super) fn total(&self, meeting: usize, partition: usize) -> [f64; 3] {
        read(&self.totals[meeting % 2][3 * partition..])
    }
}

fn read(places: &[AtomicU64]) -> [f64; 3] {
    [0, 1, 2].map(|i: usize| f64::from_bits(places[i].load(Ordering::Relaxed)))
}

impl CpuEngine {
    /// An engine for these partitions with `num_workers` threads.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`](crate::likelihood::engine::EngineError).
    pub fn new(
        data: &[PartitionData],
        kernels: Box<dyn Kernels>,
        num_workers: usize,
    ) -> Result<Self> {
        CpuEngine::with_pool(data, kernels, Pool::new(num_workers))
    }

    /// An engine for these partitions with the workers of a pool.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`](crate::likelihood::engine::EngineError).
    pub fn with_pool(
        data: &[PartitionData],
        kernels: Box<dyn Kernels>,
        pool: Pool,
    ) -> Result<Self> {
        CpuEngine::of_parts(data.iter().map(Part::whole).collect(), kernels, pool)
    }

    /// An engine for these parts of partitions with the workers of a pool.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`](crate::likelihood::engine::EngineError).
    pub fn of_parts(
        mut parts: Vec<Part>,
        kernels: Box<dyn Kernels>,
        mut pool: Pool,
    ) -> Result<Self> {
        let num_workers = pool.num_workers();
        let constants: Vec<Option<PartitionData>> =
            parts.iter_mut().map(|part| part.constants.take()).collect();
        let data: Vec<&PartitionData> = parts.iter().map(|part| part.data.as_ref()).collect();
        let models: Vec<ModelBlock> = data.iter().map(|data| new_block(data)).collect();
        let partition_cost = |partition: usize, data: &PartitionData| {
            let Dims { num_states, .. } = models[partition].dims;
            (data.num_patterns() * data.num_tips() * models[partition].dims.row() * num_states)
                as u64
        };
        let all: u64 =
            data.iter().enumerate().map(|(partition, data)| partition_cost(partition, data)).sum();
        // Blocks of each unit, as (partition, first block, lengths, constant patterns).
        let mut plans: Vec<(usize, usize, Vec<usize>, Option<PartitionData>)> = Vec::new();
        let mut partition_units = Vec::new();
        for ((partition, data), mut constants) in data.iter().enumerate().zip(constants) {
            let first = plans.len();
            if data.num_tips() > 0 && (data.num_patterns() > 0 || constants.is_some()) {
                let lens = block_lens(data.num_patterns());
                let is_small = partition_cost(partition, data)
                    * (num_workers * WHOLE_PARTITIONS_PER_WORKER) as u64
                    <= all;
                let most = if is_small { 1 } else { num_workers };
                let parts = (lens.len() / MIN_BLOCKS_PER_UNIT).clamp(1, most);
                for part in 0..parts {
                    let range = lens.len() * part / parts..lens.len() * (part + 1) / parts;
                    let is_last = part + 1 == parts;
                    let constants = if is_last { constants.take() } else { None };
                    plans.push((partition, range.start, lens[range].to_vec(), constants));
                }
            }
            partition_units.push(first..plans.len());
        }
        let step_costs: Vec<UnitCost> = plans
            .iter()
            .map(|(partition, _, lens, constants)| {
                let row = models[*partition].dims.row() * models[*partition].dims.num_states;
                let constants = constants.as_ref().map_or(0, PartitionData::num_patterns);
                ((lens.iter().sum::<usize>() + constants) * row) as u64
            })
            .collect();
        let num_tips = |unit: usize| data[plans[unit].0].num_tips() as u64;
        let costs: Vec<UnitCost> =
            step_costs.iter().enumerate().map(|(unit, cost)| cost * num_tips(unit)).collect();
        let hands = deal(&costs, num_workers);
        let mut homes = vec![0; plans.len()];
        for (worker, hand) in hands.iter().enumerate() {
            hand.iter().for_each(|&unit| homes[unit] = worker);
        }
        let slots: Vec<Mutex<Option<Result<Unit>>>> =
            plans.iter().map(|_| Mutex::new(None)).collect();
        // Each worker allocates its own units, so that their memory is on its NUMA node.
        pool.run(&vec![1; num_workers], &|worker| {
            for &unit in &hands[worker] {
                let (partition, first_block, lens, constants) = &plans[unit];
                let (data, dims) = (data[*partition], models[*partition].dims);
                let made =
                    Unit::new(*partition, data, dims, lens, *first_block, constants.as_ref());
                *lock(&slots[unit]) = Some(made);
            }
        });
        let units = slots
            .into_iter()
            .map(|slot| {
                let unit = slot.into_inner().unwrap_or_else(|e| e.into_inner());
                Ok(Mutex::new(unit.expect("every unit is assigned to a worker")?))
            })
            .collect::<Result<Vec<_>>>()?;
        let longest_row = models.iter().map(|model| model.dims.row()).max().unwrap_or(0);
        let scratch = (0..num_workers)
            .map(|_| Ok(Mutex::new(Scratch::new(longest_row)?)))
            .collect::<Result<_>>()?;
        let board = Board::new(units.iter().map(|unit| lock(unit).num_blocks()), &partition_units);
        let holders = None;
        let shared = Shared {
            holders,
            kernels,
            models,
            units,
            partition_units,
            step_costs,
            homes,
            scratch,
            board,
        };
        Ok(CpuEngine { pool, shared, num_models_set: 0 })
    }

    /// The same engine, as a part of that of several ranks.
    pub fn with_holders(mut self, holders: Holders) -> Self {
        self.shared.board.share_totals(holders.num_partitions());
        self.shared.holders = Some(holders);
        self
    }

    /// The number of sites of a partition of which other ranks have blocks, too.
    pub fn set_num_sites(&mut self, partition: usize, num_sites: f64) {
        for unit in self.shared.partition_units[partition].clone() {
            lock(&self.shared.units[unit]).set_num_sites(num_sites);
        }
    }

    /// The same engine, which computes a row for each pattern of every CLV: to compare with (for tests).
    pub fn without_repeats(self) -> Self {
        self.shared.units.iter().for_each(|unit| lock(unit).ignore_repeats());
        self
    }

    /// Limits the memory of the CLVs to about so many bytes, which units share in proportion to what they
    /// may need: CLVs beyond that are forgotten, and computed again when they are read.
    pub fn limit_memory(&mut self, bytes: u64) {
        let all: u64 = self.shared.units.iter().map(|unit| lock(unit).clv_bytes()).sum();
        for unit in &self.shared.units {
            let mut unit = lock(unit);
            let share = bytes as f64 * unit.clv_bytes() as f64 / all.max(1) as f64;
            unit.limit_memory(share as usize);
        }
    }

    /// Runs `work` for each unit of a region on its worker.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn for_units(
        &mut self,
        region: &Region,
        work: impl Fn(PartitionKernels, &mut Unit, &mut Scratch) -> Result<()> + Sync,
    ) -> Result<()> {
        let CpuEngine { pool, shared, .. } = self;
        let failure = Mutex::new(Ok(()));
        pool.run(&region.loads, &|worker| {
            let work = |with: PartitionKernels, unit: &mut Unit, _, scratch: &mut Scratch| {
                work(with, unit, scratch)
            };
            let result = shared.run_hand(region, worker, work);
            if result.is_err() {
                *lock(&failure) = result;
            }
        });
        failure.into_inner().unwrap_or_else(|e| e.into_inner())
    }
}

impl Shared {
    /// Number of partitions, including those without data.
    pub(super) fn num_partitions(&self) -> usize {
        self.models.len()
    }

    /// The number of the first block of a partition that is here.
    pub(super) fn first_block(&self, partition: usize) -> usize {
        let own = self.holders.as_ref().and_then(|holders| holders.own(partition));
        own.map_or(0, |held| held.blocks.start)
    }

    /// Distributes the units of all active partitions, given the number of steps of each partition (0 for inactive ones).
    /// Units are processed by the workers that allocated them unless this would make the region much longer
    /// than necessary.
    pub(super) fn region(&self, steps_of_partition: &[usize]) -> Region {
        let num_workers = self.scratch.len();
        let mut units = Vec::with_capacity(self.units.len());
        let mut costs = Vec::with_capacity(self.units.len());
        for (partition, &steps) in
            steps_of_partition.iter().enumerate().filter(|(_, steps)| **steps > 0)
        {
            for unit in self.partition_units[partition].clone() {
                units.push(unit);
                costs.push(self.step_costs[unit] * steps as u64);
            }
        }
        if num_workers == 1 {
            return Region { hands: vec![units], loads: vec![costs.iter().sum()] };
        }
        let mut hands = vec![Vec::new(); num_workers];
        (0..units.len()).for_each(|i| hands[self.homes[units[i]]].push(i));
        let mut loads = loads_of(&hands, &costs);
        let fair = costs.iter().sum::<UnitCost>().div_ceil(num_workers as u64);
        let shortest = costs.iter().copied().max().unwrap_or(0).max(fair);
        if loads.iter().any(|&load| load > shortest + shortest / 4) {
            hands = deal(&costs, num_workers);
            loads = loads_of(&hands, &costs);
        }
        hands.iter_mut().flatten().for_each(|i| *i = units[*i]);
        Region { hands, loads }
    }

    /// Runs `work` for each unit of a worker's part of a region, with the unit's number.
    pub(super) fn run_hand(
        &self,
        region: &Region,
        worker: usize,
        work: impl Fn(PartitionKernels, &mut Unit, usize, &mut Scratch) -> Result<()>,
    ) -> Result<()> {
        let mut scratch = lock(&self.scratch[worker]);
        for &number in &region.hands[worker] {
            let mut unit = lock(&self.units[number]);
            let with = PartitionKernels {
                kernels: self.kernels.as_ref(),
                model: &self.models[unit.partition],
            };
            work(with, &mut unit, number, &mut scratch)?;
        }
        Ok(())
    }
}

/// Locks a mutex that is never contended. Poisoning is ignored because the panic is reported elsewhere.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
