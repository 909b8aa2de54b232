//! [`JobsProgress`]: the progress and the events of several jobs, as those of one computation.
//!
//! The log must not depend on which job finishes first. Where several run at a time, the events of each wait until it and all
//! earlier ones are finished.

use crate::observer::{Advance, Event, Observer};
use std::collections::BTreeMap;

/// A job's share is reported only when it has grown by this much, because the other jobs wait for the report.
const MIN_GAIN: f64 = 0.01;

/// How many jobs of one kind there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobCounts {
    /// What one is called: "replicate".
    pub noun: &'static str,
    /// How many were done before.
    pub before: usize,
    /// How many are done now.
    pub count: usize,
    /// How many there are at most with those before and those that may follow.
    pub most: usize,
    /// As many are expected, so that the share of all that is done is known.
    pub is_most_expected: bool,
}

/// Progress and events of all jobs.
pub(super) struct JobsProgress<'a> {
    observer: &'a mut dyn Observer,
    counts: JobCounts,
    is_concurrent: bool,
    /// How much of each job is done, as last reported.
    shares: Vec<f64>,
    num_finished: usize,
    /// The first job whose events were not passed on.
    next: usize,
    /// Events of later jobs that are finished.
    waiting: BTreeMap<usize, Vec<Event>>,
}

impl<'a> JobsProgress<'a> {
    /// Nothing is done so far.
    pub(super) fn new(
        observer: &'a mut dyn Observer,
        counts: JobCounts,
        is_concurrent: bool,
    ) -> Self {
        let shares = vec![0.0; counts.count];
        let (num_finished, next, waiting) = (0, 0, BTreeMap::new());
        JobsProgress { observer, counts, is_concurrent, shares, num_finished, next, waiting }
    }

    /// A job begins.
    pub(super) fn begin(&mut self, job: usize) {
        if !self.is_concurrent {
            self.report(None, job > 0);
        }
    }

    /// An event of a job that runs alone; those of others come with [`JobsProgress::finish`].
    pub(super) fn event(&mut self, event: &Event) {
        if !self.is_concurrent {
            self.observer.event(event);
        }
    }

    /// How far a job has come.
    pub(super) fn advance(&mut self, job: usize, Advance { phase, whole, .. }: Advance) {
        if !self.is_concurrent {
            self.shares[job] = whole.unwrap_or(0.0);
            self.report(phase, whole.is_some());
            return;
        }
        let share = whole.unwrap_or(0.0).min(1.0 - MIN_GAIN);
        if share >= self.shares[job] + MIN_GAIN {
            self.shares[job] = share;
            self.report(None, true);
        }
    }

    /// A job is finished, with these events.
    pub(super) fn finish(&mut self, job: usize, events: Vec<Event>) {
        self.shares[job] = 1.0;
        self.num_finished += 1;
        if !self.is_concurrent {
            return;
        }
        self.report(None, true);
        self.waiting.insert(job, events);
        while let Some(events) = self.waiting.remove(&self.next) {
            for event in events {
                // The phase is over when the event is passed on.
                self.observer.event(&match event {
                    Event::Phase { name } => Event::PastPhase { name },
                    other => other,
                });
            }
            self.next += 1;
        }
    }

    /// Reports how far all jobs have come; the share of the whole only if it is known.
    fn report(&mut self, phase: Option<f64>, knows_share: bool) {
        let JobCounts { noun, before, most, is_most_expected, .. } = self.counts;
        let sum: f64 = self.shares.iter().sum();
        let is_known = knows_share && is_most_expected;
        let whole = is_known.then(|| (before as f64 + sum) / most as f64);
        let pieces = (most > 1).then_some((noun, before + self.num_finished, most));
        self.observer.advance(Advance { phase, whole, pieces });
    }
}
