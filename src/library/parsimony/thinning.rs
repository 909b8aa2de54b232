//! [`Thinning`]: which columns are left out, at random.

use super::columns::{Columns, STATE_WORDS, StateBits};
use crate::rng::{Purpose, Rng, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// A choice of columns. It is made block by block, so that whoever has a block knows which of its columns are left out.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Thinning {
    seed: u64,
    /// Probability that a column is left out.
    percent: u32,
}

impl Thinning {
    pub(super) fn draw(percent: u32, rng: &mut Rng) -> Self {
        Thinning { seed: rng.random(), percent }
    }

    /// The same columns, of which those that are left out are undetermined in all taxa.
    pub(super) fn of(self, columns: &Columns) -> Columns {
        let mut tips = columns.tips.clone();
        for block in &columns.blocks {
            let left_out = self.of_block(block.number);
            for bits in tips.iter_mut().flat_map(|row| &mut row[block.range()]) {
                bits.iter_mut().zip(left_out).for_each(|(word, left_out)| *word |= left_out);
            }
        }
        Columns::new(columns.blocks.clone(), tips)
    }

    /// Of the block of this number: a bit for each column, 1 if it is left out.
    fn of_block(self, number: u32) -> StateBits {
        let mut rng = stream(self.seed, Purpose::Thinning, u64::from(number));
        let mut bits = [0; STATE_WORDS];
        for word in &mut bits {
            for bit in 0..u64::BITS {
                *word |= u64::from(rng.random_ratio(self.percent, 100)) << bit;
            }
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::BLOCK_BITS;
    use super::super::naive::Sample;
    use super::super::parsimony_score;
    use super::*;
    use crate::tree::random_tree;

    #[test]
    fn as_many_columns_are_left_out_as_was_said() {
        let mut rng = stream(1, Purpose::Test, 0);
        for percent in [0, 30, 100] {
            let thinning = Thinning::draw(percent, &mut rng);
            let ones = |number| thinning.of_block(number).iter().map(|w| w.count_ones()).sum();
            let left_out: u32 = (0..100).map(|number| -> u32 { ones(number) }).sum();
            let expected = f64::from(percent) / 100.0 * (100 * BLOCK_BITS) as f64;
            // Three standard deviations are 220.
            assert!((f64::from(left_out) - expected).abs() < 300.0, "{left_out}, {expected}");
        }
    }

    #[test]
    fn columns_that_are_left_out_need_no_changes() {
        let mut rng = stream(1, Purpose::Test, 1);
        let data = Sample::draw(12, &[4, 20], 3000, &mut rng).pack();
        let tree = random_tree(12, 0.1, &mut rng);
        let mut score = |percent| parsimony_score(&tree, &data.thinned(percent, &mut rng)) as f64;
        let [all, some, none] = [0, 30, 100].map(&mut score);
        // Uninformative columns are not left out.
        assert!(all == parsimony_score(&tree, &data) as f64 && none < all, "{none}");
        let share = (some - none) / (all - none);
        assert!((0.65..0.75).contains(&share), "{share}");
    }
}
