//! Optimisation from several starts: branch lengths have many local optima, most of all on trees far from
//! the best one, where rates vary much between sites, and in short genes with lengths of their own.

use super::rounds::{OptimizeOptions, optimize, restart_parameters};
use crate::likelihood::{BranchOptions, BrlenLinkage, BrlenStart, Evaluator, Snapshot};
use crate::model::Model;

/// Where lengths begin besides where they are. Measured on 3 trees each of 14 alignments, with 13 starts: a
/// tenth of the given lengths finds the optimum of short branches; lengths of the right mean often find the
/// one that a tree without lengths should; and where the tree is far from the best one, no start
/// is as good as long branches to the tips (35 to 70 log units on random trees of 33 and 54 taxa).
const STARTS: [BrlenStart; 3] = [
    BrlenStart::Scaled(0.1),
    BrlenStart::Uniform { tip: 0.5, inner: 0.5 },
    BrlenStart::Uniform { tip: 2.0, inner: 0.02 },
];

/// Sweeps from each start, and further ones from the best: after the first the ranking is nearly
/// always that of the ends.
const SWEEPS: [usize; 2] = [4, 8];

/// From this epsilon on, only the best of the starts goes on: ends that are closer to each other than this
/// are one optimum, or as good.
const STARTS_EPSILON: f64 = 0.1;

/// Most times that parameters begin anew: the first time is nearly always enough.
const MAX_RESTARTS: usize = 3;

/// Most steps that the lengths as a whole are changed tenfold before anything else.
const MAX_TENFOLD: usize = 8;

/// [`optimize`] from the lengths as they are, and on from the best of several starts. There parameters begin
/// anew, see [`restart_parameters`].
pub fn optimize_from_several_starts(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
) -> f64 {
    let initial = models.to_vec();
    if options.branches {
        approach_scale(evaluator);
        let given = evaluator.snapshot();
        let lnl_epsilon = options.lnl_epsilon.max(STARTS_EPSILON);
        optimize(evaluator, models, &OptimizeOptions { lnl_epsilon, ..*options });
        try_other_lengths(evaluator, &given);
    }
    optimize(evaluator, models, options);
    for _ in 0..MAX_RESTARTS {
        if !(options.model && restart_parameters(evaluator, models, &initial, options)) {
            break;
        }
        optimize(evaluator, models, options);
    }
    evaluator.log_likelihood()
}

/// Brings lengths that are all far too long or too short (saturated, or those of a tree in other units) to
/// where they have a slope: by tenfold steps, to one step before the most likely.
pub fn approach_scale(evaluator: &mut Evaluator) {
    evaluator.clamp_brlens();
    for factor in [0.1, 10.0] {
        let mut before = evaluator.snapshot();
        let mut lnl = evaluator.log_likelihood();
        for step in 0..MAX_TENFOLD {
            let here = evaluator.snapshot();
            evaluator.scale_brlens(factor);
            let scaled = evaluator.log_likelihood();
            if scaled <= lnl || scaled.is_nan() {
                evaluator.restore(&before);
                if step > 0 {
                    return;
                }
                break;
            }
            (lnl, before) = (scaled, here);
        }
    }
}

/// Lengths, and the likelihoods that genes have with them.
struct Lengths {
    snapshot: Snapshot,
    lnls: Vec<f64>,
}

impl Lengths {
    fn of(evaluator: &mut Evaluator) -> Self {
        Lengths { lnls: evaluator.gene_log_likelihoods(), snapshot: evaluator.snapshot() }
    }

    /// Takes over what is better in another: each gene's own lengths, or all that genes share.
    fn improve(&mut self, other: Lengths, linkage: BrlenLinkage) -> bool {
        if linkage != BrlenLinkage::Unlinked {
            let is_better = other.lnls.iter().sum::<f64>() > self.lnls.iter().sum();
            if is_better {
                *self = other;
            }
            return is_better;
        }
        let mut any = false;
        for gene in 0..self.lnls.len() {
            if other.lnls[gene] > self.lnls[gene] {
                self.snapshot.take_gene(gene, &other.snapshot);
                self.lnls[gene] = other.lnls[gene];
                any = true;
            }
        }
        any
    }
}

/// Optimises branch lengths from other starts at the present parameters, and keeps those that end better
/// than the present ones: of each gene, where lengths are its own. `given` are the lengths that the
/// present ones came from.
fn try_other_lengths(evaluator: &mut Evaluator, given: &Snapshot) -> bool {
    let linkage = evaluator.linkage();
    let sweeps = |max_sweeps| BranchOptions {
        max_sweeps,
        lnl_epsilon: STARTS_EPSILON,
        gain_tolerance: 1e-3,
    };
    let mut best = Lengths::of(evaluator);
    let mut others: Option<Lengths> = None;
    for start in STARTS {
        let from = if matches!(start, BrlenStart::Scaled(_)) { given } else { &best.snapshot };
        evaluator.restore(from);
        evaluator.start_brlens(start);
        evaluator.optimize_branches(&sweeps(SWEEPS[0]));
        let other = Lengths::of(evaluator);
        match &mut others {
            None => others = Some(other),
            Some(others) => {
                others.improve(other, linkage);
            }
        }
    }
    evaluator.restore(&others.expect("there are starts").snapshot);
    evaluator.optimize_branches(&sweeps(SWEEPS[1]));
    let improved = best.improve(Lengths::of(evaluator), linkage);
    evaluator.restore(&best.snapshot);
    improved
}
