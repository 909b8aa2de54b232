//! The CLVs of a unit: of each block of each CLV, either one row per pattern or one per class of repeated
//! patterns, in buffers that are as large as necessary.
//!
//! Rows of all patterns are in buffers that CLVs lend each other, because few CLVs need them at a time: those
//! that point away from most of the tree. A CLV that is turned and turned back meanwhile keeps its buffer of
//! classes, unless it is large. Buffers of classes change size so often (in up to a third of the updates of a search of
//! 52 taxa) that a few of each size are kept for the next CLV.

use super::arena::{Arena, zeros};
use super::repeats::{Child, Counter, Repeats};
use crate::alphabet::Code;
use crate::likelihood::engine::layout::{BLOCK, Dims};
use crate::likelihood::engine::{Clv, EngineError, Forgetting, Result};

/// Purpose of the memory, for error messages.
const PURPOSE: &str = "likelihood vectors";

/// The number of rows for which a buffer of classes has space is a multiple of this.
const GRAIN: usize = 8;

/// Most unused buffers of classes of one size that are kept.
const MOST_SPARE: usize = 8;

/// Rows that kernels process together: the number of rows is a multiple of this (`operand`, trick 3).
fn tile(dims: Dims) -> usize {
    if dims.num_states == 4 { 1 } else { 4 }
}

/// Rows of a CLV and their scaler counts.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// `[row][rate][state]`
    clv: Arena,
    /// `[row]` or `[row][rate]`
    scaler: Vec<u32>,
}

impl Rows {
    fn new(dims: Dims, num_rows: usize) -> Result<Self> {
        Ok(Rows {
            clv: Arena::new(num_rows * dims.row(), PURPOSE)?,
            scaler: zeros(num_rows * dims.scalers(), PURPOSE)?,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.clv.as_slice()) + size_of_val(&self.scaler[..])
    }

    /// Number of rows for which there is space.
    fn capacity(&self, dims: Dims) -> usize {
        self.scaler.len() / dims.scalers()
    }
}

/// One block of one CLV.
#[derive(Debug, Default)]
pub(super) struct Stored {
    repeats: Repeats,
    /// One row per class.
    pub(super) of_classes: Rows,
    /// One row per pattern, if the CLV has no classes now.
    pub(super) of_patterns: Option<Rows>,
    /// True if a scaler count is not 0.
    is_scaled: bool,
}

/// A block of a CLV, to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredRows<'a> {
    /// `[row][rate][state]`
    pub(super) clv: &'a [f64],
    /// Counts of the rows.
    pub(super) scaler: &'a [u32],
    /// True if one of these is not 0.
    pub(super) is_scaled: bool,
    /// If rows are those of classes: which, one for each row.
    pub(super) classes: Option<Child<'a>>,
}

/// All CLVs of a unit.
#[derive(Debug)]
pub(super) struct Clvs {
    dims: Dims,
    /// Number of patterns of each block.
    pub(super) lens: Vec<usize>,
    /// `[clv][block]`; `None` until first written. Boxed because it is moved while it is written.
    pub(super) stored: Vec<Option<Box<Stored>>>,
    /// By block: buffers of rows of patterns that no CLV needs now.
    pub(super) spare: Vec<Vec<Rows>>,
    /// By capacity in grains: buffers of rows of classes that no CLV needs now. None if memory is limited.
    spare_of_classes: Vec<Vec<Rows>>,
    /// See [`Repeats::update`].
    last_name: u64,
    /// False to store a row for each pattern of every CLV.
    use_repeats: bool,
    /// See [`Clvs::limit`].
    pub(super) limit: Option<Limit>,
}

/// A limit of the memory of rows, beyond which CLVs are forgotten and computed again (`limit`).
#[derive(Debug)]
pub(super) struct Limit {
    /// Most bytes, as far as what is pinned allows.
    pub(super) bytes: usize,
    /// Bytes of all rows and of the classes of repeated patterns now.
    pub(super) used: usize,
    /// Which blocks of CLVs are there.
    pub(super) forgetting: Forgetting,
}

/// A block of a CLV, to be written.
pub(super) struct Output<'a> {
    /// `[row][rate][state]`
    pub(super) clv: &'a mut [f64],
    /// Counts of the rows.
    pub(super) scaler: &'a mut [u32],
    /// Number of rows.
    pub(super) num_rows: usize,
    /// If the rows are those of classes: for each, the class at each child.
    pub(super) of_children: Option<[&'a [Code]; 2]>,
}

impl Stored {
    pub(super) fn bytes(&self) -> usize {
        self.of_classes.bytes() + self.of_patterns.as_ref().map_or(0, Rows::bytes)
    }

    fn rows(&self) -> &Rows {
        self.of_patterns.as_ref().unwrap_or(&self.of_classes)
    }

    /// Number of rows, where `len` is the number of patterns.
    fn num_rows(&self, len: usize) -> usize {
        let of_classes = if self.of_patterns.is_some() { None } else { self.repeats.num_rows() };
        of_classes.unwrap_or(len)
    }

    /// What is to be written into a block of `len` patterns.
    pub(super) fn output(&mut self, dims: Dims, len: usize) -> Output<'_> {
        let num_rows = self.num_rows(len);
        let Stored { repeats, of_classes, of_patterns, .. } = self;
        let of_children = match of_patterns {
            Some(_) => None,
            None => Some([0, 1].map(|i| repeats.of_child(i))),
        };
        let rows = of_patterns.as_mut().unwrap_or(of_classes);
        Output {
            clv: &mut rows.clv.as_mut_slice()[..num_rows * dims.row()],
            scaler: &mut rows.scaler[..num_rows * dims.scalers()],
            num_rows,
            of_children,
        }
    }
}

impl Clvs {
    /// No CLVs, of blocks of these numbers of patterns. Names of classes follow `last_name`.
    pub(super) fn new(dims: Dims, lens: Vec<usize>, last_name: u64) -> Self {
        let spare = lens.iter().map(|_| Vec::new()).collect();
        Clvs {
            dims,
            lens,
            stored: Vec::new(),
            spare,
            spare_of_classes: (0..=BLOCK / GRAIN).map(|_| Vec::new()).collect(),
            last_name,
            use_repeats: true,
            limit: None,
        }
    }

    /// Makes place for at least `num_allocated_clvs` CLVs; existing ones keep their content.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn reserve(&mut self, num_allocated_clvs: usize) -> Result<()> {
        let wanted = num_allocated_clvs * self.lens.len();
        let more = wanted.saturating_sub(self.stored.len());
        let bytes = (more * size_of::<Option<Box<Stored>>>()) as u64;
        let failed = EngineError::OutOfMemory { bytes, purpose: PURPOSE };
        self.stored.try_reserve_exact(more).map_err(|_| failed)?;
        self.stored.resize_with(wanted.max(self.stored.len()), || None);
        Ok(())
    }

    /// Stores a row for each pattern of every CLV from now on.
    pub(super) fn ignore_repeats(&mut self) {
        self.use_repeats = false;
    }

    /// Bytes that all CLVs take now.
    pub(super) fn bytes(&self) -> usize {
        let stored = self.stored.iter().flatten();
        let of_stored = |stored: &Stored| stored.bytes() + stored.repeats.bytes();
        let spare = self.spare.iter().chain(&self.spare_of_classes).flatten().map(Rows::bytes);
        stored.map(|stored| of_stored(stored)).chain(spare).sum()
    }

    /// Space for rows, for which others are forgotten if necessary.
    fn allocate(&mut self, num_rows: usize) -> Result<Rows> {
        if self.limit.is_none() {
            return Rows::new(self.dims, num_rows);
        }
        let bytes = num_rows * (self.dims.row() * 8 + self.dims.scalers() * 4);
        while self.is_too_much(bytes) && self.forget() {}
        let rows = Rows::new(self.dims, num_rows)?;
        self.limit.iter_mut().for_each(|limit| limit.used += rows.bytes());
        Ok(rows)
    }

    /// Gives back space of rows.
    pub(super) fn free(&mut self, rows: Rows) {
        self.limit.iter_mut().for_each(|limit| limit.used -= rows.bytes());
    }

    pub(super) fn at(&self, block: usize, slot: u32) -> usize {
        slot as usize * self.lens.len() + block
    }

    fn get(&self, block: usize, slot: u32) -> &Stored {
        self.stored[self.at(block, slot)].as_ref().expect("a vector is written before it is read")
    }

    /// The classes of a CLV, if it has any.
    fn classes(&self, block: usize, slot: u32) -> Option<Child<'_>> {
        let stored = self.get(block, slot);
        stored.of_patterns.is_none().then(|| stored.repeats.as_child())
    }

    /// A CLV, to be read.
    pub(super) fn rows(&self, block: usize, slot: u32) -> StoredRows<'_> {
        let stored = self.get(block, slot);
        let num_rows = stored.num_rows(self.lens[block]);
        let rows = stored.rows();
        StoredRows {
            clv: &rows.clv.as_slice()[..num_rows * self.dims.row()],
            scaler: &rows.scaler[..num_rows * self.dims.scalers()],
            is_scaled: stored.is_scaled,
            classes: self.classes(block, slot),
        }
    }

    /// Takes out a CLV that is to be written from two others, with its classes counted and space for its rows.
    /// `tip` gives the classes of a tip.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn take<'a>(
        &mut self,
        block: usize,
        slot: u32,
        children: [Clv; 2],
        tip: impl Fn(u32) -> Child<'a>,
        counter: &mut Counter,
    ) -> Result<Box<Stored>> {
        let at = self.at(block, slot);
        let mut stored = self.stored[at].take().unwrap_or_default();
        self.forgetting().into_iter().for_each(|all| all.begin_update(block, slot));
        let mut last_name = self.last_name;
        let child = |clv| match clv {
            Clv::Tip(number) => Some(tip(number)),
            Clv::Stored(slot) => self.classes(block, slot),
            Clv::Temporary(_) => unreachable!("temporaries are replaced by slots"),
        };
        let mut num_rows = None;
        if self.use_repeats
            && let [Some(a), Some(b)] = children.map(child)
        {
            let before = stored.repeats.bytes();
            stored.repeats.update([a, b], tile(self.dims), counter, &mut last_name)?;
            num_rows = stored.repeats.num_rows();
            if let Some(limit) = &mut self.limit {
                limit.used = limit.used + stored.repeats.bytes() - before;
            }
        }
        self.last_name = last_name;
        match num_rows {
            Some(num_rows) => self.make_classes(block, &mut stored, num_rows)?,
            None => self.make_patterns(block, &mut stored)?,
        }
        Ok(stored)
    }

    /// Gives a CLV space for a row per class.
    fn make_classes(&mut self, block: usize, stored: &mut Stored, num_rows: usize) -> Result<()> {
        self.spare[block].extend(stored.of_patterns.take());
        let capacity = stored.of_classes.capacity(self.dims);
        if num_rows > capacity || capacity > 2 * num_rows.max(GRAIN) {
            self.keep_spare(std::mem::take(&mut stored.of_classes));
            let grains = num_rows.div_ceil(GRAIN);
            let spare = self.spare_of_classes[grains].pop();
            stored.of_classes = spare.map_or_else(|| self.allocate(grains * GRAIN), Ok)?;
        }
        Ok(())
    }

    /// Keeps space of rows of classes for the next CLV, unless there is enough or memory is limited.
    fn keep_spare(&mut self, rows: Rows) {
        let grains = rows.capacity(self.dims) / GRAIN;
        let kept = &mut self.spare_of_classes[grains];
        if self.limit.is_none() && grains > 0 && kept.len() < MOST_SPARE {
            kept.push(rows);
        } else {
            self.free(rows);
        }
    }

    /// Gives a CLV space for a row per pattern.
    fn make_patterns(&mut self, block: usize, stored: &mut Stored) -> Result<()> {
        if stored.of_patterns.is_none() {
            let len = self.lens[block];
            if 2 * stored.of_classes.capacity(self.dims) > len {
                self.keep_spare(std::mem::take(&mut stored.of_classes));
            }
            let spare = self.spare[block].pop();
            stored.of_patterns = Some(spare.map_or_else(|| self.allocate(len), Ok)?);
        }
        Ok(())
    }

    /// Puts back a CLV that was written; `is_scaled` if one of its scaler counts is not 0.
    pub(super) fn put(
        &mut self,
        block: usize,
        slot: u32,
        mut stored: Box<Stored>,
        is_scaled: bool,
    ) {
        stored.is_scaled = is_scaled;
        if let Some(forgetting) = self.forgetting() {
            forgetting.end_update(block, slot, stored.bytes());
        }
        let at = self.at(block, slot);
        self.stored[at] = Some(stored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: Dims = Dims { num_states: 4, num_rates: 1, num_codes: 64, rate_scalers: false };
    const LEN: usize = 64;

    /// Writes a CLV of a partition with three tips, of which the last differs in all patterns; returns its number
    /// of rows.
    fn write(clvs: &mut Clvs, slot: u32, children: [Clv; 2]) -> usize {
        let tips = [2, 3, LEN].map(|period| -> Vec<Code> {
            (0..LEN).map(|pattern| (pattern % period) as Code).collect()
        });
        let tip = |tip: u32| Child {
            name: u64::from(tip),
            classes: &tips[tip as usize],
            num_classes: LEN,
        };
        let mut counter = Counter::default();
        let mut stored = clvs.take(0, slot, children, tip, &mut counter).unwrap();
        let num_rows = stored.output(DIMS, LEN).num_rows;
        clvs.put(0, slot, stored, false);
        assert_eq!(clvs.rows(0, slot).scaler.len(), num_rows);
        num_rows
    }

    /// Number of rows for which there is space.
    fn space(clvs: &Clvs) -> usize {
        let all = clvs.stored.iter().flatten();
        let buffers = all.flat_map(|stored| stored.of_patterns.iter().chain([&stored.of_classes]));
        buffers.chain(clvs.spare.iter().flatten()).map(|rows| rows.capacity(DIMS)).sum()
    }

    #[test]
    fn clvs_lend_each_other_their_rows_of_patterns() {
        let mut clvs = Clvs::new(DIMS, vec![LEN], 3);
        clvs.reserve(3).unwrap();
        let [a, b, c] = [0, 1, 2].map(Clv::Tip);
        assert_eq!(write(&mut clvs, 0, [a, b]), 6);
        assert_eq!(space(&clvs), GRAIN);
        assert_eq!(write(&mut clvs, 1, [a, c]), LEN);
        assert_eq!(space(&clvs), GRAIN + LEN);
        // The first CLV is turned away from a part of the tree without repeats, and back.
        assert_eq!(write(&mut clvs, 0, [Clv::Stored(1), a]), LEN);
        assert_eq!(write(&mut clvs, 0, [a, b]), 6);
        assert_eq!(write(&mut clvs, 2, [Clv::Stored(1), Clv::Stored(0)]), LEN);
        assert_eq!(space(&clvs), GRAIN + 2 * LEN);
        clvs.ignore_repeats();
        assert_eq!(write(&mut clvs, 0, [a, b]), LEN);
    }
}
