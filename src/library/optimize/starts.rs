//! Optimisation from several starts. The likelihood has many local optima with respect to branch lengths,
//! especially on trees far from the best one, with strong rate variation over sites, and for short partitions with
//! unlinked branch lengths.

use super::alternatives::STARTS_EPSILON;
use super::shifts::take_regions;
use crate::likelihood::{BranchOptions, BrlenLinkage, Evaluator, NO_LENGTH, Result, Snapshot};
use crate::tree::{EdgeId, Tree};

/// Start values of the lengths of terminal and internal branches, in units of the mean branch length, in addition
/// to the present lengths. Measured with 13 starts on 3 trees for each of 14 alignments: these two and the given
/// lengths found the best optimum in all but one case. On trees far from the best one, long terminal branches are
/// the best start (by 35 to 70 log units on random trees of 33 and 54 taxa).
const STARTS: [[f64; 2]; 2] = [[0.3, 0.3], [2.0, 0.1]];

/// Further start values under unlinked branch lengths: short partitions have more local optima, and each partition keeps
/// the best of its own results. Without the last, a partition of 50 taxa and 160 columns ended 0.4 log units lower.
const STARTS_OF_PARTITIONS: [[f64; 2]; 4] = [[1.0, 1.0], [0.05, 0.05], [2.0, 0.02], [1.0, 0.02]];

/// Number of sweeps from each start, and maximum number of further sweeps from the best result: after the former, the
/// ranking of the starts is almost always the final one. Under unlinked lengths, partitions converge independently.
const SWEEPS: [usize; 2] = [2, 16];
const SWEEPS_OF_PARTITIONS: [usize; 2] = [4, 16];

/// Other start values are tried only if more than this share of the inner branches has no length, except under
/// unlinked lengths. Measured on 18 alignments with 12 to 714 taxa, and on 15 of them with +G4: on random trees, the
/// share is 0.05 to 0.9, and other start values gain up to 505 log units where it is 0.12 or more; on parsimony trees,
/// they gain nothing.
const CONTRADICTED: f64 = 0.05;

/// Branches longer than this (substitutions per site) are saturated: the likelihood hardly changes with their length, so
/// that an optimiser leaves them as long, even if they are that long only because the user's tree says so.
const SATURATED: f64 = 10.0;
/// Length of such branches in the mean length that is the unit of other start values.
const MODERATE: f64 = 1.0;

/// The optimisation from the best alternative start ends if the present log-likelihood is higher by more than this
/// factor times the gain of the last sweeps.
const OUT_OF_REACH: f64 = 2.0;

/// It ends also where less than this is missing (log units) and a check halfway to the present lengths finds at least
/// this share of it.
const CLOSE: f64 = 10.0;
const ON_ONE_PEAK: f64 = 0.5;

/// Maximum number of steps by which all branch lengths are changed tenfold at the beginning.
const MAX_TENFOLD: usize = 8;

/// True if hardly any split of a tree with optimised lengths contradicts the data: a branch whose split does has no
/// length, and lengths around it may have several optima. Saturated branches say nothing of the data.
pub(super) fn fits(tree: &Tree) -> bool {
    if tree.edges().any(|edge| tree.brlen(edge) > SATURATED) {
        return false;
    }
    let is_inner = |edge: &EdgeId| !tree.ends(*edge).iter().any(|&end| tree.is_tip(end));
    let inner: Vec<EdgeId> = tree.edges().filter(is_inner).collect();
    let without = inner.iter().filter(|&&edge| tree.brlen(edge) <= NO_LENGTH).count();
    without as f64 <= CONTRADICTED * inner.len() as f64
}

/// Scales branch lengths that are all far too long or too short (saturated, or in other units) to a range in
/// which the likelihood depends on them: in steps of a factor of ten, to one step before the most likely scale.
///
/// # Errors
/// The engine has failed.
pub fn approach_scale(evaluator: &mut Evaluator) -> Result<()> {
    evaluator.clamp_brlens();
    for factor in [0.1, 10.0] {
        let mut before = evaluator.snapshot();
        let mut lnl = evaluator.log_likelihood()?;
        for step in 0..MAX_TENFOLD {
            let here = evaluator.snapshot();
            evaluator.scale_brlens(factor);
            let scaled = evaluator.log_likelihood()?;
            if scaled <= lnl || scaled.is_nan() {
                evaluator.restore(&before);
                if step > 0 {
                    return Ok(());
                }
                break;
            }
            (lnl, before) = (scaled, here);
        }
    }
    Ok(())
}

/// Branch lengths, and the log-likelihoods of the partitions with them.
struct Lengths {
    snapshot: Snapshot,
    lnls: Vec<f64>,
}

impl Lengths {
    fn of(evaluator: &mut Evaluator) -> Result<Self> {
        Ok(Lengths { lnls: evaluator.partition_log_likelihoods()?, snapshot: evaluator.snapshot() })
    }

    /// Adopts the branch lengths of `other` if their log-likelihood is higher by more than `margin`: those of each
    /// partition under unlinked lengths, otherwise all.
    fn improve(&mut self, other: Lengths, linkage: BrlenLinkage, margin: f64) {
        if !linkage.has_own_lengths() {
            if other.lnls.iter().sum::<f64>() > self.lnls.iter().sum::<f64>() + margin {
                *self = other;
            }
            return;
        }
        for partition in 0..self.lnls.len() {
            if other.lnls[partition] > self.lnls[partition] + margin {
                self.snapshot.take_partition(partition, &other.snapshot);
                self.lnls[partition] = other.lnls[partition];
            }
        }
    }
}

/// True if the log-likelihood rises from the present lengths, where it is lower by `missing`, to those `there`
/// without a valley between them: halfway, a single peak would miss a quarter.
fn leads_to(evaluator: &mut Evaluator, there: &[Vec<f64>], missing: f64) -> Result<bool> {
    let here = evaluator.brlen_sets();
    let lnl = evaluator.log_likelihood()?;
    let mean = |(a, b): (&f64, &f64)| {
        let root = 0.5 * (libm::sqrt(*a) + libm::sqrt(*b));
        root * root
    };
    let halfway: Vec<Vec<f64>> =
        here.iter().zip(there).map(|(a, b)| a.iter().zip(b).map(mean).collect()).collect();
    evaluator.set_brlen_sets(&halfway);
    let gain = evaluator.log_likelihood()? - lnl;
    evaluator.set_brlen_sets(&here);
    Ok(gain > ON_ONE_PEAK * missing)
}

/// Optimises branch lengths from other start values at the present parameters, and keeps the results if they are better than
/// the present lengths: under unlinked lengths separately for each partition, otherwise in regions of the tree and, if
/// `as_a_whole`, of the whole tree. Where the present lengths are those of a search, no others are better as a whole, and those
/// of regions come from the first start (measured on five alignments: of seven gains in regions, another start made one, of
/// 0.008).
pub(super) fn try_other_lengths(evaluator: &mut Evaluator, as_a_whole: bool) -> Result<()> {
    let linkage = evaluator.linkage();
    let own_lengths = linkage.has_own_lengths();
    let [first_sweeps, max_further] = if own_lengths { SWEEPS_OF_PARTITIONS } else { SWEEPS };
    let mut best = Lengths::of(evaluator)?;
    let here = evaluator.brlen_sets();
    // Saturated branches of short partitions are a result of the data, whose start values were measured with them.
    let is_saturated = |&length: &f64| length > SATURATED && !own_lengths;
    let moderate = |length: &f64| if is_saturated(length) { MODERATE } else { *length };
    let moderate: Vec<Vec<f64>> =
        here.iter().map(|set| set.iter().map(moderate).collect()).collect();
    let mut others: Option<Lengths> = None;
    let mut found = Vec::new();
    let further = STARTS_OF_PARTITIONS.into_iter().filter(|_| own_lengths);
    let num_starts = if own_lengths || as_a_whole { STARTS.len() } else { 1 };
    for [tip, inner] in STARTS.into_iter().take(num_starts).chain(further) {
        evaluator.restore(&best.snapshot);
        if moderate != here {
            evaluator.set_brlen_sets(&moderate);
        }
        evaluator.start_brlens(tip, inner);
        evaluator.optimize_branches(&sweeps(first_sweeps, 1e-2))?;
        let other = Lengths::of(evaluator)?;
        found.extend(evaluator.brlen_sets().into_iter().take(1));
        match &mut others {
            None => others = Some(other),
            Some(others) => others.improve(other, linkage, 0.0),
        }
    }
    if own_lengths || as_a_whole {
        evaluator.restore(&others.expect("there is at least one start").snapshot);
        go_on(evaluator, max_further, &best, &here)?;
        best.improve(Lengths::of(evaluator)?, linkage, STARTS_EPSILON);
    }
    evaluator.restore(&best.snapshot);
    if !own_lengths {
        for lengths in &found {
            take_regions(evaluator, lengths)?;
        }
    }
    Ok(())
}

/// Further sweeps from the best of several starts, as long as the result may be better than the best one before, with these
/// lengths.
fn go_on(
    evaluator: &mut Evaluator,
    max_further: usize,
    best: &Lengths,
    here: &[Vec<f64>],
) -> Result<()> {
    let own_lengths = evaluator.linkage().has_own_lengths();
    let (wanted, mut lnl) = (best.lnls.iter().sum::<f64>(), evaluator.log_likelihood()?);
    for _ in 0..max_further {
        let before = lnl;
        lnl = evaluator.optimize_branches(&sweeps(1, 1e-3))?;
        // The same optimum as the present one, or one that will remain lower. (Single partitions may differ.)
        let missing = wanted - lnl;
        let is_known = missing.abs() < STARTS_EPSILON || missing > OUT_OF_REACH * (lnl - before);
        if lnl - before < STARTS_EPSILON || (is_known && !own_lengths) {
            break;
        }
        if !own_lengths && (0.0..CLOSE).contains(&missing) && leads_to(evaluator, here, missing)? {
            break;
        }
    }
    Ok(())
}

fn sweeps(max_sweeps: usize, gain_tolerance: f64) -> BranchOptions {
    BranchOptions { max_sweeps, lnl_epsilon: STARTS_EPSILON, gain_tolerance }
}
