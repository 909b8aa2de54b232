//! A unit: consecutive blocks of one partition, with their data, matrices, CLVs and sums. Programs are run pattern by pattern, so that the
//! matrix of a pattern is loaded once for all of their steps.

use super::matrices::PatternMatrices;
use crate::alphabet::Code;
use crate::likelihood::engine::layout::{BLOCK, num_clvs};
use crate::likelihood::engine::scaling::factor;
use crate::likelihood::engine::states::invariant_part;
use crate::likelihood::engine::{
    Clv, EngineError, InsertionProgram, InsertionStep, Operation, PartitionData, PartitionModel,
    Places, PointJob, Result,
};
use mlsearch_kernels::Kernels;
use mlsearch_kernels::body::derivatives_of_pattern::IDENTITY;
use mlsearch_kernels::body::likelihood::{BlockLikelihoods, PatternData};
use mlsearch_kernels::body::operand_of_pattern::{PatternEnd, RATES, STATES};
use std::ops::Range;
use std::sync::Arc;

/// The states of each code of a partition; `None` if it may be any.
pub(super) type CodeStates = Arc<Vec<Option<Vec<u8>>>>;

/// A CLV or a temporary: rows of patterns, and their scaler counts.
#[derive(Debug, Clone, Default)]
struct Rows {
    numbers: Vec<f64>,
    counts: Vec<u32>,
}

/// Data, CLVs and sums of some blocks of one partition.
#[derive(Debug)]
pub(super) struct Unit {
    /// The partition.
    pub(super) partition: usize,
    /// Its patterns in these blocks, without padding.
    patterns: Range<usize>,
    num_tips: usize,
    /// `[tip][pattern]`
    tip_codes: Vec<Vec<Code>>,
    code_states: CodeStates,
    /// `[pattern]`, with padding, as the following.
    weights: Vec<f64>,
    invariant: Vec<f64>,
    shared_states: Vec<u64>,
    matrices: PatternMatrices,
    pinv: f64,
    /// Rates and weights of categories: a whole number of fours. The last are repeated with weight 0.
    rates: Vec<f64>,
    rate_weights: Vec<f64>,
    /// Stored CLVs by slot, then temporaries of sweeps.
    clvs: Vec<Rows>,
    /// Rows of the sumtable, and for each block their scaler counts.
    products: Vec<f64>,
    product_counts: Vec<[u32; BLOCK]>,
    /// Per block: sums of the last computation.
    pub(super) sums: Vec<[f64; 3]>,
    /// `[score][block]` of each of the last insertion programs of the partition.
    pub(super) scores: Vec<Vec<f64>>,
    /// `[pattern][state]`: probabilities of states at the last point of the partition.
    pub(super) states: Vec<f64>,
}

fn zeros<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>> {
    let bytes = (len * size_of::<T>()) as u64;
    let purpose = "likelihood vectors under site frequencies";
    bytemuck::allocation::try_zeroed_vec(len)
        .map_err(|()| EngineError::OutOfMemory { bytes, purpose })
}

impl Rows {
    fn zeros(num_patterns: usize, num_rates: usize) -> Result<Self> {
        let numbers = zeros(num_patterns * num_rates * STATES)?;
        Ok(Rows { numbers, counts: zeros(num_patterns * num_rates)? })
    }

    fn end(&self, pattern: usize, num_rates: usize) -> PatternEnd<'_> {
        PatternEnd::Inner {
            row: &self.numbers[pattern * num_rates * STATES..][..num_rates * STATES],
            scaler: &self.counts[pattern * num_rates..][..num_rates],
        }
    }

    fn row_mut(&mut self, pattern: usize, num_rates: usize) -> (&mut [f64], &mut [u32]) {
        let numbers = &mut self.numbers[pattern * num_rates * STATES..][..num_rates * STATES];
        (numbers, &mut self.counts[pattern * num_rates..][..num_rates])
    }
}

impl Unit {
    /// A unit of these patterns of a partition.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`].
    pub(super) fn new(
        partition: usize,
        data: &PartitionData,
        patterns: Range<usize>,
        code_states: CodeStates,
    ) -> Result<Self> {
        let num_rates = data.num_rates.next_multiple_of(RATES);
        let num_blocks = patterns.len().div_ceil(BLOCK);
        let freqs = data.pattern_freqs.as_ref().expect("the data have frequencies of patterns");
        let mut weights = vec![0.0; num_blocks * BLOCK];
        weights[..patterns.len()].copy_from_slice(&data.weights[patterns.clone()]);
        let rows = |_| Rows::zeros(patterns.len(), num_rates);
        Ok(Unit {
            partition,
            num_tips: data.num_tips(),
            tip_codes: data.tip_codes.iter().map(|row| row[patterns.clone()].to_vec()).collect(),
            code_states,
            weights,
            invariant: vec![0.0; num_blocks * BLOCK],
            shared_states: patterns.clone().map(|pattern| data.shared_states(pattern)).collect(),
            matrices: PatternMatrices::new(freqs, patterns.clone()),
            pinv: 0.0,
            rates: vec![0.0; num_rates],
            rate_weights: vec![0.0; num_rates],
            clvs: (0..num_clvs(data.num_tips())).map(rows).collect::<Result<_>>()?,
            products: Vec::new(),
            product_counts: vec![[0; BLOCK]; num_blocks],
            sums: vec![[0.0; 3]; num_blocks],
            scores: Vec::new(),
            states: Vec::new(),
            patterns,
        })
    }

    fn num_rates(&self) -> usize {
        self.rates.len()
    }

    /// Number of blocks.
    pub(super) fn num_blocks(&self) -> usize {
        self.sums.len()
    }

    /// Number of patterns.
    pub(super) fn num_patterns(&self) -> usize {
        self.patterns.len()
    }

    /// Bytes of the stored CLVs.
    pub(super) fn clv_bytes(&self) -> u64 {
        let row = self.num_rates() * (STATES * size_of::<f64>() + size_of::<u32>());
        (num_clvs(self.num_tips) * self.num_patterns() * row) as u64
    }

    /// Bytes that all of it takes.
    pub(super) fn bytes(&self) -> u64 {
        let row = self.num_rates() * (STATES * size_of::<f64>() + size_of::<u32>());
        let rows = (self.clvs.len() + 1) * self.num_patterns() * row;
        let codes = self.num_tips * self.num_patterns() * size_of::<Code>();
        (rows + codes) as u64 + self.matrices.bytes()
    }

    /// Makes places for so many vectors, stored CLVs and temporaries together.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`].
    pub(super) fn reserve(&mut self, num_vectors: usize) -> Result<()> {
        while self.clvs.len() < num_vectors {
            self.clvs.push(Rows::zeros(self.num_patterns(), self.num_rates())?);
        }
        Ok(())
    }

    /// Takes the exchange rates and the categories of a model.
    pub(super) fn set_model(&mut self, model: &PartitionModel) {
        self.matrices.set_exchange(&model.exchange);
        let last = model.rates[model.rates.len() - 1];
        self.rates.fill(last);
        self.rates[..model.rates.len()].copy_from_slice(&model.rates);
        self.rate_weights.fill(0.0);
        self.rate_weights[..model.rates.len()].copy_from_slice(&model.rate_weights);
        self.pinv = model.pinv;
        for pattern in 0..self.patterns.len() {
            let freqs = self.matrices.freqs(pattern);
            self.invariant[pattern] =
                invariant_part(freqs, model.pinv, self.shared_states[pattern]);
        }
    }

    /// Sets the weights of the unit's patterns from those of all patterns of the partition.
    pub(super) fn set_pattern_weights(&mut self, weights: &[f64]) {
        let own = &weights[self.patterns.clone()];
        self.weights[..own.len()].copy_from_slice(own);
    }

    /// The patterns of a block, without padding.
    fn block(&self, block: usize) -> Range<usize> {
        block * BLOCK..self.patterns.len().min((block + 1) * BLOCK)
    }

    /// Weights and invariant parts of a block, with padding, and its number of patterns with padding.
    fn data(&self, block: usize) -> (PatternData<'_>, usize) {
        let padded = block * BLOCK..(block + 1) * BLOCK;
        let len = self.block(block).len().next_multiple_of(8);
        let (weights, invariant) = (&self.weights[padded.clone()], &self.invariant[padded]);
        (PatternData { weights, invariant }, len)
    }

    /// An end at a pattern: a tip or a stored vector.
    fn end(&self, clv: Clv, pattern: usize) -> PatternEnd<'_> {
        match clv {
            Clv::Tip(tip) => {
                let code = self.tip_codes[tip as usize][pattern];
                match &self.code_states[code as usize] {
                    Some(states) => PatternEnd::Tip { states },
                    None => PatternEnd::Unknown,
                }
            }
            Clv::Stored(slot) => self.clvs[slot as usize].end(pattern, self.num_rates()),
            Clv::Temporary(_) => unreachable!("temporaries have slots or places"),
        }
    }

    /// Carries out updates, whose temporaries have slots.
    pub(super) fn update_partials(&mut self, kernels: &dyn Kernels, operations: &[Operation]) {
        let num_rates = self.num_rates();
        for pattern in 0..self.patterns.len() {
            for Operation { parent, children, brlens } in operations {
                let slot = parent.slot().expect("an inner node") as usize;
                let mut rows = std::mem::take(&mut self.clvs[slot]);
                let (out, counts) = rows.row_mut(pattern, num_rates);
                let ends = children.map(|child| self.end(child, pattern));
                let matrix = self.matrices.of(pattern);
                kernels.update_row(matrix, &self.rates, ends, *brlens, out, counts);
                self.clvs[slot] = rows;
            }
        }
    }

    /// Log-likelihoods at an edge, summed by blocks; `out` gets those of all patterns.
    pub(super) fn log_likelihoods(
        &mut self,
        kernels: &dyn Kernels,
        ends: [Clv; 2],
        brlen: f64,
        mut out: Option<&mut Vec<f64>>,
    ) {
        let mut likelihoods = BlockLikelihoods::default();
        for block in 0..self.num_blocks() {
            let patterns = self.block(block);
            for (at, pattern) in patterns.clone().enumerate() {
                let ends = ends.map(|end| self.end(end, pattern));
                let matrix = self.matrices.of(pattern);
                let (value, count) =
                    kernels.edge_likelihood(matrix, &self.rates, &self.rate_weights, ends, brlen);
                (likelihoods.likelihood[at], likelihoods.scaler[at]) = (value, count);
            }
            let (data, len) = self.data(block);
            let mut logs = [0.0; BLOCK];
            let sum = kernels.sum_logs(len, data, &likelihoods, Some(&mut logs));
            self.sums[block] = [sum, 0.0, 0.0];
            if let Some(out) = out.as_deref_mut() {
                out.extend_from_slice(&logs[..patterns.len()]);
            }
        }
    }

    /// Makes the sumtable of an edge.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`].
    pub(super) fn update_sumtable(&mut self, kernels: &dyn Kernels, ends: [Clv; 2]) -> Result<()> {
        let row = self.num_rates() * STATES;
        let mut products = std::mem::take(&mut self.products);
        if products.is_empty() {
            products = zeros(self.num_patterns() * row)?;
        }
        for (pattern, out) in products.chunks_exact_mut(row).enumerate() {
            let ends = ends.map(|end| self.end(end, pattern));
            let matrix = self.matrices.of(pattern);
            let mut count = kernels.update_products(matrix, &self.rate_weights, ends, out);
            // The invariant part is not scaled.
            if count > 0 && self.invariant[pattern] > 0.0 {
                let by = factor(count);
                out.iter_mut().for_each(|x| *x *= by);
                count = 0;
            }
            self.product_counts[pattern / BLOCK][pattern % BLOCK] = count;
        }
        self.products = products;
        Ok(())
    }

    /// Log-likelihood and derivatives at a length of the edge of the sumtable, summed by blocks.
    pub(super) fn derivatives(&mut self, kernels: &dyn Kernels, t: f64) {
        let row = self.num_rates() * STATES;
        let mut columns = [1.0; 3 * BLOCK];
        for block in 0..self.num_blocks() {
            let patterns = self.block(block);
            let eigenvals = &self.matrices.eigenvals[patterns.start * STATES..];
            let products = &self.products[patterns.start * row..];
            let num_patterns = patterns.len();
            kernels.values_of_patterns(
                num_patterns,
                eigenvals,
                &self.rates,
                products,
                t,
                &mut columns,
            );
            let (data, len) = self.data(block);
            let counts = &self.product_counts[block];
            self.sums[block] = kernels.derivatives(len, data, &columns, counts, &IDENTITY);
        }
    }

    /// Runs an insertion program and returns its scores, `[score][block]`.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`].
    pub(super) fn insertion_scores(
        &self,
        kernels: &dyn Kernels,
        program: &InsertionProgram,
        places: &Places,
    ) -> Result<Vec<f64>> {
        let (num_scores, num_blocks) = (program.num_scores(), self.num_blocks());
        let place = |_| Rows::zeros(1, self.num_rates());
        let mut temporaries = (0..places.count()).map(place).collect::<Result<Vec<Rows>>>()?;
        let mut scores = vec![0.0; num_scores * num_blocks];
        let mut of_scores = vec![([1.0; BLOCK], [0u32; BLOCK]); num_scores];
        let mut likelihoods = BlockLikelihoods::default();
        for block in 0..num_blocks {
            for (at, pattern) in self.block(block).enumerate() {
                let mut score = 0;
                for step in &program.steps {
                    let found =
                        self.insertion_step(kernels, *step, pattern, places, &mut temporaries);
                    if let Some((value, count)) = found {
                        (of_scores[score].0[at], of_scores[score].1[at]) = (value, count);
                        score += 1;
                    }
                }
            }
            let (data, len) = self.data(block);
            for (score, (values, counts)) in of_scores.iter().enumerate() {
                (likelihoods.likelihood, likelihoods.scaler) = (*values, *counts);
                scores[score * num_blocks + block] =
                    kernels.sum_logs(len, data, &likelihoods, None);
            }
        }
        Ok(scores)
    }

    /// One step at a pattern: makes a temporary, or returns a likelihood and its scaler count.
    fn insertion_step(
        &self,
        kernels: &dyn Kernels,
        step: InsertionStep,
        pattern: usize,
        places: &Places,
        temporaries: &mut [Rows],
    ) -> Option<(f64, u32)> {
        let (matrix, num_rates) = (self.matrices.of(pattern), self.num_rates());
        let (rates, weights) = (&self.rates[..], &self.rate_weights[..]);
        let made = step.makes().map(|number| places.of(number) as usize);
        let mut out = made.map(|place| std::mem::take(&mut temporaries[place]));
        let of_place = |number: u32| &temporaries[places.of(number) as usize];
        let end = |clv: Clv| match clv {
            Clv::Temporary(number) => of_place(number).end(0, num_rates),
            other => self.end(other, pattern),
        };
        let mut found = None;
        match (step, &mut out) {
            (InsertionStep::Partials(Operation { children, brlens, .. }), Some(out)) => {
                let (row, counts) = out.row_mut(0, num_rates);
                kernels.update_row(matrix, rates, children.map(end), brlens, row, counts);
            }
            (InsertionStep::Pendant { source, brlen, .. }, Some(out)) => {
                let (row, counts) = out.row_mut(0, num_rates);
                let ends = [end(source), PatternEnd::Unknown];
                kernels.update_point(matrix, rates, ends, [brlen, 0.0], row, counts);
            }
            (InsertionStep::Score { pendant, ends, brlens }, _) => {
                let Rows { numbers, counts } = of_place(pendant);
                let (pendant, ends) = ((&numbers[..], &counts[..]), ends.map(end));
                found = Some(
                    kernels.insertion_likelihood(matrix, rates, weights, pendant, ends, brlens),
                );
            }
            (InsertionStep::Edge { ends, brlen }, _) => {
                let ends = ends.map(end);
                found = Some(kernels.edge_likelihood(matrix, rates, weights, ends, brlen));
            }
            (InsertionStep::Partials(_) | InsertionStep::Pendant { .. }, None) => {
                unreachable!("the step makes a temporary")
            }
        }
        if let (Some(place), Some(out)) = (made, out) {
            temporaries[place] = out;
        }
        found
    }

    /// Probabilities of states at a point.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`].
    pub(super) fn state_probabilities(
        &mut self,
        kernels: &dyn Kernels,
        job: &PointJob,
    ) -> Result<()> {
        let num_rates = self.num_rates();
        let mut point = Rows::zeros(1, num_rates)?;
        let mut states = Vec::with_capacity(self.num_patterns() * STATES);
        for pattern in 0..self.num_patterns() {
            let matrix = self.matrices.of(pattern);
            let (row, counts) = point.row_mut(0, num_rates);
            let ends = job.ends.map(|end| self.end(end, pattern));
            kernels.update_point(matrix, &self.rates, ends, job.brlens, row, counts);
            let weighted = || (0..num_rates).filter(|&rate| self.rate_weights[rate] > 0.0);
            let least = weighted().map(|rate| counts[rate]).min().unwrap_or(0);
            let mut of_states = [0.0; STATES];
            for rate in weighted() {
                let weight = self.rate_weights[rate] * factor(counts[rate] - least);
                for (i, sum) in of_states.iter_mut().enumerate() {
                    let y = row[(rate / RATES * STATES + i) * RATES + rate % RATES];
                    *sum += weight * matrix.roots[i] * y;
                }
            }
            if self.invariant[pattern] > 0.0 {
                let (freqs, shared) = (self.matrices.freqs(pattern), self.shared_states[pattern]);
                for (i, sum) in of_states.iter_mut().enumerate() {
                    let part = if shared >> i & 1 == 1 { self.pinv * freqs[i] } else { 0.0 };
                    *sum = *sum * factor(least) + part;
                }
            }
            let total: f64 = of_states.iter().sum();
            states.extend(of_states.iter().map(|x| x / total));
        }
        self.states = states;
        Ok(())
    }

    /// A copy of a stored CLV and its scaler counts.
    pub(super) fn clv(&self, slot: u32) -> (&[f64], &[u32]) {
        let Rows { numbers, counts } = &self.clvs[slot as usize];
        (numbers, counts)
    }
}
