//! Minimisation in one dimension by Brent's method, as an ask/tell machine.
//!
//! Ask/tell, because the parameters of many partitions are optimised in lock-step: each partition has
//! its own minimiser, every step asks all of them, and one likelihood call serves all answers. That is
//! why argmin is not used here: its solvers call the function themselves, one at a time.

/// (3 - sqrt 5) / 2, the golden section.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// First step of the bracketing phase, as a fraction of the whole interval.
const FIRST_STEP: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The start value is asked.
    Start,
    /// One step from the start is asked; on a failure the other side is tried if `other` says so.
    Side {
        other: bool,
    },
    /// Walking downhill with growing steps; `behind` is the last point before the best one.
    March {
        behind: f64,
    },
    /// Bracketed: parabolas and golden sections.
    Shrink,
    Done,
}

/// Brent's minimiser of a function on an interval, driven from outside.
///
/// First it walks downhill from the start with doubling steps until the minimum is bracketed (or the
/// end of the interval reached), then it shrinks the bracket: Brent (1973), *Algorithms for
/// minimization without derivatives*, chapter 5. The result is never worse than the start value.
/// A value that is not a number counts as infinitely bad.
///
/// Parameters that range over orders of magnitude are best given as logarithms.
///
/// ```text
/// let mut brent = Brent::new(0.0, 1.0, 10.0, 1e-6, 100);
/// while let Some(x) = brent.ask() {
///     brent.tell(f(x));
/// }
/// let (x, value) = brent.best();
/// ```
#[derive(Debug, Clone)]
pub(crate) struct Brent {
    lo: f64,
    hi: f64,
    rel_tol: f64,
    evals_left: usize,
    phase: Phase,
    asked: f64,
    /// Next signed step of the bracketing phase.
    stride: f64,
    /// The bracket.
    a: f64,
    b: f64,
    /// Best, second best, and third best point so far, with their values.
    x: (f64, f64),
    w: (f64, f64),
    v: (f64, f64),
    /// The last step and the one before it.
    step: f64,
    step_before: f64,
}

impl Brent {
    /// A minimiser on [`lo`, `hi`] that begins at `start` (moved into the interval if outside).
    ///
    /// It ends when the minimum is known to `rel_tol` relative to |x| (or to a hundredth of the
    /// interval, if |x| is smaller than that), or after `max_evals` evaluations.
    ///
    /// # Panics
    ///
    /// If `lo > hi`, `rel_tol` is not positive, or a bound is not finite.
    pub(crate) fn new(lo: f64, start: f64, hi: f64, rel_tol: f64, max_evals: usize) -> Self {
        assert!(lo.is_finite() && hi.is_finite() && lo <= hi, "interval [{lo}, {hi}]");
        assert!(rel_tol > 0.0, "tolerance {rel_tol}");
        let start = start.clamp(lo, hi);
        let point = (start, f64::INFINITY);
        Brent {
            lo,
            hi,
            rel_tol,
            evals_left: max_evals,
            phase: if max_evals == 0 { Phase::Done } else { Phase::Start },
            asked: start,
            stride: FIRST_STEP * (hi - lo),
            a: lo,
            b: hi,
            x: point,
            w: point,
            v: point,
            step: 0.0,
            step_before: 0.0,
        }
    }

    /// The same minimiser with another first step of the bracketing phase (by default a twentieth of
    /// the interval): small when the start is known to be good.
    pub(crate) fn with_first_step(mut self, first_step: f64) -> Self {
        let span = self.hi - self.lo;
        self.stride = first_step.abs().clamp(1e-9 * span, span);
        self
    }

    /// The next point at which the function is needed; `None` when finished. The first is the start value.
    pub(crate) fn ask(&self) -> Option<f64> {
        (self.phase != Phase::Done).then_some(self.asked)
    }

    /// The best point so far and its value (infinite if nothing was told yet).
    pub(crate) fn best(&self) -> (f64, f64) {
        self.x
    }

    /// The function's value at the point last asked. Ignored when finished.
    pub(crate) fn tell(&mut self, f: f64) {
        let f = if f.is_nan() { f64::INFINITY } else { f };
        let told = (self.asked, f);
        match self.phase {
            Phase::Done => return,
            Phase::Start => {
                self.x = told;
                self.w = told;
                self.v = told;
                let room_up = self.hi - told.0;
                let room_down = told.0 - self.lo;
                if room_up < room_down && room_up < self.stride {
                    self.stride = -self.stride;
                }
                self.phase = Phase::Side { other: true };
            }
            Phase::Side { other } => {
                let from = self.x.0;
                if self.rank(told) {
                    self.phase = Phase::March { behind: from };
                    self.stride *= 2.0;
                } else {
                    if told.0 > from {
                        self.b = told.0;
                    } else {
                        self.a = told.0;
                    }
                    self.stride = -self.stride;
                    self.phase =
                        if other { Phase::Side { other: false } } else { self.bracketed() };
                }
            }
            Phase::March { behind } => {
                let from = self.x.0;
                if self.rank(told) {
                    self.phase = Phase::March { behind: from };
                    self.stride *= 2.0;
                } else {
                    self.a = behind.min(told.0);
                    self.b = behind.max(told.0);
                    self.phase = self.bracketed();
                }
            }
            Phase::Shrink => {
                let from = self.x.0;
                let bound = if self.rank(told) { from } else { told.0 };
                if bound < self.x.0 {
                    self.a = bound;
                } else {
                    self.b = bound;
                }
            }
        }
        self.evals_left -= 1;
        if self.evals_left == 0 {
            self.phase = Phase::Done;
        }
        self.choose();
    }

    /// Sorts a told point in among the best three; true if it is the new best.
    fn rank(&mut self, told: (f64, f64)) -> bool {
        if told.1 < self.x.1 {
            (self.v, self.w, self.x) = (self.w, self.x, told);
            return true;
        }
        if told.1 <= self.w.1 || self.w.0 == self.x.0 {
            (self.v, self.w) = (self.w, told);
        } else if told.1 <= self.v.1 || self.v.0 == self.x.0 || self.v.0 == self.w.0 {
            self.v = told;
        }
        false
    }

    /// Enters the shrinking phase; the first parabola may have any size.
    fn bracketed(&mut self) -> Phase {
        self.step = self.b - self.a;
        self.step_before = self.step;
        Phase::Shrink
    }

    /// Chooses the next point to ask, moving on to the next phase where this one has no point left.
    fn choose(&mut self) {
        if let Phase::Side { other } = self.phase {
            self.asked = (self.x.0 + self.stride).clamp(self.lo, self.hi);
            if self.asked == self.x.0 {
                // The start lies on this end of the interval: only the other side is left, if that.
                if self.stride > 0.0 {
                    self.b = self.x.0;
                } else {
                    self.a = self.x.0;
                }
                self.stride = -self.stride;
                self.asked = (self.x.0 + self.stride).clamp(self.lo, self.hi);
                self.phase = if !other {
                    self.bracketed()
                } else if self.asked == self.x.0 {
                    Phase::Done
                } else {
                    Phase::Side { other: false }
                };
            }
        }
        if let Phase::March { behind } = self.phase {
            self.asked = (self.x.0 + self.stride).clamp(self.lo, self.hi);
            if self.asked == self.x.0 {
                self.a = behind.min(self.x.0);
                self.b = behind.max(self.x.0);
                self.phase = self.bracketed();
            }
        }
        if self.phase == Phase::Shrink {
            self.shrink();
        }
    }

    /// One step of Brent's method within the bracket.
    fn shrink(&mut self) {
        let x = self.x.0;
        let middle = 0.5 * (self.a + self.b);
        let tol = self.rel_tol * x.abs().max(0.01 * (self.hi - self.lo));
        if (x - middle).abs() <= 2.0 * tol - 0.5 * (self.b - self.a) {
            self.phase = Phase::Done;
            return;
        }
        // Parabola through the best three points: its minimum is at x + p / q.
        let r = (x - self.w.0) * (self.x.1 - self.v.1);
        let s = (x - self.v.0) * (self.x.1 - self.w.1);
        let mut p = (x - self.v.0) * s - (x - self.w.0) * r;
        let mut q = 2.0 * (s - r);
        if q > 0.0 {
            p = -p;
        } else {
            q = -q;
        }
        let inside = p > q * (self.a - x) && p < q * (self.b - x);
        let shrinking = p.abs() < (0.5 * q * self.step_before).abs();
        if self.step_before.abs() > tol && inside && shrinking {
            self.step_before = self.step;
            self.step = p / q;
            let to = x + self.step;
            if to - self.a < 2.0 * tol || self.b - to < 2.0 * tol {
                self.step = tol.copysign(middle - x);
            }
        } else {
            self.step_before = if x >= middle { self.a - x } else { self.b - x };
            self.step = GOLDEN * self.step_before;
        }
        let step = if self.step.abs() >= tol { self.step } else { tol.copysign(self.step) };
        self.asked = (x + step).clamp(self.lo, self.hi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64) -> f64 {
        x * x
    }

    fn run(mut brent: Brent, f: impl Fn(f64) -> f64) -> (f64, f64, usize) {
        let mut evals = 0;
        while let Some(x) = brent.ask() {
            assert!(x >= brent.lo && x <= brent.hi, "{x} outside");
            brent.tell(f(x));
            evals += 1;
            assert!(evals < 1000);
        }
        let (x, value) = brent.best();
        (x, value, evals)
    }

    #[test]
    fn finds_minima_from_any_start() {
        for start in [-5.0, -4.9, -1.0, 0.0, 0.7, 4.0, 5.0, 77.0] {
            let quartic = |x: f64| square(square(x - 0.7)) + square(x - 0.7) + 3.0;
            let (x, f, evals) = run(Brent::new(-5.0, start, 5.0, 1e-6, 100), quartic);
            assert!((x - 0.7).abs() < 1e-5 && f < 3.0 + 1e-9, "start {start}: {x} {f}");
            assert!(evals < 30, "{evals} evaluations from {start}");
        }
    }

    #[test]
    fn finds_minima_at_the_ends() {
        for start in [0.0, 0.3, 1.0] {
            assert_eq!(run(Brent::new(0.0, start, 1.0, 1e-6, 100), |x| x).0, 0.0);
            assert_eq!(run(Brent::new(0.0, start, 1.0, 1e-6, 100), |x| -x).0, 1.0);
        }
        assert_eq!(run(Brent::new(2.0, 2.0, 2.0, 1e-6, 100), |x| x), (2.0, 2.0, 1));
    }

    #[test]
    fn never_worse_than_the_start_and_never_more_calls_than_allowed() {
        let nasty = |x: f64| if x == 0.5 { -1.0 } else { libm::sin(37.0 * x) };
        let (x, f, _) = run(Brent::new(0.0, 0.5, 1.0, 1e-6, 50), nasty);
        assert_eq!((x, f), (0.5, -1.0));
        for max in [1, 2, 3, 5] {
            let (_, f, evals) = run(Brent::new(0.0, 0.2, 1.0, 1e-9, max), |x| square(x - 0.9));
            assert!(evals <= max && f <= 0.49 + 1e-12);
        }
        assert_eq!(Brent::new(0.0, 0.2, 1.0, 1e-9, 0).ask(), None);
    }

    #[test]
    fn nothing_to_gain_and_no_number() {
        assert_eq!(run(Brent::new(0.0, 0.3, 1.0, 1e-4, 100), |_| 7.0).0, 0.3);
        let (x, f, _) =
            run(Brent::new(-1.0, 0.5, 1.0, 1e-6, 100), |x| if x < 0.0 { f64::NAN } else { x });
        assert!(f.is_finite() && (0.0..1e-4).contains(&x), "{x}");
    }

    #[test]
    fn a_small_first_step_saves_calls_near_the_minimum() {
        let f = |x: f64| 1e5 + 500.0 * square(x - 0.301);
        let wide = run(Brent::new(-4.0, 0.3, 7.0, 1e-3, 100), f);
        let narrow = run(Brent::new(-4.0, 0.3, 7.0, 1e-3, 100).with_first_step(0.01), f);
        assert!(narrow.2 <= wide.2 && narrow.2 <= 8, "{narrow:?} {wide:?}");
        assert!((narrow.0 - 0.301).abs() < 1e-3);
    }
}
