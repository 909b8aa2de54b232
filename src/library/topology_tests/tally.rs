//! [`Tally`]: what replicates are counted for.

use super::observed::{EQUAL, Observed, Weighted};

/// Rounding errors of differences in standard deviations.
const ROUNDING: f64 = 1e-9;

/// Replicates with as many sites as the data, per tree: how many of them speak for the tree in each test.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    /// Shares of the replicates in which the tree is the best, summed.
    pub(super) bp: Vec<f64>,
    /// Replicates in which the difference is at least the observed one.
    pub(super) kh: Vec<u64>,
    /// The same.
    pub(super) sh: Vec<u64>,
    /// The same.
    pub(super) wkh: Vec<u64>,
    /// The same.
    pub(super) wsh: Vec<u64>,
    /// Likelihood weights, summed.
    pub(super) elw: Vec<f64>,
}

impl Tally {
    /// Of no replicate.
    pub(super) fn new(num_trees: usize) -> Self {
        let (shares, counts) = (vec![0.0; num_trees], vec![0; num_trees]);
        Tally {
            bp: shares.clone(),
            kh: counts.clone(),
            sh: counts.clone(),
            wkh: counts.clone(),
            wsh: counts,
            elw: shares,
        }
    }

    /// Counts one replicate with these log-likelihoods; `centred` is a buffer.
    pub(super) fn count(&mut self, lnls: &[f64], observed: &Observed, centred: &mut Vec<f64>) {
        let totals = &observed.totals;
        let highest = highest(lnls);
        let best = best_trees(lnls);
        let share = 1.0 / best.clone().count() as f64;
        best.for_each(|tree| self.bp[tree] += share);
        let weights = lnls.iter().map(|lnl| libm::exp(lnl - highest));
        let sum: f64 = weights.clone().sum();
        self.elw.iter_mut().zip(weights).for_each(|(elw, weight)| *elw += weight / sum);

        // The expectation of a replicate's log-likelihood is that of the data: without it all trees are equal.
        centred.clear();
        centred.extend(lnls.iter().zip(totals).map(|(lnl, total)| lnl - total));
        let highest = self::highest(centred);
        for tree in 0..totals.len() {
            let is_as_great = |rival: usize| {
                let observed = totals[rival] - totals[tree];
                u64::from(centred[rival] - centred[tree] >= observed - EQUAL)
            };
            self.kh[tree] += is_as_great(observed.rivals[tree]);
            self.sh[tree] += u64::from(highest - centred[tree] >= -totals[tree] - EQUAL);
            if let Some(weighted) = &observed.weighted {
                self.wkh[tree] += is_as_great(weighted.rivals[tree]);
                let greatest = greatest_difference(weighted, centred, tree);
                self.wsh[tree] += u64::from(greatest >= weighted.greatest[tree] - ROUNDING);
            }
        }
    }

    /// The tally of both.
    pub(super) fn and(mut self, other: &Tally) -> Tally {
        fn add<T: Copy + std::ops::AddAssign>(to: &mut [T], from: &[T]) {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
        }
        add(&mut self.bp, &other.bp);
        add(&mut self.kh, &other.kh);
        add(&mut self.sh, &other.sh);
        add(&mut self.wkh, &other.wkh);
        add(&mut self.wsh, &other.wsh);
        add(&mut self.elw, &other.elw);
        self
    }
}

/// The trees that are the best of a replicate.
pub(super) fn best_trees(lnls: &[f64]) -> impl Iterator<Item = usize> + Clone {
    let least = highest(lnls) - EQUAL;
    (0..lnls.len()).filter(move |&tree| lnls[tree] >= least)
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The greatest difference to another tree, in standard deviations.
fn greatest_difference(weighted: &Weighted, centred: &[f64], tree: usize) -> f64 {
    let differences = centred.iter().zip(&weighted.inverse_deviations[tree]).enumerate();
    let others = differences.filter(|(other, _)| *other != tree);
    let differences = others.map(|(_, (other, inverse))| (other - centred[tree]) * inverse);
    differences.fold(f64::NEG_INFINITY, f64::max)
}
