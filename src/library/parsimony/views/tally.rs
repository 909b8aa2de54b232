//! How changes are counted at one place after the other: by one thread, or by several that have different columns ([`Race`]).
//!
//! Most places are worse than others that are known by then. Whoever counts stops at a place when it is.

use crate::tree::EdgeId;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Changes at a place.
pub(super) trait Tally {
    /// Counts those of one more block. False if further ones do not matter.
    fn add(&mut self, changes: u32) -> bool;
}

/// What a thread asks at each place.
pub(super) trait Counting {
    /// What it counts by.
    type Tally: Tally;

    /// Begins to count at the next place; `None` if no more places matter. (If there is no place left, the count is not ended.)
    fn begin(&mut self) -> Option<Self::Tally>;

    /// Ends at this place; `None` is the present place of a subtree.
    fn end(&mut self, place: Option<EdgeId>, tally: Self::Tally);
}

/// A count up to a limit, and no further.
pub(super) struct UpTo {
    cost: u64,
    limit: u64,
}

impl Tally for UpTo {
    #[inline(always)]
    fn add(&mut self, changes: u32) -> bool {
        self.cost += u64::from(changes);
        self.cost <= self.limit
    }
}

/// One thread with all columns. Its `visit` gets the places with their costs, and says up to which cost the next ones matter: a cost above
/// that may be too low. If it says nothing, no more places matter.
pub(super) struct Alone<V> {
    limit: Option<u64>,
    visit: V,
}

impl<V: FnMut(Option<EdgeId>, u64) -> Option<u64>> Alone<V> {
    pub(super) fn new(visit: V) -> Self {
        Alone { limit: Some(u64::MAX), visit }
    }
}

impl<V: FnMut(Option<EdgeId>, u64) -> Option<u64>> Counting for Alone<V> {
    type Tally = UpTo;

    fn begin(&mut self) -> Option<UpTo> {
        self.limit.map(|limit| UpTo { cost: 0, limit })
    }

    fn end(&mut self, place: Option<EdgeId>, UpTo { cost, .. }: UpTo) {
        self.limit = (self.visit)(place, cost);
    }
}

/// Several threads, which all count at the same places, one after the other, each at its own pace. A place is visited when all are through
/// with it, in the order of the places: a thread meets only limits that come from places before its own, as one thread alone does.
pub(super) struct Race<'a, V> {
    places: &'a [Option<EdgeId>],
    /// By place: what all have counted so far, and how many threads are not through.
    sums: Vec<(AtomicU64, AtomicUsize)>,
    limit: AtomicU64,
    is_over: AtomicBool,
    /// The number of places that were visited, and what visits them, as that of [`Alone`].
    visited: Mutex<(usize, V)>,
}

impl<'a, V: FnMut(Option<EdgeId>, u64) -> Option<u64>> Race<'a, V> {
    pub(super) fn new(places: &'a [Option<EdgeId>], num_threads: usize, visit: V) -> Self {
        let sum = |_: &_| (AtomicU64::new(0), AtomicUsize::new(num_threads));
        Race {
            places,
            sums: places.iter().map(sum).collect(),
            limit: AtomicU64::new(u64::MAX),
            is_over: AtomicBool::new(false),
            visited: Mutex::new((0, visit)),
        }
    }

    /// For one of the threads.
    pub(super) fn runner(&self) -> Runner<'_, 'a, V> {
        Runner { race: self, number: 0 }
    }

    /// One more thread is through with the place of this number.
    fn pass(&self, number: usize) {
        // Whoever sees that all are through sees what they have counted.
        if self.sums[number].1.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let mut visited = self.visited.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, visit) = &mut *visited;
        while !self.is_over.load(Ordering::Relaxed)
            && self.sums.get(*next).is_some_and(|sum| sum.1.load(Ordering::Acquire) == 0)
        {
            match visit(self.places[*next], self.sums[*next].0.load(Ordering::Relaxed)) {
                Some(limit) => self.limit.store(limit, Ordering::Relaxed),
                None => self.is_over.store(true, Ordering::Relaxed),
            }
            *next += 1;
        }
    }
}

/// A thread of a race.
pub(super) struct Runner<'r, 'a, V> {
    race: &'r Race<'a, V>,
    number: usize,
}

/// Blocks between two looks at what the others have counted.
const BLOCKS_PER_LOOK: u32 = 8;

/// A part of what all threads count at a place.
pub(super) struct PartOf<'r> {
    sum: &'r AtomicU64,
    limit: &'r AtomicU64,
    /// What the others do not know yet, and the number of blocks that were counted.
    own: u64,
    num_blocks: u32,
}

impl Tally for PartOf<'_> {
    #[inline(always)]
    fn add(&mut self, changes: u32) -> bool {
        self.own += u64::from(changes);
        self.num_blocks += 1;
        !self.num_blocks.is_multiple_of(BLOCKS_PER_LOOK) || self.look()
    }
}

impl PartOf<'_> {
    fn look(&mut self) -> bool {
        let own = std::mem::take(&mut self.own);
        let sum = self.sum.fetch_add(own, Ordering::Relaxed) + own;
        sum <= self.limit.load(Ordering::Relaxed)
    }
}

impl<'r, V: FnMut(Option<EdgeId>, u64) -> Option<u64>> Counting for Runner<'r, '_, V> {
    type Tally = PartOf<'r>;

    fn begin(&mut self) -> Option<PartOf<'r>> {
        let Race { sums, limit, is_over, .. } = self.race;
        let (sum, _) = sums.get(self.number).filter(|_| !is_over.load(Ordering::Relaxed))?;
        Some(PartOf { sum, limit, own: 0, num_blocks: 0 })
    }

    fn end(&mut self, _: Option<EdgeId>, mut tally: PartOf) {
        tally.look();
        self.race.pass(self.number);
        self.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    /// A thread: where it is.
    struct Running<C: Counting> {
        counting: C,
        tally: Option<C::Tally>,
        place: usize,
        block: usize,
    }

    /// However the threads overtake each other, each place has its cost, or is above what mattered when it came.
    #[test]
    fn threads_in_any_order_see_the_limits_of_one_thread() {
        let mut rng = stream(8, Purpose::Test, 0);
        let mut too_low = 0;
        for _ in 0..300 {
            let [num_threads, num_places, num_blocks] =
                [3, 30, 40].map(|most| rng.random_range(1..=most));
            let draw = |_| rng.random_range(0..4);
            let changes: Vec<u32> = (0..num_places * num_threads * num_blocks).map(draw).collect();
            let of = |place: usize, thread: usize| {
                &changes[(place * num_threads + thread) * num_blocks..][..num_blocks]
            };
            let cost = |place: usize| -> u64 {
                (0..num_threads).flat_map(|thread| of(place, thread)).map(|&x| u64::from(x)).sum()
            };
            let ends_at = rng.random_range(0..2 * num_places);
            let places: Vec<Option<EdgeId>> =
                (0..num_places as u32).map(|number| Some(EdgeId(number))).collect();
            let (mut next, mut limit) = (0, u64::MAX);
            let race = Race::new(&places, num_threads, |place, found| {
                assert_eq!(place, places[next], "in their order");
                assert!(found == cost(next) || found > limit && cost(next) > limit);
                too_low += usize::from(found < cost(next));
                // The limit is a lowest cost, and any place that has it must be seen.
                limit = limit.min(found);
                next += 1;
                (next <= ends_at).then_some(limit)
            });
            let begin = |_| Running { counting: race.runner(), tally: None, place: 0, block: 0 };
            let mut running: Vec<Option<Running<_>>> =
                (0..num_threads).map(|number| Some(begin(number))).collect();
            while running.iter().any(Option::is_some) {
                let number = rng.random_range(0..num_threads);
                let Some(mut thread) = running[number].take() else { continue };
                let begun = thread.tally.take().or_else(|| {
                    (thread.place < num_places).then(|| thread.counting.begin()).flatten()
                });
                let Some(mut tally) = begun else { continue };
                let goes_on = tally.add(of(thread.place, number)[thread.block]);
                thread.block += 1;
                if goes_on && thread.block < num_blocks {
                    thread.tally = Some(tally);
                } else {
                    thread.counting.end(places[thread.place], tally);
                    (thread.place, thread.block) = (thread.place + 1, 0);
                }
                running[number] = Some(thread);
            }
            drop(running);
            drop(race);
            assert_eq!(next, num_places.min(ends_at + 1));
        }
        assert!(too_low > 100, "{too_low} places were left before their end");
    }
}
