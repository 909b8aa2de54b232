//! Independent jobs on threads of their own, for a caller who only waits.

use super::team::Rehearsal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
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

/// The same by workers of whom one is at work at a time: the one who would be behind the others goes on, until it asks whether the
/// rest is to be left out. So workers who leave do so when they would, between what others do.
pub(crate) fn rehearsed_side_by_side<W: Send, T: Send>(
    rehearsal: &dyn Rehearsal,
    workers: Vec<W>,
    num_jobs: usize,
    work: impl Fn(&mut W, usize, &dyn Fn() -> bool) -> Option<T> + Sync,
    leave: impl Fn(W) + Sync,
) -> Vec<Option<T>> {
    let results = Mutex::new((0..num_jobs).map(|_| None).collect::<Vec<_>>());
    let next = AtomicUsize::new(0);
    rehearsal.begin(workers.len());
    std::thread::scope(|scope| {
        let (mut turns, mut at_work) = (Vec::new(), Vec::new());
        for (number, mut worker) in workers.into_iter().enumerate() {
            let ((begin, turn), (end, ended)) = (channel::<()>(), channel::<()>());
            turns.push((begin, ended));
            at_work.push(true);
            let (next, results, work, leave) = (&next, &results, &work, &leave);
            scope.spawn(move || {
                let wait = || {
                    // There is no turn any more if the caller has panicked.
                    let _ = turn.recv();
                    rehearsal.begin_share(number);
                };
                let pause = || {
                    rehearsal.end_share(number);
                    let _ = end.send(());
                    wait();
                };
                let is_over = || {
                    pause();
                    false
                };
                wait();
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= num_jobs {
                        break;
                    }
                    let result = work(&mut worker, job, &is_over);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[job] = result;
                }
                pause();
                leave(worker);
                rehearsal.end_share(number);
            });
        }
        while let Some(worker) = rehearsal.first_idle(&|worker| at_work[worker]) {
            rehearsal.aside(&mut || {
                let (begin, ended) = &turns[worker];
                let _ = begin.send(());
                at_work[worker] = ended.recv().is_ok();
            });
        }
    });
    rehearsal.meet();
    rehearsal.end();
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
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

    /// Each part of a job takes one second, and is at work with nobody else.
    #[derive(Default)]
    struct Seconds(Mutex<Vec<u64>>);

    impl Rehearsal for Seconds {
        fn begin(&self, num_workers: usize) {
            *self.0.lock().unwrap() = vec![0; num_workers];
        }
        fn begin_share(&self, worker: usize) {
            self.0.lock().unwrap()[worker] += 1;
        }
        fn end_share(&self, _: usize) {}
        fn aside(&self, part: &mut dyn FnMut()) {
            part();
        }
        fn first_idle(&self, has_work: &dyn Fn(usize) -> bool) -> Option<usize> {
            let seconds = self.0.lock().unwrap();
            (0..seconds.len())
                .filter(|&worker| has_work(worker))
                .min_by_key(|&worker| seconds[worker])
        }
        fn meet(&self) {}
        fn end(&self) {}
    }

    #[test]
    fn in_a_rehearsal_the_one_who_is_behind_goes_on() {
        let (seconds, log) = (Seconds::default(), Mutex::new(Vec::new()));
        // Jobs of 5, 2 and 2 parts.
        let work = |worker: &mut usize, job: usize, is_over: &dyn Fn() -> bool| {
            for part in 0..[5, 2, 2][job] {
                if part > 0 {
                    assert!(!is_over());
                }
                log.lock().unwrap().push((*worker, job));
            }
            Some(job)
        };
        let leave = |worker| log.lock().unwrap().push((worker, 9));
        let results = rehearsed_side_by_side(&seconds, vec![0, 1], 3, work, leave);
        assert_eq!(results, [Some(0), Some(1), Some(2)]);
        let log = log.into_inner().unwrap();
        let left_by = |worker| log.iter().position(|&at| at == (worker, 9)).unwrap();
        // The second worker is done with its two jobs before the last part of the first.
        assert_eq!(log.len(), 11);
        assert!(left_by(1) < left_by(0));
        assert_eq!(log.iter().filter(|&&at| at == (1, 2)).count(), 2);
        assert!(log[left_by(1)..].contains(&(0, 0)));
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
