//! The maximum-likelihood distances of some pairs of sequences, one pair in each lane.
//!
//! Newton's method on the derivative of the log-likelihood, inside an interval that holds the maximum. Every lane is a
//! fixed sequence of operations on the counts of its own pair: its result depends neither on the pairs in the other lanes
//! nor on the instruction set.

use super::pair_model::{Decay, PairModel};
use crate::numeric::elementary::{Lanes, exp_minus_one, ln};

/// Pairs at a time.
pub(super) const LANES: usize = 8;

/// Largest distance, in substitutions per site (codons: per codon). Where the likelihood still rises here, the sequences
/// are saturated: their distance is infinite. PHYLIP's limit is about the same.
pub(super) const MAX_DISTANCE: f64 = 10.0;

/// A step of Newton's method that changes the distance by less than this factor of it is the last: its error is about the
/// square.
const LAST_STEP: f64 = 1e-8;
/// More steps than any pair takes; bisection alone needs fewer.
const MAX_STEPS: usize = 100;
/// A step on the flat side changes the distance at most by this factor.
const MAX_GROWTH: f64 = 8.0;

/// The pairs in one partition: how many of their sites are in each class.
pub(super) struct Part<'a> {
    pub(super) model: &'a PairModel,
    /// `[class][lane]`; classes behind the last are empty.
    pub(super) counts: &'a [Lanes],
}

/// Space for the values of the terms of one partition.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    terms: Vec<[Lanes; 3]>,
}

/// The distances; infinite where the sequences are saturated. A lane without any site has the distance 0.
#[inline(always)]
pub(super) fn solve(parts: &[Part], scratch: &mut Scratch) -> Lanes {
    let mut t = start(parts);
    // The largest distance is tried once, before it bounds the interval.
    let (mut lo, mut hi) = ([0.0; LANES], [f64::INFINITY; LANES]);
    let mut done = [false; LANES];
    for _ in 0..MAX_STEPS {
        let (first, second) = derivatives(parts, &t, scratch);
        for i in 0..LANES {
            if done[i] {
                continue;
            }
            (t[i], done[i]) = step(t[i], first[i], second[i], &mut lo[i], &mut hi[i]);
        }
        if done == [true; LANES] {
            break;
        }
    }
    t
}

/// The next distance to try, or the result.
#[inline(always)]
fn step(t: f64, first: f64, second: f64, lo: &mut f64, hi: &mut f64) -> (f64, bool) {
    if t == 0.0 && first <= 0.0 {
        return (0.0, true);
    }
    if t == MAX_DISTANCE && first >= 0.0 {
        return (f64::INFINITY, true);
    }
    if first > 0.0 {
        *lo = t;
    } else {
        *hi = t;
    }
    // Where the log-likelihood is convex, Newton's step would go downhill.
    let uphill = if first > 0.0 { MAX_GROWTH * t.max(1e-4) } else { t / MAX_GROWTH };
    let newton = if second < 0.0 { t - first / second } else { uphill };
    let mut next = newton.min(MAX_GROWTH * t.max(1e-2));
    if next >= hi.min(MAX_DISTANCE) {
        next = if *hi > MAX_DISTANCE { MAX_DISTANCE } else { 0.5 * (t + *hi) };
    }
    if next <= *lo {
        next = 0.5 * (*lo + t);
    }
    (next, (next - t).abs() <= LAST_STEP * t)
}

/// Where to begin: the distance of Jukes and Cantor or Felsenstein (1981) for the share of sites that differ; 0 if none
/// does.
#[inline(always)]
fn start(parts: &[Part]) -> Lanes {
    let (mut differ, mut all, mut saturation) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for part in parts {
        for (class, counts) in part.counts.iter().enumerate() {
            let differs = f64::from(u8::from(part.model.at_zero[class] == 0.0));
            for i in 0..LANES {
                differ[i] += counts[i] * differs;
                all[i] += counts[i];
                saturation[i] += counts[i] * part.model.saturation;
            }
        }
    }
    let mut left = [1.0; LANES];
    for i in 0..LANES {
        if all[i] > 0.0 {
            saturation[i] /= all[i];
            left[i] = (1.0 - differ[i] / all[i] / saturation[i]).max(0.05);
        }
    }
    let logs = ln(&left);
    let mut t = [0.0; LANES];
    for i in 0..LANES {
        t[i] = -saturation[i] * logs[i];
    }
    t
}

/// First and second derivatives of the log-likelihoods.
#[inline(always)]
fn derivatives(parts: &[Part], t: &Lanes, scratch: &mut Scratch) -> (Lanes, Lanes) {
    let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
    for part in parts {
        update_terms(part.model, t, &mut scratch.terms);
        for (class, counts) in part.counts.iter().enumerate() {
            if *counts == [0.0; LANES] {
                continue;
            }
            let mut p = [[part.model.at_zero[class]; LANES], [0.0; LANES], [0.0; LANES]];
            for (&coefficient, term) in part.model.row(class).iter().zip(&scratch.terms) {
                for (p, term) in p.iter_mut().zip(term) {
                    for i in 0..LANES {
                        p[i] = term[i].mul_add(coefficient, p[i]);
                    }
                }
            }
            for i in 0..LANES {
                let inverse = 1.0 / p[0][i];
                let (slope, bend) = (p[1][i] * inverse, p[2][i] * inverse);
                // A class without sites may have probability 0.
                let is_there = counts[i] > 0.0;
                first[i] += if is_there { counts[i] * slope } else { 0.0 };
                second[i] += if is_there { counts[i] * (bend - slope * slope) } else { 0.0 };
            }
        }
    }
    (first, second)
}

/// Each term at these distances, and its first and second derivatives.
#[inline(always)]
fn update_terms(model: &PairModel, t: &Lanes, terms: &mut Vec<[Lanes; 3]>) {
    terms.clear();
    for term in &model.terms {
        let mut sums = [[0.0; LANES]; 3];
        for &(rate, weight) in &term.cats {
            let slope = term.eigenvalue * rate;
            let x = t.map(|t| slope * t);
            let [value, first, second] = match model.decay {
                Decay::Exponential => exponential(&x),
                Decay::Gamma(shape) => mean_exponential(&x, shape),
            };
            for i in 0..LANES {
                sums[0][i] += weight * value[i];
                sums[1][i] += weight * slope * first[i];
                sums[2][i] += weight * slope * slope * second[i];
            }
        }
        terms.push(sums);
    }
}

/// exp(x) - 1 and the two derivatives of it.
#[inline(always)]
fn exponential(x: &Lanes) -> [Lanes; 3] {
    let value = exp_minus_one(x);
    let power = value.map(|value| 1.0 + value);
    [value, power, power]
}

/// The mean of exp(x r) over gamma-distributed r with mean 1, minus 1, and its two derivatives.
#[inline(always)]
fn mean_exponential(x: &Lanes, shape: f64) -> [Lanes; 3] {
    let base = x.map(|x| 1.0 - x / shape);
    let logs = ln(&base);
    let value = exp_minus_one(&logs.map(|log| -shape * log));
    let mut out = [value, [0.0; LANES], [0.0; LANES]];
    for i in 0..LANES {
        out[1][i] = (1.0 + value[i]) / base[i];
        out[2][i] = out[1][i] / base[i] * (1.0 + 1.0 / shape);
    }
    out
}
