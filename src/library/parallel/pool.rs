//! Persistent workers that run one closure at a time, each with its own worker number.
//!
//! Waiting is done by spinning for a short time and parking after that; when there are more workers
//! than cores they park at once. They are pinned to cores if no other pool is (see `pin`).
//!
//! While working together is slower than one thread would be (see `pace`), the calling thread runs all
//! shares ("solo"). This is sound because the result of a share never depends on who computes it.

use super::assign::UnitCost;
use super::pace::{CLOCK_INTERVAL, Pace, Timed, Turn};
use super::pin::Claim;
use super::sync::{AtomicBool, AtomicUsize, Builder, JoinHandle, Ordering, Parker, Unparker};
use super::team::{Barrier, Rehearsal, Team, spin_until};
use crossbeam::utils::CachePadded;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Job = *const (dyn Fn(usize) + Sync);

struct Shared {
    /// Number of jobs started so far; a worker that sees it change takes part in the job.
    epoch: CachePadded<AtomicUsize>,
    /// Workers that have not finished the current job.
    remaining: CachePadded<AtomicUsize>,
    job: UnsafeCell<Option<Job>>,
    stop: AtomicBool,
    panicked: AtomicBool,
    caller: Unparker,
    spin: Duration,
}

// SAFETY: `job` is written only by `Pool::start` while `remaining` is 0, when no worker reads it, and
// the release store of `epoch` that follows makes the write visible to every reader.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}
// SAFETY: the raw pointer in `job` points to a `Sync` closure and is only used as a shared reference.
#[allow(unsafe_code)]
unsafe impl Send for Shared {}

/// Worker threads for one computation; worker 0 is the thread that calls [`Pool::run`].
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    wakers: Vec<Unparker>,
    parker: Parker,
    pace: Pace,
    num_workers: usize,
    /// Runs all shares on the calling thread.
    rehearsal: Option<Arc<dyn Rehearsal>>,
    born: Instant,
    /// Keeps other pools from pinning their workers to the same cores.
    _claim: Option<Claim>,
}

/// How long a waiting thread spins before it parks. A region of one Newton step takes 5 to 50 µs.
/// Where schedules are tried, no other thread would go on meanwhile.
const SPIN: Duration = Duration::from_micros(if cfg!(all(test, shuttle)) { 0 } else { 100 });

impl Pool {
    /// A pool of `num_workers` workers (at least 1), of which `num_workers - 1` are new threads.
    pub fn new(num_workers: usize) -> Self {
        Self::with_cores(num_workers, Claim::new(num_workers))
    }

    /// The same, of workers that are never pinned: for a pool that works while another one waits.
    pub(crate) fn beside_another(num_workers: usize) -> Self {
        Self::with_cores(num_workers, None)
    }

    fn with_cores(num_workers: usize, claim: Option<Claim>) -> Self {
        let cores = super::available_cores();
        let fits = num_workers <= cores;
        let parker = Parker::new();
        let shared = Arc::new(Shared {
            epoch: CachePadded::new(AtomicUsize::new(0)),
            remaining: CachePadded::new(AtomicUsize::new(0)),
            job: UnsafeCell::new(None),
            stop: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            caller: parker.unparker().clone(),
            spin: if fits { SPIN } else { Duration::ZERO },
        });
        let mut threads = Vec::new();
        let mut wakers = Vec::new();
        for worker in 1..num_workers.max(1) {
            let shared = Arc::clone(&shared);
            let parker = Parker::new();
            wakers.push(parker.unparker().clone());
            let core = claim.as_ref().and_then(|claim| claim.core(worker));
            let thread = Builder::new()
                .name(format!("worker {worker}"))
                .spawn(move || {
                    if let Some(core) = core {
                        core_affinity::set_for_current(core);
                    }
                    work(worker, &shared, &parker);
                })
                .expect("the system can start a thread");
            threads.push(thread);
        }
        Pool {
            shared,
            threads,
            wakers,
            parker,
            pace: Pace::new(num_workers),
            num_workers: num_workers.max(1),
            rehearsal: None,
            born: Instant::now(),
            _claim: claim,
        }
    }

    /// A pool without any thread.
    pub fn rehearsing(num_workers: usize, rehearsal: Arc<dyn Rehearsal>) -> Self {
        let mut pool = Pool::new(1);
        (pool.num_workers, pool.rehearsal) = (num_workers.max(1), Some(rehearsal));
        pool
    }

    /// Number of workers, the caller included.
    pub fn num_workers(&self) -> usize {
        self.num_workers
    }

    /// Runs `job(worker)` once for every worker number and returns when all have finished. `loads` says
    /// what each worker has to do, in any measure; that need not be exact.
    pub fn run(&mut self, loads: &[UnitCost], job: &(dyn Fn(usize) + Sync)) {
        assert_eq!(loads.len(), self.num_workers(), "a load per worker");
        if is_for_one(loads) {
            (0..loads.len()).for_each(job);
            return;
        }
        if let Some(rehearsal) = &self.rehearsal {
            rehearsal.begin(loads.len());
            (0..loads.len()).for_each(|worker| rehearsal.share(worker, &mut || job(worker)));
            rehearsal.meet();
            rehearsal.end();
            return;
        }
        let turn = self.pace.turn();
        if turn == Turn::Solo {
            (0..loads.len()).for_each(job);
            self.pace.count_solo(1, || self.born.elapsed());
            return;
        }
        let started = Instant::now();
        let own = match turn {
            Turn::Together => self.run_together(job, started),
            _ => {
                job(0);
                let own = started.elapsed();
                (1..loads.len()).for_each(job);
                own
            }
        };
        self.count(started, own, loads);
    }

    /// Each worker first does `prepare`, and then takes one piece of work after the other by `take`, until that says that
    /// nothing is left. Always on all threads, because a slow one leaves its work to the others.
    pub(crate) fn deal(
        &mut self,
        prepare: &(dyn Fn(usize) + Sync),
        take: &(dyn Fn(usize) -> bool + Sync),
    ) {
        let Some(rehearsal) = &self.rehearsal else {
            let job = |worker| {
                prepare(worker);
                while take(worker) {}
            };
            self.run_together(&job, Instant::now());
            return;
        };
        rehearsal.begin(self.num_workers);
        for worker in 0..self.num_workers {
            rehearsal.share(worker, &mut || prepare(worker));
        }
        let mut is_left = true;
        while let Some(worker) = rehearsal.first_idle(&|_| is_left) {
            rehearsal.share(worker, &mut || is_left = take(worker));
        }
        rehearsal.meet();
        rehearsal.end();
    }

    /// A pool of so many workers that are threads if those of this one are.
    pub(crate) fn like(&self, num_workers: usize) -> Self {
        match &self.rehearsal {
            Some(rehearsal) => Pool::rehearsing(num_workers, Arc::clone(rehearsal)),
            None => Pool::new(num_workers),
        }
    }

    /// What runs the shares, if the workers are no threads.
    pub(crate) fn rehearsal(&self) -> Option<&Arc<dyn Rehearsal>> {
        self.rehearsal.as_ref()
    }

    /// True if a team with these loads, formed now, would have several threads.
    pub(crate) fn has_company(&self, loads: &[UnitCost]) -> bool {
        !is_for_one(loads) && self.rehearsal.is_none() && self.pace.turn() == Turn::Together
    }

    /// Runs `job` once on every thread of a team whose members are the workers, and returns when all have finished.
    /// `loads` as in [`Pool::run`].
    pub(crate) fn run_team(&mut self, loads: &[UnitCost], job: &(dyn Fn(&mut Team) + Sync)) {
        let size = self.num_workers();
        assert_eq!(loads.len(), size, "a load per worker");
        if is_for_one(loads) {
            job(&mut Team::alone(size));
            return;
        }
        if let Some(rehearsal) = &self.rehearsal {
            rehearsal.begin(size);
            job(&mut Team::rehearsed(size, &**rehearsal));
            rehearsal.end();
            return;
        }
        let started = Instant::now();
        let own = match self.pace.turn() {
            Turn::Solo => {
                job(&mut Team::alone(size));
                self.pace.count_solo(CLOCK_INTERVAL, || self.born.elapsed());
                return;
            }
            Turn::Together => {
                let barrier = Barrier::new(size, self.shared.spin);
                let member = |worker| job(&mut Team::member(worker, &barrier));
                self.run_together(&member, started).saturating_sub(barrier.waited())
            }
            Turn::Trial => {
                job(&mut Team::alone(size));
                started.elapsed().mul_f64(loads[0] as f64 / loads.iter().sum::<UnitCost>() as f64)
            }
        };
        self.count(started, own, loads);
    }

    /// Tells the pace of a region, in which the caller worked for the time `own`.
    fn count(&mut self, started: Instant, own: Duration, loads: &[UnitCost]) {
        let ended = Instant::now();
        let shares = loads.iter().sum::<UnitCost>() as f64 / loads[0] as f64;
        self.pace.count(ended - self.born, Timed { own, wall: ended - started, shares });
    }

    /// Runs the caller's share while the workers run theirs; says how long the caller worked.
    pub(super) fn run_together(
        &mut self,
        job: &(dyn Fn(usize) + Sync),
        started: Instant,
    ) -> Duration {
        self.start(job);
        let mine = catch_unwind(AssertUnwindSafe(|| job(0)));
        let own = started.elapsed();
        self.wait();
        if let Err(panic) = mine {
            std::panic::resume_unwind(panic);
        }
        assert!(!self.shared.panicked.load(Ordering::Relaxed), "a worker thread panicked");
        own
    }

    #[allow(unsafe_code)]
    fn start(&mut self, job: &(dyn Fn(usize) + Sync)) {
        // SAFETY: no worker reads `job` now: `remaining` was seen to be 0 by the wait of the last
        // region. The lifetime is erased by the transmute, and stays valid because `run_together` does not
        // return (nor unwind) before `wait` has seen all workers finish.
        unsafe {
            *self.shared.job.get() =
                Some(std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Job>(job));
        }
        self.shared.remaining.store(self.threads.len(), Ordering::Relaxed);
        self.shared.epoch.fetch_add(1, Ordering::Release);
        self.wakers.iter().for_each(Unparker::unpark);
    }

    fn wait(&self) {
        let finished = || self.shared.remaining.load(Ordering::Acquire) == 0;
        if !spin_until(finished, self.shared.spin) {
            while !finished() {
                self.parker.park();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.epoch.fetch_add(1, Ordering::Release);
        self.wakers.iter().for_each(Unparker::unpark);
        for thread in self.threads.drain(..) {
            // A worker only ends by its loop's return; its panics were caught there.
            let _ = thread.join();
        }
    }
}

/// True if no more than one worker has work.
fn is_for_one(loads: &[UnitCost]) -> bool {
    loads.iter().filter(|&&load| load > 0).count() <= 1
}

#[allow(unsafe_code)]
fn work(worker: usize, shared: &Shared, parker: &Parker) {
    let mut seen = 0;
    loop {
        let changed = || shared.epoch.load(Ordering::Acquire) != seen;
        if !spin_until(changed, shared.spin) {
            while !changed() {
                parker.park();
            }
        }
        seen += 1;
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: the acquire load of `epoch` saw the increment that followed the write of `job`;
        // the closure outlives the region, and the region lasts until this worker has decremented
        // `remaining` below.
        let job = unsafe { &*(*shared.job.get()).expect("a job was set before the epoch changed") };
        if catch_unwind(AssertUnwindSafe(|| job(worker))).is_err() {
            shared.panicked.store(true, Ordering::Relaxed);
        }
        if shared.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            shared.caller.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fewer where an interpreter runs the test.
    const JOBS: usize = if cfg!(miri) { 30 } else { 2000 };

    #[test]
    fn every_worker_runs_every_job_once() {
        for num_workers in [1, 2, 3, 5] {
            let mut pool = Pool::new(num_workers);
            let counts: Vec<AtomicUsize> = (0..num_workers).map(|_| AtomicUsize::new(0)).collect();
            for _ in 0..JOBS {
                pool.run(&vec![1; num_workers], &|worker| {
                    counts[worker].fetch_add(1, Ordering::Relaxed);
                });
            }
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == JOBS));
        }
    }

    #[test]
    fn workers_deal_all_pieces_among_themselves_after_each_has_prepared() {
        for num_workers in [1, 2, 3, 5] {
            let mut pool = Pool::new(num_workers);
            for pieces in [0, 1, JOBS] {
                let (prepared, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
                let prepare = |_| {
                    prepared.fetch_add(1, Ordering::Relaxed);
                };
                pool.deal(&prepare, &|_| {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    done.get(piece).map(|done| done.fetch_add(1, Ordering::Relaxed)).is_some()
                });
                assert_eq!(prepared.into_inner(), num_workers);
                assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    #[should_panic(expected = "a worker thread panicked")]
    fn a_panic_in_a_worker_reaches_the_caller() {
        Pool::new(2).run(&[1, 1], &|worker| assert_eq!(worker, 0));
    }
}
