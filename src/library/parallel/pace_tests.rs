//! The pace on simulated machines, whose clocks are numbers: against the better of all workers all the
//! time and one thread all the time.

use super::pace::{Pace, Timed, Turn};
use crate::rng::{Purpose, stream};
use rand::RngExt;
use std::time::Duration;

/// Time to start the workers and to wait for the last.
const MEETING: f64 = 2e-6;

/// What a run is told of its shares.
#[derive(Debug, Clone, Copy)]
enum Told {
    Truth,
    /// Each share within a factor of 2 of the truth.
    Roughly,
    /// All shares are said to be equal; they are the same in all regions.
    Nothing,
}

/// Seconds of work per worker and region.
struct Work {
    regions: Vec<Vec<f64>>,
    told: Told,
    /// Another process has the core of worker 1 for so many seconds of each such time.
    busy: Option<(f64, f64)>,
}

impl Work {
    /// Regions of a few kinds in phases, each kind with its own uneven shares of about `mean` seconds.
    fn new(num_workers: usize, spread: f64, mean: f64, told: Told) -> Self {
        let mut random = stream(num_workers as u64, Purpose::Test, 0);
        let mut share = || mean * random.random_range(1.0 - spread..=1.0 + spread);
        let kinds: Vec<Vec<f64>> =
            (0..5).map(|_| (0..num_workers).map(|_| share()).collect()).collect();
        let num_regions = (1.0 / mean) as usize;
        // Runs of one kind, some shorter than a window and some longer.
        let num_kinds = if matches!(told, Told::Nothing) { 1 } else { 5 };
        let kind = |i: usize| (i / 3 + i / 1001) % num_kinds;
        let regions = (0..num_regions).map(|i| kinds[kind(i)].clone()).collect();
        Work { regions, told, busy: None }
    }

    /// When worker `worker` is through with `work` that it begins at `start`.
    fn end(&self, worker: usize, start: f64, work: f64) -> f64 {
        let Some(busy) = self.busy.filter(|_| worker == 1) else { return start + work };
        // In whole nanoseconds, so that no time is too short to pass.
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as u64;
        let (taken, period) = (nanoseconds(busy.0), nanoseconds(busy.1));
        let (mut now, mut left) = (nanoseconds(start), nanoseconds(work));
        loop {
            now += taken.saturating_sub(now % period);
            let free = period - now % period;
            if left <= free {
                return (now + left) as f64 / 1e9;
            }
            left -= free;
            now += free;
        }
    }

    fn end_of_all(&self, start: f64, shares: &[f64]) -> f64 {
        let ends = shares.iter().enumerate().map(|(w, &work)| self.end(w, start + MEETING, work));
        ends.fold(0.0, f64::max)
    }

    fn time_together(&self) -> f64 {
        self.regions.iter().fold(0.0, |now, shares| self.end_of_all(now, shares))
    }

    fn time_alone(&self) -> f64 {
        self.regions.iter().flatten().sum()
    }

    fn time_paced(&self) -> f64 {
        let mut pace = Pace::new(self.regions[0].len());
        let mut random = stream(1, Purpose::Test, 1);
        let mut now = 0.0;
        for shares in &self.regions {
            let alone: f64 = shares.iter().sum();
            let turn = pace.turn();
            let end =
                if turn == Turn::Together { self.end_of_all(now, shares) } else { now + alone };
            let told = match self.told {
                Told::Truth => alone / shares[0],
                Told::Roughly => alone / shares[0] * random.random_range(0.5..2.0),
                Told::Nothing => shares.len() as f64,
            };
            let seconds = Duration::from_secs_f64;
            match turn {
                Turn::Solo => pace.count_solo(1, || seconds(end)),
                _ => {
                    let (own, wall) = (seconds(shares[0]), seconds(end - now));
                    pace.count(seconds(end), Timed { own, wall, shares: told });
                }
            }
            now = end;
        }
        now
    }

    /// Time in units of the best that is possible without changing one's mind.
    fn loss(&self) -> f64 {
        self.time_paced() / self.time_together().min(self.time_alone())
    }
}

const NUMBERS: [usize; 8] = [2, 3, 5, 8, 16, 24, 32, 64];

#[test]
fn uneven_workers_work_together() {
    for num_workers in NUMBERS {
        for told in [Told::Truth, Told::Roughly, Told::Nothing] {
            for (spread, mean) in [(0.0, 2e-5), (0.5, 2e-5), (0.95, 2e-5), (0.95, 2e-3)] {
                let work = Work::new(num_workers, spread, mean, told);
                assert!(work.time_together() < work.time_alone());
                let loss = work.loss();
                assert!(loss < 1.2, "{num_workers} workers, spread {spread}, {told:?}: {loss}");
            }
        }
    }
}

#[test]
fn the_caller_goes_solo_only_if_that_is_faster_than_waiting_for_a_busy_core() {
    for num_workers in NUMBERS {
        for told in [Told::Truth, Told::Roughly, Told::Nothing] {
            for (taken, period) in [(3e-3, 6e-3), (2e-3, 3e-3), (9e-3, 1e-2)] {
                for spread in [0.1, 0.7] {
                    let mut work = Work::new(num_workers, spread, 2e-5, told);
                    work.busy = Some((taken, period));
                    let loss = work.loss();
                    let case = format!("{taken} of {period}, spread {spread}, {told:?}");
                    assert!(loss < 1.2, "{num_workers} workers, {case}: {loss}");
                }
            }
        }
    }
}

#[test]
fn regions_shorter_than_their_start_are_run_by_the_caller() {
    for num_workers in [2, 3] {
        let work = Work::new(num_workers, 0.3, 3e-7, Told::Truth);
        assert!(work.time_alone() < work.time_together());
        assert!(work.loss() < 1.2, "{}", work.loss());
    }
}
