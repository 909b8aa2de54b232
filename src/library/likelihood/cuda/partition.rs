//! The data, CLVs and model of one partition's blocks on one GPU.
//!
//! A GPU has consecutive blocks of each partition; the last GPU also has the block of constant patterns, if there is one.

use super::memory::PartitionNeeds;
use super::program::Partition;
use crate::alphabet::Code;
use crate::gpu::{Buffer, Device, Result};
use crate::likelihood::engine::ascertainment::Correction;
use crate::likelihood::engine::layout::{BLOCK, Dims, block_lens, num_clvs};
use crate::likelihood::engine::states::invariant_part;
use crate::likelihood::engine::{ModelBlock, PartitionData, PartitionModel, min_clvs};
use std::ops::Range;

/// One partition's blocks on one GPU.
#[derive(Debug)]
pub(super) struct GpuPartition {
    dims: Dims,
    num_tips: usize,
    /// The partition's patterns on this GPU, without padding and constant patterns.
    pub(super) patterns: Range<usize>,
    /// Patterns of sites with padding, and all patterns.
    num_site_patterns: usize,
    pub(super) num_patterns: usize,
    num_site_blocks: usize,
    /// Number of blocks, with that of constant patterns.
    pub(super) num_blocks: usize,
    /// The correction that is a function of the sum of the last block's likelihoods.
    pub(super) correction: Option<Correction>,
    /// By pattern, with padding.
    shared_states: Vec<u64>,
    weights_on_host: Vec<f64>,
    tip_codes: Buffer<Code>,
    weights: Buffer<f64>,
    invariant: Buffer<f64>,
    code_masks: Buffer<u64>,
    clvs: Buffer<f64>,
    scalers: Buffer<u32>,
    temporaries: Buffer<f64>,
    temporary_scalers: Buffer<u32>,
    /// The model's tables, one after the other.
    tables: Buffer<f64>,
    /// Where they begin, in the order of [`tables_of`].
    table_starts: [usize; NUM_TABLES],
    matrix_of_rate: Buffer<u32>,
}

/// A block of patterns of sites, on the host.
#[derive(Debug)]
pub(super) struct SiteBlock<'a> {
    /// Number of the GPU's patterns before it.
    pub(super) first: usize,
    /// With padding.
    pub(super) num_patterns: usize,
    pub(super) weights: &'a [f64],
    pub(super) invariant: Vec<f64>,
}

const NUM_TABLES: usize = 10;

/// The tables of a model that kernels read.
fn tables_of(model: &ModelBlock) -> [&[f64]; NUM_TABLES] {
    [
        &model.eigenvals,
        &model.eigenvec_columns,
        &model.inv_eigenvec_columns,
        &model.rates,
        &model.weighted_freqs,
        &model.sumtable_left,
        &model.sumtable_right,
        &model.sumtable_left_tip,
        &model.sumtable_right_tip,
        &model.indicator,
    ]
}

/// A GPU's part of a partition's data: some of its blocks, and its constant patterns if the GPU has them.
#[derive(Debug)]
pub(super) struct PartitionPart<'a> {
    pub(super) data: &'a PartitionData,
    pub(super) blocks: Range<usize>,
    pub(super) constants: Option<PartitionData>,
}

impl PartitionPart<'_> {
    /// Number of patterns of each block of sites, with padding.
    fn lens(&self) -> Vec<usize> {
        block_lens(self.data.num_patterns())[self.blocks.clone()].to_vec()
    }

    fn lens_of_constants(&self) -> Vec<usize> {
        self.constants.as_ref().map_or(Vec::new(), |data| block_lens(data.num_patterns()))
    }

    /// What the part takes on a GPU.
    pub(super) fn needs(&self, model: &ModelBlock) -> PartitionNeeds {
        let dims = model.dims;
        let patterns: usize = self.lens().iter().chain(&self.lens_of_constants()).sum();
        let num_tips = self.data.num_tips();
        let of_clv = dims.row() * size_of::<f64>() + dims.scalers() * size_of::<u32>();
        let of_data = num_tips * size_of::<Code>() + 2 * size_of::<f64>();
        let tables: usize = tables_of(model).iter().map(|table| size_of_val(*table)).sum();
        let num_allocated_clvs = num_clvs(num_tips);
        PartitionNeeds {
            dims,
            data: (patterns * of_data + tables) as u64,
            num_allocated_clvs,
            min_clvs: min_clvs(num_tips).min(num_allocated_clvs),
            clv: (patterns * of_clv) as u64,
        }
    }
}

impl GpuPartition {
    /// Copies a part of a partition's data to a GPU, and makes room for so many stored CLVs.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn new(
        device: &Device,
        part: &PartitionPart,
        dims: Dims,
        num_allocated_clvs: usize,
    ) -> Result<Self> {
        let (data, blocks, constants) = (part.data, &part.blocks, part.constants.as_ref());
        let lens = part.lens();
        let num_site_patterns: usize = lens.iter().sum();
        let first = blocks.start * BLOCK;
        let patterns =
            first.min(data.num_patterns())..data.num_patterns().min(first + num_site_patterns);
        let lens: Vec<usize> = lens.into_iter().chain(part.lens_of_constants()).collect();
        let num_patterns: usize = lens.iter().sum();
        let num_tips = data.num_tips();
        let mut tip_codes = vec![data.undetermined; num_tips * num_patterns];
        let mut weights = vec![0.0; num_patterns];
        let mut shared_states = vec![0; num_patterns];
        let mut offset = 0;
        for (index, &len) in lens.iter().enumerate() {
            let (data, from) = match constants.filter(|_| index == blocks.len()) {
                Some(constants) => (constants, 0),
                None => (data, first + offset),
            };
            let real = len.min(data.num_patterns() - from);
            for (tip, codes) in data.tip_codes.iter().enumerate() {
                let at = offset * num_tips + tip * len;
                tip_codes[at..at + real].copy_from_slice(&codes[from..from + real]);
            }
            for i in 0..real {
                weights[offset + i] = data.weights[from + i];
                shared_states[offset + i] = data.shared_states(from + i);
            }
            offset += len;
        }
        let all_states = u64::MAX >> (64 - data.num_states);
        let masks: Vec<u64> = data.code_masks.iter().map(|mask| mask & all_states).collect();
        let mut partition = GpuPartition {
            dims,
            num_tips,
            patterns,
            num_site_patterns,
            num_patterns,
            num_site_blocks: blocks.len(),
            num_blocks: lens.len(),
            correction: constants.and_then(|_| Correction::of(data)),
            shared_states,
            weights_on_host: weights,
            tip_codes: Buffer::new("tip codes"),
            weights: Buffer::new("pattern weights"),
            invariant: Buffer::new("invariant parts"),
            code_masks: Buffer::new("tip codes"),
            clvs: Buffer::new("likelihood vectors on the GPU"),
            scalers: Buffer::new("scaler counts on the GPU"),
            temporaries: Buffer::new("temporary vectors on the GPU"),
            temporary_scalers: Buffer::new("temporary scaler counts on the GPU"),
            tables: Buffer::new("models"),
            table_starts: [0; NUM_TABLES],
            matrix_of_rate: Buffer::new("models"),
        };
        partition.tip_codes.upload(device, &tip_codes)?;
        partition.code_masks.upload(device, &masks)?;
        partition.weights.upload(device, &partition.weights_on_host)?;
        let stored = num_allocated_clvs * num_patterns;
        partition.clvs.reserve(device, stored * dims.row())?;
        partition.scalers.reserve(device, stored * dims.scalers())?;
        Ok(partition)
    }

    /// Sets the model, with its tables in `block`.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn set_model(
        &mut self,
        device: &Device,
        model: &PartitionModel,
        block: &ModelBlock,
    ) -> Result<()> {
        let part = |&shared: &u64| invariant_part(&model.freqs, model.pinv, shared);
        let invariant: Vec<f64> = self.shared_states.iter().map(part).collect();
        self.invariant.upload(device, &invariant)?;
        let mut all = Vec::new();
        for (start, table) in self.table_starts.iter_mut().zip(tables_of(block)) {
            // Kernels read by twos.
            all.resize(all.len().next_multiple_of(2), 0.0);
            *start = all.len();
            all.extend_from_slice(table);
        }
        self.tables.upload(device, &all)?;
        let matrices: Vec<u32> = block.matrix_of_rate.iter().map(|&m| m as u32).collect();
        self.matrix_of_rate.upload(device, &matrices)
    }

    /// Sets the weights of the patterns of sites from those of all patterns of the partition, and its number of sites.
    ///
    /// # Errors
    /// The GPU is lost.
    pub(super) fn set_weights(
        &mut self,
        device: &Device,
        weights: &[f64],
        num_sites: f64,
    ) -> Result<()> {
        let own = &weights[self.patterns.clone()];
        self.weights_on_host[..own.len()].copy_from_slice(own);
        self.correction = self.correction.map(|correction| correction.with_sites(num_sites));
        self.weights.upload(device, &self.weights_on_host)
    }

    /// The log-likelihood of a block of this number, from the GPU's result of a score.
    pub(super) fn lnl_of_block(&self, block: usize, entry: &[f64]) -> f64 {
        match self.correction.filter(|_| block + 1 == self.num_blocks) {
            Some(correction) => correction.of_sum([entry[0], 0.0, 0.0], entry[1] as u32)[0],
            None => entry[0],
        }
    }

    /// Makes room for so many temporaries and sumtables of sweeps. True if anything has moved.
    ///
    /// # Errors
    /// Not enough memory, or the GPU is lost.
    pub(super) fn reserve(&mut self, device: &Device, num_temporaries: usize) -> Result<bool> {
        let (row, counts) = (self.dims.row(), self.dims.scalers());
        let patterns = num_temporaries * self.num_patterns;
        let moved = self.temporaries.reserve(device, patterns * row)?;
        Ok(self.temporary_scalers.reserve(device, patterns * counts)? || moved)
    }

    /// The partition as kernels read it.
    pub(super) fn as_read(&self, device: &Device) -> Partition {
        let table = |number: usize| match self.tables.address(device) {
            0 => 0,
            start => start + (self.table_starts[number] * size_of::<f64>()) as u64,
        };
        let (correction, corrected_sites) = match self.correction {
            None => (0, 0.0),
            Some(Correction::Lewis { sites }) => (1, sites),
            Some(Correction::Felsenstein { sites }) => (2, sites),
        };
        Partition {
            tip_codes: self.tip_codes.address(device),
            weights: self.weights.address(device),
            invariant: self.invariant.address(device),
            code_masks: self.code_masks.address(device),
            clvs: self.clvs.address(device),
            scalers: self.scalers.address(device),
            temporaries: self.temporaries.address(device),
            temporary_scalers: self.temporary_scalers.address(device),
            eigenvals: table(0),
            eigenvec_columns: table(1),
            inv_eigenvec_columns: table(2),
            rates: table(3),
            weighted_freqs: table(4),
            sumtable_left: table(5),
            sumtable_right: table(6),
            sumtable_left_tip: table(7),
            sumtable_right_tip: table(8),
            indicator: table(9),
            matrix_of_rate: self.matrix_of_rate.address(device),
            corrected_sites,
            num_rates: self.dims.num_rates as u32,
            num_codes: self.dims.num_codes as u32,
            num_tips: self.num_tips as u32,
            rate_scalers: u32::from(self.dims.rate_scalers),
            num_site_blocks: self.num_site_blocks as u32,
            num_site_patterns: self.num_site_patterns as u32,
            num_blocks: self.num_blocks as u32,
            num_patterns: self.num_patterns as u32,
            correction,
            num_states: self.dims.num_states as u32,
        }
    }

    /// A CLV (a stored CLV, or a temporary if `is_temporary`) as `[pattern][rate][state]`, with its scaler counts,
    /// `[pattern][rate or 1]`, for all patterns of sites and constant ones, with padding.
    ///
    /// # Errors
    /// The GPU is lost.
    pub(super) fn clv(
        &self,
        device: &Device,
        slot: usize,
        is_temporary: bool,
    ) -> Result<(Vec<f64>, Vec<u32>)> {
        let (clvs, scalers) = match is_temporary {
            true => (&self.temporaries, &self.temporary_scalers),
            false => (&self.clvs, &self.scalers),
        };
        let (row, counts) =
            (self.dims.row() * self.num_patterns, self.dims.scalers() * self.num_patterns);
        let numbers = clvs.download(device, slot * row..(slot + 1) * row)?;
        let scalers = scalers.download(device, slot * counts..(slot + 1) * counts)?;
        Ok((self.by_pattern(&numbers), self.by_pattern(&scalers)))
    }

    /// Numbers of all patterns, from the GPU's order (by block, and the pattern last) to one row per pattern.
    fn by_pattern<T: Copy>(&self, numbers: &[T]) -> Vec<T> {
        let row = numbers.len() / self.num_patterns.max(1);
        let site_blocks = block_lens(self.num_site_patterns);
        let constants = self.num_patterns - self.num_site_patterns;
        let lens = site_blocks.into_iter().chain((constants > 0).then_some(constants));
        let mut out = Vec::with_capacity(numbers.len());
        let mut offset = 0;
        for len in lens {
            let block = &numbers[offset * row..(offset + len) * row];
            out.extend(
                (0..len).flat_map(|pattern| (0..row).map(move |k| block[k * len + pattern])),
            );
            offset += len;
        }
        out
    }

    /// States that all tips share, by pattern of the GPU.
    pub(super) fn shared_states(&self) -> &[u64] {
        &self.shared_states
    }

    /// The blocks of sites, in their order.
    ///
    /// # Errors
    /// The GPU is lost.
    pub(super) fn site_blocks(&self, device: &Device) -> Result<Vec<SiteBlock<'_>>> {
        let mut first = 0;
        let block = |num_patterns: usize| {
            let own = first..first + num_patterns;
            let weights = &self.weights_on_host[own.clone()];
            let invariant = self.invariant.download(device, own)?;
            let block = SiteBlock { first, num_patterns, weights, invariant };
            first += num_patterns;
            Ok(block)
        };
        block_lens(self.num_site_patterns).into_iter().map(block).collect()
    }

    /// The codes of a tip in a block.
    ///
    /// # Errors
    /// The GPU is lost.
    pub(super) fn codes(
        &self,
        device: &Device,
        tip: u32,
        &SiteBlock { first, num_patterns, .. }: &SiteBlock,
    ) -> Result<Vec<Code>> {
        let start = first * self.num_tips + tip as usize * num_patterns;
        let mut codes = self.tip_codes.download(device, start..start + num_patterns)?;
        // What a broken GPU copies back may be wrong, but not end the process.
        codes.iter_mut().for_each(|code| *code = (*code).min(self.dims.num_codes as Code - 1));
        Ok(codes)
    }

    /// Most bytes of stored CLVs.
    pub(super) fn clv_bytes(&self) -> u64 {
        self.clvs.bytes() + self.scalers.bytes()
    }

    /// Bytes of a temporary.
    pub(super) fn temporary_bytes(&self) -> usize {
        let of_pattern =
            self.dims.row() * size_of::<f64>() + self.dims.scalers() * size_of::<u32>();
        self.num_patterns * of_pattern
    }

    /// Bytes that everything takes now.
    pub(super) fn bytes(&self) -> u64 {
        let data = self.tip_codes.bytes() + self.weights.bytes() + self.invariant.bytes();
        let temporaries = self.temporaries.bytes() + self.temporary_scalers.bytes();
        data + self.clv_bytes() + temporaries + self.tables.bytes()
    }
}
