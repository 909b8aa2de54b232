//! What is computed of whole rows, for the instructions of the machine.

use super::super::columns::{Block, StateBits};
use super::super::fitch::{combine_block, insertion_cost_block};
use super::tally::Tally;
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

/// Counts the changes that a subtree adds between two rows, in its active blocks, as far as they matter.
pub(super) struct Insertion<'a, T> {
    pub(super) blocks: &'a [Block],
    pub(super) active: &'a [u32],
    pub(super) a: &'a [StateBits],
    pub(super) b: &'a [StateBits],
    pub(super) subtree: &'a [StateBits],
    pub(super) tally: T,
}

impl<T: Tally> Work for Insertion<'_, T> {
    type Found = T;

    #[inline(always)]
    fn compute(self) -> T {
        let Insertion { blocks, active, a, b, subtree, mut tally } = self;
        for &block in active {
            let range = blocks[block as usize].range();
            let [a, b, subtree] = [a, b, subtree].map(|row| &row[range.clone()]);
            if !tally.add(insertion_cost_block(a, b, subtree)) {
                break;
            }
        }
        tally
    }
}
