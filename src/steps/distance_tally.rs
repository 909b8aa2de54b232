//! [`Tally`]: what is found out about distances as they are computed.

use crate::output::{DistanceMapReport, MatrixReport};
use crate::runtime::{RunRecord, warn_of_each};

/// Pairs without a distance that are named.
const MOST_NAMED: usize = 10_000;
/// Parts of a unit in which distances are added up exactly, so that the mean does not depend on their order.
const PARTS: f64 = (1_u64 << 48) as f64;
/// Distances up to which that is done: in parts, they have 63 bits. Those between sequences are smaller.
const MOST_IN_PARTS: f64 = (1_u64 << 15) as f64;

/// Most taxa of a map.
const MOST_IN_MAP: usize = 500;

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
    /// Each taxon with its distances from those before it, as long as they are not too many for a map.
    rows: Vec<(String, Vec<f32>)>,
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
            rows: Vec::new(),
        }
    }
}

impl Tally {
    /// The distances of a taxon from those before it.
    pub(crate) fn add<'n>(&mut self, taxon: usize, row: &[f64], name: impl Fn(usize) -> &'n str) {
        if taxon == self.rows.len() && taxon <= MOST_IN_MAP {
            let row = row.iter().map(|&distance| distance as f32).collect();
            self.rows.push((name(taxon).to_string(), row));
        }
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
            map: self.map(taxa),
            trees: Vec::new(),
            partitions: Vec::new(),
        }
    }

    /// The map, if all taxa are in it.
    fn map(&self, taxa: usize) -> Option<DistanceMapReport> {
        if self.rows.len() != taxa || !(3..=MOST_IN_MAP).contains(&taxa) {
            return None;
        }
        let distance = |a: usize, b: usize| match a.cmp(&b) {
            std::cmp::Ordering::Less => self.rows[b].1[a],
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => self.rows[a].1[b],
        };
        // From each taxon to the nearest that is left; what has no distance comes last.
        // By names, so that nothing depends on the order of the alignment.
        let mut left: Vec<usize> = (0..taxa).collect();
        left.sort_unstable_by(|&a, &b| self.rows[a].0.cmp(&self.rows[b].0));
        let mut order = vec![left.remove(0)];
        while let Some(&last) = order.last() {
            let far = |taxon: usize| Some(distance(last, taxon)).filter(|d| d.is_finite());
            let near = |a: &(usize, &usize), b: &(usize, &usize)| {
                let [a, b] = [a, b].map(|one| far(*one.1).unwrap_or(f32::MAX));
                a.total_cmp(&b)
            };
            let Some((place, _)) = left.iter().enumerate().min_by(near) else { break };
            order.push(left.remove(place));
        }
        let largest = (self.largest as f32).max(f32::MIN_POSITIVE);
        let digit = |distance: f32| match distance.is_finite() {
            true => char::from(b'0' + (9.0 * distance / largest).round().clamp(0.0, 9.0) as u8),
            false => '9',
        };
        let row = |&a: &usize| order.iter().map(|&b| digit(distance(a, b))).collect();
        Some(DistanceMapReport {
            taxa: order.iter().map(|&taxon| self.rows[taxon].0.clone()).collect(),
            rows: order.iter().map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_taxa_are_together_in_the_map() {
        let mut tally = Tally::default();
        let names = ["a", "b", "c", "d"];
        for (taxon, row) in [&[][..], &[0.9], &[0.1, 0.9], &[f64::NAN, 0.3, 0.9]].iter().enumerate()
        {
            tally.add(taxon, row, |taxon| names[taxon]);
        }
        let map = tally.report(String::new(), 4).map.unwrap();
        assert_eq!(map.taxa, ["a", "c", "b", "d"]);
        assert_eq!(map.rows, ["0199", "1099", "9903", "9930"]);
        // Not all taxa are there.
        assert!(tally.report(String::new(), 5).map.is_none());
    }
}
