//! [`BlockSum`]: sums over the blocks of a partition, in one order whoever adds up.

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
        let mut sum = block;
        let full = self.num_blocks.trailing_ones() as usize;
        for level in &self.sums[..full] {
            sum = std::array::from_fn(|i| level[i] + sum[i]);
        }
        self.sums[full] = sum;
        self.num_blocks += 1;
    }

    /// The sum of all blocks; zeros if there are none.
    pub fn total(&self) -> [f64; N] {
        let waiting = (0..LEVELS).filter(|level| self.num_blocks >> level & 1 == 1);
        let sums = waiting.map(|level| self.sums[level]);
        sums.reduce(|later, earlier| std::array::from_fn(|i| earlier[i] + later[i]))
            .unwrap_or([0.0; N])
    }
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
}
