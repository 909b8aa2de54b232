//! Packed columns: one row of state sets per taxon.
//!
//! ```text
//!   row of a taxon:  | block 0            | block 1            | ...   a block holds 256 columns of
//!                    | state 0 | state 1 ..| state 0 | state 1 ..|      one number of states; in state
//!                      4 words   4 words                               s a column's bit is 1 if s is possible
//! ```

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Words per state in a block.
pub(super) const STATE_WORDS: usize = 4;
/// One state's bits of a block.
pub(super) type StateBits = [u64; STATE_WORDS];
/// State sets of all columns.
pub(super) type Row = Box<[StateBits]>;

/// Columns of a block.
pub(super) const BLOCK_BITS: usize = 64 * STATE_WORDS;

/// Where a block lies in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block {
    pub(super) offset: u32,
    pub(super) num_states: u32,
    /// Its number among the blocks of all columns.
    pub(super) number: u32,
}

impl Block {
    pub(super) fn range(self) -> Range<usize> {
        self.offset as usize..(self.offset + self.num_states) as usize
    }
}

/// Columns that one thread computes with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Columns {
    pub(super) blocks: Vec<Block>,
    pub(super) row_len: usize,
    pub(super) tips: Vec<Row>,
    /// Per taxon the blocks in which its row is not all ones.
    pub(super) active: Vec<Vec<u32>>,
}

impl Columns {
    /// The columns of these rows.
    pub(super) fn new(blocks: Vec<Block>, tips: Vec<Row>) -> Self {
        let row_len = blocks.last().map_or(0, |last| last.range().end);
        let active = tips.iter().map(|row| active_blocks(&blocks, row)).collect();
        Columns { blocks, row_len, tips, active }
    }

    /// Number of taxa.
    pub(super) fn num_taxa(&self) -> usize {
        self.tips.len()
    }

    /// A row of ones: nothing known anywhere.
    pub(super) fn empty_row(&self) -> Row {
        vec![[u64::MAX; STATE_WORDS]; self.row_len].into()
    }

    /// One of `count` shares. Neighbouring blocks go to different ones, because a taxon may lack many neighbours.
    pub(super) fn share(&self, number: usize, count: usize) -> Columns {
        let own = || self.blocks.iter().skip(number).step_by(count);
        let mut offset = 0;
        let placed = |block: &Block| {
            let placed = Block { offset, ..*block };
            offset += block.num_states;
            placed
        };
        let blocks = own().map(placed).collect();
        let gathered = |row: &Row| own().flat_map(|block| &row[block.range()]).copied().collect();
        Columns::new(blocks, self.tips.iter().map(gathered).collect())
    }
}

/// The blocks in which a row is not all ones, ascending: only there can it cost a change.
pub(super) fn active_blocks(blocks: &[Block], row: &[StateBits]) -> Vec<u32> {
    let is_active = |block: &Block| row[block.range()].iter().flatten().any(|&w| w != u64::MAX);
    (0..).zip(blocks).filter(|(_, block)| is_active(block)).map(|(i, _)| i).collect()
}

/// Clears, from column `first` on, the bits of the states that are not in the sets of a taxon; each set is that of so many columns. `row`
/// starts at the columns' first block.
pub(super) fn clear_missing(
    row: &mut [StateBits],
    num_states: usize,
    first: usize,
    sets: impl Iterator<Item = (u64, usize)>,
) {
    // By state: the bits to be cleared in the present word.
    let mut missing = [0u64; 64];
    let missing = &mut missing[..num_states];
    let mut bit = first;
    let mut clear = |missing: &mut [u64], word: usize| {
        let (block, word) = (word / STATE_WORDS * num_states, word % STATE_WORDS);
        for (state, missing) in missing.iter_mut().enumerate() {
            row[block + state][word] &= !std::mem::take(missing);
        }
    };
    for (set, count) in sets {
        let end = bit + count;
        while bit < end {
            let in_word = (64 - bit % 64).min(end - bit);
            let ones = u64::MAX >> (64 - in_word) << (bit % 64);
            for (state, missing) in missing.iter_mut().enumerate() {
                *missing |= if set >> state & 1 == 0 { ones } else { 0 };
            }
            bit += in_word;
            if bit.is_multiple_of(64) {
                clear(missing, bit / 64 - 1);
            }
        }
    }
    if !bit.is_multiple_of(64) {
        clear(missing, bit / 64);
    }
}
