//! [`Tally`]: what is found out about distances as they are computed.

use crate::output::{Clusters, DistanceMapReport, MatrixReport};
use crate::runtime::{RunRecord, warn_of_each};

/// Pairs without a distance that are named.
const MOST_NAMED: usize = 10_000;
/// Parts of a unit in which distances are added up exactly, so that the mean does not depend on their order.
const PARTS: f64 = (1_u64 << 48) as f64;
/// Distances up to which that is done: in parts, they have 63 bits. Those between sequences are smaller.
const MOST_IN_PARTS: f64 = (1_u64 << 15) as f64;

/// Most rows of a map.
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
    /// For the map, if there is one: the names of the taxa, and what is near.
    near: Option<(Vec<String>, Clusters)>,
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
            near: None,
        }
    }
}

impl Tally {
    /// One that also finds out what is near, for a map.
    pub(crate) fn with_map() -> Self {
        Tally { near: Some((Vec::new(), Clusters::new(MOST_IN_MAP))), ..Tally::default() }
    }

    /// The distances of a taxon from those before it.
    pub(crate) fn add<'n>(&mut self, taxon: usize, row: &[f64], name: impl Fn(usize) -> &'n str) {
        if let Some((names, clusters)) = &mut self.near {
            clusters.push_row(row);
            names.push(name(taxon).to_string());
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
            order: Vec::new(),
            map: self.map(taxa),
            trees: Vec::new(),
            partitions: Vec::new(),
        }
    }

    /// The map, if all taxa are in it.
    fn map(&self, taxa: usize) -> Option<DistanceMapReport> {
        let (names, clusters) = self.near.as_ref()?;
        if names.len() != taxa || taxa < 3 {
            return None;
        }
        // By names, so that nothing depends on the order of the alignment as long as each taxon has its row.
        let ordered = clusters.ordered(|taxon| &names[taxon]);
        let means = ordered.means.iter().flatten().copied();
        let largest = means.filter(|mean| mean.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        let digit = |&mean: &f64| match mean.is_finite() {
            true => char::from(b'0' + (9.0 * mean / largest).round().clamp(0.0, 9.0) as u8),
            false => '9',
        };
        let sizes: Vec<usize> = ordered.clusters.iter().map(Vec::len).collect();
        Some(DistanceMapReport {
            taxa: ordered.clusters.iter().flatten().map(|&taxon| names[taxon].clone()).collect(),
            row_sizes: if sizes.len() < taxa { sizes } else { Vec::new() },
            rows: ordered.means.iter().map(|row| row.iter().map(digit).collect()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_taxa_are_together_in_the_map() {
        let mut tally = Tally::with_map();
        let names = ["a", "b", "c", "d"];
        for (taxon, row) in [&[][..], &[0.9], &[0.1, 0.9], &[f64::NAN, 0.3, 0.9]].iter().enumerate()
        {
            tally.add(taxon, row, |taxon| names[taxon]);
        }
        let map = tally.report(String::new(), 4).map.unwrap();
        assert_eq!(map.taxa, ["a", "c", "b", "d"]);
        assert_eq!(map.rows, ["0199", "1099", "9903", "9930"]);
        assert!(map.row_sizes.is_empty());
        // Not all taxa are there.
        assert!(tally.report(String::new(), 5).map.is_none());
    }

    #[test]
    fn near_taxa_share_rows_where_there_are_many() {
        let mut tally = Tally::with_map();
        let names: Vec<String> = (0..1200).map(|taxon| format!("t{taxon}")).collect();
        for taxon in 0..1200_usize {
            // Four hundred groups of three, far from each other.
            let row: Vec<f64> = (0..taxon)
                .map(|other| if other % 400 == taxon % 400 { 0.1 } else { 2.0 })
                .collect();
            tally.add(taxon, &row, |taxon| &names[taxon]);
        }
        let map = tally.report(String::new(), 1200).map.unwrap();
        assert_eq!((map.rows.len(), map.taxa.len()), (500, 1200));
        assert_eq!(map.row_sizes.iter().sum::<usize>(), 1200);
        let mut first = 0;
        for &size in &map.row_sizes {
            let group = |name: &String| name[1..].parse::<usize>().unwrap() % 400;
            let names = &map.taxa[first..first + size];
            assert!(names.iter().all(|name| group(name) == group(&names[0])), "{names:?}");
            first += size;
        }
    }
}
