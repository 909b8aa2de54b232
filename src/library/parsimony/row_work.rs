//! What is computed of whole rows, for the instructions of the machine.

use super::columns::{Block, StateBits};
use super::fitch::{combine_block, insertion_cost_block};
use crate::instructions::Work;

/// A row that combines two others.
pub(super) struct Combine<'a> {
    pub(super) blocks: &'a [Block],
    pub(super) a: &'a [StateBits],
    pub(super) b: &'a [StateBits],
    pub(super) out: &'a mut [StateBits],
}

impl Work for Combine<'_> {
    type Found = ();

    #[inline(always)]
    fn compute(self) {
        let Combine { blocks, a, b, out } = self;
        for block in blocks {
            let range = block.range();
            combine_block(&a[range.clone()], &b[range.clone()], &mut out[range]);
        }
    }
}

/// Changes that a subtree adds between two rows, in its active blocks, or some number above the limit if it is more.
pub(super) struct Insertion<'a> {
    pub(super) blocks: &'a [Block],
    pub(super) active: &'a [u32],
    pub(super) a: &'a [StateBits],
    pub(super) b: &'a [StateBits],
    pub(super) subtree: &'a [StateBits],
    pub(super) limit: u64,
}

impl Work for Insertion<'_> {
    type Found = u64;

    #[inline(always)]
    fn compute(self) -> u64 {
        let Insertion { blocks, active, a, b, subtree, limit } = self;
        let mut cost = 0;
        for &block in active {
            let range = blocks[block as usize].range();
            let [a, b, subtree] = [a, b, subtree].map(|row| &row[range.clone()]);
            cost += u64::from(insertion_cost_block(a, b, subtree));
            if cost > limit {
                break;
            }
        }
        cost
    }
}
