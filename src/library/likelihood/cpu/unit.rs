//! A unit: consecutive blocks of one partition, with their data, CLVs and sums.
//!
//! Units are distributed over the workers. A unit is processed strip by strip, where a strip is a few blocks
//! that fit into the cache together: the whole program is run for each strip, so that a CLV is still in the
//! cache when it is read.

use super::arena::Arena;
use super::clvs::{Clvs, Output};
use super::pmatrices::Pmatrices;
use super::repeats::{Child, Counter};
use crate::alphabet::Code;
use crate::likelihood::engine::ascertainment::Correction;
use crate::likelihood::engine::constant_patterns::likelihood_sum;
use crate::likelihood::engine::layout::{BLOCK, Dims, block_lens, num_allocated_clvs};
use crate::likelihood::engine::states::{InvariantParts, invariant_part};
use crate::likelihood::engine::{Clv, EdgeJob, Operation, PartitionData, Result};
use mlsearch_kernels::body::derivatives::RateRows;
use mlsearch_kernels::body::likelihood::{BlockLikelihoods, PatternData};
use mlsearch_kernels::body::operand::End;
use mlsearch_kernels::{Kernels, PartitionKernels};
use std::ops::Range;

/// Blocks per strip: 16 DNA blocks with 4 rate categories take 256 KiB for a CLV with a row per pattern, and most
/// CLVs have far fewer.
pub(super) const STRIP: usize = 16;

/// Position of a block within its unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Its index in the unit.
    pub(super) index: usize,
    /// Number of patterns, including padding.
    pub(super) len: usize,
    /// Number of patterns in the preceding blocks of the unit.
    pub(super) offset: usize,
    /// For the block of constant patterns, the correction that is a function of the sum of their likelihoods, if
    /// it is one of these.
    pub(super) correction: Option<Correction>,
}

/// Data, CLVs and sums of some blocks of one partition.
#[derive(Debug)]
pub struct Unit {
    /// The partition.
    pub partition: usize,
    pub(super) dims: Dims,
    pub(super) num_tips: usize,
    num_codes: usize,
    /// Blocks of the partition's patterns; after the partition's last one, the block of constant patterns, if any.
    pub(super) blocks: Vec<Block>,
    /// Range of the partition's patterns in these blocks, without padding and constant patterns.
    pub(super) patterns: Range<usize>,
    /// `[block][tip][pattern]`
    tip_codes: Vec<Code>,
    /// `[block][pattern]`, as are the following two.
    weights: Vec<f64>,
    pub(super) shared_states: Vec<u64>,
    invariant_of_pattern: Vec<f64>,
    pub(super) invariant: InvariantParts,
    /// Stored CLVs by slot, then places of temporaries.
    pub(super) clvs: Clvs,
    /// `[block]` of a sumtable each, with space for `BLOCK` patterns; allocated when first needed.
    pub(super) sumtable: Arena,
    pub(super) sumtable_scalers: Vec<[u32; BLOCK]>,
    /// Per block: sums of the last computation.
    pub sums: Vec<[f64; 3]>,
    /// `[score][block]` of each of the last insertion programs of the partition.
    pub scores: Vec<Vec<f64>>,
    /// `[pattern][state]`: probabilities of states at the last point of the partition.
    pub states: Vec<f64>,
    /// Sums of derivatives in P-matrices at the last edge of the partition (`engine/pmatrix_gradient`).
    pub gradient: Vec<f64>,
}

/// Buffers of one worker, shared by all its units.
#[derive(Debug)]
pub struct Scratch {
    pub(super) pmatrices: Pmatrices,
    pub(super) table: [Vec<f64>; 2],
    /// Number of the model, and the branch length, of each of these tip tables.
    table_keys: [(u64, u64); 2],
    /// Of the two ends of an edge.
    pub(super) tables: [ClassTable; 2],
    counter: Counter,
    /// Temporaries of an insertion program in a strip.
    pub(super) clvs: Vec<f64>,
    pub(super) scalers: Vec<u32>,
    pub(super) likelihoods: BlockLikelihoods,
    pub(super) rate_rows: Box<RateRows>,
    pub(super) factors: Vec<[f64; 3]>,
}

/// A CLV with classes at an end of an edge.
#[derive(Debug, Default)]
pub(super) struct ClassTable {
    /// `[class][rate][state]`, with a matrix applied.
    rows: Arena,
    /// Scaler counts of each pattern.
    scaler: Vec<u32>,
}

/// What is applied to a CLV at an end of an edge: the matrix to a CLV, and its table to a tip.
#[derive(Clone, Copy)]
pub(super) struct Branch<'a> {
    /// `None` to read a CLV as it is.
    pub(super) pmatrix: Option<&'a [f64]>,
    pub(super) table: &'a [f64],
}

impl Unit {
    /// A unit of the blocks from number `first_block` on (with lengths `lens`, from `layout::block_lens`),
    /// and of the partition's constant patterns, if given.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(
        partition: usize,
        data: &PartitionData,
        dims: Dims,
        lens: &[usize],
        first_block: usize,
        constants: Option<&PartitionData>,
    ) -> Result<Self> {
        let num_tips = data.num_tips();
        let first = first_block * BLOCK;
        let mut blocks = Vec::new();
        // The data of each block's patterns, and the number of its first pattern in them.
        let mut sources = Vec::new();
        let mut offset = 0;
        for (index, &len) in lens.iter().enumerate() {
            blocks.push(Block { index, len, offset, correction: None });
            sources.push((data, first + offset));
            offset += len;
        }
        let patterns = first..data.num_patterns().min(first + offset);
        if let Some(constants) = constants {
            let len = block_lens(constants.num_patterns())[0];
            let correction = Correction::of(data);
            blocks.push(Block { index: blocks.len(), len, offset, correction });
            sources.push((constants, 0));
            offset += len;
        }
        let mut tip_codes = vec![data.undetermined; num_tips * offset];
        let mut weights = vec![0.0; offset];
        let mut shared_states = vec![0; offset];
        for (block, (data, from)) in blocks.iter().zip(sources) {
            let real = block.len.min(data.num_patterns() - from);
            for (tip, codes) in data.tip_codes.iter().enumerate() {
                let at = block.offset * num_tips + tip * block.len;
                tip_codes[at..at + real].copy_from_slice(&codes[from..from + real]);
            }
            for i in 0..real {
                weights[block.offset + i] = data.weights[from + i];
                shared_states[block.offset + i] = data.shared_states(from + i);
            }
        }
        let lens = blocks.iter().map(|block| block.len).collect();
        let mut clvs = Clvs::new(dims, lens, num_tips as u64);
        clvs.reserve(num_allocated_clvs(num_tips))?;
        Ok(Unit {
            partition,
            dims,
            num_tips,
            num_codes: data.code_masks.len(),
            patterns,
            tip_codes,
            weights,
            shared_states,
            invariant_of_pattern: vec![0.0; offset],
            invariant: InvariantParts::default(),
            clvs,
            sumtable: Arena::default(),
            sumtable_scalers: Vec::new(),
            sums: vec![[0.0; 3]; blocks.len()],
            scores: Vec::new(),
            states: Vec::new(),
            gradient: Vec::new(),
            blocks,
        })
    }

    /// Makes place for at least `num_allocated_clvs` CLVs; existing CLVs keep their content.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn reserve_clvs(&mut self, num_allocated_clvs: usize) -> Result<()> {
        self.clvs.reserve(num_allocated_clvs)
    }

    /// Computes a row for each pattern of every CLV from now on.
    pub fn ignore_repeats(&mut self) {
        self.clvs.ignore_repeats();
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Sets the invariant part of each pattern's likelihood: `pinv` times the sum of the frequencies of the
    /// states that all tips share.
    pub fn set_model(&mut self, freqs: &[f64], pinv: f64) {
        self.invariant = InvariantParts::new(freqs, pinv);
        for (out, &shared) in self.invariant_of_pattern.iter_mut().zip(&self.shared_states) {
            *out = invariant_part(freqs, pinv, shared);
        }
    }

    /// Sets the weights of the unit's patterns from those of all patterns of the partition, and the partition's number of
    /// sites.
    pub fn set_pattern_weights(&mut self, weights: &[f64], num_sites: f64) {
        let own = &weights[self.patterns.clone()];
        self.weights[..own.len()].copy_from_slice(own);
        self.set_num_sites(num_sites);
    }

    /// Sets the partition's number of sites.
    pub fn set_num_sites(&mut self, num_sites: f64) {
        for block in &mut self.blocks {
            block.correction = block.correction.map(|correction| correction.with_sites(num_sites));
        }
    }

    /// Contribution of a block to the partition's log-likelihood, from the likelihoods of its patterns.
    pub(super) fn block_sum(
        &self,
        kernels: &dyn Kernels,
        block: Block,
        likelihoods: &BlockLikelihoods,
        per_pattern: Option<&mut [f64]>,
    ) -> f64 {
        let data = self.data(block);
        match block.correction {
            None => kernels.sum_logs(block.len, data, likelihoods, per_pattern),
            Some(correction) => {
                let BlockLikelihoods { likelihood, scaler, .. } = likelihoods;
                let (sum, count) = likelihood_sum(data.weights, likelihood, scaler);
                correction.of_sum([sum, 0.0, 0.0], count)[0]
            }
        }
    }

    fn codes(&self, block: Block, tip: u32) -> &[Code] {
        codes_of(&self.tip_codes, self.num_tips, block, tip)
    }

    pub(super) fn data(&self, block: Block) -> PatternData<'_> {
        let range = block.offset..block.offset + block.len;
        PatternData {
            weights: &self.weights[range.clone()],
            invariant: &self.invariant_of_pattern[range],
        }
    }

    /// One end of an edge in a block: a tip or a stored CLV (temporaries must have been replaced by slots), for
    /// all patterns, or for `codes`: these codes of a tip, or classes of a CLV that has classes.
    pub(super) fn end<'a>(
        &'a self,
        PartitionKernels { kernels, model }: PartitionKernels,
        block: Block,
        clv: Clv,
        Branch { pmatrix, table }: Branch<'a>,
        class_table: &'a mut ClassTable,
        codes: Option<&'a [Code]>,
    ) -> End<'a> {
        let slot = match clv {
            Clv::Tip(tip) => {
                return End::Tip { codes: codes.unwrap_or(self.codes(block, tip)), table };
            }
            Clv::Stored(slot) => slot,
            Clv::Temporary(_) => unreachable!("temporaries are replaced by slots"),
        };
        let rows = self.clvs.rows(block.index, slot);
        let Some(Child { classes, num_classes, .. }) = rows.classes else {
            let pmatrix = pmatrix.unwrap_or(&[]);
            let scaler = rows.is_scaled.then_some(rows.scaler);
            return End::Inner { clv: rows.clv, scaler, pmatrix };
        };
        let classes = codes.unwrap_or(classes);
        let ClassTable { rows: out, scaler } = class_table;
        let scaler = rows.is_scaled.then(|| {
            scaler.clear();
            let count = self.dims.scalers();
            for class in classes {
                scaler.extend_from_slice(&rows.scaler[usize::from(*class) * count..][..count]);
            }
            &scaler[..]
        });
        let table = match pmatrix {
            None => rows.clv,
            Some(pmatrix) => {
                let out = out.as_mut_slice();
                kernels.update_class_table(model, num_classes, rows.clv, pmatrix, out);
                out
            }
        };
        End::Classes { classes, table, scaler }
    }

    /// Runs CLV updates.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn update_partials(
        &mut self,
        with: PartitionKernels,
        operations: impl Iterator<Item = Operation> + Clone,
        scratch: &mut Scratch,
    ) -> Result<()> {
        for strip in strips(self.blocks.len(), STRIP) {
            self.update_strip(with, strip, operations.clone(), scratch)?;
        }
        Ok(())
    }

    pub(super) fn update_strip(
        &mut self,
        with: PartitionKernels,
        strip: Range<usize>,
        operations: impl Iterator<Item = Operation>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        for operation in operations {
            let prepare = |scratch: &mut Scratch| {
                for i in 0..2 {
                    scratch.prepare(with, i, operation.children[i], operation.brlens[i]);
                }
            };
            prepare(scratch);
            for i in strip.clone() {
                let block = self.blocks[i];
                if self.provide(with, block, operation.children, scratch)? {
                    prepare(scratch);
                }
                self.update_block(with, block, &operation, scratch)?;
            }
            if let Some(slot) = operation.parent.slot() {
                let forgetting = self.clvs.forgetting();
                forgetting.into_iter().for_each(|all| all.note_recipe(slot, operation));
            }
        }
        Ok(())
    }

    pub(super) fn update_block(
        &mut self,
        with: PartitionKernels,
        block: Block,
        operation: &Operation,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Clv::Stored(slot) = operation.parent else {
            unreachable!("temporaries are replaced by slots, and tips are not written");
        };
        let Scratch { pmatrices, table, tables, counter, .. } = scratch;
        let (num_tips, num_codes, tip_codes) = (self.num_tips, self.num_codes, &self.tip_codes);
        let tip = |tip| Child {
            name: u64::from(tip),
            classes: codes_of(tip_codes, num_tips, block, tip),
            num_classes: num_codes,
        };
        let children = operation.children;
        let mut stored = self.clvs.take(block.index, slot, children, tip, counter)?;
        let Output { clv, scaler, num_rows, of_children } = stored.output(self.dims, block.len);
        let [first_table, second_table] = tables;
        let end = |i: usize, class_table| {
            let branch = Branch { pmatrix: Some(pmatrices.of_end(i)), table: &table[i] };
            let codes = of_children.map(|of_children| of_children[i]);
            self.end(with, block, children[i], branch, class_table, codes)
        };
        let ends = [end(0, first_table), end(1, second_table)];
        let is_scaled = with.kernels.update_partials(with.model, num_rows, ends, clv, scaler);
        self.clvs.put(block.index, slot, stored, is_scaled);
        Ok(())
    }

    fn edge_block(
        &self,
        with: PartitionKernels,
        block: Block,
        ends: [Clv; 2],
        scratch: &mut Scratch,
    ) {
        let Scratch { pmatrices, table, tables: [first_table, second_table], likelihoods, .. } =
            scratch;
        let branches = [
            Branch { pmatrix: None, table: &with.model.indicator },
            Branch { pmatrix: Some(pmatrices.of_end(1)), table: &table[1] },
        ];
        let ends = [
            self.end(with, block, ends[0], branches[0], first_table, None),
            self.end(with, block, ends[1], branches[1], second_table, None),
        ];
        with.kernels.edge_likelihoods(with.model, block.len, ends, likelihoods);
    }

    /// Computes log-likelihoods at an edge: sums per block go to `sums`, and those of the unit's patterns,
    /// without padding and constant patterns, are appended to `per_pattern` if given.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn log_likelihoods(
        &mut self,
        with: PartitionKernels,
        job: &EdgeJob,
        mut per_pattern: Option<&mut Vec<f64>>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.prepare(with, 1, job.ends[1], job.brlen);
        let mut logs = [0.0; BLOCK];
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            if self.provide(with, block, job.ends, scratch)? {
                scratch.prepare(with, 1, job.ends[1], job.brlen);
            }
            self.edge_block(with, block, job.ends, scratch);
            let wanted = per_pattern.is_some().then_some(&mut logs[..]);
            self.sums[i][0] = self.block_sum(with.kernels, block, &scratch.likelihoods, wanted);
            if let Some(out) = per_pattern.as_deref_mut() {
                let real = block.len.min(self.patterns.len().saturating_sub(block.offset));
                out.extend_from_slice(&logs[..real]);
            }
        }
        Ok(())
    }

    /// The share of each site in the partition's correction of ascertainment bias, after
    /// [`Unit::log_likelihoods`]; 0 for all units but the partition's last and for partitions without correction.
    pub fn correction_of_site(&self) -> f64 {
        let correction = self.blocks.last().and_then(|block| block.correction);
        correction.map_or(0.0, |correction| correction.of_site(self.sums[self.sums.len() - 1][0]))
    }

    /// A copy of one CLV and its scaler counts, of all patterns of all blocks, for tests.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn clv(
        &mut self,
        with: PartitionKernels,
        slot: u32,
        scratch: &mut Scratch,
    ) -> Result<(Vec<f64>, Vec<u32>)> {
        let (row, count) = (self.dims.row(), self.dims.scalers());
        let mut numbers = Vec::new();
        let mut counts = Vec::new();
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            self.provide(with, block, [Clv::Stored(slot), Clv::Tip(0)], scratch)?;
            let rows = self.clvs.rows(block.index, slot);
            for pattern in 0..block.len {
                let at = rows.classes.map_or(pattern, |child| child.classes[pattern].into());
                numbers.extend_from_slice(&rows.clv[at * row..][..row]);
                counts.extend_from_slice(&rows.scaler[at * count..][..count]);
            }
        }
        Ok((numbers, counts))
    }

    /// Most memory that the CLVs and their scaler counts take, in bytes: if no patterns are repeated.
    pub fn clv_bytes(&self) -> u64 {
        let patterns: usize = self.blocks.iter().map(|block| block.len).sum();
        let of_pattern =
            self.dims.row() * size_of::<f64>() + self.dims.scalers() * size_of::<u32>();
        (patterns * num_allocated_clvs(self.num_tips) * of_pattern) as u64
    }

    /// Bytes that data, CLVs and sums take now.
    pub fn bytes(&self) -> u64 {
        let data = size_of_val(&self.tip_codes[..]) + 3 * size_of_val(&self.weights[..]);
        (data + self.clvs.bytes() + self.sumtable_bytes()) as u64
    }

    /// Bytes of the sumtables of an edge.
    pub(super) fn sumtable_bytes(&self) -> usize {
        let of_pattern = self.dims.row() * size_of::<f64>() + size_of::<u32>();
        self.blocks.len() * BLOCK * of_pattern
    }

    /// Numbers of updates of blocks so far if memory is limited: all, and those that were necessary because of that.
    pub fn updates(&self) -> [u64; 2] {
        self.clvs.updates()
    }

    /// Number of taxa of the partition.
    pub fn num_tips(&self) -> usize {
        self.num_tips
    }
}

/// So many blocks in strips of this length.
pub(super) fn strips(num_blocks: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..num_blocks).step_by(len).map(move |first| first..num_blocks.min(first + len))
}

/// The codes of a tip in a block.
fn codes_of(tip_codes: &[Code], num_tips: usize, block: Block, tip: u32) -> &[Code] {
    let at = block.offset * num_tips + tip as usize * block.len;
    &tip_codes[at..at + block.len]
}

impl Scratch {
    /// Buffers for CLVs with rows of at most this length.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(longest_row: usize) -> Result<Self> {
        let table = || -> Result<ClassTable> {
            Ok(ClassTable { rows: Arena::new(BLOCK * longest_row, "buffers")?, scaler: Vec::new() })
        };
        Ok(Scratch {
            tables: [table()?, table()?],
            pmatrices: Pmatrices::new(),
            table: Default::default(),
            table_keys: Default::default(),
            counter: Counter::default(),
            clvs: Vec::new(),
            scalers: Vec::new(),
            likelihoods: BlockLikelihoods::default(),
            rate_rows: Box::new([[[0.0; 4]; BLOCK]; 4]),
            factors: Vec::new(),
        })
    }

    /// Computes P-matrix number `i` for a branch, and its tip table if `clv` is a tip.
    pub(super) fn prepare(&mut self, with: PartitionKernels, i: usize, clv: Clv, brlen: f64) {
        self.pmatrices.prepare(with, i, brlen);
        if matches!(clv, Clv::Tip(_)) {
            let PartitionKernels { kernels, model } = with;
            let key = (model.serial, brlen.to_bits());
            if std::mem::replace(&mut self.table_keys[i], key) == key {
                return;
            }
            self.table[i].resize(model.dims.tip_table(), 0.0);
            kernels.update_tip_table(model, self.pmatrices.of_end(i), &mut self.table[i]);
        }
    }
}
