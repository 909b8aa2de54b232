//! Derivatives of the log-likelihood in the entries of an edge's P-matrices, from the CLVs at both ends
//! (`kernels/body/pmatrix_gradient`), and their sums over blocks.

use super::block_sum::aligned_runs;
use mlsearch_kernels::body::likelihood::{BlockLikelihoods, PatternData};
use mlsearch_kernels::body::operand::End;
use mlsearch_kernels::scaling::factor;
use mlsearch_kernels::{ModelBlock, PartitionKernels};
use std::ops::Range;

/// The ends of an edge in a block.
#[derive(Debug, Clone, Copy)]
pub struct GradientEnds<'a> {
    /// Both as they are: no matrix is applied, and the tables of tips are the model's `indicator`.
    pub plain: [End<'a>; 2],
    /// The second with the edge's P-matrices applied.
    pub moved: End<'a>,
}

/// A block's part of the derivatives, `[rate][row][column]`, without the weights of rates and the frequencies of states.
pub fn of_block(
    with: PartitionKernels,
    num_patterns: usize,
    data: PatternData<'_>,
    ends: GradientEnds<'_>,
    likelihoods: &mut BlockLikelihoods,
) -> Vec<f64> {
    let PartitionKernels { kernels, model } = with;
    let likelihood_ends = [ends.plain[0], ends.moved];
    kernels.edge_likelihoods(model, num_patterns, likelihood_ends, likelihoods);
    let ratios = ratios(model, num_patterns, data, likelihoods);
    let mut sums = vec![0.0; model.dims.pmatrix()];
    kernels.add_pair_sums(model, num_patterns, &ratios, ends.plain, &mut sums);
    sums
}

/// Weights of patterns divided by their likelihoods: `[pattern]`, or `[rate][pattern]` if scaler counts are kept per rate.
fn ratios(
    model: &ModelBlock,
    num_patterns: usize,
    data: PatternData<'_>,
    found: &BlockLikelihoods,
) -> Vec<f64> {
    let ratio = |pattern: usize| {
        let (weight, invariant) = (data.weights[pattern], data.invariant[pattern]);
        let (likelihood, count) = (found.likelihood[pattern], found.scaler[pattern]);
        if weight == 0.0 {
            0.0
        } else if invariant > 0.0 && count > 0 {
            // The invariant part is not scaled.
            let scale = factor(count);
            weight * scale / (likelihood * scale + invariant)
        } else {
            weight / (likelihood + invariant)
        }
    };
    let of_patterns: Vec<f64> = (0..num_patterns).map(ratio).collect();
    if !model.dims.rate_scalers {
        return of_patterns;
    }
    let rates = found.rate_weights.chunks_exact(num_patterns).take(model.dims.num_rates);
    rates.flat_map(|rate| rate.iter().zip(&of_patterns).map(|(a, b)| a * b)).collect()
}

/// Sums over consecutive blocks of a partition, as numbers that whoever has other blocks can add theirs to ([`total`]): for each aligned
/// run of blocks its level, and its sum.
pub fn runs_of_blocks<E>(
    blocks: Range<usize>,
    mut of_block: impl FnMut() -> Result<Vec<f64>, E>,
) -> Result<Vec<f64>, E> {
    let mut numbers = Vec::new();
    for level in aligned_runs(blocks) {
        let mut run = VectorSum::default();
        for _ in 0..1 << level {
            run.add_run(0, of_block()?);
        }
        numbers.push(level as f64);
        numbers.extend(run.total());
    }
    Ok(numbers)
}

/// The derivatives from the [runs](runs_of_blocks) of all blocks, in their order.
pub fn total(model: &ModelBlock, runs: &[f64]) -> Vec<f64> {
    let mut sum = VectorSum::default();
    for run in runs.chunks_exact(1 + model.dims.pmatrix()) {
        sum.add_run(run[0] as usize, run[1..].to_vec());
    }
    let mut total = sum.total();
    total.resize(model.dims.pmatrix(), 0.0);
    weigh(model, &mut total);
    total
}

/// Times the weights of rates and the frequencies of the states at the first end.
fn weigh(model: &ModelBlock, sums: &mut [f64]) {
    let rows = sums.chunks_exact_mut(model.dims.num_states);
    for (row, freq) in rows.zip(&model.weighted_freqs) {
        row.iter_mut().for_each(|sum| *sum *= freq);
    }
}

/// [`BlockSum`](super::BlockSum) for long vectors.
#[derive(Debug, Default)]
struct VectorSum {
    /// Sums of 2^level blocks that wait for a partner, of falling levels.
    waiting: Vec<(usize, Vec<f64>)>,
}

impl VectorSum {
    /// Adds the next 2^`level` blocks, of which this is the sum.
    fn add_run(&mut self, mut level: usize, mut run: Vec<f64>) {
        while let Some((_, earlier)) = self.waiting.pop_if(|(waiting, _)| *waiting == level) {
            run = add(earlier, &run);
            level += 1;
        }
        self.waiting.push((level, run));
    }

    /// The sum of all blocks; empty if there are none.
    fn total(self) -> Vec<f64> {
        let sums = self.waiting.into_iter().rev().map(|(_, sum)| sum);
        sums.reduce(|later, earlier| add(earlier, &later)).unwrap_or_default()
    }
}

fn add(mut earlier: Vec<f64>, later: &[f64]) -> Vec<f64> {
    earlier.iter_mut().zip(later).for_each(|(sum, x)| *sum += x);
    earlier
}

#[cfg(test)]
mod tests {
    use super::super::BlockSum;
    use super::*;

    #[test]
    fn long_vectors_are_added_up_as_numbers_are() {
        let block = |i: usize| [1.0 / (i + 1) as f64, libm::sin(i as f64 * 0.7) * 1e6];
        for (count, cuts) in [(0, vec![]), (1, vec![]), (13, vec![3]), (100, vec![1, 37, 64])] {
            let want = BlockSum::of((0..count).map(block));
            let bounds: Vec<usize> = [0].into_iter().chain(cuts).chain([count]).collect();
            let mut sum = VectorSum::default();
            for part in bounds.windows(2) {
                let mut next = part[0]..;
                let next = || Ok::<_, ()>(block(next.next().unwrap()).to_vec());
                let runs = runs_of_blocks(part[0]..part[1], next).unwrap();
                for run in runs.chunks(3) {
                    sum.add_run(run[0] as usize, run[1..].to_vec());
                }
            }
            let found = sum.total();
            let zeros = [0.0; 2];
            assert_eq!(if count == 0 { &zeros[..] } else { &found }, want);
        }
    }
}
