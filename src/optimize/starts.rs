//! Optimisation from several starts: branch lengths have many local optima, most of all on trees far from
//! the best one, where rates vary much between sites, and in short genes with lengths of their own.

use super::rates::{STARTS_EPSILON, try_other_rates};
use super::rounds::{OptimizeOptions, optimize, optimize_to_the_end, restart_parameters};
use crate::likelihood::{BranchOptions, BrlenLinkage, Evaluator, Result, Snapshot};
use crate::model::Model;
use crate::observer::{Event, Observer};

/// Where lengths begin besides where they are: branches to tips and inner ones, in units of the mean
/// length. Measured on 3 trees each of 14 alignments, with 13 starts: these two and the given lengths found
/// the best optimum in all but one. Where the tree is far from the best one, no start is as good as long
/// branches to the tips (35 to 70 log units on random trees of 33 and 54 taxa).
const STARTS: [[f64; 2]; 2] = [[0.3, 0.3], [2.0, 0.1]];

/// Further ones where lengths are the genes' own: short genes have more optima, each gene takes what is best
/// for it, and genes cost little on their own.
const STARTS_OF_GENES: [[f64; 2]; 3] = [[1.0, 1.0], [0.05, 0.05], [2.0, 0.02]];

/// Sweeps from each start, and most pairs of further ones from the best: after the first the ranking is nearly
/// always that of the ends.
const SWEEPS: [usize; 2] = [4, 8];

/// The best of the others is given up when it lies further below than so many times what its last sweeps
/// gained.
const OUT_OF_REACH: f64 = 10.0;

/// Most times that parameters begin anew: the first time is nearly always enough.
const MAX_RESTARTS: usize = 3;

/// Most steps that the lengths as a whole are changed tenfold before anything else.
const MAX_TENFOLD: usize = 8;

/// [`optimize`] from the lengths as they are, and on from the best of several starts. There parameters begin
/// anew, from the values they have now.
///
/// # Errors
/// The engine has failed.
pub fn optimize_from_several_starts(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
    observer: &mut dyn Observer,
) -> Result<f64> {
    let initial = models.to_vec();
    if options.branches {
        observer.event(&phase("first lengths and model"));
        approach_scale(evaluator)?;
        find_lengths(evaluator, models, options, observer)?;
    }
    observer.event(&phase("final lengths and model"));
    end(evaluator, models, &initial, options, observer)
}

/// [`optimize`], at the end of a search, to where [`optimize_from_several_starts`] would come: lengths and
/// parameters are good already, and only where there may be better optima nearby are they looked for. These
/// are own lengths of genes, and rates over sites with several optima.
///
/// # Errors
/// The engine has failed.
pub(crate) fn conclude(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    initial: &[Model],
    options: &OptimizeOptions,
    observer: &mut dyn Observer,
) -> Result<f64> {
    if options.branches && evaluator.linkage().has_own_lengths() {
        find_lengths(evaluator, models, options, observer)?;
        observer.event(&phase("final lengths and model"));
    }
    // Among optima of free rates the way goes through all other parameters, too.
    if models.iter().any(Model::estimates_free_rates) {
        return end(evaluator, models, initial, options, observer);
    }
    optimize(evaluator, models, options, observer)?;
    // Invariant sites beside gamma are asked for at the end, because as a rule there is nothing better: before
    // it, what is merely unfinished looks like a better optimum.
    if options.model && try_other_rates(evaluator, models, options.branches)? {
        return end(evaluator, models, initial, options, observer);
    }
    evaluator.log_likelihood()
}

fn phase(name: &str) -> Event {
    Event::Phase { name: name.to_string() }
}

/// Loosely to an optimum, and from there to the best of those that other lengths lead to.
fn find_lengths(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
    observer: &mut dyn Observer,
) -> Result<()> {
    let lnl_epsilon = options.lnl_epsilon.max(STARTS_EPSILON);
    optimize(evaluator, models, &OptimizeOptions { lnl_epsilon, ..*options }, observer)?;
    observer.event(&phase("lengths from other starts"));
    try_other_lengths(evaluator)
}

/// Rates over sites from other starts, then everything, and parameters anew, see [`restart_parameters`].
fn end(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    initial: &[Model],
    options: &OptimizeOptions,
    observer: &mut dyn Observer,
) -> Result<f64> {
    if options.model {
        try_other_rates(evaluator, models, options.branches)?;
    }
    optimize_to_the_end(evaluator, models, options, observer)?;
    for _ in 0..MAX_RESTARTS {
        if !(options.model && restart_parameters(evaluator, models, initial, options)?) {
            break;
        }
        optimize_to_the_end(evaluator, models, options, observer)?;
    }
    evaluator.log_likelihood()
}

/// Brings lengths that are all far too long or too short (saturated, or those of a tree in other units) to
/// where they have a slope: by tenfold steps, to one step before the most likely.
///
/// # Errors
/// The engine has failed.
pub(crate) fn approach_scale(evaluator: &mut Evaluator) -> Result<()> {
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

/// Lengths, and the likelihoods that genes have with them.
struct Lengths {
    snapshot: Snapshot,
    lnls: Vec<f64>,
}

impl Lengths {
    fn of(evaluator: &mut Evaluator) -> Result<Self> {
        Ok(Lengths { lnls: evaluator.gene_log_likelihoods()?, snapshot: evaluator.snapshot() })
    }

    /// Takes over what is better in another, by more than `margin`: each gene's own lengths, or all that genes
    /// share.
    fn improve(&mut self, other: Lengths, linkage: BrlenLinkage, margin: f64) {
        if !linkage.has_own_lengths() {
            if other.lnls.iter().sum::<f64>() > self.lnls.iter().sum::<f64>() + margin {
                *self = other;
            }
            return;
        }
        for gene in 0..self.lnls.len() {
            if other.lnls[gene] > self.lnls[gene] + margin {
                self.snapshot.take_gene(gene, &other.snapshot);
                self.lnls[gene] = other.lnls[gene];
            }
        }
    }
}

/// Optimises branch lengths from other starts at the present parameters, and keeps those that end better
/// than the present ones: of each gene, where lengths are its own.
fn try_other_lengths(evaluator: &mut Evaluator) -> Result<()> {
    let linkage = evaluator.linkage();
    let sweeps = |max_sweeps, gain_tolerance| BranchOptions {
        max_sweeps,
        lnl_epsilon: STARTS_EPSILON,
        gain_tolerance,
    };
    let mut best = Lengths::of(evaluator)?;
    let mut others: Option<Lengths> = None;
    let further = STARTS_OF_GENES.into_iter().filter(|_| linkage.has_own_lengths());
    for [tip, inner] in STARTS.into_iter().chain(further) {
        evaluator.restore(&best.snapshot);
        evaluator.start_brlens(tip, inner);
        evaluator.optimize_branches(&sweeps(SWEEPS[0], 1e-2))?;
        let other = Lengths::of(evaluator)?;
        match &mut others {
            None => others = Some(other),
            Some(others) => others.improve(other, linkage, 0.0),
        }
    }
    evaluator.restore(&others.expect("there are starts").snapshot);
    let (wanted, mut lnl) = (best.lnls.iter().sum::<f64>(), evaluator.log_likelihood()?);
    for _ in 0..SWEEPS[1] {
        let before = lnl;
        lnl = evaluator.optimize_branches(&sweeps(2, 1e-3))?;
        // The same optimum, or one that is out of reach; a single gene's may be another.
        let missing = wanted - lnl;
        let is_known = missing < STARTS_EPSILON || missing > OUT_OF_REACH * (lnl - before);
        if lnl - before < STARTS_EPSILON || (is_known && !linkage.has_own_lengths()) {
            break;
        }
    }
    best.improve(Lengths::of(evaluator)?, linkage, STARTS_EPSILON);
    evaluator.restore(&best.snapshot);
    Ok(())
}
