//! Trials of unions of two subsets: the likelihoods of both at parameters that are expected to be good for the union.
//!
//! The log-likelihood of a union is the sum of those of its two subsets with the same parameters, so that each subset is prepared
//! once and tried at the parameters of all its unions. Which unions are worth a fit is decided by this.

use super::subset_fit::{FitStart, SubsetFit, num_parameters, starts_of_union};
use crate::error::Result;
use crate::model::{FreqsMode, Model};
use crate::model_selection::{SchemeParts, SubsetScore};
use crate::partition::Partition;
use crate::runtime::{RunRecord, Setup};
use crate::tree::Tree;
use std::collections::BTreeMap;

/// Most parameters that one job tries.
const POINTS_AT_ONCE: usize = 32;

/// A subset with its data and its fit.
#[derive(Clone, Copy)]
pub(super) struct Fitted<'a> {
    /// Its number.
    pub number: usize,
    /// Its data.
    pub data: &'a Partition,
    /// Its fit.
    pub fit: &'a SubsetFit,
}

/// Parameters with which a union is tried.
struct Point {
    /// The union among those that are tried.
    pair: usize,
    /// Which of its starts.
    start: usize,
}

/// Tries unions under linked or scaled lengths; for each, the log-likelihood with the best of its models.
///
/// # Errors
/// The engine has failed, or the run is to end.
pub(super) fn try_unions(
    setup: &Setup,
    tree: &Tree,
    parts: &SchemeParts,
    pairs: &[[Fitted; 2]],
    record: &mut RunRecord,
) -> Result<Vec<SubsetScore>> {
    let starts: Vec<Vec<FitStart>> = pairs.iter().map(expected).collect();
    let mut of_subset: BTreeMap<usize, (&Partition, Vec<Point>)> = BTreeMap::new();
    for (pair, subsets) in pairs.iter().enumerate() {
        for subset in subsets {
            let points = &mut of_subset.entry(subset.number).or_insert((subset.data, Vec::new())).1;
            points.extend((0..starts[pair].len()).map(|start| Point { pair, start }));
        }
    }
    let pieces: Vec<(&Partition, &[Point])> = of_subset
        .values()
        .flat_map(|(data, points)| points.chunks(POINTS_AT_ONCE).map(|piece| (*data, piece)))
        .collect();
    let jobs = setup.jobs("trial", pieces.len());
    let RunRecord { checkpoint, progress, .. } = record;
    let lnls: Vec<Vec<f64>> = jobs.run(checkpoint.as_ref(), progress, |job| {
        let (data, points) = pieces[job.number];
        let start = |point: &Point| &starts[point.pair][point.start];
        let mut lnls = Vec::with_capacity(points.len());
        // The number of rate categories of an evaluator does not change.
        let mut rest = points;
        while let Some(first) = rest.first() {
            let num_cats = |point: &Point| start(point).model.rate_cats().rates.len();
            let same = rest.iter().take_while(|point| num_cats(point) == num_cats(first)).count();
            let models = std::slice::from_ref(&start(first).model);
            let one = std::slice::from_ref(data);
            let mut evaluator =
                job.resources.evaluator(one, models, tree.clone(), setup.linkage)?;
            for point in &rest[..same] {
                evaluator.set_model(0, &start(point).model);
                evaluator.set_brlen_scaler(0, start(point).scaler);
                lnls.push(evaluator.log_likelihood()?);
            }
            rest = &rest[same..];
        }
        Ok(lnls)
    })?;
    let mut sums: Vec<Vec<f64>> = starts.iter().map(|starts| vec![0.0; starts.len()]).collect();
    for ((_, points), lnls) in pieces.iter().zip(lnls) {
        for (point, lnl) in points.iter().zip(lnls) {
            sums[point.pair][point.start] += lnl;
        }
    }
    let scores =
        pairs.iter().zip(&starts).zip(sums).map(|(([a, b], starts), sums)| {
            let num_taxa = a.fit.num_taxa.max(b.fit.num_taxa);
            let score = |(start, lnl): (&FitStart, f64)| SubsetScore {
                lnl,
                num_parameters: num_parameters(&start.model, num_taxa, setup.linkage),
            };
            let scores = starts.iter().zip(sums).map(score);
            let best = scores.reduce(|best, other| {
                if parts.value_of(other) < parts.value_of(best) { other } else { best }
            });
            best.expect("there are starts")
        });
    Ok(scores.collect())
}

/// The parameters from which the fit of a union would begin, with frequencies that are averages.
fn expected([a, b]: &[Fitted; 2]) -> Vec<FitStart> {
    let sites = [a, b].map(|subset| subset.data.patterns.num_sites as f64);
    let mut starts = starts_of_union([(a.fit, sites[0]), (b.fit, sites[1])]);
    let cells =
        [a, b].map(|subset| (subset.data.patterns.num_sites * subset.fit.num_taxa.max(1)) as f64);
    for start in &mut starts {
        if let Some(optimum) = &start.optimum
            && let Some(scaler) = optimum.set_parameters(&mut start.model)
        {
            start.scaler = scaler;
        }
        average_freqs(&mut start.model, [(&a.fit.model, cells[0]), (&b.fit.model, cells[1])]);
    }
    starts
}

/// Gives a model with counted frequencies the averages of two models.
fn average_freqs(model: &mut Model, of: [(&Model, f64); 2]) {
    if !model.wants_counts() || of.iter().any(|(other, _)| other.freqs.len() != model.freqs.len()) {
        return;
    }
    let [(a, cells_a), (b, cells_b)] = of;
    let mean = |a: f64, b: f64| (cells_a * a + cells_b * b) / (cells_a + cells_b);
    if model.freqs_mode == FreqsMode::Empirical {
        let freqs: Vec<f64> = a.freqs.iter().zip(&b.freqs).map(|(&a, &b)| mean(a, b)).collect();
        model.set_freqs(&freqs);
    } else {
        let mut freqs = a.position_freqs;
        for (row, other) in freqs.iter_mut().zip(&b.position_freqs) {
            row.iter_mut().zip(other).for_each(|(a, &b)| *a = mean(*a, b));
        }
        model.set_position_freqs(&freqs);
    }
}
