//! The vectors of a unit: of each block of each vector, either one row per pattern or one per class of repeated
//! patterns, in buffers that are as large as necessary.
//!
//! Rows of all patterns are in buffers that vectors lend each other, because few vectors need them at a time: those
//! that point away from most of the tree. A vector that is turned and turned back meanwhile keeps its buffer of
//! classes, unless it is large.

use super::arena::{Arena, zeros};
use super::repeats::{Child, Counter, Repeats};
use crate::alphabet::Code;
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::engine::{EngineError, Operation, Result, Vector};

/// Purpose of the memory, for error messages.
const PURPOSE: &str = "likelihood vectors";

/// The number of rows for which a buffer of classes has space is a multiple of this.
const GRAIN: usize = 8;

/// Rows that kernels process together: the number of rows is a multiple of this (`operand`, trick 3).
fn tile(dims: Dims) -> usize {
    if dims.num_states == 4 { 1 } else { 4 }
}

/// Rows of a vector and their scaler counts.
#[derive(Debug, Default)]
struct Rows {
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

    fn bytes(&self) -> usize {
        size_of_val(self.clv.as_slice()) + size_of_val(&self.scaler[..])
    }

    /// Number of rows for which there is space.
    fn capacity(&self, dims: Dims) -> usize {
        self.scaler.len() / dims.scalers()
    }
}

/// One block of one vector.
#[derive(Debug, Default)]
pub(super) struct Stored {
    repeats: Repeats,
    /// One row per class.
    of_classes: Rows,
    /// One row per pattern, if the vector has no classes now.
    of_patterns: Option<Rows>,
    /// True if a scaler count is not 0.
    is_scaled: bool,
    /// True if there are rows that were written. Only a unit with limited memory forgets any.
    is_present: bool,
    /// True if it must not be forgotten now.
    is_pinned: bool,
    /// When it was last read or written, see [`Limit::now`].
    last_use: u64,
    /// Work to compute it again, if it was forgotten: the bytes of all rows that must be computed for it.
    work: usize,
}

/// A block of a vector, to be read.
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

/// All vectors of a unit.
#[derive(Debug)]
pub(super) struct Vectors {
    dims: Dims,
    /// Number of patterns of each block.
    lens: Vec<usize>,
    /// `[vector][block]`; `None` until first written. Boxed because it is moved while it is written.
    stored: Vec<Option<Box<Stored>>>,
    /// By block: buffers of rows of patterns that no vector needs now.
    spare: Vec<Vec<Rows>>,
    /// See [`Repeats::update`].
    last_name: u64,
    /// False to store a row for each pattern of every vector.
    use_repeats: bool,
    /// See [`Vectors::limit`].
    limit: Option<Limit>,
}

/// A limit of the memory of rows, beyond which vectors are forgotten and computed again. Which, follows from their
/// size, the time since their last use, and the updates that it would take: as in the recomputation of Izquierdo-Carrasco,
/// Gagneur & Stamatakis 2012 (HPDC'12), vectors of large subtrees whose children are forgotten as well are kept.
#[derive(Debug)]
struct Limit {
    /// Most bytes, as far as what is pinned allows.
    bytes: usize,
    /// Bytes of all rows and of the classes of repeated patterns now.
    used: usize,
    /// Numbers of updates of blocks so far: all, and those of blocks that had been forgotten.
    updates: [u64; 2],
    /// Number of uses so far.
    now: u64,
    /// By vector: how it was last computed. Others than these are not forgotten.
    recipes: Vec<Option<Operation>>,
    /// By vector: the vector that was last computed from it.
    readers: Vec<u32>,
    /// The next vector and block to look at: an index into `stored`.
    hand: usize,
    /// Indices of what is pinned.
    pinned: Vec<usize>,
}

/// Forgotten vectors on the way to the root whose work is corrected at a time.
const MOST_ANCESTORS: usize = 64;

/// Number of vectors that are compared when one is to be forgotten.
const CANDIDATES: usize = 8;

/// A block of a vector, to be written.
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
    fn bytes(&self) -> usize {
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

impl Vectors {
    /// No vectors, of blocks of these numbers of patterns. Names of classes follow `last_name`.
    pub(super) fn new(dims: Dims, lens: Vec<usize>, last_name: u64) -> Self {
        let spare = lens.iter().map(|_| Vec::new()).collect();
        Vectors { dims, lens, stored: Vec::new(), spare, last_name, use_repeats: true, limit: None }
    }

    /// Makes place for at least `num_vectors` vectors; existing ones keep their content.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn reserve(&mut self, num_vectors: usize) -> Result<()> {
        let wanted = num_vectors * self.lens.len();
        let more = wanted.saturating_sub(self.stored.len());
        let bytes = (more * size_of::<Option<Box<Stored>>>()) as u64;
        let failed = EngineError::OutOfMemory { bytes, purpose: PURPOSE };
        self.stored.try_reserve_exact(more).map_err(|_| failed)?;
        self.stored.resize_with(wanted.max(self.stored.len()), || None);
        Ok(())
    }

    /// Stores a row for each pattern of every vector from now on.
    pub(super) fn ignore_repeats(&mut self) {
        self.use_repeats = false;
    }

    /// Forgets rows of the first `num_vectors` vectors from now on if all take more than so many bytes. Before they are
    /// read, such vectors must be [pinned](Vectors::pin), and computed if they cannot.
    pub(super) fn limit(&mut self, bytes: usize, num_vectors: usize) {
        let used = self.bytes();
        let recipes = vec![None; num_vectors];
        let readers = vec![u32::MAX; num_vectors];
        let limit = Limit {
            bytes,
            used,
            updates: [0; 2],
            now: 0,
            recipes,
            readers,
            hand: 0,
            pinned: Vec::new(),
        };
        self.limit = Some(limit);
    }

    /// Bytes that all vectors take now.
    pub(super) fn bytes(&self) -> usize {
        let stored = self.stored.iter().flatten();
        let of_stored = |stored: &Stored| stored.bytes() + stored.repeats.bytes();
        let spare = self.spare.iter().flatten().map(Rows::bytes);
        stored.map(|stored| of_stored(stored)).chain(spare).sum()
    }

    /// Numbers of updates of blocks so far: all, and those that the limit has made necessary. None are counted without
    /// a limit.
    pub(super) fn updates(&self) -> [u64; 2] {
        self.limit.as_ref().map_or([0; 2], |limit| limit.updates)
    }

    /// Notes that a block was updated only because it had been forgotten.
    pub(super) fn count_recomputed(&mut self) {
        self.limit.iter_mut().for_each(|limit| limit.updates[1] += 1);
    }

    /// True if rows may be forgotten.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Notes how a vector was computed.
    pub(super) fn note_recipe(&mut self, slot: u32, recipe: Operation) {
        let Some(limit) = &mut self.limit else { return };
        if let Some(place) = limit.recipes.get_mut(slot as usize) {
            *place = Some(recipe);
            for child in recipe.children.into_iter().filter_map(Vector::slot) {
                limit.readers.get_mut(child as usize).into_iter().for_each(|reader| *reader = slot);
            }
        }
    }

    /// How a vector that was forgotten is computed.
    pub(super) fn recipe(&self, slot: u32) -> Operation {
        let recipes = self.limit.as_ref().map(|limit| &limit.recipes[..]);
        let recipe = recipes.and_then(|recipes| recipes[slot as usize]);
        recipe.expect("only vectors with a recipe are forgotten")
    }

    /// Keeps a block of a vector until it is unpinned; false if it was forgotten and must be computed again.
    pub(super) fn pin(&mut self, block: usize, slot: u32) -> bool {
        let at = self.at(block, slot);
        let stored = self.stored[at].as_mut().expect("a vector is written before it is read");
        if let Some(limit) = self.limit.as_mut().filter(|_| stored.is_present) {
            limit.now += 1;
            stored.last_use = limit.now;
            if !std::mem::replace(&mut stored.is_pinned, true) {
                limit.pinned.push(at);
            }
        }
        stored.is_present
    }

    /// Ends all pinning.
    pub(super) fn unpin_all(&mut self) {
        for at in self.limit.iter_mut().flat_map(|limit| limit.pinned.drain(..)) {
            self.stored[at].iter_mut().for_each(|stored| stored.is_pinned = false);
        }
    }

    /// Ends the pinning of a block of a vector.
    pub(super) fn unpin(&mut self, block: usize, slot: u32) {
        let at = self.at(block, slot);
        self.stored[at].iter_mut().for_each(|stored| stored.is_pinned = false);
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

    fn is_too_much(&self, more: usize) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.used + more > limit.bytes)
    }

    /// Forgets rows of one vector; false if none can be forgotten.
    fn forget(&mut self) -> bool {
        if let Some(rows) = self.spare.iter_mut().find_map(Vec::pop) {
            self.free(rows);
            return true;
        }
        let Some(limit) = &mut self.limit else { return false };
        let num_blocks = self.lens.len();
        let end = self.stored.len().min(limit.recipes.len() * num_blocks);
        let mut best: Option<(f64, usize, usize)> = None;
        let mut found = 0;
        for _ in 0..end {
            let at = limit.hand % end;
            limit.hand = at + 1;
            let stored = self.stored[at].as_deref();
            let can_go = |stored: &&Stored| stored.is_present && !stored.is_pinned;
            let (Some(stored), Some(recipe)) =
                (stored.filter(can_go), limit.recipes[at / num_blocks])
            else {
                continue;
            };
            let of_child = |child: Vector| match child {
                Vector::Clv(slot) => {
                    let child = self.stored[slot as usize * num_blocks + at % num_blocks].as_ref();
                    child.filter(|child| !child.is_present).map_or(0, |child| child.work)
                }
                _ => 0,
            };
            let work = recipe
                .children
                .into_iter()
                .map(of_child)
                .fold(stored.bytes(), usize::saturating_add);
            let gain = stored.bytes() as f64 * (limit.now - stored.last_use + 1) as f64;
            let gain = gain / work as f64;
            if best.is_none_or(|(most, ..)| gain > most) {
                best = Some((gain, at, work));
            }
            found += 1;
            if found == CANDIDATES {
                break;
            }
        }
        let Some((_, at, work)) = best else { return false };
        let stored = self.stored[at].as_mut().expect("it was found there");
        limit.used -= stored.bytes();
        (stored.of_classes, stored.of_patterns) = (Rows::default(), None);
        (stored.is_present, stored.work) = (false, work);
        let last_use = stored.last_use;
        // It is computed again from its children, whenever it is read.
        let recipe = limit.recipes[at / num_blocks].expect("it was found there");
        for slot in recipe.children.into_iter().filter_map(Vector::slot) {
            let child = self.stored[slot as usize * num_blocks + at % num_blocks].as_mut();
            child.into_iter().for_each(|child| child.last_use = child.last_use.max(last_use));
        }
        self.add_work(at, work as isize);
        true
    }

    /// Adds the work for a block of a vector to that of the forgotten vectors which are computed from it.
    fn add_work(&mut self, mut at: usize, work: isize) {
        let num_blocks = self.lens.len();
        let Some(limit) = &self.limit else { return };
        for _ in 0..MOST_ANCESTORS {
            let slot = (at / num_blocks) as u32;
            let Some(&reader) = limit.readers.get(slot as usize) else { return };
            let recipe = limit.recipes.get(reader as usize).copied().flatten();
            if !recipe.is_some_and(|recipe| recipe.children.contains(&Vector::Clv(slot))) {
                return;
            }
            at = reader as usize * num_blocks + at % num_blocks;
            match &mut self.stored[at] {
                Some(stored) if !stored.is_present => {
                    stored.work = stored.work.saturating_add_signed(work);
                }
                _ => return,
            }
        }
    }

    /// Gives back space of rows.
    fn free(&mut self, rows: Rows) {
        self.limit.iter_mut().for_each(|limit| limit.used -= rows.bytes());
    }

    fn at(&self, block: usize, slot: u32) -> usize {
        slot as usize * self.lens.len() + block
    }

    fn get(&self, block: usize, slot: u32) -> &Stored {
        self.stored[self.at(block, slot)].as_ref().expect("a vector is written before it is read")
    }

    /// The classes of a vector, if it has any.
    fn classes(&self, block: usize, slot: u32) -> Option<Child<'_>> {
        let stored = self.get(block, slot);
        stored.of_patterns.is_none().then(|| stored.repeats.as_child())
    }

    /// A vector, to be read.
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

    /// Takes out a vector that is to be written from two others, with its classes counted and space for its rows.
    /// `tip` gives the classes of a tip.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn take<'a>(
        &mut self,
        block: usize,
        slot: u32,
        children: [Vector; 2],
        tip: impl Fn(u32) -> Child<'a>,
        counter: &mut Counter,
    ) -> Result<Box<Stored>> {
        let at = self.at(block, slot);
        let mut stored = self.stored[at].take().unwrap_or_default();
        let mut last_name = self.last_name;
        let child = |vector| match vector {
            Vector::Tip(number) => Some(tip(number)),
            Vector::Clv(slot) => self.classes(block, slot),
            Vector::Temporary(_) => unreachable!("temporaries are replaced by slots"),
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

    /// Gives a vector space for a row per class.
    fn make_classes(&mut self, block: usize, stored: &mut Stored, num_rows: usize) -> Result<()> {
        self.spare[block].extend(stored.of_patterns.take());
        let capacity = stored.of_classes.capacity(self.dims);
        if num_rows > capacity || capacity > 2 * num_rows.max(GRAIN) {
            self.free(std::mem::take(&mut stored.of_classes));
            stored.of_classes = self.allocate(num_rows.next_multiple_of(GRAIN))?;
        }
        Ok(())
    }

    /// Gives a vector space for a row per pattern.
    fn make_patterns(&mut self, block: usize, stored: &mut Stored) -> Result<()> {
        if stored.of_patterns.is_none() {
            let len = self.lens[block];
            if 2 * stored.of_classes.capacity(self.dims) > len {
                self.free(std::mem::take(&mut stored.of_classes));
            }
            let spare = self.spare[block].pop();
            stored.of_patterns = Some(spare.map_or_else(|| self.allocate(len), Ok)?);
        }
        Ok(())
    }

    /// Puts back a vector that was written.
    pub(super) fn put(&mut self, block: usize, slot: u32, mut stored: Box<Stored>) {
        let len = stored.num_rows(self.lens[block]) * self.dims.scalers();
        let was_forgotten = !std::mem::replace(&mut stored.is_present, true);
        let work = stored.work as isize;
        if let Some(limit) = &mut self.limit {
            limit.now += 1;
            limit.updates[0] += 1;
            stored.last_use = limit.now;
        }
        stored.is_scaled = stored.rows().scaler[..len].iter().fold(0, |all, count| all | count) > 0;
        let at = self.at(block, slot);
        self.stored[at] = Some(stored);
        if was_forgotten && self.limit.is_some() {
            self.add_work(at, -work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: Dims = Dims { num_states: 4, num_rates: 1, num_codes: 64, rate_scalers: false };
    const LEN: usize = 64;

    /// Writes a vector of a gene with three tips, of which the last differs in all patterns; returns its number
    /// of rows.
    fn write(vectors: &mut Vectors, slot: u32, children: [Vector; 2]) -> usize {
        let tips = [2, 3, LEN].map(|period| -> Vec<Code> {
            (0..LEN).map(|pattern| (pattern % period) as Code).collect()
        });
        let tip = |tip: u32| Child {
            name: u64::from(tip),
            classes: &tips[tip as usize],
            num_classes: LEN,
        };
        let mut counter = Counter::default();
        let mut stored = vectors.take(0, slot, children, tip, &mut counter).unwrap();
        let num_rows = stored.output(DIMS, LEN).num_rows;
        vectors.put(0, slot, stored);
        assert_eq!(vectors.rows(0, slot).scaler.len(), num_rows);
        num_rows
    }

    /// Number of rows for which there is space.
    fn space(vectors: &Vectors) -> usize {
        let all = vectors.stored.iter().flatten();
        let buffers = all.flat_map(|stored| stored.of_patterns.iter().chain([&stored.of_classes]));
        buffers.chain(vectors.spare.iter().flatten()).map(|rows| rows.capacity(DIMS)).sum()
    }

    #[test]
    fn vectors_lend_each_other_their_rows_of_patterns() {
        let mut vectors = Vectors::new(DIMS, vec![LEN], 3);
        vectors.reserve(3).unwrap();
        let [a, b, c] = [0, 1, 2].map(Vector::Tip);
        assert_eq!(write(&mut vectors, 0, [a, b]), 6);
        assert_eq!(space(&vectors), GRAIN);
        assert_eq!(write(&mut vectors, 1, [a, c]), LEN);
        assert_eq!(space(&vectors), GRAIN + LEN);
        // The first vector is turned away from a part of the tree without repeats, and back.
        assert_eq!(write(&mut vectors, 0, [Vector::Clv(1), a]), LEN);
        assert_eq!(write(&mut vectors, 0, [a, b]), 6);
        assert_eq!(write(&mut vectors, 2, [Vector::Clv(1), Vector::Clv(0)]), LEN);
        assert_eq!(space(&vectors), GRAIN + 2 * LEN);
        vectors.ignore_repeats();
        assert_eq!(write(&mut vectors, 0, [a, b]), LEN);
    }
}
