//! [`Tally`]: what is found out about distances as they are computed.

use crate::output::MatrixReport;
use crate::runtime::{RunRecord, warn_of_each};

/// Pairs without a distance that are named.
const MOST_NAMED: usize = 10_000;
/// Parts of a unit in which distances are added up exactly, so that the mean does not depend on their order.
const PARTS: f64 = (1_u64 << 48) as f64;
/// Distances up to which that is done: in parts, they have 63 bits. Those between sequences are smaller.
const MOST_IN_PARTS: f64 = (1_u64 << 15) as f64;

/// What is found on the way.
#[derive(Debug)]
pub(crate) struct Tally {
    pairs: u64,
    saturated: u64,
    without_overlap: u64,
    /// Sum of the known distances, in parts.
    sum: u128,
    /// Sum of those that are too large for parts.
    rest: f64,
    least: f64,
    largest: f64,
    /// The first pairs without a distance.
    unknown: Vec<String>,
}

impl Default for Tally {
    fn default() -> Self {
        let (least, largest) = (f64::INFINITY, 0.0);
        Tally {
            pairs: 0,
            saturated: 0,
            without_overlap: 0,
            sum: 0,
            rest: 0.0,
            least,
            largest,
            unknown: Vec::new(),
        }
    }
}

impl Tally {
    /// The distances of a taxon from those before it.
    pub(crate) fn add<'n>(&mut self, taxon: usize, row: &[f64], name: impl Fn(usize) -> &'n str) {
        for (other, &distance) in row.iter().enumerate() {
            self.pairs += 1;
            if distance.is_finite() {
                match distance < MOST_IN_PARTS {
                    true => self.sum += u128::from((distance * PARTS + 0.5) as u64),
                    false => self.rest += distance,
                }
                self.least = self.least.min(distance);
                self.largest = self.largest.max(distance);
                continue;
            }
            let why = match distance.is_nan() {
                true => {
                    self.without_overlap += 1;
                    "no site at which both have data"
                }
                false => {
                    self.saturated += 1;
                    "saturated, the likelihood rises up to the largest distance"
                }
            };
            if self.unknown.len() < MOST_NAMED {
                self.unknown.push(format!("{}, {}: {why}", name(other), name(taxon)));
            }
        }
    }

    /// Adds the numbers of other distances; pairs are not named.
    pub(crate) fn join(&mut self, other: &Tally) {
        self.pairs += other.pairs;
        self.saturated += other.saturated;
        self.without_overlap += other.without_overlap;
        self.sum += other.sum;
        self.rest += other.rest;
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
    }

    /// Warns of the pairs without a distance (`place` says where, and begins with a space); `what` is done with them.
    pub(crate) fn warn(&mut self, place: &str, what: &str, record: &mut RunRecord) {
        let cases = std::mem::take(&mut self.unknown);
        if cases.is_empty() {
            return;
        }
        let count = self.saturated + self.without_overlap;
        let more = match count.saturating_sub(MOST_NAMED as u64) {
            0 => String::new(),
            unnamed => format!("; {unnamed} of them are not named"),
        };
        let summary =
            format!("{count} pairs of sequences have no distance{place} and {what}{more}");
        warn_of_each(record, &summary, cases);
    }

    pub(crate) fn report(&self, method: String, taxa: usize) -> MatrixReport {
        let known = self.pairs - self.saturated - self.without_overlap;
        let if_any = |value: f64| (known > 0).then_some(value);
        MatrixReport {
            method,
            taxa,
            pairs: self.pairs,
            saturated: self.saturated,
            without_overlap: self.without_overlap,
            least: if_any(self.least),
            mean: if_any((self.sum as f64 / PARTS + self.rest) / known.max(1) as f64),
            largest: if_any(self.largest),
            trees: Vec::new(),
            partitions: Vec::new(),
        }
    }
}
