//! The maximum-likelihood distances of some pairs of sequences, one pair in each lane.
//!
//! Halley's method on the derivative of the log-likelihood, inside an interval that holds the maximum: it needs three
//! derivatives, which are cheap beside the exponentials that they have in common, and fewer steps than Newton's. Every
//! lane is a fixed sequence of operations on the counts of its own pair: its result depends neither on the pairs in the
//! other lanes nor on the instruction set. A pair whose distance is found leaves its lane to another.

use super::pair_model::{Decay, PairModel};
use mlsearch_kernels::elementary::{exp_minus_one_of, ln_of};

/// Pairs at a time.
pub(super) const LANES: usize = 64;
/// Lanes that are computed side by side.
const GROUP: usize = 8;

/// A number for each lane.
pub(super) type Lanes = [f64; LANES];

/// Largest distance, in substitutions per site (codons: per codon). Where the likelihood still rises here, the sequences
/// are saturated: their distance is infinite. PHYLIP's limit is about the same.
pub(super) const MAX_DISTANCE: f64 = 10.0;

/// A step of Halley's method that changes the distance by less than this factor of it is the last: its error is about the
/// third power.
const LAST_STEP: f64 = 1e-4;
/// The same for steps of Newton's method and bisections.
const LAST_SIMPLE_STEP: f64 = 1e-8;
/// More steps than any pair takes; bisection alone needs fewer.
const MAX_STEPS: usize = 100;
/// A step on the flat side changes the distance at most by this factor.
const MAX_GROWTH: f64 = 8.0;

/// The pairs in one partition: how many of their sites are in each class.
pub(super) struct Part<'a> {
    pub(super) model: &'a PairModel,
    /// `[class]`.
    counts: Vec<Lanes>,
    /// The classes with sites, ascending; the counts of others mean nothing.
    used: Vec<u32>,
    /// `[class]`: whether it is among them.
    is_used: Vec<bool>,
}

impl<'a> Part<'a> {
    /// Space for the counts of so many classes.
    pub(super) fn new(model: &'a PairModel, num_classes: usize) -> Self {
        Part {
            model,
            counts: vec![[0.0; LANES]; num_classes],
            used: Vec::with_capacity(num_classes),
            is_used: vec![false; num_classes],
        }
    }

    /// Removes all sites. The first classes will be used by [`Part::set`].
    pub(super) fn clear(&mut self, first_classes: usize) {
        self.used.drain(..).for_each(|class| self.is_used[class as usize] = false);
        (0..first_classes).for_each(|class| self.begin(class));
    }

    fn begin(&mut self, class: usize) {
        self.is_used[class] = true;
        self.used.push(class as u32);
        self.counts[class] = [0.0; LANES];
    }

    /// The numbers of sites of the pair in a lane in the first classes.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, sites: &[u64]) {
        for (counts, &sites) in self.counts.iter_mut().zip(sites) {
            counts[lane] = sites as f64;
        }
    }

    /// Adds sites of the pair in a lane to a class.
    #[inline(always)]
    pub(super) fn add(&mut self, class: usize, lane: usize, sites: f64) {
        if !self.is_used[class] {
            self.begin(class);
        }
        self.counts[class][lane] += sites;
    }

    /// The classes with sites, and their counts.
    #[inline(always)]
    fn counts(&self) -> impl Iterator<Item = (usize, &Lanes)> {
        self.used.iter().map(|&class| (class as usize, &self.counts[class as usize]))
    }
}

/// Space for the values of the terms of one partition, and their derivatives.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    terms: Vec<[Lanes; 4]>,
}

/// Where the search in each lane is.
struct Search {
    t: Lanes,
    lo: Lanes,
    hi: Lanes,
    /// 1 where it has ended, with `t` as the result; otherwise 0.
    is_done: Lanes,
    /// What 0 means: it is not a number without any site.
    zero: Lanes,
    /// The pair of each lane.
    pairs: [usize; LANES],
}

/// The distances of the pairs in the first lanes; infinite where the sequences are saturated, not a number without any site.
/// The counts are used up.
#[inline(always)]
pub(super) fn solve(parts: &mut [Part], scratch: &mut Scratch, out: &mut [f64]) {
    let mut left = out.len();
    parts.iter_mut().for_each(|part| part.used.sort_unstable());
    // The largest distance is tried once, before it bounds the interval.
    let (t, zero) = start(parts, left.next_multiple_of(GROUP));
    let mut search = Search {
        t,
        lo: [0.0; LANES],
        hi: [f64::INFINITY; LANES],
        is_done: [0.0; LANES],
        zero,
        pairs: std::array::from_fn(|lane| lane),
    };
    for _ in 0..MAX_STEPS {
        // The lanes behind the last pair belong to pairs whose distances are found, or to none.
        let lanes = left.next_multiple_of(GROUP);
        let derivatives = derivatives(parts, &search.t, lanes, scratch);
        step(&derivatives, &mut search, lanes);
        left = retire(parts, &mut search, left, out);
        if left == 0 {
            break;
        }
    }
    for (&pair, &t) in search.pairs.iter().zip(&search.t).take(left) {
        out[pair] = t;
    }
}

/// Writes the distances that are found, and moves the last of the other pairs to their lanes. Returns the number of pairs that
/// are left.
#[inline(always)]
fn retire(parts: &mut [Part], search: &mut Search, mut left: usize, out: &mut [f64]) -> usize {
    let mut lane = 0;
    while lane < left {
        if search.is_done[lane] == 0.0 {
            lane += 1;
            continue;
        }
        let found = search.t[lane];
        out[search.pairs[lane]] = if found == 0.0 { search.zero[lane] } else { found };
        left -= 1;
        let Search { t, lo, hi, is_done, zero, .. } = search;
        for list in [t, lo, hi, is_done, zero] {
            list[lane] = list[left];
        }
        search.pairs[lane] = search.pairs[left];
        // A pair that is not needed any more is not moved with its counts.
        if lane < left && search.is_done[lane] == 0.0 {
            for part in &mut *parts {
                for &class in &part.used {
                    let counts = &mut part.counts[class as usize];
                    counts[lane] = counts[left];
                }
            }
        }
    }
    left
}

/// The next distances to try, or the results. Without branches, so that lanes are computed side by side.
#[inline(always)]
fn step([first, second, third]: &[Lanes; 3], search: &mut Search, lanes: usize) {
    for i in 0..lanes.min(LANES) {
        let (t, first, second, third) = (search.t[i], first[i], second[i], third[i]);
        let lo = if first > 0.0 { t } else { search.lo[i] };
        let hi = if first > 0.0 { search.hi[i] } else { t };
        // Halley's step is Newton's divided by 1 - h; far from the maximum, h can be anything.
        let square = 2.0 * second * second;
        let bend = first * third;
        let is_halley = bend.abs() <= 0.5 * square;
        let divisor = if is_halley { square - bend } else { square };
        let steps = t - 2.0 * first * second / divisor;
        // Where the log-likelihood is convex, it would go downhill.
        let uphill = if first > 0.0 { MAX_GROWTH * t.max(1e-4) } else { t * (1.0 / MAX_GROWTH) };
        let next = if second < 0.0 { steps } else { uphill };
        let next = next.min(MAX_GROWTH * t.max(1e-2));
        let middle = if hi > MAX_DISTANCE { MAX_DISTANCE } else { 0.5 * (t + hi) };
        let next = if next >= hi.min(MAX_DISTANCE) { middle } else { next };
        let next = if next <= lo { 0.5 * (lo + t) } else { next };
        let limit = if is_halley { LAST_STEP } else { LAST_SIMPLE_STEP };
        let limit = if next == steps { limit } else { LAST_SIMPLE_STEP };
        let is_done = if (next - t).abs() <= limit * t { 1.0 } else { 0.0 };
        // The likelihood falls from 0 on, or still rises at the largest distance.
        let falls_from = if first > 0.0 { MAX_DISTANCE } else { t };
        let rises_at = if first >= 0.0 { t } else { 0.0 };
        let (next, is_done) = if falls_from == 0.0 { (0.0, 1.0) } else { (next, is_done) };
        let is_saturated = rises_at == MAX_DISTANCE;
        let (next, is_done) = if is_saturated { (f64::INFINITY, 1.0) } else { (next, is_done) };
        search.lo[i] = lo;
        search.hi[i] = hi;
        search.t[i] = next;
        search.is_done[i] = is_done;
    }
}

/// Where to begin: the distance of Jukes and Cantor or Felsenstein (1981) for the share of sites that differ, corrected for
/// the model ([`PairModel::bends`]); 0 if none does. And what 0 means (`Search::zero`).
#[inline(always)]
fn start(parts: &[Part], lanes: usize) -> (Lanes, Lanes) {
    let (mut differ, mut all) = ([0.0; LANES], [0.0; LANES]);
    let (mut saturation, mut bends) = ([0.0; LANES], [[0.0; LANES]; 2]);
    for part in parts {
        let model = part.model;
        for (class, counts) in part.counts() {
            let differs = if model.at_zero[class] == 0.0 { 1.0 } else { 0.0 };
            for i in 0..lanes.min(LANES) {
                differ[i] += counts[i] * differs;
                all[i] += counts[i];
                saturation[i] += counts[i] * model.saturation;
                bends[0][i] += counts[i] * model.bends[0];
                bends[1][i] += counts[i] * model.bends[1];
            }
        }
    }
    let (mut t, mut zero) = ([0.0; LANES], [0.0; LANES]);
    for i in 0..lanes.min(LANES) {
        let inverse = 1.0 / if all[i] > 0.0 { all[i] } else { 1.0 };
        let saturation = if all[i] > 0.0 { saturation[i] * inverse } else { 1.0 };
        let left = 1.0 - differ[i] * inverse / saturation;
        let simple = -saturation * ln_of(left.max(0.05));
        let bend = simple.mul_add(bends[1][i] * inverse, bends[0][i] * inverse);
        t[i] = simple * simple.mul_add(bend, 1.0).max(1.0);
        zero[i] = if all[i] > 0.0 { 0.0 } else { f64::NAN };
    }
    (t, zero)
}

/// The first three derivatives of the log-likelihoods.
#[inline(always)]
fn derivatives(parts: &[Part], t: &Lanes, lanes: usize, scratch: &mut Scratch) -> [Lanes; 3] {
    let mut sums = [[0.0; LANES]; 3];
    for part in parts {
        update_terms(part.model, t, lanes, &mut scratch.terms);
        // Of many classes, a group of pairs has some without any site.
        let may_be_empty = part.used.len() > 10;
        for group in 0..lanes / GROUP {
            let mut own = [[0.0; GROUP]; 3];
            for (sums, own) in sums.iter().zip(&mut own) {
                *own = sums.as_chunks().0[group];
            }
            for (class, counts) in part.counts() {
                let counts: &[f64; GROUP] = &counts.as_chunks().0[group];
                if may_be_empty && *counts == [0.0; GROUP] {
                    continue;
                }
                let mut p = [[0.0; GROUP]; 4];
                p[0] = [part.model.at_zero[class]; GROUP];
                for (&coefficient, term) in part.model.row(class).iter().zip(&scratch.terms) {
                    for (p, term) in p.iter_mut().zip(term) {
                        let term: &[f64; GROUP] = &term.as_chunks().0[group];
                        for i in 0..GROUP {
                            p[i] = term[i].mul_add(coefficient, p[i]);
                        }
                    }
                }
                for i in 0..GROUP {
                    // A class without sites may have probability 0.
                    let inverse = 1.0 / if counts[i] > 0.0 { p[0][i] } else { 1.0 };
                    let slope = p[1][i] * inverse;
                    let (bend, twist) = (p[2][i] * inverse, p[3][i] * inverse);
                    let square = slope * slope;
                    let third = slope.mul_add(2.0 * square - 3.0 * bend, twist);
                    own[0][i] = counts[i].mul_add(slope, own[0][i]);
                    own[1][i] = counts[i].mul_add(bend - square, own[1][i]);
                    own[2][i] = counts[i].mul_add(third, own[2][i]);
                }
            }
            for (sums, own) in sums.iter_mut().zip(own) {
                sums.as_chunks_mut().0[group] = own;
            }
        }
    }
    sums
}

/// Each term at these distances, and its first three derivatives.
#[inline(always)]
fn update_terms(model: &PairModel, t: &Lanes, lanes: usize, terms: &mut Vec<[Lanes; 4]>) {
    terms.clear();
    terms.resize(model.terms.len(), [[0.0; LANES]; 4]);
    for (term, sums) in model.terms.iter().zip(terms) {
        for &(rate, weight) in &term.cats {
            let slope = term.eigenvalue * rate;
            match model.decay {
                Decay::Exponential => add_terms::<false>([slope, weight, 1.0], t, lanes, sums),
                Decay::Gamma(shape) => add_terms::<true>([slope, weight, shape], t, lanes, sums),
            }
        }
    }
}

/// Adds a term of one rate category, and its first three derivatives. (The function of the distance is not passed as a closure,
/// which would be compiled without the caller's instruction set.)
#[inline(always)]
fn add_terms<const IS_GAMMA: bool>(
    [slope, weight, shape]: [f64; 3],
    t: &Lanes,
    lanes: usize,
    [zeroth, first, second, third]: &mut [Lanes; 4],
) {
    let (of_first, of_second) = (weight * slope, weight * slope * slope);
    let of_third = of_second * slope;
    let factors = [1.0 + 1.0 / shape, 1.0 + 2.0 / shape];
    for i in 0..lanes.min(LANES) {
        let x = slope * t[i];
        let values = if IS_GAMMA {
            // The mean of exp(x r) over gamma-distributed r with mean 1, minus 1.
            let inverse = 1.0 / (1.0 - x / shape);
            let value = exp_minus_one_of(shape * ln_of(inverse));
            let once = (1.0 + value) * inverse;
            let twice = once * inverse * factors[0];
            [value, once, twice, twice * inverse * factors[1]]
        } else {
            let value = exp_minus_one_of(x);
            [value, 1.0 + value, 1.0 + value, 1.0 + value]
        };
        zeroth[i] = weight.mul_add(values[0], zeroth[i]);
        first[i] = of_first.mul_add(values[1], first[i]);
        second[i] = of_second.mul_add(values[2], second[i]);
        third[i] = of_third.mul_add(values[3], third[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::pair_model::Term;
    use super::*;

    /// Sites that the model makes impossible at any distance have no likelihood to climb; they leave the other pairs alone.
    #[test]
    fn a_search_without_end_gives_its_last_distance() {
        let model = PairModel {
            decay: Decay::Exponential,
            terms: vec![Term { eigenvalue: -4.0 / 3.0, cats: vec![(1.0, 1.0)] }],
            // Equal, different, impossible.
            at_zero: vec![1.0, 0.0, 0.0],
            coefficients: vec![0.75, -0.75, 0.0],
            saturation: 0.75,
            bends: [0.0; 2],
            joins_transversions: false,
        };
        let mut parts = [Part::new(&model, 3)];
        for (lane, sites) in [[90, 10, 0], [80, 0, 20], [70, 30, 0]].into_iter().enumerate() {
            for (class, count) in sites.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                parts[0].add(class, lane, f64::from(count));
            }
        }
        let mut out = [-1.0; 3];
        solve(&mut parts, &mut Scratch::default(), &mut out);
        for (found, share) in [(out[0], 0.1), (out[2], 0.3)] {
            let expected = -0.75 * ln_of(1.0 - share / 0.75);
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
        assert!(out[1] > 0.0 && out[1] < 1e-50, "{}", out[1]);
    }
}
