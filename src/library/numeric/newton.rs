//! Bracketed Newton-Raphson for one branch length, as an ask/tell machine.
//!
//! The derivative of the log-likelihood is requested point by point, because one point may need a sum over
//! all partitions and all threads. The result is the best point that was *evaluated*: it is never worse than the
//! start.

/// The state of one maximisation.
#[derive(Debug, Clone)]
pub struct Newton {
    x: f64,
    lo: f64,
    hi: f64,
    /// Bounds that were given and not evaluated yet.
    untried: [bool; 2],
    best: (f64, f64),
    evaluations: u32,
    round: fn(f64) -> f64,
    gain_tolerance: f64,
    finished: bool,
}

/// A branch needs 3 to 6 evaluations; one that needs more than this has a flat or irregular likelihood and
/// keeps the best point found.
const MAX_EVALUATIONS: u32 = 30;

impl Newton {
    /// Starts at `start`, inside `[lo, hi]`. Points are passed through `round` before they are asked.
    /// Ends when the expected gain of a further step, ½·f'²/|f''|, is below `gain_tolerance` (log-likelihood
    /// units), or when the step is too small.
    pub fn new(start: f64, lo: f64, hi: f64, gain_tolerance: f64, round: fn(f64) -> f64) -> Self {
        let x = round(start);
        Newton {
            x,
            lo,
            hi,
            untried: [true; 2],
            best: (x, f64::NEG_INFINITY),
            evaluations: 0,
            round,
            gain_tolerance,
            finished: false,
        }
    }

    /// The next point to evaluate; `None` when finished.
    pub fn ask(&self) -> Option<f64> {
        if self.finished { None } else { Some(self.x) }
    }

    /// Takes value, first and second derivative at the point last asked.
    pub fn tell(&mut self, value: f64, first: f64, second: f64) {
        self.evaluations += 1;
        let x = self.x;
        if self.evaluations == 1 || value > self.best.1 {
            self.best = (x, value);
        }
        if !(first.is_finite() && second.is_finite()) || self.evaluations >= MAX_EVALUATIONS {
            self.finished = true;
            return;
        }
        if (x <= self.lo && first <= 0.0) || (x >= self.hi && first >= 0.0) {
            self.finished = true;
            return;
        }
        // The maximum uphill of x lies on this side of it.
        if first > 0.0 {
            self.lo = self.lo.max(x);
            self.untried[0] = false;
        } else {
            self.hi = self.hi.min(x);
            self.untried[1] = false;
        }
        if second < 0.0 && 0.5 * first * first < -second * self.gain_tolerance {
            self.finished = true;
            return;
        }
        let mut next = if second < 0.0 {
            x - first / second
        } else if first > 0.0 {
            // Convex here: Newton would go downhill. Go uphill by a factor instead.
            (4.0 * x).max(1e-4)
        } else {
            0.25 * x
        };
        // A long step from the flat side is unreliable: lengths change at most tenfold at once.
        next = next.min(10.0 * x.max(1e-3)).max(0.1 * x.min(self.hi));
        if next <= self.lo || next >= self.hi {
            // The maximum may well be at a bound: try that once before bisecting.
            let bound = usize::from(next >= self.hi);
            next = if std::mem::take(&mut self.untried[bound]) {
                [self.lo, self.hi][bound]
            } else {
                0.5 * (self.lo + self.hi)
            };
        }
        let next = (self.round)(next).clamp(self.lo, self.hi);
        if next == x || (next - x).abs() < 1e-9 {
            self.finished = true;
        }
        self.x = next;
    }

    /// The best point evaluated, and its value.
    pub fn best(&self) -> (f64, f64) {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maximise(start: f64, f: impl Fn(f64) -> (f64, f64, f64)) -> (f64, u32) {
        let mut newton = Newton::new(start, 1e-6, 100.0, 1e-9, |x| x);
        while let Some(x) = newton.ask() {
            let (value, first, second) = f(x);
            newton.tell(value, first, second);
        }
        (newton.best().0, newton.evaluations)
    }

    /// Jukes-Cantor: a of n sites differ. The maximum is -3/4 ln(1 - 4a/3n).
    fn jukes_cantor(a: f64, n: f64) -> impl Fn(f64) -> (f64, f64, f64) {
        move |t| {
            let e = libm::exp(-4.0 * t / 3.0);
            let (p, q) = (0.75 * (1.0 - e), 0.25 + 0.75 * e);
            let value = a * libm::log(p / 3.0) + (n - a) * libm::log(q);
            let first = a * e / p - (n - a) * e / q;
            let second = -4.0 / 3.0 * first - a * e * e / (p * p) - (n - a) * e * e / (q * q);
            (value, first, second)
        }
    }

    #[test]
    fn finds_the_closed_form_from_anywhere() {
        let want = -0.75 * libm::log(1.0 - 4.0 * 0.3 / 3.0);
        for start in [1e-6, 1e-3, 0.1, 0.3, 1.0, 10.0, 100.0] {
            let (got, evaluations) = maximise(start, jukes_cantor(300.0, 1000.0));
            assert!((got - want).abs() < 1e-6, "from {start}: {got}, wanted {want}");
            // Far below the maximum the derivative falls like 1/x and Newton doubles x. A bolder step (the
            // zero of a hyperbola) takes a third of the evaluations, and whole trees then end lower: -54756.6
            // instead of -54754.8 for 59 taxa.
            let most = if start < 1e-4 { 24 } else { 14 };
            assert!(evaluations <= most, "from {start}: {evaluations} evaluations");
        }
    }

    #[test]
    fn identical_and_saturated_sequences_end_at_the_bounds() {
        assert_eq!(maximise(0.1, jukes_cantor(0.0, 1000.0)).0, 1e-6);
        assert!(maximise(0.1, jukes_cantor(800.0, 1000.0)).0 > 5.0);
    }

    #[test]
    fn never_returns_worse_than_the_start() {
        // A maximum at 3 that a start at 0.5 must not leave for the lower one at 0.2.
        let f = |x: f64| {
            let value = libm::sin(x * 3.0) * x;
            let first = libm::sin(3.0 * x) + 3.0 * x * libm::cos(3.0 * x);
            let second = 6.0 * libm::cos(3.0 * x) - 9.0 * x * libm::sin(3.0 * x);
            (value, first, second)
        };
        for i in 1..60 {
            let start = 0.1 * f64::from(i);
            let (got, _) = maximise(start, f);
            assert!(f(got).0 >= f(start).0);
        }
    }

    /// Argmin's Brent, which knows no derivatives.
    #[test]
    fn argmin_ends_where_this_does() {
        use argmin::core::{CostFunction, Error, Executor};
        use argmin::solver::brent::BrentOpt;
        struct Descent(f64, f64);
        impl CostFunction for Descent {
            type Param = f64;
            type Output = f64;
            fn cost(&self, &t: &f64) -> std::result::Result<f64, Error> {
                Ok(-jukes_cantor(self.0, self.1)(t).0)
            }
        }
        // Beyond, the likelihood is flat.
        const MOST: f64 = 3.0;
        for (a, n) in [(1.0, 1000.0), (120.0, 1000.0), (300.0, 1000.0), (6.0, 9.0)] {
            let found = Executor::new(Descent(a, n), BrentOpt::new(1e-6, MOST))
                .configure(|state| state.max_iters(200))
                .timer(false)
                .run()
                .unwrap();
            let (want, got) = (-found.state.best_cost, maximise(0.1, jukes_cantor(a, n)).0);
            let gained = jukes_cantor(a, n)(got).0 - want;
            // Brent's last steps may cost this much.
            assert!((-1e-9..1e-5).contains(&gained), "{a} of {n}: {gained} above argmin's {want}");
        }
    }
}
