//! Independent jobs on several threads, with results and events in the order of the jobs.
//!
//! Replicates and starting trees are independent, so one thread for each is faster than many threads
//! inside one likelihood. The log must not depend on which of them finishes first.

use crate::error::{Error, Result};
use crate::observer::{Advance, Event, Observer};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A job reports its share only when it has grown by this much, because the others wait for the report.
const SHARE_WORTH_TELLING: f64 = 0.01;

/// Independent jobs of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jobs {
    /// What one is called: "replicate".
    pub noun: &'static str,
    /// How many of this kind were done before.
    pub before: usize,
    /// How many there are.
    pub count: usize,
    /// How many of this kind there are at most with those of before and those that may follow.
    pub most: usize,
    /// There will be as many, as far as is known.
    pub is_most_expected: bool,
    /// How many run at a time.
    pub at_once: usize,
}

impl Jobs {
    /// How far all jobs have come: `done` of them are done, and the shares of all add up to `sum`.
    fn advance(&self, done: usize, phase: Option<f64>, sum: Option<f64>) -> Advance {
        // Else it is not known how many will follow.
        let is_known = self.is_most_expected || self.before + self.count == self.most;
        let sum = sum.filter(|_| is_known);
        let whole = sum.map(|sum| (self.before as f64 + sum) / self.most as f64);
        let pieces = (self.most > 1).then_some((self.noun, self.before + done, self.most));
        Advance { phase, whole, pieces }
    }

    /// So many jobs, of which `at_once` run at a time, and no others.
    pub(crate) fn all(noun: &'static str, count: usize, at_once: usize) -> Self {
        Jobs { noun, before: 0, count, most: count, is_most_expected: true, at_once }
    }

    /// Does `work(job, observer)` for every job. After a failure no new job is begun.
    ///
    /// # Errors
    /// That of the first job that failed.
    pub(crate) fn run<T: Send>(
        self,
        observer: &mut dyn Observer,
        work: impl Fn(usize, &mut dyn Observer) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        if self.at_once <= 1 || self.count <= 1 {
            return self.run_in_turn(observer, work);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.at_once.min(self.count))
            .build()
            .expect("the system can start threads");
        let in_order = Mutex::new(InOrder {
            observer,
            next: 0,
            waiting: BTreeMap::new(),
            shares: vec![0.0; self.count],
        });
        let results: Vec<Mutex<Option<Result<T>>>> =
            (0..self.count).map(|_| Mutex::new(None)).collect();
        let next_job = AtomicUsize::new(0);
        // Jobs are taken one by one in their order, so that events need not wait for long.
        pool.broadcast(|_| {
            loop {
                let job = next_job.fetch_add(1, Ordering::Relaxed);
                let Some(place) = results.get(job) else { break };
                let mut recorder =
                    Recorder { jobs: self, job, events: Vec::new(), share: 0.0, all: &in_order };
                let result = work(job, &mut recorder);
                if result.is_err() {
                    next_job.store(self.count, Ordering::Relaxed);
                }
                // When the run is resumed, what a stopped job has told is told again, before what later jobs tell.
                if !matches!(result, Err(Error::Interrupted { .. })) {
                    recorder.finish();
                }
                *place.lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
            }
        });
        let results =
            results.into_iter().map(|place| place.into_inner().unwrap_or_else(|e| e.into_inner()));
        // Jobs that were not begun come after the one that failed, and those that it stopped are no failures.
        let (stopped, done): (Vec<_>, Vec<_>) =
            results.flatten().partition(|result| matches!(result, Err(Error::Interrupted { .. })));
        let done: Result<Vec<T>> = done.into_iter().collect();
        match stopped.into_iter().next() {
            Some(stopped) if done.is_ok() => stopped.map(|result| vec![result]),
            _ => done,
        }
    }

    fn run_in_turn<T>(
        self,
        observer: &mut dyn Observer,
        work: impl Fn(usize, &mut dyn Observer) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut in_turn = InTurn { observer, jobs: self, job: 0 };
        let job = |job| {
            in_turn.job = job;
            in_turn.advance(Advance { whole: (job > 0).then_some(0.0), ..Advance::default() });
            work(job, &mut in_turn)
        };
        (0..self.count).map(job).collect()
    }
}

/// One job after another on one thread: events pass, the job's share becomes one of all.
struct InTurn<'a> {
    observer: &'a mut dyn Observer,
    jobs: Jobs,
    job: usize,
}

impl Observer for InTurn<'_> {
    fn event(&mut self, event: &Event) {
        self.observer.event(event);
    }

    fn advance(&mut self, Advance { phase, whole, .. }: Advance) {
        let sum = whole.map(|share| self.job as f64 + share);
        self.observer.advance(self.jobs.advance(self.job, phase, sum));
    }
}

/// Events of finished jobs, passed on in the order of the jobs.
struct InOrder<'a> {
    observer: &'a mut dyn Observer,
    next: usize,
    waiting: BTreeMap<usize, Vec<Event>>,
    /// How far each job is.
    shares: Vec<f64>,
}

/// One of several jobs at a time: keeps its events until it is done.
struct Recorder<'a, 'b> {
    jobs: Jobs,
    job: usize,
    events: Vec<Event>,
    share: f64,
    all: &'a Mutex<InOrder<'b>>,
}

impl<'b> Recorder<'_, 'b> {
    fn finish(mut self) {
        let events = std::mem::take(&mut self.events);
        let mut all = self.tell(1.0);
        all.waiting.insert(self.job, events);
        loop {
            let next = all.next;
            let Some(events) = all.waiting.remove(&next) else { break };
            events.iter().for_each(|event| all.observer.event(event));
            all.next += 1;
        }
    }

    fn tell(&self, share: f64) -> MutexGuard<'_, InOrder<'b>> {
        let mut all = self.all.lock().unwrap_or_else(|e| e.into_inner());
        all.shares[self.job] = share;
        let done = all.shares.iter().filter(|&&share| share == 1.0).count();
        let advance = self.jobs.advance(done, None, Some(all.shares.iter().sum()));
        all.observer.advance(advance);
        all
    }
}

impl Observer for Recorder<'_, '_> {
    fn event(&mut self, event: &Event) {
        self.events.push(match event {
            // The phase is over when the event is passed on.
            Event::Phase { name } => Event::Detail(name.clone()),
            other => other.clone(),
        });
    }

    fn advance(&mut self, Advance { whole, .. }: Advance) {
        let share = whole.unwrap_or(0.0).min(1.0 - SHARE_WORTH_TELLING);
        if share >= self.share + SHARE_WORTH_TELLING {
            self.share = share;
            drop(self.tell(share));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard {
        events: Vec<Event>,
        advances: Vec<Advance>,
    }

    impl Observer for Heard {
        fn event(&mut self, event: &Event) {
            self.events.push(event.clone());
        }
        fn advance(&mut self, advance: Advance) {
            self.advances.push(advance);
        }
    }

    fn jobs(count: usize, at_once: usize) -> Jobs {
        Jobs::all("job", count, at_once)
    }

    fn note(job: usize) -> Event {
        Event::Note(job.to_string())
    }

    #[test]
    fn results_and_events_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 5] {
            let mut heard = Heard::default();
            let results = jobs(20, threads).run(&mut heard, |job, observer| {
                // Earlier jobs take longer.
                std::thread::sleep(std::time::Duration::from_millis(20 - job as u64));
                observer.event(&note(job));
                Ok(job)
            });
            assert_eq!(results.unwrap(), (0..20).collect::<Vec<_>>());
            assert_eq!(heard.events, (0..20).map(note).collect::<Vec<_>>());
        }
    }

    #[test]
    fn how_far_all_jobs_are_is_told_on_any_number_of_threads() {
        for threads in [1, 3] {
            let mut heard = Heard::default();
            let work = |job, observer: &mut dyn Observer| {
                observer.advance(Advance { whole: Some(0.5), phase: Some(0.2), pieces: None });
                Ok(job)
            };
            jobs(4, threads).run(&mut heard, work).unwrap();
            let shares: Vec<f64> = heard.advances.iter().filter_map(|a| a.whole).collect();
            assert!(shares.is_sorted() && shares[shares.len() - 1] >= 0.875, "{shares:?}");
            assert!(shares.contains(&0.125));
            assert!(heard.advances.iter().all(|a| a.pieces.is_some_and(|p| p.2 == 4)));
        }
        let mut heard = Heard::default();
        let half = Advance { whole: Some(0.5), phase: Some(0.2), pieces: None };
        let work = |_, observer: &mut dyn Observer| {
            observer.advance(half);
            Ok(())
        };
        jobs(1, 4).run(&mut heard, work).unwrap();
        assert_eq!(heard.advances, [Advance::default(), half], "a single job is the whole");
    }

    #[test]
    fn what_later_jobs_tell_is_not_told_after_a_job_that_was_stopped() {
        let mut heard = Heard::default();
        let stopped = jobs(4, 3).run(&mut heard, |job, observer| {
            observer.event(&note(job));
            match job {
                1 => Err(Error::Interrupted { signal: 15, resume: None }),
                _ => Ok(job),
            }
        });
        assert_eq!(stopped.unwrap_err().exit_code(), 143);
        assert_eq!(heard.events, [note(0)]);
    }

    #[test]
    fn the_first_failure_is_the_one_that_is_told() {
        for threads in [1, 3] {
            let fail = |job: usize, _: &mut dyn Observer| match job {
                0..4 => Ok(job),
                _ => Err(Error::Failed(job.to_string())),
            };
            let error = jobs(50, threads).run(&mut Heard::default(), fail).unwrap_err();
            assert_eq!(error.to_string(), "4");
        }
    }
}
