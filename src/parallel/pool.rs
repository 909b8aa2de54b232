//! Persistent workers that run one closure at a time, each with its own worker number.
//!
//! Waiting is done by spinning for a short time and parking after that; when there are more workers
//! than cores they park at once. Workers other than the caller are pinned, one per core.
//!
//! When another process takes one of the cores, everybody would wait for the slowest worker. The
//! pool notices that the caller waits more than it works, and then runs all shares on the calling
//! thread for a while ("solo"), which the operating system can move to a free core. This is sound
//! because the result of a share never depends on who computes it.

use crossbeam::sync::{Parker, Unparker};
use crossbeam::utils::CachePadded;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

// SAFETY: `job` is written only by `Pool::run` while `remaining` is 0, when no worker reads it, and
// the release store of `epoch` that follows makes the write visible to every reader.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}
// SAFETY: the raw pointer in `job` points to a `Sync` closure and is only used as a shared reference.
#[allow(unsafe_code)]
unsafe impl Send for Shared {}

/// Worker threads for one computation; worker 0 is the thread that calls [`Pool::run`].
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<std::thread::JoinHandle<()>>,
    wakers: Vec<Unparker>,
    parker: Parker,
    pace: Pace,
}

/// How long a waiting thread spins before it parks. A region of one Newton step takes 5 to 50 µs.
const SPIN: Duration = Duration::from_micros(100);

impl Pool {
    /// A pool of `num_workers` workers (at least 1), of which `num_workers - 1` are new threads.
    /// They are pinned only if `pin` is true and there are no more workers than cores.
    pub fn new(num_workers: usize, pin: bool) -> Self {
        let cores = super::available_cores();
        let fits = num_workers <= cores;
        let core_ids = core_affinity::get_core_ids().unwrap_or_default();
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
            // The caller stays unpinned: it is the thread that can flee from a busy core.
            let core = core_ids.get(worker).copied().filter(|_| pin && fits);
            let thread = std::thread::Builder::new()
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
        Pool { shared, threads, wakers, parker, pace: Pace::new() }
    }

    /// Number of workers, the caller included.
    pub fn num_workers(&self) -> usize {
        self.threads.len() + 1
    }

    /// Runs `job(worker)` once for every worker number and returns when all have finished.
    pub fn run(&mut self, job: &(dyn Fn(usize) + Sync)) {
        let num_workers = self.num_workers();
        if num_workers == 1 {
            job(0);
            return;
        }
        if self.pace.is_solo() {
            (0..num_workers).for_each(job);
            self.pace.count_solo_region();
            return;
        }
        let started = Instant::now();
        self.start(job);
        let mine = catch_unwind(AssertUnwindSafe(|| job(0)));
        let worked = started.elapsed();
        self.wait();
        self.pace.count_region(worked, started.elapsed());
        if let Err(panic) = mine {
            std::panic::resume_unwind(panic);
        }
        assert!(!self.shared.panicked.load(Ordering::Relaxed), "a worker thread panicked");
    }

    #[allow(unsafe_code)]
    fn start(&mut self, job: &(dyn Fn(usize) + Sync)) {
        // SAFETY: no worker reads `job` now: `remaining` was seen to be 0 by the wait of the last
        // region. The lifetime is erased by the transmute, and stays valid because `run` does not
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

/// Spins until `done` or until the time is up; says whether it is done.
fn spin_until(done: impl Fn() -> bool, limit: Duration) -> bool {
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

/// Decides between running on all workers and running solo, from the time the caller waits.
struct Pace {
    worked: Duration,
    total: Duration,
    solo_until: Option<Instant>,
    solo_length: Duration,
    regions: u32,
}

impl Pace {
    /// The caller's waiting is judged over this much time.
    const WINDOW: Duration = Duration::from_millis(4);
    const SHORTEST_SOLO: Duration = Duration::from_millis(40);
    const LONGEST_SOLO: Duration = Duration::from_millis(320);

    fn new() -> Self {
        Pace {
            worked: Duration::ZERO,
            total: Duration::ZERO,
            solo_until: None,
            solo_length: Self::SHORTEST_SOLO,
            regions: 0,
        }
    }

    fn is_solo(&self) -> bool {
        self.solo_until.is_some()
    }

    fn count_solo_region(&mut self) {
        self.regions += 1;
        // The clock is read now and then only: regions may take less than a microsecond.
        if self.regions.is_multiple_of(16)
            && self.solo_until.is_some_and(|end| Instant::now() >= end)
        {
            self.solo_until = None;
        }
    }

    fn count_region(&mut self, worked: Duration, total: Duration) {
        self.worked += worked;
        self.total += total;
        if self.total < Self::WINDOW {
            return;
        }
        // More waiting than work: all shares on this thread take less time than waiting for the
        // others, if shares are equal.
        if self.worked * 2 < self.total {
            self.solo_until = Some(Instant::now() + self.solo_length);
            self.solo_length = (self.solo_length * 2).min(Self::LONGEST_SOLO);
        } else {
            self.solo_length = Self::SHORTEST_SOLO;
        }
        self.worked = Duration::ZERO;
        self.total = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_runs_every_job_once() {
        for num_workers in [1, 2, 3, 5] {
            let mut pool = Pool::new(num_workers, true);
            let counts: Vec<AtomicUsize> = (0..num_workers).map(|_| AtomicUsize::new(0)).collect();
            for _ in 0..2000 {
                pool.run(&|worker| {
                    counts[worker].fetch_add(1, Ordering::Relaxed);
                });
            }
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 2000));
        }
    }

    #[test]
    #[should_panic(expected = "a worker thread panicked")]
    fn a_panic_in_a_worker_reaches_the_caller() {
        Pool::new(2, false).run(&|worker| assert_eq!(worker, 0));
    }
}
