//! Rates over sites from other starts: free rates, and invariant sites beside gamma-distributed rates, have
//! several optima, and one caught in a poor one ends below models that it contains.

use super::params::Parameters;
use super::rounds::set_models;
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::model::Model;

/// Starts of a gene that are optimised: those most likely at the lengths and other parameters of now.
const TRIED: usize = 2;

/// Most times that all starts are made again, from what was found.
const MAX_ROUNDS: usize = 3;

/// Likelihood that another optimum must bring to be worth going on from.
const WORTHWHILE: f64 = 0.01;

/// Epsilon within which starts of rates and of lengths are optimised. From it on, only the best of them goes
/// on: ends that are closer to each other are one optimum, or as good.
pub(super) const STARTS_EPSILON: f64 = 0.1;

/// Optimises the rates over sites of every gene from other starts, with the other parameters as they are,
/// and keeps what is better; true if anything is. `with_lengths`: the lengths as a whole may follow.
///
/// # Errors
/// The engine has failed.
pub(super) fn try_other_rates(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    with_lengths: bool,
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
            let parameters = Parameters::new(evaluator, models).of_rates_only(&genes);
            let parameters = if with_lengths { parameters.with_lengths() } else { parameters };
            parameters.optimize(STARTS_EPSILON)?;
            best.improve(&Ends::of(evaluator, models)?);
        }
        best.restore(evaluator, models);
        let gain = best.lnls.iter().sum::<f64>() - here.lnls.iter().sum::<f64>();
        if gain < WORTHWHILE {
            break;
        }
        any_better = true;
    }
    Ok(any_better)
}

/// Every gene's other starts, the most likely first.
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

/// Where every gene has arrived.
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

    /// Takes over each gene that is better in another. (Lengths have changed only as far as they are the
    /// gene's own.)
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
