//! Independent jobs on several threads, with results and events in the order of the jobs.
//!
//! Replicates and starting trees do not need each other, so one thread for each is faster than many
//! threads inside one likelihood. The log must not show which of them finished first.

use crate::error::Result;
use crate::search::{Event, Observer};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps events for later.
#[derive(Default)]
struct Recorder(Vec<Event>);

impl Observer for Recorder {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}

/// Events of finished jobs, passed on in the order of the jobs.
struct InOrder<'a> {
    observer: &'a mut dyn Observer,
    next: usize,
    waiting: BTreeMap<usize, Vec<Event>>,
}

impl InOrder<'_> {
    fn finish(&mut self, job: usize, events: Vec<Event>) {
        self.waiting.insert(job, events);
        while let Some(events) = self.waiting.remove(&self.next) {
            events.iter().for_each(|event| self.observer.event(event));
            self.next += 1;
        }
    }
}

/// Does `work(job, observer)` for jobs 0..`num_jobs` on `threads` threads. After a failure no new job
/// is begun.
///
/// # Errors
/// That of the first job that failed.
pub fn run_jobs<T: Send>(
    num_jobs: usize,
    threads: usize,
    observer: &mut dyn Observer,
    work: impl Fn(usize, &mut dyn Observer) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if threads <= 1 || num_jobs <= 1 {
        return (0..num_jobs).map(|job| work(job, observer)).collect();
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.min(num_jobs))
        .build()
        .expect("the system can start threads");
    let in_order = Mutex::new(InOrder { observer, next: 0, waiting: BTreeMap::new() });
    let results: Vec<Mutex<Option<Result<T>>>> = (0..num_jobs).map(|_| Mutex::new(None)).collect();
    let next_job = AtomicUsize::new(0);
    // Jobs are taken one by one in their order, so that events need not wait for long.
    pool.broadcast(|_| {
        loop {
            let job = next_job.fetch_add(1, Ordering::Relaxed);
            let Some(place) = results.get(job) else { break };
            let mut recorder = Recorder::default();
            let result = work(job, &mut recorder);
            if result.is_err() {
                next_job.store(num_jobs, Ordering::Relaxed);
            }
            *place.lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
            in_order.lock().unwrap_or_else(|e| e.into_inner()).finish(job, recorder.0);
        }
    });
    let results =
        results.into_iter().map(|place| place.into_inner().unwrap_or_else(|e| e.into_inner()));
    // Jobs that were not begun come after the one that failed.
    results.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn note(job: usize) -> Event {
        Event::Note(job.to_string())
    }

    #[test]
    fn results_and_events_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 5] {
            let mut recorder = Recorder::default();
            let results = run_jobs(20, threads, &mut recorder, |job, observer| {
                // Earlier jobs take longer.
                std::thread::sleep(std::time::Duration::from_millis(20 - job as u64));
                observer.event(&note(job));
                Ok(job)
            });
            assert_eq!(results.unwrap(), (0..20).collect::<Vec<_>>());
            assert_eq!(recorder.0, (0..20).map(note).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_failure_is_the_one_that_is_told() {
        for threads in [1, 3] {
            let fail = |job: usize, _: &mut dyn Observer| match job {
                0..4 => Ok(job),
                _ => Err(Error::Failed(job.to_string())),
            };
            let error = run_jobs(50, threads, &mut Recorder::default(), fail).unwrap_err();
            assert_eq!(error.to_string(), "4");
        }
    }
}
