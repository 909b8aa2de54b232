//! Vectors with limited memory: which are forgotten, and how they are computed again.
//!
//! Which, follows from the time since their last use and from the rows that must be computed to have them again, relative
//! to their own: as in the recomputation of Izquierdo-Carrasco, Gagneur & Stamatakis 2012 (HPDC'12), vectors of large
//! subtrees whose children are forgotten as well are kept.

use super::vectors::{Limit, Stored, Vectors};
use crate::likelihood::engine::{Operation, Vector};

/// Forgotten vectors on the way to the root whose work is corrected at a time.
const MOST_ANCESTORS: usize = 64;

/// Number of vectors that are compared when one is to be forgotten.
const CANDIDATES: usize = 8;

impl Vectors {
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

    /// True if so many bytes more are beyond the limit.
    pub(super) fn is_too_much(&self, more: usize) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.used + more > limit.bytes)
    }

    /// Forgets rows of one vector; false if none can be forgotten.
    pub(super) fn forget(&mut self) -> bool {
        if let Some(rows) = self.spare.iter_mut().find_map(Vec::pop) {
            self.free(rows);
            return true;
        }
        let Some((at, recipe, work)) = self.choose() else { return false };
        let num_blocks = self.lens.len();
        let Some(stored) = self.stored[at].as_mut() else { return false };
        let rows = [Some(std::mem::take(&mut stored.of_classes)), stored.of_patterns.take()];
        (stored.is_present, stored.work) = (false, work);
        let last_use = stored.last_use;
        // It is computed again from its children, whenever it is read.
        for slot in recipe.children.into_iter().filter_map(Vector::slot) {
            let child = self.stored[slot as usize * num_blocks + at % num_blocks].as_mut();
            child.into_iter().for_each(|child| child.last_use = child.last_use.max(last_use));
        }
        rows.into_iter().flatten().for_each(|rows| self.free(rows));
        self.add_work(at, work as isize);
        true
    }

    /// Among the next few vectors that can be forgotten, the best to forget: its index, how it is computed, and the work
    /// that this takes.
    fn choose(&mut self) -> Option<(usize, Operation, usize)> {
        let num_blocks = self.lens.len();
        let limit = self.limit.as_mut()?;
        let end = self.stored.len().min(limit.recipes.len() * num_blocks);
        let mut best: Option<(f64, (usize, Operation, usize))> = None;
        let mut found = 0;
        for _ in 0..end {
            let at = limit.hand % end;
            limit.hand = at + 1;
            let stored = self.stored[at].as_deref();
            let can_go = |stored: &&Stored| stored.is_present && !stored.is_pinned;
            let Some(stored) = stored.filter(can_go) else { continue };
            let Some(recipe) = limit.recipes[at / num_blocks] else { continue };
            let of_child = |slot: u32| {
                let child = self.stored[slot as usize * num_blocks + at % num_blocks].as_ref();
                child.filter(|child| !child.is_present).map_or(0, |child| child.work)
            };
            let forgotten = recipe.children.into_iter().filter_map(Vector::slot).map(of_child);
            let work = forgotten.fold(stored.bytes(), usize::saturating_add);
            let age = (limit.now - stored.last_use + 1) as f64;
            let gain = age * stored.bytes() as f64 / work as f64;
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, (at, recipe, work)));
            }
            found += 1;
            if found == CANDIDATES {
                break;
            }
        }
        best.map(|(_, best)| best)
    }

    /// Adds the work for a block of a vector to that of the forgotten vectors which are computed from it.
    pub(super) fn add_work(&mut self, mut at: usize, work: isize) {
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
}
