//! Minimisation in several dimensions with box bounds, by a quasi-Newton method, as an ask/tell machine: derivatives are finite
//! differences, but for those that the caller knows.
//!
//! Ask/tell, because the parameters of many partitions are optimised in lock-step: each partition has its own
//! minimiser, every step asks all of them, and one likelihood call serves all answers; argmin's solvers call the
//! function themselves, one at a time.

use std::ops::Range;

/// Step of forward differences, relative to max(1, |x|). With a noise of 1e-13 |f| and second
/// derivatives of a few hundredths of |f| (log-likelihoods in log-parameters), noise and truncation
/// are about equal here.
const FORWARD_STEP: f64 = 2e-6;

/// Step of central differences, which also give the curvature along each axis.
const CENTRAL_STEP: f64 = 3e-4;

/// Relative noise of a function value.
const NOISE: f64 = 1e-13;

/// Longest step in one coordinate, and the longest where the curvature is unknown. Measured: with
/// 2.0 a rate can land on the flat, saturated side of its maximum and stay there (62 carnivores, second
/// codon positions: 130 log units lost).
const MAX_STEP: f64 = 1.0;
const MAX_BLIND_STEP: f64 = 0.5;

/// A step must gain this part of what the slope predicts (Armijo's rule).
const ARMIJO: f64 = 1e-4;

/// Share of a step's gain by which the next one is estimated, if the first gained what the Hessian predicts.
const NEXT_GAIN: f64 = 0.1;

/// Shortenings of one step before the direction is given up.
const MAX_BACKTRACKS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The start is asked.
    Start,
    /// The slopes at `x` that the caller knows are wanted.
    Slopes,
    /// Points around `x` are asked, for the gradient.
    Probe,
    /// Points along the direction are asked.
    Line,
    Done,
}

/// One point asked around `x`: a coordinate, the offset, and the value told.
#[derive(Debug, Clone, Copy)]
struct Probe {
    axis: usize,
    offset: f64,
    value: f64,
}

/// Projected BFGS with finite differences, driven from outside.
///
/// Nocedal & Wright (2006), *Numerical optimization*, chapters 3, 6 and 18 (damped update, procedure
/// 18.2); variables at a bound whose slope points outwards are held (Bertsekas 1982, SIAM J. Control
/// Optim. 20:221-246). The first gradient is by central differences, whose second differences scale
/// the first step; later ones are by forward differences until these make no progress, then central
/// again; then the direction is reset to (scaled) steepest descent; then it ends.
///
/// Of some coordinates the caller may know the slopes (`with_slopes_of`); these need no differences.
///
/// It also ends when an iteration gains less than `f_tol`. The result is never worse than the start.
/// Values that are not finite are avoided. Parameters that range over orders of magnitude (rates,
/// alpha) must be given as logarithms: steps are up to 2 in each coordinate.
///
/// ```text
/// let mut bfgs = Bfgs::new(vec![0.0, 0.0], vec![-5.0; 2], vec![5.0; 2], 1e-9, 50);
/// while let Some(x) = bfgs.ask() {
///     bfgs.tell(f(x));
/// }
/// let (x, value) = bfgs.best();
/// ```
#[derive(Debug, Clone)]
pub struct Bfgs {
    lo: Vec<f64>,
    hi: Vec<f64>,
    f_tol: f64,
    share_of_gain: f64,
    iters_left: usize,
    phase: Phase,
    /// The point being asked.
    asked: Vec<f64>,
    best: (Vec<f64>, f64),
    /// Value at the start.
    start_f: f64,
    /// The iterate, its value, its gradient and curvature along each axis (0 where not known).
    x: Vec<f64>,
    f: f64,
    gradient: Vec<f64>,
    curvature: Vec<f64>,
    /// Central rather than forward differences.
    central: bool,
    probes: Vec<Probe>,
    probes_told: usize,
    /// The coordinates whose slopes are told; these, and the Hessian among them, at the last place.
    told: Range<usize>,
    slopes: Vec<f64>,
    told_hessian: Vec<f64>,
    /// Approximate Hessian, row-major; `fresh` while it is only the diagonal made at this very `x`.
    hessian: Vec<f64>,
    fresh: bool,
    /// The Hessian is known from a place far away, and not yet scaled.
    from_far: bool,
    /// The step that led here and the gradient before it, until the Hessian has learnt from them.
    last_step: Option<(Vec<f64>, Vec<f64>)>,
    direction: Vec<f64>,
    slope: f64,
    alpha: f64,
    /// The step length tried before and its value.
    alpha_before: Option<(f64, f64)>,
    backtracks: usize,
}

impl Bfgs {
    /// A minimiser on the box [`lo`, `hi`] that begins at `x0` (moved into the box if outside).
    /// Coordinates with `lo == hi` stay as they are. `max_iters` counts accepted steps.
    ///
    /// # Panics
    ///
    /// If the lengths differ or a bound is not finite or out of order.
    pub fn new(x0: Vec<f64>, lo: Vec<f64>, hi: Vec<f64>, f_tol: f64, max_iters: usize) -> Self {
        let n = x0.len();
        assert!(lo.len() == n && hi.len() == n, "bounds for another number of dimensions");
        for (lo, hi) in lo.iter().zip(&hi) {
            assert!(lo.is_finite() && hi.is_finite() && lo <= hi, "bounds [{lo}, {hi}]");
        }
        let x: Vec<f64> = (0..n).map(|i| x0[i].clamp(lo[i], hi[i])).collect();
        Bfgs {
            lo,
            hi,
            f_tol,
            share_of_gain: 0.0,
            iters_left: max_iters,
            phase: Phase::Start,
            asked: x.clone(),
            best: (x.clone(), f64::INFINITY),
            start_f: f64::INFINITY,
            x,
            f: f64::INFINITY,
            gradient: vec![0.0; n],
            curvature: vec![0.0; n],
            central: true,
            probes: Vec::new(),
            probes_told: 0,
            told: 0..0,
            slopes: Vec::new(),
            told_hessian: Vec::new(),
            hessian: vec![0.0; n * n],
            fresh: false,
            from_far: false,
            last_step: None,
            direction: vec![0.0; n],
            slope: 0.0,
            alpha: 1.0,
            alpha_before: None,
            backtracks: 0,
        }
    }

    /// Begins with an approximate Hessian (row-major) that is known from elsewhere. If that was `far` from here, its
    /// axes are scaled to the curvature found by central differences; otherwise forward differences are enough.
    ///
    /// # Panics
    ///
    /// If it is for another number of dimensions.
    pub(crate) fn with_hessian(mut self, hessian: Vec<f64>, far: bool) -> Self {
        assert_eq!(hessian.len(), self.hessian.len(), "a Hessian for another number of dimensions");
        (self.hessian, self.central, self.from_far) = (hessian, far, far);
        self
    }

    /// Ends also after an iteration that gains less than this share of all that was gained so far, or where the Hessian
    /// predicts that the next one would.
    pub(crate) fn with_share_of_gain(mut self, share: f64) -> Self {
        self.share_of_gain = share;
        self
    }

    /// Has the slopes of these coordinates told to it: whenever [`Bfgs::wants_slopes`], [`Bfgs::tell_slopes`] instead of
    /// [`Bfgs::tell`].
    pub(crate) fn with_slopes_of(mut self, coordinates: Range<usize>) -> Self {
        self.told = coordinates;
        self
    }

    /// True if at the point last asked, the slopes are needed and not the value.
    pub(crate) fn wants_slopes(&self) -> bool {
        self.phase == Phase::Slopes
    }

    /// The slopes in the coordinates for which they are told, at the point last asked, and a positive definite approximation of the Hessian
    /// among these coordinates (row-major), with which the minimiser begins if it knows of none.
    ///
    /// # Panics
    /// If they are not wanted, or for another number of coordinates.
    pub(crate) fn tell_slopes(&mut self, slopes: Vec<f64>, hessian: Vec<f64>) {
        assert_eq!((self.phase, slopes.len()), (Phase::Slopes, self.told.len()));
        assert_eq!(
            hessian.len(),
            slopes.len().pow(2),
            "a Hessian for another number of dimensions"
        );
        (self.slopes, self.told_hessian) = (slopes, hessian);
        self.begin_probes();
    }

    /// The approximate Hessian, row-major; all 0 before the first gradient.
    pub(crate) fn hessian(&self) -> &[f64] {
        &self.hessian
    }

    /// The iterate and its value.
    pub(crate) fn iterate(&self) -> (&[f64], f64) {
        (&self.x, self.f)
    }

    /// Ends the minimisation at once.
    pub fn stop(&mut self) {
        self.phase = Phase::Done;
    }

    /// The next point at which the function is needed; `None` when finished. The first is the start.
    pub fn ask(&self) -> Option<&[f64]> {
        (self.phase != Phase::Done).then_some(&self.asked)
    }

    /// The best point so far and its value (infinite if nothing was told yet).
    pub fn best(&self) -> (&[f64], f64) {
        (&self.best.0, self.best.1)
    }

    /// The function's value at the point last asked. Ignored when finished.
    pub fn tell(&mut self, f: f64) {
        let f = if f.is_nan() { f64::INFINITY } else { f };
        if self.phase != Phase::Done && f < self.best.1 {
            self.best = (self.asked.clone(), f);
        }
        match self.phase {
            Phase::Done | Phase::Slopes => {}
            Phase::Start => {
                (self.f, self.start_f) = (f, f);
                if self.iters_left == 0 || !f.is_finite() {
                    self.phase = Phase::Done;
                } else {
                    self.begin_gradient();
                }
            }
            Phase::Probe => {
                self.probes[self.probes_told].value = f;
                self.probes_told += 1;
                self.ask_probe();
            }
            Phase::Line => self.judge_step(f),
        }
    }

    /// Asks for the slopes at `x` that the caller knows, then for the others.
    fn begin_gradient(&mut self) {
        if self.told.is_empty() {
            self.begin_probes();
        } else {
            self.asked.clone_from(&self.x);
            self.phase = Phase::Slopes;
        }
    }

    /// Lists the points needed for the other slopes at `x` and asks the first.
    fn begin_probes(&mut self) {
        self.probes.clear();
        for axis in (0..self.x.len()).filter(|axis| !self.told.contains(axis)) {
            let x = self.x[axis];
            let (down, up) = (x - self.lo[axis], self.hi[axis] - x);
            let step = if self.central { CENTRAL_STEP } else { FORWARD_STEP } * x.abs().max(1.0);
            // One-sided towards the roomier side where a bound is in the way.
            let inward = if up >= down { step.min(up) } else { -step.min(down) };
            let offsets = if !self.central {
                [inward, 0.0]
            } else if up >= step && down >= step {
                [step, -step]
            } else {
                [inward, 0.5 * inward]
            };
            for offset in offsets {
                // What is really added to x, after rounding.
                let offset = (x + offset) - x;
                if offset != 0.0 {
                    self.probes.push(Probe { axis, offset, value: f64::INFINITY });
                }
            }
        }
        self.probes_told = 0;
        self.phase = Phase::Probe;
        self.ask_probe();
    }

    fn ask_probe(&mut self) {
        self.asked.clone_from(&self.x);
        match self.probes.get(self.probes_told) {
            Some(probe) => {
                let (axis, offset) = (probe.axis, probe.offset);
                self.asked[axis] = (self.x[axis] + offset).clamp(self.lo[axis], self.hi[axis]);
            }
            None => self.finish_gradient(),
        }
    }

    /// Divided differences from the probes; then the Hessian learns and a step is begun.
    fn finish_gradient(&mut self) {
        self.gradient.fill(0.0);
        self.curvature.fill(0.0);
        let mut told = self.probes.iter().peekable();
        while let Some(one) = told.next() {
            let slope = |probe: &Probe| (probe.value - self.f) / probe.offset;
            let (mut gradient, mut curvature) = (slope(one), 0.0);
            if let Some(two) = told.next_if(|two| two.axis == one.axis) {
                let (h1, h2) = (one.offset, two.offset);
                curvature = 2.0 * (slope(one) - slope(two)) / (h1 - h2);
                gradient = (slope(two) * h1 - slope(one) * h2) / (h1 - h2);
            }
            // An axis along which the function breaks off is left alone for now.
            if gradient.is_finite() && curvature.is_finite() {
                self.gradient[one.axis] = gradient;
                self.curvature[one.axis] = curvature;
            }
        }
        self.gradient[self.told.clone()].copy_from_slice(&self.slopes);
        if let Some((step, gradient_before)) = self.last_step.take() {
            let change: Vec<f64> =
                self.gradient.iter().zip(&gradient_before).map(|(g, b)| g - b).collect();
            self.learn(&step, &change);
        } else if self.hessian.iter().all(|&h| h == 0.0) {
            self.reset_hessian();
        } else if std::mem::take(&mut self.from_far) {
            self.scale_hessian();
            self.central = false;
        }
        self.begin_line();
    }

    /// A diagonal Hessian: the measured curvature where it is positive, else one that keeps the step
    /// short.
    fn reset_hessian(&mut self) {
        let n = self.x.len();
        self.hessian.fill(0.0);
        for i in 0..n {
            let blind = self.gradient[i].abs() / MAX_BLIND_STEP;
            let floor = (NOISE * self.f.abs()).max(1e-12);
            let curvature = if self.curvature[i] > 0.0 { self.curvature[i] } else { blind };
            self.hessian[i * n + i] = curvature.max(floor);
        }
        for (i, row) in
            self.told.clone().zip(self.told_hessian.chunks_exact(self.told.len().max(1)))
        {
            self.hessian[i * n..][self.told.clone()].copy_from_slice(row);
        }
        self.fresh = true;
    }

    /// Scales the axes so that the diagonal is the measured curvature, where that is positive.
    fn scale_hessian(&mut self) {
        let n = self.x.len();
        let scale = |i: usize| {
            let ratio = self.curvature[i] / self.hessian[i * n + i];
            if ratio > 0.0 && ratio.is_finite() { ratio.sqrt() } else { 1.0 }
        };
        let scales: Vec<f64> = (0..n).map(scale).collect();
        for i in 0..n {
            for j in 0..n {
                self.hessian[i * n + j] *= scales[i] * scales[j];
            }
        }
    }

    /// The damped BFGS update, which keeps the Hessian positive definite.
    fn learn(&mut self, step: &[f64], change: &[f64]) {
        let n = step.len();
        let bs: Vec<f64> = (0..n).map(|i| dot(&self.hessian[i * n..(i + 1) * n], step)).collect();
        let (sbs, sy) = (dot(step, &bs), dot(step, change));
        if sbs <= 0.0 || !sbs.is_finite() || !sy.is_finite() {
            return;
        }
        let theta = if sy >= 0.2 * sbs { 1.0 } else { 0.8 * sbs / (sbs - sy) };
        let r: Vec<f64> = (0..n).map(|i| theta * change[i] + (1.0 - theta) * bs[i]).collect();
        let sr = dot(step, &r);
        for i in 0..n {
            for j in 0..n {
                self.hessian[i * n + j] += r[i] * r[j] / sr - bs[i] * bs[j] / sbs;
            }
        }
        self.fresh = false;
    }

    /// Computes the direction and asks the full step.
    fn begin_line(&mut self) {
        let free: Vec<usize> = (0..self.x.len())
            .filter(|&i| {
                let (x, g) = (self.x[i], self.gradient[i]);
                let outwards = (x <= self.lo[i] && g >= 0.0) || (x >= self.hi[i] && g <= 0.0);
                !outwards
            })
            .collect();
        let solved = self.solve(&free);
        let Some(solution) = solved else {
            return self.no_progress();
        };
        self.direction.fill(0.0);
        let longest = solution.iter().fold(0.0_f64, |longest, s| longest.max(s.abs()));
        let shrink = if longest > MAX_STEP { MAX_STEP / longest } else { 1.0 };
        for (&i, s) in free.iter().zip(&solution) {
            self.direction[i] = shrink * s;
        }
        self.slope = dot(&self.gradient, &self.direction);
        self.alpha = 1.0;
        self.alpha_before = None;
        self.backtracks = 0;
        if -self.slope <= NOISE * self.f.abs() {
            return self.no_progress();
        }
        // Along the Newton direction, the Hessian predicts a gain of half the slope.
        if self.share_of_gain > 0.0
            && !self.fresh
            && shrink == 1.0
            && -0.5 * self.slope < self.tolerance()
        {
            self.phase = Phase::Done;
            return;
        }
        self.ask_step();
    }

    /// -B^-1 g within the free coordinates, by Cholesky; `None` if B is not positive definite there.
    fn solve(&self, free: &[usize]) -> Option<Vec<f64>> {
        let (n, m) = (self.x.len(), free.len());
        let mut factor = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..=i {
                let below = dot(&factor[i * m..i * m + j], &factor[j * m..j * m + j]);
                let value = self.hessian[free[i] * n + free[j]] - below;
                if i != j {
                    factor[i * m + j] = value / factor[j * m + j];
                } else if value > 0.0 && value.is_finite() {
                    factor[i * m + i] = value.sqrt();
                } else {
                    return None;
                }
            }
        }
        let mut solution: Vec<f64> = free.iter().map(|&i| -self.gradient[i]).collect();
        for i in 0..m {
            let below = dot(&factor[i * m..i * m + i], &solution[..i]);
            solution[i] = (solution[i] - below) / factor[i * m + i];
        }
        for i in (0..m).rev() {
            let above: f64 = (i + 1..m).map(|j| factor[j * m + i] * solution[j]).sum();
            solution[i] = (solution[i] - above) / factor[i * m + i];
        }
        solution.iter().all(|s| s.is_finite()).then_some(solution)
    }

    /// Asks the point `alpha` along the direction, projected into the box.
    fn ask_step(&mut self) {
        for i in 0..self.x.len() {
            self.asked[i] =
                (self.x[i] + self.alpha * self.direction[i]).clamp(self.lo[i], self.hi[i]);
        }
        if self.asked == self.x {
            self.no_progress();
        } else {
            self.phase = Phase::Line;
        }
    }

    /// The gain of an iteration that is not worth another one.
    fn tolerance(&self) -> f64 {
        self.f_tol.max(self.share_of_gain * (self.start_f - self.f))
    }

    /// Accepts the step or shortens it.
    fn judge_step(&mut self, f: f64) {
        let step: Vec<f64> = self.asked.iter().zip(&self.x).map(|(a, x)| a - x).collect();
        let promised = dot(&self.gradient, &step).min(0.0);
        if f < self.f && f <= self.f + ARMIJO * promised {
            let gain = self.f - f;
            self.last_step = Some((step, self.gradient.clone()));
            self.x.clone_from(&self.asked);
            self.f = f;
            self.iters_left -= 1;
            let tolerance = self.tolerance();
            let surprise = (gain / (-0.5 * self.slope) - 1.0).abs();
            let predicted = self.share_of_gain > 0.0 && self.alpha == 1.0 && !self.fresh;
            let next_gain = if predicted { (NEXT_GAIN + surprise) * gain } else { gain };
            if gain.min(next_gain) < tolerance || self.iters_left == 0 {
                self.phase = Phase::Done;
            } else {
                // The first gradient is central only to learn the scales; forward is cheaper.
                if self.fresh {
                    self.central = false;
                }
                self.begin_gradient();
            }
            return;
        }
        self.backtracks += 1;
        let shorter = self.interpolate(f).clamp(0.1 * self.alpha, 0.5 * self.alpha);
        self.alpha_before = Some((self.alpha, f));
        self.alpha = shorter;
        let hopeless = -self.slope * self.alpha <= NOISE * self.f.abs();
        if self.backtracks > MAX_BACKTRACKS || hopeless {
            self.no_progress();
        } else {
            self.ask_step();
        }
    }

    /// Minimum along the line of the cubic through the last two steps tried, or of the parabola
    /// through the last; 0 where there is none. The slope at the start is known too.
    fn interpolate(&self, f: f64) -> f64 {
        let excess = |alpha: f64, f: f64| f - self.f - self.slope * alpha;
        let a1 = self.alpha;
        let e1 = excess(a1, f);
        let parabola = -self.slope * a1 * a1 / (2.0 * e1);
        let answer = match self.alpha_before {
            Some((a0, f0)) if f0.is_finite() => {
                let e0 = excess(a0, f0);
                let cubic = (e1 / (a1 * a1) - e0 / (a0 * a0)) / (a1 - a0);
                let square = (a1 * e0 / (a0 * a0) - a0 * e1 / (a1 * a1)) / (a1 - a0);
                let root = square * square - 3.0 * cubic * self.slope;
                if cubic == 0.0 || root < 0.0 {
                    parabola
                } else {
                    (root.sqrt() - square) / (3.0 * cubic)
                }
            }
            _ => parabola,
        };
        if answer.is_finite() { answer } else { 0.0 }
    }

    /// No step along the direction improves the function: better differences, then steepest descent, then the
    /// end.
    fn no_progress(&mut self) {
        if !self.central && self.told.len() < self.x.len() {
            self.central = true;
            self.begin_gradient();
        } else if !self.fresh {
            self.reset_hessian();
            self.begin_line();
        } else {
            self.phase = Phase::Done;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[path = "bfgs_tests.rs"]
mod tests;
