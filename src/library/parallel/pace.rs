//! Whether a region is run by all workers or by the calling thread alone ("solo").
//!
//! Solo is faster when another process uses the core of a worker, for which all others then wait, and when
//! regions are so short that starting the workers takes longer than the work. The criterion is not how long
//! the caller waits, which for uneven shares may be most of the time, but whether the region lasts longer
//! than all shares one after the other. The latter is predicted from the time of the caller's share and its
//! part of the whole. The prediction is checked: a solo phase begins with a short trial whose shares are
//! timed, and its result is used from then on.

use std::time::Duration;

/// How the next region is to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// By all workers; to be told to [`Pace::count`].
    Together,
    /// All shares by the caller; to be told to [`Pace::count`].
    Trial,
    /// All shares by the caller, without looking at the clock; to be told to [`Pace::count_solo`].
    Solo,
}

/// What a region took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    /// Time of the caller's own share.
    pub own: Duration,
    /// Time of the whole region.
    pub wall: Duration,
    /// All shares in units of the caller's, as far as known beforehand.
    pub shares: f64,
}

/// Decides how regions are run, from what those before took.
pub(super) struct Pace {
    phase: Phase,
    /// Seconds over which regions of all workers are judged together.
    window: f64,
    /// Of this window: time that all shares take one after the other, as foreseen.
    foreseen: f64,
    /// Of this window: time that the regions took.
    measured: f64,
    /// What all shares take one after the other, in units of what is foreseen.
    correction: f64,
    /// The same of the regions before the trial, which all workers did.
    suspected: f64,
    solo_length: Duration,
    pause_length: Duration,
    /// Solo regions since the clock was read.
    regions: u32,
}

#[derive(Clone, Copy)]
enum Phase {
    Together { judged_from: Duration },
    Trial,
    Solo { until: Duration },
}

/// Seconds per worker over which regions of all workers are judged: the more workers, the more a solo
/// phase costs that is begun because of a single long wait.
const WINDOW_PER_WORKER: f64 = 0.002;
/// Seconds of a trial.
const TRIAL: f64 = 0.004;
/// The first solo phase; each that follows without a good window between is twice as long.
const SHORTEST_SOLO: Duration = Duration::from_millis(40);
const LONGEST_SOLO: Duration = Duration::from_millis(320);
/// Without judging after a trial that showed the suspicion wrong, also twice as long each time.
const SHORTEST_PAUSE: Duration = Duration::from_millis(80);
const LONGEST_PAUSE: Duration = Duration::from_millis(640);
/// Number of solo regions after which the clock is read.
pub(super) const CLOCK_INTERVAL: u32 = 16;
/// How much of a correction is left after a good window: other regions may need none.
const MEMORY: f64 = 0.99;

impl Pace {
    /// Nothing is known yet: regions are run by all workers.
    pub(super) fn new(num_workers: usize) -> Self {
        Pace {
            window: WINDOW_PER_WORKER * num_workers as f64,
            phase: Phase::Together { judged_from: Duration::ZERO },
            foreseen: 0.0,
            measured: 0.0,
            correction: 1.0,
            suspected: 1.0,
            solo_length: SHORTEST_SOLO,
            pause_length: SHORTEST_PAUSE,
            regions: 0,
        }
    }

    /// How to run the next region.
    pub(super) fn turn(&self) -> Turn {
        match self.phase {
            Phase::Together { .. } => Turn::Together,
            Phase::Trial => Turn::Trial,
            Phase::Solo { .. } => Turn::Solo,
        }
    }

    /// Records solo regions. The clock is read only occasionally, because regions may take less than a
    /// microsecond.
    pub(super) fn count_solo(&mut self, regions: u32, now: impl Fn() -> Duration) {
        self.regions += regions;
        if self.regions < CLOCK_INTERVAL {
            return;
        }
        self.regions = 0;
        let Phase::Solo { until } = self.phase else { return };
        if now() >= until {
            self.phase = Phase::Together { judged_from: Duration::ZERO };
        }
    }

    /// Records a region that was timed and ended at `now`.
    pub(super) fn count(&mut self, now: Duration, region: Timed) {
        // Without a share of its own the caller has no measurement.
        if region.shares.is_finite() {
            self.foreseen += region.own.as_secs_f64() * region.shares;
            self.measured += region.wall.as_secs_f64();
        }
        let enough = if self.turn() == Turn::Trial { TRIAL } else { self.window };
        if self.measured < enough {
            return;
        }
        let ratio = self.measured / self.foreseen.max(f64::MIN_POSITIVE);
        (self.foreseen, self.measured) = (0.0, 0.0);
        match self.phase {
            Phase::Together { judged_from } if now < judged_from => {}
            Phase::Together { .. } if ratio > self.correction => {
                self.suspected = ratio;
                self.phase = Phase::Trial;
            }
            Phase::Together { .. } => {
                self.solo_length = SHORTEST_SOLO;
                self.correction = 1.0 + (self.correction - 1.0) * MEMORY;
            }
            Phase::Trial => {
                self.correction = ratio;
                if self.suspected > ratio {
                    self.phase = Phase::Solo { until: now + self.solo_length };
                    self.solo_length = (self.solo_length * 2).min(LONGEST_SOLO);
                    self.pause_length = SHORTEST_PAUSE;
                } else {
                    self.phase = Phase::Together { judged_from: now + self.pause_length };
                    self.pause_length = (self.pause_length * 2).min(LONGEST_PAUSE);
                }
            }
            Phase::Solo { .. } => {}
        }
    }
}
