//! Optimisation of rates over sites from alternative start values. The likelihood of free rates (+R), and of
//! invariant sites together with gamma-distributed rates (+I+G), has several local optima; in a poor one, its
//! value can be below that of a nested model.

use super::params::{Known, Learnt, Parameters};
use super::rounds::set_models;
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::model::Model;

/// Number of alternative starts of a gene that are optimised: those with the highest likelihood at the present
/// branch lengths and other parameters.
const TRIED: usize = 2;

/// Maximum number of times that alternative starts are derived from the best values found.
const MAX_ROUNDS: usize = 3;

/// Minimum gain (log units) of a round of starts for another round.
const WORTHWHILE: f64 = 0.01;

/// Epsilon (log units) of the optimisation from alternative starts of rates and of branch lengths. Only the best
/// result is optimised further: results that differ by less are regarded as the same optimum.
pub(super) const STARTS_EPSILON: f64 = 0.1;

/// Optimises the rates over sites of each gene from alternative starts, with all other parameters held constant,
/// and keeps results with a higher likelihood; returns true if there are any. With `with_lengths`, a factor of
/// all branch lengths is optimised together with the rates.
///
/// # Errors
/// The engine has failed.
pub(super) fn try_other_rates(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    with_lengths: bool,
    learnt: &mut Learnt,
) -> Result<bool> {
    let mut any_better = false;
    for _ in 0..MAX_ROUNDS {
        let starts = rank_starts(evaluator, models)?;
        if starts.iter().all(Vec::is_empty) {
            break;
        }
        let here = Ends::of(evaluator, models)?;
        let mut best = here.clone();
        for rank in 0..TRIED {
            let genes: Vec<usize> =
                (0..models.len()).filter(|&gene| starts[gene].len() > rank).collect();
            if genes.is_empty() {
                break;
            }
            here.restore(evaluator, models);
            for &gene in &genes {
                models[gene].clone_from(&starts[gene][rank]);
                evaluator.set_model(gene, &models[gene]);
            }
            let known = Known { models: &here.models, lnls: here.lnls.clone() };
            let parameters = Parameters::new(evaluator, models).of_rates_only(&genes).until(&known);
            let parameters = if with_lengths { parameters.with_lengths() } else { parameters };
            parameters.optimize(STARTS_EPSILON, learnt)?;
            best.improve(&Ends::of(evaluator, models)?);
        }
        best.restore(evaluator, models);
        let gain = best.lnls.iter().sum::<f64>() - here.lnls.iter().sum::<f64>();
        if gain < WORTHWHILE {
            break;
        }
        any_better = true;
        for gene in (0..models.len()).filter(|&gene| best.lnls[gene] > here.lnls[gene]) {
            learnt.forget(gene);
        }
    }
    Ok(any_better)
}

/// The [`TRIED`] alternative starts of each gene with the highest likelihood, in descending order.
fn rank_starts(evaluator: &mut Evaluator, models: &[Model]) -> Result<Vec<Vec<Model>>> {
    let wanted = |(gene, model): (usize, &Model)| match evaluator.num_taxa_of(gene) {
        0..2 => Vec::new(),
        _ => model.other_rates_over_sites(),
    };
    let starts: Vec<Vec<Model>> = models.iter().enumerate().map(wanted).collect();
    let mut ranked: Vec<Vec<(f64, usize)>> = vec![Vec::new(); starts.len()];
    for i in 0..starts.iter().map(Vec::len).max().unwrap_or(0) {
        let genes: Vec<usize> = (0..starts.len()).filter(|&gene| starts[gene].len() > i).collect();
        for &gene in &genes {
            evaluator.set_model(gene, &starts[gene][i]);
        }
        for (&gene, lnl) in genes.iter().zip(evaluator.log_likelihoods_of(&genes)?) {
            ranked[gene].push((lnl, i));
        }
    }
    for (gene, starts) in starts.iter().enumerate().filter(|(_, starts)| !starts.is_empty()) {
        debug_assert_eq!(starts.len(), ranked[gene].len());
        evaluator.set_model(gene, &models[gene]);
        ranked[gene].sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    let best = |(starts, ranked): (&Vec<Model>, &Vec<(f64, usize)>)| {
        ranked.iter().take(TRIED).map(|&(_, i)| starts[i].clone()).collect()
    };
    Ok(starts.iter().zip(&ranked).map(best).collect())
}

/// Branch lengths, models and log-likelihoods at the end of an optimisation.
#[derive(Clone)]
struct Ends {
    snapshot: Snapshot,
    models: Vec<Model>,
    lnls: Vec<f64>,
}

impl Ends {
    fn of(evaluator: &mut Evaluator, models: &[Model]) -> Result<Self> {
        let lnls = evaluator.gene_log_likelihoods()?;
        Ok(Ends { snapshot: evaluator.snapshot(), models: models.to_vec(), lnls })
    }

    fn restore(&self, evaluator: &mut Evaluator, models: &mut [Model]) {
        evaluator.restore(&self.snapshot);
        set_models(evaluator, models, &self.models);
    }

    /// Adopts each gene whose log-likelihood is higher in `other`. (Only branch lengths that genes do not share
    /// differ between the two.)
    fn improve(&mut self, other: &Ends) {
        if self.lnls.len() == 1 {
            if other.lnls[0] > self.lnls[0] {
                self.clone_from(other);
            }
            return;
        }
        for gene in 0..self.lnls.len() {
            if other.lnls[gene] > self.lnls[gene] {
                self.snapshot.take_gene(gene, &other.snapshot);
                self.models[gene].clone_from(&other.models[gene]);
                self.lnls[gene] = other.lnls[gene];
            }
        }
    }
}
