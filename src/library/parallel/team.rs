//! A team: the workers go through the same computation together, each with its own share of every part, and meet
//! where they need what the others have computed.
//!
//! All members take the same decisions from the same numbers, so no one tells the others what to do next: a meeting
//! is one barrier, whereas a region of its own for each part would also have to start the workers. A thread may stand
//! for several members, whose shares it computes one after the other.

use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering};
use crossbeam::utils::CachePadded;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A member has left the team, because it failed or panicked: there will be no further meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Abandoned;

/// What runs the shares of workers that are no threads, one after the other: a measurement of them
/// (`benches/threads.rs`).
pub trait Rehearsal: Send + Sync {
    /// A region with so many workers begins, which may be in the share of a worker of another one.
    fn begin(&self, num_workers: usize);
    /// A part of a worker's share begins.
    fn begin_share(&self, worker: usize);
    /// It ends.
    fn end_share(&self, worker: usize);
    /// Runs a part of a worker's share.
    fn share(&self, worker: usize, part: &mut dyn FnMut()) {
        self.begin_share(worker);
        part();
        self.end_share(worker);
    }
    /// Does what is to be done only in a rehearsal, with shares in between.
    fn aside(&self, part: &mut dyn FnMut());
    /// Of the workers for whom there is work, the one who would be the first to have done what it has been given since all met.
    fn first_idle(&self, has_work: &dyn Fn(usize) -> bool) -> Option<usize>;
    /// All workers would meet here.
    fn meet(&self);
    /// The region ends.
    fn end(&self);
}

/// The part of a thread in a team.
pub(crate) struct Team<'a> {
    /// The members for which this thread stands.
    members: Range<usize>,
    meetings: Meetings<'a>,
}

enum Meetings<'a> {
    /// One thread stands for all members.
    Alone,
    /// As before, and this runs the shares.
    Rehearsed(&'a dyn Rehearsal),
    /// The members are threads.
    Barrier(&'a Barrier),
}

impl<'a> Team<'a> {
    /// A thread that stands for all members.
    pub(super) fn alone(size: usize) -> Self {
        Team { members: 0..size, meetings: Meetings::Alone }
    }

    /// A thread that stands for all members, whose shares this runs.
    pub(super) fn rehearsed(size: usize, rehearsal: &'a dyn Rehearsal) -> Self {
        Team { members: 0..size, meetings: Meetings::Rehearsed(rehearsal) }
    }

    /// A thread that is one member.
    pub(super) fn member(member: usize, barrier: &'a Barrier) -> Self {
        Team { members: member..member + 1, meetings: Meetings::Barrier(barrier) }
    }

    /// True for one of the threads of the team.
    pub(crate) fn leads(&self) -> bool {
        self.members.start == 0
    }

    /// Computes the shares of this thread's members.
    ///
    /// # Errors
    /// That of the first share that failed; the team must then be [left](Team::leave).
    pub(crate) fn share<E>(
        &mut self,
        mut work: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        for member in self.members.clone() {
            match self.meetings {
                Meetings::Rehearsed(rehearsal) => {
                    let mut result = Ok(());
                    rehearsal.share(member, &mut || result = work(member));
                    result?;
                }
                _ => work(member)?,
            }
        }
        Ok(())
    }

    /// Waits for the other members. What they have written before is then visible.
    pub(crate) fn meet(&mut self) -> Result<(), Abandoned> {
        match &mut self.meetings {
            Meetings::Alone => Ok(()),
            Meetings::Rehearsed(rehearsal) => {
                rehearsal.meet();
                Ok(())
            }
            Meetings::Barrier(barrier) => barrier.wait(self.members.start == 0),
        }
    }

    /// Leaves the team, so that nobody waits for this member.
    pub(crate) fn leave(&self) {
        if let Meetings::Barrier(barrier) = &self.meetings {
            barrier.abandon();
        }
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.leave();
        }
    }
}

/// A barrier for a fixed number of threads, used again and again. Threads spin for a short time and sleep after that.
pub(super) struct Barrier {
    size: usize,
    spin: Duration,
    /// Number of arrivals at all meetings so far.
    arrivals: CachePadded<AtomicUsize>,
    is_abandoned: AtomicBool,
    /// Nanoseconds for which the leader has waited.
    waited: AtomicU64,
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    /// For `size` threads that spin for `spin` before they sleep.
    pub(super) fn new(size: usize, spin: Duration) -> Self {
        Barrier {
            size,
            spin,
            arrivals: CachePadded::new(AtomicUsize::new(0)),
            is_abandoned: AtomicBool::new(false),
            waited: AtomicU64::new(0),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// For how long the leader has waited for others.
    pub(super) fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }

    /// Waits until all threads have arrived. Only the leader looks at the clock.
    fn wait(&self, is_leader: bool) -> Result<(), Abandoned> {
        // Arrivals never go beyond the present meeting, because everybody waits for its last.
        let before = self.arrivals.fetch_add(1, Ordering::SeqCst);
        let all = (before / self.size + 1) * self.size;
        if before + 1 == all {
            self.wake_sleepers();
        } else {
            let started = is_leader.then(Instant::now);
            let is_over = || {
                self.arrivals.load(Ordering::SeqCst) >= all
                    || self.is_abandoned.load(Ordering::SeqCst)
            };
            if !spin_until(is_over, self.spin) {
                self.sleep_until(is_over);
            }
            if let Some(started) = started {
                let nanoseconds = started.elapsed().as_nanos() as u64;
                self.waited.fetch_add(nanoseconds, Ordering::Relaxed);
            }
        }
        // A meeting to which all have come has taken place, even if somebody has left since.
        if self.arrivals.load(Ordering::SeqCst) >= all { Ok(()) } else { Err(Abandoned) }
    }

    /// A thread will not arrive any more.
    fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        self.wake_sleepers();
    }

    /// To be called after what the sleepers wait for: either this sees a sleeper, or the sleeper, which looks once
    /// more after it has counted itself, sees that.
    fn wake_sleepers(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _guard = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.wake.notify_all();
        }
    }

    fn sleep_until(&self, is_over: impl Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !is_over() {
            guard = self.wake.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Spins until `done` or until the time is up; says whether it is done.
pub(super) fn spin_until(done: impl Fn() -> bool, limit: Duration) -> bool {
    if done() {
        return true;
    }
    if limit.is_zero() {
        return false;
    }
    let started = Instant::now();
    loop {
        for _ in 0..64 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if started.elapsed() > limit {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pool;
    use super::*;
    use std::sync::Arc;

    /// Each member leaves a number at each of many meetings; all add them up.
    fn add_up(pool: &mut Pool, size: usize) -> Vec<usize> {
        const MEETINGS: usize = if cfg!(miri) { 10 } else { 500 };
        let places: [Vec<AtomicUsize>; 2] =
            [(); 2].map(|()| (0..size).map(|_| AtomicUsize::new(0)).collect());
        let totals = Mutex::new(Vec::new());
        pool.run_team(&vec![1; size], &|team| {
            let mut total = 0;
            for meeting in 0..MEETINGS {
                let leave = |member: usize| -> Result<(), Abandoned> {
                    let number = meeting * (member + 1) + total % 7;
                    places[meeting % 2][member].store(number, Ordering::Relaxed);
                    Ok(())
                };
                team.share(leave).unwrap();
                team.meet().unwrap();
                let numbers = places[meeting % 2].iter().map(|n| n.load(Ordering::Relaxed));
                total += numbers.sum::<usize>();
            }
            totals.lock().unwrap().push(total);
        });
        totals.into_inner().unwrap()
    }

    #[test]
    fn all_threads_have_the_numbers_of_all_members_after_a_meeting() {
        for size in [1, 2, 3, 5] {
            let expected = add_up(&mut Pool::rehearsing(size, Arc::new(Told::default())), size);
            assert_eq!(expected.len(), 1);
            let mut pool = Pool::new(size);
            for _ in 0..if cfg!(miri) { 2 } else { 20 } {
                // As many threads as the pace allows.
                let totals = add_up(&mut pool, size);
                assert!(totals.iter().all(|total| *total == expected[0]), "{size}: {totals:?}");
            }
        }
    }

    #[test]
    fn nobody_waits_for_a_member_that_has_left() {
        for size in [2, 4] {
            let abandoned = AtomicUsize::new(0);
            let barrier = Barrier::new(size, Duration::from_micros(50));
            std::thread::scope(|scope| {
                for member in 0..size {
                    let (barrier, abandoned) = (&barrier, &abandoned);
                    scope.spawn(move || {
                        let mut team = Team::member(member, barrier);
                        for meeting in 0..100 {
                            if (member, meeting) == (1, 70) {
                                std::thread::sleep(Duration::from_millis(2));
                                team.leave();
                                return;
                            }
                            if team.meet() == Err(Abandoned) {
                                assert_eq!(meeting, 70);
                                abandoned.fetch_add(1, Ordering::Relaxed);
                                return;
                            }
                        }
                    });
                }
            });
            assert_eq!(abandoned.into_inner(), size - 1);
        }
    }

    #[test]
    #[should_panic(expected = "a worker thread panicked")]
    fn a_panic_in_a_member_ends_all() {
        Pool::new(2).run_team(&[1, 1], &|team| {
            let fail = |member| {
                assert_eq!(member, 0);
                Ok::<(), Abandoned>(())
            };
            let _ = team.share(fail);
            let _ = team.meet();
        });
    }

    /// What a rehearsal was told.
    #[derive(Default)]
    struct Told(std::sync::Mutex<String>);

    impl Rehearsal for Told {
        fn begin(&self, num_workers: usize) {
            *self.0.lock().unwrap() += &format!("[{num_workers}]");
        }
        fn begin_share(&self, _: usize) {}
        fn end_share(&self, worker: usize) {
            *self.0.lock().unwrap() += &format!("{worker}");
        }
        fn aside(&self, part: &mut dyn FnMut()) {
            part();
        }
        fn first_idle(&self, has_work: &dyn Fn(usize) -> bool) -> Option<usize> {
            Some(1).filter(|&worker| has_work(worker))
        }
        fn meet(&self) {
            *self.0.lock().unwrap() += "|";
        }
        fn end(&self) {
            *self.0.lock().unwrap() += ".";
        }
    }

    #[test]
    fn a_rehearsal_runs_all_shares_in_order() {
        let told = Arc::new(Told::default());
        let mut pool = Pool::rehearsing(3, Arc::clone(&told) as Arc<dyn Rehearsal>);
        assert_eq!(pool.num_workers(), 3);
        pool.run_team(&[1, 1, 1], &|team| {
            for _ in 0..2 {
                team.share(|_| Ok::<(), Abandoned>(())).unwrap();
                team.meet().unwrap();
            }
        });
        pool.run(&[1, 0, 3], &|_| ());
        // With work for one worker only there is no region.
        pool.run(&[0, 0, 3], &|_| ());
        // Three pieces of work, and the one who finds that nothing is left.
        let left = std::sync::atomic::AtomicI32::new(3);
        let take = |_| left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0;
        pool.deal(&|_| (), &take);
        assert_eq!(*told.0.lock().unwrap(), "[3]012|012|.[3]012|.[3]0121111|.");
    }
}
