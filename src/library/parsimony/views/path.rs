//! [`Path`]: what lies behind the edges of a walk, seen from the pruned subtree.

use super::super::columns::{Block, Columns, Row, StateBits};
use super::super::fitch::{combine_block, insertion_cost_block};
use super::tally::Tally;
use crate::instructions::Work;

/// The rows of all but what lies beyond each edge of the way from a subtree's place to a step of the walk. Of a row, only so many blocks
/// are made as somebody asks for: most places are found to be bad after a few.
pub(super) struct Path<'a> {
    /// Rows by distance, from 1 on.
    rows: Vec<Row>,
    levels: Vec<Level<'a>>,
}

/// A row that is being made.
struct Level<'a> {
    /// At distance 1: what lies before.
    above: &'a [StateBits],
    /// What lies beside.
    beside: &'a [StateBits],
    /// How many of the active blocks are made.
    num_made: usize,
}

impl<'a> Path<'a> {
    /// With room for these rows.
    pub(super) fn new(rows: Vec<Row>) -> Self {
        Path { rows, levels: Vec::new() }
    }

    /// The room.
    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Goes to an edge at this distance, from one that is nearer by one: what lies behind the edge beside it, and at distance 1 above.
    pub(super) fn go_to(
        &mut self,
        distance: usize,
        above: &'a [StateBits],
        beside: &'a [StateBits],
        columns: &Columns,
    ) {
        self.levels.truncate(distance - 1);
        self.levels.push(Level { above, beside, num_made: 0 });
        if self.rows.len() < distance {
            self.rows.push(columns.empty_row());
        }
    }

    /// Counts the changes that a subtree adds in the edge, beyond which there is `far`.
    pub(super) fn insertion<'p, T>(
        &'p mut self,
        blocks: &'p [Block],
        active: &'p [u32],
        [far, subtree]: [&'p [StateBits]; 2],
        tally: T,
    ) -> InsertionOnPath<'p, 'a, T> {
        InsertionOnPath { path: self, blocks, active, far, subtree, tally }
    }

    /// How many of the active blocks the row before the last one has.
    fn num_at_hand(&self) -> usize {
        let before = self.levels.len().checked_sub(2);
        before.map_or(usize::MAX, |before| self.levels[before].num_made)
    }

    /// Makes the active block of this number in all rows of the path that do not have it.
    #[inline(always)]
    fn make(&mut self, number: usize, block: Block) {
        let range = block.range();
        // A row that has the block is made of those before it, which have it, too.
        let has_it = |level: &Level| level.num_made > number;
        let first = self.levels.iter().rposition(has_it).map_or(0, |last| last + 1);
        for level in first..self.levels.len() {
            let (before, row) = self.rows.split_at_mut(level);
            let Level { above, beside, num_made } = &mut self.levels[level];
            let above = before.last().map_or(*above, |row| row);
            combine_block(
                &above[range.clone()],
                &beside[range.clone()],
                &mut row[0][range.clone()],
            );
            *num_made = number + 1;
        }
    }
}

/// Counts the changes that a subtree adds in an edge, in its active blocks, as far as they matter.
pub(super) struct InsertionOnPath<'p, 'a, T> {
    path: &'p mut Path<'a>,
    blocks: &'p [Block],
    active: &'p [u32],
    far: &'p [StateBits],
    subtree: &'p [StateBits],
    tally: T,
}

impl<T: Tally> Work for InsertionOnPath<'_, '_, T> {
    type Found = T;

    #[inline(always)]
    fn compute(self) -> T {
        let InsertionOnPath { path, blocks, active, far, subtree, mut tally } = self;
        let (at_hand, others) = active.split_at(path.num_at_hand().min(active.len()));
        let last = path.levels.len() - 1;
        let (before, row) = path.rows.split_at_mut(last);
        let Level { above, beside, num_made } = &mut path.levels[last];
        let above = before.last().map_or(*above, |row| row);
        for &block in at_hand {
            let range = blocks[block as usize].range();
            let up = &mut row[0][range.clone()];
            combine_block(&above[range.clone()], &beside[range.clone()], up);
            *num_made += 1;
            if !tally.add(insertion_cost_block(&far[range.clone()], up, &subtree[range])) {
                return tally;
            }
        }
        for (number, &block) in (at_hand.len()..).zip(others) {
            let block = blocks[block as usize];
            path.make(number, block);
            let range = block.range();
            let up = &path.rows[last][range.clone()];
            if !tally.add(insertion_cost_block(&far[range.clone()], up, &subtree[range])) {
                break;
            }
        }
        tally
    }
}
