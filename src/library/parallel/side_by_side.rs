//! Independent jobs on threads of their own, for a caller who only waits.

use super::team::Rehearsal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the caller looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(20);

/// Does so many jobs, each on one of the workers, which take them in order. The results are in the order of the jobs. A worker for
/// whom no job is left is given to `leave`, while others may be at work.
///
/// From time to time, `stops` is told how many jobs are done, and says if the rest is to be left out: `work` is given a function
/// that tells this, and may then return `None`, as for jobs that were not begun.
///
/// # Panics
/// If a job does.
pub(crate) fn side_by_side<W: Send, T: Send>(
    workers: impl IntoIterator<Item = W>,
    num_jobs: usize,
    work: impl Fn(&mut W, usize, &dyn Fn() -> bool) -> Option<T> + Sync,
    leave: impl Fn(W) + Sync,
    mut stops: impl FnMut(usize) -> bool,
) -> Vec<Option<T>> {
    let mut results: Vec<Option<T>> = (0..num_jobs).map(|_| None).collect();
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let is_over = || is_stopped.load(Ordering::Relaxed);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for mut worker in workers.into_iter().take(num_jobs) {
            let (sender, next, work, is_over) = (sender.clone(), &next, &work, &is_over);
            let leave = &leave;
            scope.spawn(move || {
                while !is_over() {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= num_jobs {
                        break;
                    }
                    // The caller waits until all senders are gone.
                    let _ = sender.send((job, work(&mut worker, job, is_over)));
                }
                leave(worker);
            });
        }
        drop(sender);
        let mut done = 0;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok((job, result)) => {
                    done += 1;
                    results[job] = result;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if stops(done) {
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    results
}

/// The same by workers that are no threads.
pub(crate) fn rehearsed_side_by_side<W, T>(
    rehearsal: &dyn Rehearsal,
    workers: &mut [W],
    num_jobs: usize,
    work: impl Fn(&mut W, usize, &dyn Fn() -> bool) -> Option<T>,
) -> Vec<Option<T>> {
    rehearsal.begin(workers.len());
    let one = |job| {
        let (worker, mut result) = (rehearsal.first_idle(), None);
        rehearsal.share(worker, &mut || result = work(&mut workers[worker], job, &|| false));
        result
    };
    let results = (0..num_jobs).map(one).collect();
    rehearsal.meet();
    rehearsal.end();
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        for num_workers in [1, 2, 5, 12] {
            let done = AtomicUsize::new(0);
            let leave = |worker| {
                done.fetch_add(worker, Ordering::Relaxed);
            };
            let work = |worker: &mut usize, job: usize, _: &dyn Fn() -> bool| {
                *worker += 1;
                std::thread::sleep(Duration::from_micros(100 * (8 - job as u64)));
                Some(job * job)
            };
            let results = side_by_side(vec![0; num_workers], 8, work, leave, |_| false);
            assert_eq!(results, (0..8).map(|job| Some(job * job)).collect::<Vec<_>>());
            assert_eq!(done.into_inner(), 8);
        }
    }

    #[test]
    fn jobs_are_left_out_when_the_caller_stops() {
        let work = |_: &mut (), job: usize, is_over: &dyn Fn() -> bool| {
            while job > 1 && !is_over() {
                std::thread::yield_now();
            }
            (job < 2).then_some(job)
        };
        let results = side_by_side([(), ()], 9, work, drop, |done| done >= 2);
        assert_eq!(results[..2], [Some(0), Some(1)]);
        assert!(results[2..].iter().all(Option::is_none));
    }

    #[test]
    #[should_panic]
    fn a_panic_in_a_job_reaches_the_caller() {
        let work = |_: &mut (), job: usize, _: &dyn Fn() -> bool| {
            assert!(job < 3);
            Some(())
        };
        side_by_side([(), ()], 5, work, drop, |_| false);
    }
}
