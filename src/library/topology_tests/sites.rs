//! [`SiteLikelihoods`]: the log-likelihoods of the sites of several trees, laid out for resampling.

use crate::alignment::Patterns;

/// Trees whose sums are computed at once.
pub(super) const LANES: usize = 16;

/// Log-likelihoods of every site of all partitions on every tree. Only differences between trees matter, so the
/// values are those minus the ones of the best tree, which keeps sums small.
#[derive(Debug)]
pub struct SiteLikelihoods {
    num_trees: usize,
    /// `[block of trees][pattern]`; lanes without a tree are 0. The patterns are those of all partitions.
    blocks: Vec<Vec<[f64; LANES]>>,
    /// `[pattern]`: number of sites.
    weights: Vec<u32>,
    /// `[site]`: its pattern.
    site_to_pattern: Vec<u32>,
    /// `[tree]`: sum over all sites; 0 for the best tree.
    totals: Vec<f64>,
}

impl SiteLikelihoods {
    /// From `lnls[tree][partition][pattern]`, natural logarithms; a partition without data may have none: its sites
    /// have likelihood 1 on every tree.
    pub fn new(patterns: &[&Patterns], lnls: &[&[Vec<f64>]]) -> Self {
        let mut weights = Vec::new();
        let mut site_to_pattern = Vec::new();
        for of_partition in patterns {
            let first = weights.len() as u32;
            weights.extend_from_slice(&of_partition.weights);
            site_to_pattern.extend(of_partition.site_to_pattern.iter().map(|p| first + p));
        }
        let row = |tree: &[Vec<f64>]| -> Vec<f64> {
            let rows =
                patterns.iter().zip(tree).map(|(of_partition, lnls)| match lnls.is_empty() {
                    true => vec![0.0; of_partition.num_patterns()],
                    false => lnls.clone(),
                });
            rows.flatten().collect()
        };
        Self::from_rows(lnls.iter().map(|tree| row(tree)).collect(), weights, site_to_pattern)
    }

    /// From `rows[tree][pattern]`.
    pub(super) fn from_rows(
        mut rows: Vec<Vec<f64>>,
        weights: Vec<u32>,
        site_to_pattern: Vec<u32>,
    ) -> Self {
        let total = |row: &[f64]| -> f64 {
            row.iter().zip(&weights).map(|(lnl, &weight)| lnl * f64::from(weight)).sum()
        };
        let best = first_highest(rows.iter().map(|row| total(row)));
        let reference = rows[best].clone();
        for row in &mut rows {
            row.iter_mut().zip(&reference).for_each(|(lnl, of_best)| *lnl -= of_best);
        }
        let totals = rows.iter().map(|row| total(row)).collect();
        let block = |trees: &[Vec<f64>]| -> Vec<[f64; LANES]> {
            let lanes = |pattern: usize| {
                std::array::from_fn(|lane| trees.get(lane).map_or(0.0, |row| row[pattern]))
            };
            (0..weights.len()).map(lanes).collect()
        };
        let blocks = rows.chunks(LANES).map(block).collect();
        SiteLikelihoods { num_trees: rows.len(), blocks, weights, site_to_pattern, totals }
    }

    /// Number of trees.
    pub(super) fn num_trees(&self) -> usize {
        self.num_trees
    }

    /// `[site]`: its pattern.
    pub(super) fn site_to_pattern(&self) -> &[u32] {
        &self.site_to_pattern
    }

    /// Number of patterns.
    pub(super) fn num_patterns(&self) -> usize {
        self.weights.len()
    }

    /// `[tree]`: log-likelihood minus that of the best tree.
    pub(super) fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// The same for a resample that has each pattern `counts[pattern]` times.
    pub(super) fn sums(&self, counts: &[u32], sums: &mut [f64]) {
        for (rows, sums) in self.blocks.iter().zip(sums.chunks_mut(LANES)) {
            let mut lanes = [0.0; LANES];
            for (row, &count) in rows.iter().zip(counts) {
                let count = f64::from(count);
                for lane in 0..LANES {
                    lanes[lane] += count * row[lane];
                }
            }
            sums.copy_from_slice(&lanes[..sums.len()]);
        }
    }

    /// Standard deviation of the difference between two trees in resamples of all sites.
    pub(super) fn deviation(&self, a: usize, b: usize) -> f64 {
        let column =
            |tree: usize| self.blocks[tree / LANES].iter().map(move |row| row[tree % LANES]);
        let (mut sum, mut squares) = (0.0, 0.0);
        for ((a, b), &weight) in column(a).zip(column(b)).zip(&self.weights) {
            let difference = a - b;
            sum += f64::from(weight) * difference;
            squares += f64::from(weight) * difference * difference;
        }
        let num_sites = self.site_to_pattern.len() as f64;
        (squares - sum * sum / num_sites).max(0.0).sqrt()
    }
}

/// The number of the highest value; the first of equal ones.
pub(super) fn first_highest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, value) in values.enumerate() {
        if value > best.1 {
            best = (i, value);
        }
    }
    best.0
}
