//! A unit: consecutive whole blocks of one gene, with everything that is stored for them.
//!
//! A unit is what is dealt to workers. It is worked on strip by strip, a strip being a few blocks
//! that fit the cache together: for each strip the whole program runs, so that a CLV just written is
//! still near when it is read.

use super::super::arena::Arena;
use super::super::ascertainment::Correction;
use super::super::data::GeneData;
use super::super::layout::{BLOCK, Dims, block_lens, num_slots};
use super::super::operation::{EdgeJob, InsertionProgram, InsertionStep, Operation, Source};
use super::body::likelihood::{BlockLikelihoods, PatternData};
use super::body::operand::End;
use super::body::pmatrix::ModelBlock;
use super::constant_patterns::{log_sum, log_sum_derivatives};
use super::kernels::Kernels;
use crate::alphabet::Code;

/// Blocks per strip: 4 DNA blocks with 4 rates are 64 KiB per vector.
const STRIP: usize = 4;

/// One block's place within its unit.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// Patterns, padding included.
    len: usize,
    /// Patterns of the unit's blocks before it.
    offset: usize,
    /// For constant patterns that count by the sum of their likelihoods, what that sum stands for.
    correction: Option<Correction>,
}

/// Data, CLVs and sums of some blocks of one gene.
#[derive(Debug)]
pub struct Unit {
    /// The gene.
    pub gene: usize,
    dims: Dims,
    num_tips: usize,
    num_slots: usize,
    /// Blocks of the gene's patterns; behind the gene's last, that of the constant patterns, if any.
    blocks: Vec<Block>,
    /// Number of the unit's real patterns: neither padding nor constant ones.
    num_patterns: usize,
    /// `[block][tip][pattern]`
    tip_codes: Vec<Code>,
    /// `[block][pattern]`, as are the following two.
    weights: Vec<f64>,
    shared_states: Vec<u64>,
    invariant: Vec<f64>,
    /// `[block][slot][pattern][rate][state]`
    clvs: Arena,
    /// `[block][slot][pattern]` or `[block][slot][pattern][rate]`
    scalers: Vec<u32>,
    /// `[block][rate][eigen][pattern]`, stride `BLOCK`; made when first needed.
    sumtable: Arena,
    sumtable_scalers: Vec<[u32; BLOCK]>,
    /// Per block: sums of the last computation.
    pub sums: Vec<[f64; 3]>,
    /// `[score][block]` of the last insertion program.
    pub scores: Vec<f64>,
}

/// Buffers of one worker, shared by all its units.
#[derive(Debug, Default)]
pub struct Scratch {
    pmatrix: [Vec<f64>; 2],
    table: [Vec<f64>; 2],
    vectors: Vec<f64>,
    scalers: Vec<u32>,
    pendant: Vec<f64>,
    pendant_scalers: Vec<u32>,
    likelihoods: BlockLikelihoods,
    factors: Vec<[f64; 3]>,
}

impl Unit {
    /// The unit of the blocks from number `first_block` on (lengths `lens`, from `layout::block_lens`),
    /// and of the gene's constant patterns if it is given them.
    pub fn new(
        gene: usize,
        data: &GeneData,
        dims: Dims,
        lens: &[usize],
        first_block: usize,
        constants: Option<&GeneData>,
    ) -> Self {
        let num_tips = data.num_tips();
        let num_slots = num_slots(num_tips);
        let first = first_block * BLOCK;
        let mut blocks = Vec::new();
        // Where the patterns of each block come from.
        let mut sources = Vec::new();
        let mut offset = 0;
        for &len in lens {
            blocks.push(Block { len, offset, correction: None });
            sources.push((data, first + offset));
            offset += len;
        }
        let num_patterns = data.num_patterns().min(first + offset) - first;
        if let Some(constants) = constants {
            let len = block_lens(constants.num_patterns())[0];
            blocks.push(Block { len, offset, correction: Correction::of(data) });
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
        Unit {
            gene,
            dims,
            num_tips,
            num_slots,
            num_patterns,
            tip_codes,
            weights,
            shared_states,
            invariant: vec![0.0; offset],
            clvs: Arena::new(offset * num_slots * dims.row()),
            scalers: vec![0; offset * num_slots * dims.scalers()],
            sumtable: Arena::new(0),
            sumtable_scalers: Vec::new(),
            sums: vec![[0.0; 3]; blocks.len()],
            scores: Vec::new(),
            blocks,
        }
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Takes over the invariant part of each pattern's likelihood from a new model.
    pub fn set_model(&mut self, freqs: &[f64], pinv: f64) {
        for (out, &states) in self.invariant.iter_mut().zip(&self.shared_states) {
            let shared: f64 = freqs
                .iter()
                .enumerate()
                .filter(|(i, _)| states >> i & 1 == 1)
                .map(|(_, f)| f)
                .sum();
            *out = pinv * shared;
        }
    }

    /// What a block adds to the gene's log-likelihood, from the likelihoods of its patterns.
    fn block_sum(
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
                correction.of_sum([log_sum(data.weights, likelihoods), 0.0, 0.0])[0]
            }
        }
    }

    fn codes(&self, block: Block, tip: u32) -> &[Code] {
        let at = block.offset * self.num_tips + tip as usize * block.len;
        &self.tip_codes[at..at + block.len]
    }

    fn clv_range(&self, block: Block, slot: u32) -> std::ops::Range<usize> {
        let row = self.dims.row();
        let at = (block.offset * self.num_slots + slot as usize * block.len) * row;
        at..at + block.len * row
    }

    fn scaler_range(&self, block: Block, slot: u32) -> std::ops::Range<usize> {
        let row = self.dims.scalers();
        let at = (block.offset * self.num_slots + slot as usize * block.len) * row;
        at..at + block.len * row
    }

    fn data(&self, block: Block) -> PatternData<'_> {
        let range = block.offset..block.offset + block.len;
        PatternData { weights: &self.weights[range.clone()], invariant: &self.invariant[range] }
    }

    /// One end of an edge in a block; `scratch` holds the strip's up-vectors for `Source::Scratch`.
    fn end<'a>(
        &'a self,
        block: Block,
        source: Source,
        pmatrix: &'a [f64],
        table: &'a [f64],
        scratch: Option<&ScratchVectors<'a>>,
    ) -> End<'a> {
        match source {
            Source::Tip(tip) => End::Tip { codes: self.codes(block, tip), table },
            Source::Clv(slot) => End::Inner {
                clv: &self.clvs.as_slice()[self.clv_range(block, slot)],
                scaler: &self.scalers[self.scaler_range(block, slot)],
                pmatrix,
            },
            Source::Scratch(vector) => {
                let (clv, scaler) =
                    scratch.expect("scratch is used in insertion programs only").get(vector, block);
                End::Inner { clv, scaler, pmatrix }
            }
        }
    }

    /// Runs CLV updates.
    pub fn update_partials(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        operations: impl Iterator<Item = Operation> + Clone,
        scratch: &mut Scratch,
    ) {
        for first in (0..self.blocks.len()).step_by(STRIP) {
            let strip = first..self.blocks.len().min(first + STRIP);
            for operation in operations.clone() {
                for i in 0..2 {
                    scratch.prepare(kernels, model, i, operation.children[i], operation.brlens[i]);
                }
                for i in strip.clone() {
                    self.update_block(kernels, model, self.blocks[i], &operation, scratch);
                }
            }
        }
    }

    fn update_block(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        block: Block,
        operation: &Operation,
        scratch: &Scratch,
    ) {
        let ranges = |unit: &Unit, source: Source| match source {
            Source::Clv(slot) => (unit.clv_range(block, slot), unit.scaler_range(block, slot)),
            _ => (0..0, 0..0),
        };
        let out =
            (self.clv_range(block, operation.parent), self.scaler_range(block, operation.parent));
        let [first, second] = operation.children.map(|source| ranges(self, source));
        let num_tips = self.num_tips;
        let (clvs, scalers, tip_codes) =
            (self.clvs.as_mut_slice(), &mut self.scalers, &self.tip_codes);
        let [out_clv, clv1, clv2] =
            clvs.get_disjoint_mut([out.0, first.0, second.0]).expect("a CLV is not its own child");
        let [out_scaler, scaler1, scaler2] = scalers
            .get_disjoint_mut([out.1, first.1, second.1])
            .expect("a CLV is not its own child");
        let end = |i: usize, clv, scaler| match operation.children[i] {
            Source::Tip(tip) => {
                let at = block.offset * num_tips + tip as usize * block.len;
                End::Tip { codes: &tip_codes[at..at + block.len], table: &scratch.table[i] }
            }
            _ => End::Inner { clv, scaler, pmatrix: &scratch.pmatrix[i] },
        };
        let ends = [end(0, &*clv1, &*scaler1), end(1, &*clv2, &*scaler2)];
        kernels.update_partials(model, block.len, ends, out_clv, out_scaler);
    }

    fn edge_block(
        &self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        block: Block,
        ends: [Source; 2],
        scratch: &mut Scratch,
    ) {
        let Scratch { pmatrix, table, likelihoods, .. } = scratch;
        let first = self.end(block, ends[0], &pmatrix[0], &model.indicator, None);
        let second = self.end(block, ends[1], &pmatrix[1], &table[1], None);
        kernels.edge_likelihoods(model, block.len, [first, second], likelihoods);
    }

    /// Log-likelihood sums per block at an edge, into `sums`; per pattern into `per_pattern` (of the
    /// unit's real patterns) if asked for.
    pub fn log_likelihoods(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        job: &EdgeJob,
        mut per_pattern: Option<&mut Vec<f64>>,
        scratch: &mut Scratch,
    ) {
        scratch.prepare(kernels, model, 1, job.ends[1], job.brlen);
        let mut logs = [0.0; BLOCK];
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            self.edge_block(kernels, model, block, job.ends, scratch);
            let wanted = per_pattern.is_some().then_some(&mut logs[..]);
            self.sums[i][0] = self.block_sum(kernels, block, &scratch.likelihoods, wanted);
            if let Some(out) = per_pattern.as_deref_mut() {
                let real = block.len.min(self.num_patterns.saturating_sub(block.offset));
                out.extend_from_slice(&logs[..real]);
            }
        }
    }

    /// What belongs to the log-likelihood of each of the gene's sites beside that of its pattern, after
    /// [`Unit::log_likelihoods`] of the gene's last unit; else 0.
    pub fn correction_of_site(&self) -> f64 {
        let correction = self.blocks.last().and_then(|block| block.correction);
        correction.map_or(0.0, |correction| correction.of_site(self.sums[self.sums.len() - 1][0]))
    }

    /// Makes the sumtable of an edge.
    pub fn update_sumtable(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        ends: [Source; 2],
    ) {
        let size = self.dims.row() * BLOCK;
        if self.sumtable_scalers.is_empty() {
            self.sumtable = Arena::new(size * self.blocks.len());
            self.sumtable_scalers = vec![[0; BLOCK]; self.blocks.len()];
        }
        let mut sumtable = std::mem::replace(&mut self.sumtable, Arena::new(0));
        let mut scalers = std::mem::take(&mut self.sumtable_scalers);
        for (i, (out, scaler)) in
            sumtable.as_mut_slice().chunks_exact_mut(size).zip(&mut scalers).enumerate()
        {
            let block = self.blocks[i];
            let left =
                self.end(block, ends[0], &model.sumtable_left, &model.sumtable_left_tip, None);
            let right =
                self.end(block, ends[1], &model.sumtable_right, &model.sumtable_right_tip, None);
            let invariant = self.data(block).invariant;
            kernels.update_sumtable(model, block.len, invariant, [left, right], out, scaler);
        }
        self.sumtable = sumtable;
        self.sumtable_scalers = scalers;
    }

    /// Value and derivative sums per block at length `t` of the sumtable's edge, into `sums`.
    pub fn derivatives(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        t: f64,
        scratch: &mut Scratch,
    ) {
        let row = self.dims.row();
        scratch.factors.resize(row, [0.0; 3]);
        kernels.update_derivative_factors(model, t, &mut scratch.factors);
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            let data = self.data(block);
            let sumtable = &self.sumtable.as_slice()[i * row * BLOCK..(i + 1) * row * BLOCK];
            let (scaler, factors) = (&self.sumtable_scalers[i], &scratch.factors);
            self.sums[i] = match block.correction {
                None => kernels.derivatives(block.len, data, sumtable, scaler, factors),
                Some(correction) => {
                    correction.of_sum(log_sum_derivatives(data.weights, sumtable, scaler, factors))
                }
            };
        }
    }

    /// Runs an insertion program; scores go to `scores`, `[score][block]`.
    pub fn insertion_scores(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        program: &InsertionProgram,
        scratch: &mut Scratch,
    ) {
        let num_blocks = self.blocks.len();
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.resize(program.num_scores() * num_blocks, 0.0);
        let longest = self.blocks.chunks(STRIP).map(strip_patterns).max().unwrap_or(0);
        scratch.reserve(self.dims, program.num_scratch(), longest);
        for first in (0..num_blocks).step_by(STRIP) {
            let strip = &self.blocks[first..num_blocks.min(first + STRIP)];
            let mut score = 0;
            for step in &program.steps {
                self.run_step(kernels, model, step, strip, longest, scratch, |i, value| {
                    scores[score * num_blocks + first + i] = value;
                });
                if matches!(step, InsertionStep::Score { .. } | InsertionStep::Edge { .. }) {
                    score += 1;
                }
            }
        }
        self.scores = scores;
    }

    #[allow(clippy::too_many_arguments)]
    fn run_step(
        &self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        step: &InsertionStep,
        strip: &[Block],
        longest: usize,
        scratch: &mut Scratch,
        mut set_score: impl FnMut(usize, f64),
    ) {
        match *step {
            InsertionStep::Up { sources, brlens, .. }
            | InsertionStep::Score { ends: sources, brlens } => {
                for i in 0..2 {
                    scratch.prepare(kernels, model, i, sources[i], brlens[i]);
                }
            }
            InsertionStep::Pendant { source, brlen } => {
                scratch.prepare(kernels, model, 0, source, brlen)
            }
            InsertionStep::Edge { ends, brlen } => {
                scratch.prepare(kernels, model, 1, ends[1], brlen)
            }
        }
        let start = strip[0].offset;
        let Scratch {
            pmatrix, table, vectors, scalers, pendant, pendant_scalers, likelihoods, ..
        } = &mut *scratch;
        for (i, &block) in strip.iter().enumerate() {
            let dims = self.dims;
            let at = block.offset - start;
            let (row, count) = (dims.row(), dims.scalers());
            let in_pendant = at * row..(at + block.len) * row;
            let in_pendant_scalers = at * count..(at + block.len) * count;
            match *step {
                InsertionStep::Up { out, sources, .. } => {
                    // A program never reads the vector it writes: those below `out` are its sources.
                    let (below, rest) = vectors.split_at_mut(out as usize * longest * row);
                    let (below_scalers, rest_scalers) =
                        scalers.split_at_mut(out as usize * longest * count);
                    let from = ScratchVectors {
                        dims,
                        longest,
                        start,
                        vectors: below,
                        scalers: below_scalers,
                    };
                    let [a, b] = [0, 1]
                        .map(|i| self.end(block, sources[i], &pmatrix[i], &table[i], Some(&from)));
                    kernels.update_partials(
                        model,
                        block.len,
                        [a, b],
                        &mut rest[in_pendant],
                        &mut rest_scalers[in_pendant_scalers],
                    );
                }
                InsertionStep::Pendant { source, .. } => {
                    let end = self.end(block, source, &pmatrix[0], &table[0], None);
                    kernels.update_pendant(
                        model,
                        block.len,
                        end,
                        &mut pendant[in_pendant],
                        &mut pendant_scalers[in_pendant_scalers],
                    );
                }
                InsertionStep::Score { ends, .. } => {
                    let from = ScratchVectors { dims, longest, start, vectors, scalers };
                    let [a, b] = [0, 1]
                        .map(|i| self.end(block, ends[i], &pmatrix[i], &table[i], Some(&from)));
                    let z = (&pendant[in_pendant], &pendant_scalers[in_pendant_scalers]);
                    kernels.insertion_likelihoods(model, block.len, z, [a, b], likelihoods);
                    set_score(i, self.block_sum(kernels, block, likelihoods, None));
                }
                InsertionStep::Edge { ends, .. } => {
                    let first = self.end(block, ends[0], &pmatrix[0], &model.indicator, None);
                    let second = self.end(block, ends[1], &pmatrix[1], &table[1], None);
                    kernels.edge_likelihoods(model, block.len, [first, second], likelihoods);
                    set_score(i, self.block_sum(kernels, block, likelihoods, None));
                }
            }
        }
    }

    /// A copy of one CLV and its scalers, all blocks: for tests.
    pub fn clv(&self, slot: u32) -> (Vec<f64>, Vec<u32>) {
        let mut numbers = Vec::new();
        let mut counts = Vec::new();
        for &block in &self.blocks {
            numbers.extend_from_slice(&self.clvs.as_slice()[self.clv_range(block, slot)]);
            counts.extend_from_slice(&self.scalers[self.scaler_range(block, slot)]);
        }
        (numbers, counts)
    }

    /// Bytes of CLVs and their scalers.
    pub fn clv_bytes(&self) -> usize {
        self.clvs.as_slice().len() * 8 + self.scalers.len() * 4
    }
}

fn strip_patterns(strip: &[Block]) -> usize {
    strip.iter().map(|block| block.len).sum()
}

/// Up-vectors of one strip, `[vector][pattern][rate][state]`.
struct ScratchVectors<'a> {
    dims: Dims,
    /// Patterns of the longest strip: the stride between vectors.
    longest: usize,
    /// Offset of the strip's first pattern in the unit.
    start: usize,
    vectors: &'a [f64],
    scalers: &'a [u32],
}

impl<'a> ScratchVectors<'a> {
    fn get(&self, vector: u32, block: Block) -> (&'a [f64], &'a [u32]) {
        let at = vector as usize * self.longest + block.offset - self.start;
        let range = |row: usize| at * row..(at + block.len) * row;
        (&self.vectors[range(self.dims.row())], &self.scalers[range(self.dims.scalers())])
    }
}

impl Scratch {
    /// Makes the matrix (and for a tip its table) number `i` for a branch.
    fn prepare(
        &mut self,
        kernels: &dyn Kernels,
        model: &ModelBlock,
        i: usize,
        source: Source,
        brlen: f64,
    ) {
        self.pmatrix[i].resize(model.dims.pmatrix(), 0.0);
        kernels.update_pmatrix(model, brlen, &mut self.pmatrix[i]);
        if matches!(source, Source::Tip(_)) {
            self.table[i].resize(model.dims.tip_table(), 0.0);
            kernels.update_tip_table(model, &self.pmatrix[i], &mut self.table[i]);
        }
    }

    fn reserve(&mut self, dims: Dims, num_vectors: usize, patterns: usize) {
        let grow = |v: &mut Vec<f64>, len: usize| v.resize(v.len().max(len), 0.0);
        grow(&mut self.vectors, num_vectors * patterns * dims.row());
        grow(&mut self.pendant, patterns * dims.row());
        let grow = |v: &mut Vec<u32>, len: usize| v.resize(v.len().max(len), 0);
        grow(&mut self.scalers, num_vectors * patterns * dims.scalers());
        grow(&mut self.pendant_scalers, patterns * dims.scalers());
    }
}
