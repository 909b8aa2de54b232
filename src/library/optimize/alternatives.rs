//! Optimisation of partitions from alternative start values of their parameters, where the likelihood has several optima:
//! of free rates over sites (+R) and of invariant sites together with gamma-distributed rates (+I+G), where a poor optimum can
//! be below that of a nested model; and of exchange rates under branch lengths that partitions share.

use super::learnt::Learnt;
use super::params::{Known, Parameters};
use super::rounds::set_models;
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::model::Model;

/// The parameters that have other values in an alternative start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alternative {
    /// Rates over sites; all other parameters are held constant.
    RatesOverSites,
    /// Exchange rates; all other parameters are optimised with them.
    ExchangeRates,
}

/// Number of alternative starts of a partition that are optimised: those with the highest likelihood at the present
/// branch lengths and other parameters.
const TRIED: usize = 2;

/// Alternative exchange rates whose log-likelihood is further below the present one are not optimised: those
/// that led to a better optimum began at most 22.2 below (but for a gain of 0.08).
const WITHIN: f64 = 30.0;

/// Maximum number of times that alternative starts are derived from the best values found.
const MAX_ROUNDS: usize = 3;

/// Minimum gain (log units) of a round of starts for another round.
pub(super) const WORTHWHILE: f64 = 0.01;

/// Epsilon (log units) of the optimisation from alternative starts of rates and of branch lengths. Only the best
/// result is optimised further: results that differ by less are regarded as the same optimum.
pub(super) const STARTS_EPSILON: f64 = 0.1;

/// Optimises the parameters of each partition from alternative starts, and keeps results with a higher likelihood; returns true
/// if there are any. With `with_lengths`, a factor of all branch lengths is optimised together with rates over sites.
///
/// # Errors
/// The engine has failed.
pub(super) fn try_alternatives(
    alternative: Alternative,
    evaluator: &mut Evaluator,
    models: &mut [Model],
    with_lengths: bool,
    learnt: &mut Learnt,
) -> Result<bool> {
    let mut any_better = false;
    for _ in 0..MAX_ROUNDS {
        let here = Ends::of(evaluator, models)?;
        let starts = rank_starts(alternative, evaluator, &here)?;
        if starts.iter().all(Vec::is_empty) {
            break;
        }
        let mut best = here.clone();
        for rank in 0..TRIED {
            let partitions: Vec<usize> =
                (0..models.len()).filter(|&partition| starts[partition].len() > rank).collect();
            if partitions.is_empty() {
                break;
            }
            here.restore(evaluator, models);
            for &partition in &partitions {
                models[partition].clone_from(&starts[partition][rank]);
                evaluator.set_model(partition, &models[partition]);
            }
            let known = Known { models: &here.models, lnls: here.lnls.clone() };
            let parameters = Parameters::new(evaluator, models).until(&known);
            let parameters = match alternative {
                Alternative::RatesOverSites => parameters.of_rates_only(&partitions),
                Alternative::ExchangeRates => parameters.begun_elsewhere(&partitions),
            };
            let parameters = if with_lengths { parameters.with_lengths() } else { parameters };
            parameters.optimize(STARTS_EPSILON, &mut learnt.clone())?;
            best.improve(&Ends::of(evaluator, models)?);
        }
        best.restore(evaluator, models);
        let gain = best.log_likelihood() - here.log_likelihood();
        // Exchange rates are not yet at their optimum, so that a small gain is not that of another one.
        let least = match alternative {
            Alternative::RatesOverSites => WORTHWHILE,
            Alternative::ExchangeRates => STARTS_EPSILON,
        };
        if gain < least {
            break;
        }
        any_better = true;
        for partition in
            (0..models.len()).filter(|&partition| best.lnls[partition] > here.lnls[partition])
        {
            learnt.forget(partition);
        }
    }
    Ok(any_better)
}

/// The [`TRIED`] alternative starts of each partition with the highest likelihood, in descending order.
fn rank_starts(
    alternative: Alternative,
    evaluator: &mut Evaluator,
    here: &Ends,
) -> Result<Vec<Vec<Model>>> {
    let models = &here.models;
    let wanted =
        |(partition, model): (usize, &Model)| match (evaluator.num_taxa_of(partition), alternative)
        {
            (0..2, _) => Vec::new(),
            (_, Alternative::RatesOverSites) => model.other_rates_over_sites(),
            (_, Alternative::ExchangeRates) => model.other_exchange_rates(),
        };
    let starts: Vec<Vec<Model>> = models.iter().enumerate().map(wanted).collect();
    let mut ranked: Vec<Vec<(f64, usize)>> = vec![Vec::new(); starts.len()];
    for i in 0..starts.iter().map(Vec::len).max().unwrap_or(0) {
        let partitions: Vec<usize> =
            (0..starts.len()).filter(|&partition| starts[partition].len() > i).collect();
        for &partition in &partitions {
            evaluator.set_model(partition, &starts[partition][i]);
        }
        for (&partition, lnl) in partitions.iter().zip(evaluator.log_likelihoods_of(&partitions)?) {
            ranked[partition].push((lnl, i));
        }
    }
    let mut best = Vec::new();
    for (partition, starts) in starts.iter().enumerate() {
        debug_assert_eq!(starts.len(), ranked[partition].len());
        if !starts.is_empty() {
            evaluator.set_model(partition, &models[partition]);
        }
        if alternative == Alternative::ExchangeRates {
            ranked[partition].retain(|&(lnl, _)| lnl > here.lnls[partition] - WITHIN);
        }
        ranked[partition].sort_by(|a, b| b.0.total_cmp(&a.0));
        best.push(ranked[partition].iter().take(TRIED).map(|&(_, i)| starts[i].clone()).collect());
    }
    Ok(best)
}

/// Branch lengths, models and log-likelihoods at the end of an optimisation.
#[derive(Clone)]
pub(super) struct Ends {
    snapshot: Snapshot,
    models: Vec<Model>,
    lnls: Vec<f64>,
}

impl Ends {
    pub(super) fn of(evaluator: &mut Evaluator, models: &[Model]) -> Result<Self> {
        let lnls = evaluator.partition_log_likelihoods()?;
        Ok(Ends { snapshot: evaluator.snapshot(), models: models.to_vec(), lnls })
    }

    pub(super) fn restore(&self, evaluator: &mut Evaluator, models: &mut [Model]) {
        evaluator.restore(&self.snapshot);
        set_models(evaluator, models, &self.models);
    }

    pub(super) fn log_likelihood(&self) -> f64 {
        self.lnls.iter().sum()
    }

    /// Adopts each partition whose log-likelihood is higher in `other`. (Only branch lengths that partitions do not share
    /// differ between the two.)
    pub(super) fn improve(&mut self, other: &Ends) {
        if self.lnls.len() == 1 {
            if other.lnls[0] > self.lnls[0] {
                self.clone_from(other);
            }
            return;
        }
        for partition in 0..self.lnls.len() {
            if other.lnls[partition] > self.lnls[partition] {
                self.snapshot.take_partition(partition, &other.snapshot);
                self.models[partition].clone_from(&other.models[partition]);
                self.lnls[partition] = other.lnls[partition];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds_tests::case;
    use super::*;
    use crate::likelihood::BrlenLinkage;
    use crate::observer::Silent;
    use crate::optimize::{OptimizeOptions, optimize};

    #[test]
    fn a_partition_leaves_a_poor_optimum_of_exchange_rates_and_others_keep_theirs() {
        let mut models = vec![Model::parse("GTR+FE+G4").unwrap(); 2];
        let mut evaluator = case(BrlenLinkage::Linked, &models);
        // At lengths that are far too long for the data, rates have several optima.
        evaluator.scale_brlens(20.0);
        let options = OptimizeOptions { branches: false, ..OptimizeOptions::to(1e-4) };
        let mut fit = |models: &mut Vec<Model>, start: [f64; 6]| {
            models[0].set_free_parameters(&start);
            evaluator.set_model(0, &models[0]);
            optimize(&mut evaluator, models, &options, &mut Silent).unwrap();
            let which = Alternative::ExchangeRates;
            let learnt = &mut Learnt::default();
            let before = evaluator.partition_log_likelihoods().unwrap();
            let kept = models[1].clone();
            let any = try_alternatives(which, &mut evaluator, models, false, learnt).unwrap();
            let after = evaluator.partition_log_likelihoods().unwrap();
            assert!(after[0] >= before[0] && after[1] >= before[1]);
            assert!(after[1] > before[1] || models[1] == kept);
            assert_eq!(any, after.iter().sum::<f64>() - before.iter().sum::<f64>() >= WORTHWHILE);
            after[0]
        };
        let found = [[1.0, 3.0, 1.0, 1.0, 3.0, 1.0], [1e3, 1.0, 1.0, 1.0, 1.0, 0.1]]
            .map(|start| fit(&mut models, start));
        assert!((found[0] - found[1]).abs() < 0.2, "{found:?}");
    }
}
