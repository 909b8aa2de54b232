//! [`BlockSum`]: sums over the blocks of a partition, in one order whoever adds up.

use std::ops::Range;

/// Levels of the tree: there are fewer than 2^32 blocks.
const LEVELS: usize = 32;

/// A sum over the blocks of a partition as a fixed binary tree over their numbers: blocks 2i and 2i + 1 are added, then the sums of
/// 2i and 2i + 1 of these, and so on; what has no partner goes up as it is. So whoever has an aligned run of 2^k blocks (a
/// thread, a process of several, a GPU) can add these up alone and hand on one number, and the sum has the same bits.
///
/// Of pairwise summation the error grows with the logarithm of the number of blocks (Higham 1993, SIAM J. Sci. Comput.
/// 14:783).
#[derive(Debug, Clone, Copy)]
pub struct BlockSum<const N: usize> {
    /// Number of blocks so far. Bit k is set if `sums[k]` has the sum of 2^k blocks that wait for a partner.
    num_blocks: u32,
    sums: [[f64; N]; LEVELS],
}

impl<const N: usize> BlockSum<N> {
    /// Of no blocks.
    pub fn new() -> Self {
        BlockSum { num_blocks: 0, sums: [[0.0; N]; LEVELS] }
    }

    /// Of all these blocks.
    pub fn of(blocks: impl IntoIterator<Item = [f64; N]>) -> [f64; N] {
        let mut sum = BlockSum::new();
        blocks.into_iter().for_each(|block| sum.add(block));
        sum.total()
    }

    /// Adds the next block.
    #[inline]
    pub fn add(&mut self, block: [f64; N]) {
        self.add_run(0, block);
    }

    /// Adds the next 2^`level` blocks, of which this is the sum.
    ///
    /// # Panics
    /// If they are not [aligned](aligned_runs).
    #[inline]
    pub fn add_run(&mut self, level: usize, run: [f64; N]) {
        assert_eq!(self.num_blocks & ((1 << level) - 1), 0, "an aligned run");
        let mut sum = run;
        let full = (self.num_blocks >> level).trailing_ones() as usize;
        for level in &self.sums[level..level + full] {
            sum = std::array::from_fn(|i| level[i] + sum[i]);
        }
        self.sums[level + full] = sum;
        self.num_blocks += 1 << level;
    }

    /// The sum of all blocks; zeros if there are none.
    pub fn total(&self) -> [f64; N] {
        let waiting = (0..LEVELS).filter(|level| self.num_blocks >> level & 1 == 1);
        let sums = waiting.map(|level| self.sums[level]);
        sums.reduce(|later, earlier| std::array::from_fn(|i| earlier[i] + later[i]))
            .unwrap_or([0.0; N])
    }
}

/// The longest aligned runs of 2^k blocks (which begin at a multiple of 2^k) that follow each other in a range of blocks, by their k:
/// at most twice as many as the range's length has binary digits.
pub fn aligned_runs(blocks: Range<usize>) -> impl Iterator<Item = usize> {
    let mut next = blocks.start;
    std::iter::from_fn(move || {
        let left = blocks.end.checked_sub(next).filter(|&left| left > 0)?;
        let level = (left.ilog2()).min(next.trailing_zeros()) as usize;
        next += 1 << level;
        Some(level)
    })
}

impl<const N: usize> Default for BlockSum<N> {
    fn default() -> Self {
        BlockSum::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    /// Level by level, as the tree is defined.
    fn by_levels(blocks: &[f64]) -> f64 {
        match blocks {
            [] => 0.0,
            [one] => *one,
            _ => {
                let pairs = blocks.chunks(2).map(|pair| match pair {
                    [left, right] => left + right,
                    alone => alone[0],
                });
                by_levels(&pairs.collect::<Vec<_>>())
            }
        }
    }

    fn sum(blocks: &[f64]) -> f64 {
        BlockSum::of(blocks.iter().map(|&block| [block]))[0]
    }

    #[test]
    fn the_sum_is_that_of_the_tree_and_of_its_aligned_parts() {
        let mut rng = stream(1, Purpose::Test, 0);
        for count in (0..70).chain([127, 128, 129, 1000, 4095]) {
            let blocks: Vec<f64> = (0..count)
                .map(|_| -rng.random::<f64>() * [1.0, 1e3, 1e6, 1e9][rng.random_range(0..4)])
                .collect();
            assert_eq!(sum(&blocks).to_bits(), by_levels(&blocks).to_bits(), "{count}");
            for k in 0..6 {
                let parts: Vec<f64> = blocks.chunks(1 << k).map(sum).collect();
                assert_eq!(sum(&parts).to_bits(), sum(&blocks).to_bits(), "{count} by {}", 1 << k);
            }
        }
    }

    #[test]
    fn the_aligned_runs_of_ranges_add_up_to_the_same_sum() {
        let mut rng = stream(2, Purpose::Test, 0);
        for count in [1, 2, 7, 64, 100, 1000] {
            let blocks: Vec<f64> = (0..count).map(|_| rng.random::<f64>() * 1e3).collect();
            for _ in 0..20 {
                let mut cuts: Vec<usize> = (0..3).map(|_| rng.random_range(0..=count)).collect();
                cuts.extend([0, count]);
                cuts.sort_unstable();
                let mut total = BlockSum::new();
                for cut in cuts.windows(2) {
                    let mut next = cut[0];
                    let levels: Vec<usize> = aligned_runs(cut[0]..cut[1]).collect();
                    assert!(
                        levels.len()
                            <= 2 * (1 + (cut[1] - cut[0]).checked_ilog2().unwrap_or(0)) as usize
                    );
                    for level in levels {
                        total.add_run(level, [sum(&blocks[next..next + (1 << level)])]);
                        next += 1 << level;
                    }
                    assert_eq!(next, cut[1]);
                }
                assert_eq!(total.total()[0].to_bits(), sum(&blocks).to_bits(), "{count} {cuts:?}");
            }
        }
    }
}
