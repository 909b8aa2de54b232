//! Free model parameters of all genes, optimised simultaneously: each gene has its own minimiser, and
//! each step is one likelihood call for all genes.

use crate::likelihood::{Evaluator, Result};
use crate::model::{FreeParameter, Model};
use crate::numeric::{Bfgs, Brent};

/// A parameter that an optimiser left at its bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParameterAtBound {
    /// The gene (partition number).
    pub gene: usize,
    /// Name of the parameter, as shown to users.
    pub parameter: String,
    /// Its value.
    pub value: f64,
}

/// Maximum number of quasi-Newton (BFGS) steps per call; parameters and branch lengths are optimised in turn, so
/// convergence within one call is not necessary.
const MAX_ITERATIONS: usize = 25;

/// Bounds of a gene's branch-length scaler, as in RAxML-NG.
const SCALER_BOUNDS: [f64; 2] = [0.01, 100.0];

/// Bounds of the factor of all branch lengths that is optimised together with the parameters.
const LENGTHS_FACTOR: [f64; 2] = [0.1, 10.0];

/// The free parameters of all genes that have any.
pub(super) struct Parameters<'a> {
    evaluator: &'a mut Evaluator,
    models: &'a mut [Model],
    genes: Vec<usize>,
    with_lengths: bool,
    rates_only: bool,
}

impl<'a> Parameters<'a> {
    /// The free parameters of all genes with at least two taxa. Other genes contain no information on rates,
    /// and their parameters are not changed.
    pub(super) fn new(evaluator: &'a mut Evaluator, models: &'a mut [Model]) -> Self {
        let genes = (0..models.len())
            .filter(|&gene| {
                evaluator.num_taxa_of(gene) >= 2 && !models[gene].free_parameters().is_empty()
            })
            .collect();
        Parameters { evaluator, models, genes, with_lengths: false, rates_only: false }
    }

    /// Optimises a factor of all branch lengths together with the parameters, for genes with free rates over
    /// sites that do not share their lengths with other genes. The two are strongly correlated: optimised in
    /// turn, they need tens of rounds (LG4X on 140 proteins: 32, each gaining a third of the remaining
    /// difference).
    pub(super) fn with_lengths(mut self) -> Self {
        self.with_lengths = true;
        self
    }

    /// Restricts the optimisation to the rates over sites of the given genes.
    pub(super) fn of_rates_only(mut self, genes: &[usize]) -> Self {
        self.genes.retain(|gene| genes.contains(gene));
        self.rates_only = true;
        self
    }

    /// Number of a gene's free parameters that are held constant; these are the first ones.
    fn num_held(&self, gene: usize) -> usize {
        let model = &self.models[gene];
        match self.rates_only {
            true => model.free_parameters().len() - model.num_parameters_of_rates(),
            false => 0,
        }
    }

    fn moves_lengths(&self, gene: usize) -> bool {
        let linkage = self.evaluator.linkage();
        let own = linkage.has_own_lengths() || linkage.has_scalers() || self.models.len() == 1;
        self.with_lengths && own && self.models[gene].has_free_rates_over_sites()
    }

    /// Optimises until the last step of each gene gained less than a share of `lnl_epsilon` (log units).
    /// Returns the log-likelihood of the tree, which is not lower than before.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn optimize(mut self, lnl_epsilon: f64) -> Result<f64> {
        let share = (0.1 * lnl_epsilon / self.genes.len().max(1) as f64).max(1e-7);
        let mut minimisers: Vec<(usize, Bfgs)> = self
            .genes
            .iter()
            .map(|&gene| {
                let (mut x, mut lo, mut hi) = encode(&self.models[gene], self.num_held(gene));
                if self.moves_lengths(gene) {
                    let scaler = self.evaluator.brlen_scaler(gene);
                    x.push(libm::log(scaler));
                    lo.push(libm::log(scaler * LENGTHS_FACTOR[0]));
                    hi.push(libm::log(scaler * LENGTHS_FACTOR[1]));
                }
                (gene, Bfgs::new(x, lo, hi, share, MAX_ITERATIONS))
            })
            .collect();
        loop {
            let mut asked = Vec::new();
            for (gene, minimiser) in &minimisers {
                if let Some(x) = minimiser.ask() {
                    self.set(*gene, x);
                    asked.push(*gene);
                }
            }
            if asked.is_empty() {
                break;
            }
            let lnls = self.evaluator.log_likelihoods_of(&asked)?;
            for (gene, minimiser) in &mut minimisers {
                if let Some(i) = asked.iter().position(|g| g == gene) {
                    minimiser.tell(-lnls[i]);
                }
            }
        }
        for (gene, minimiser) in &minimisers {
            self.set(*gene, minimiser.best().0);
            if self.moves_lengths(*gene) && !self.evaluator.linkage().has_scalers() {
                self.evaluator.absorb_brlen_scaler(*gene);
            }
        }
        self.evaluator.log_likelihood()
    }

    fn set(&mut self, gene: usize, x: &[f64]) {
        let mut x = x;
        if self.moves_lengths(gene) {
            let (last, parameters) =
                x.split_last().expect("the last coordinate is the factor of the lengths");
            self.evaluator.set_brlen_scaler(gene, libm::exp(*last));
            x = parameters;
        }
        let num_held = self.num_held(gene);
        decode(&mut self.models[gene], num_held, x);
        self.evaluator.set_model(gene, &self.models[gene]);
    }
}

/// Start values, lower and upper bounds of the free parameters after the first `num_held`, in the coordinates of
/// the minimiser: the logarithms of most parameters.
fn encode(model: &Model, num_held: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut parts = (Vec::new(), Vec::new(), Vec::new());
    for parameter in model.free_parameters().into_iter().skip(num_held) {
        let scale = |value: f64| if parameter.logarithmic { libm::log(value) } else { value };
        parts.0.push(scale(parameter.value));
        parts.1.push(scale(parameter.lo));
        parts.2.push(scale(parameter.hi));
    }
    parts
}

/// The inverse of [`encode`].
fn decode(model: &mut Model, num_held: usize, x: &[f64]) {
    let parameters = model.free_parameters();
    let value = |(x, parameter): (&f64, &FreeParameter)| {
        let value = if parameter.logarithmic { libm::exp(*x) } else { *x };
        value.clamp(parameter.lo, parameter.hi)
    };
    let (held, moved) = parameters.split_at(num_held);
    let held = held.iter().map(|parameter| parameter.value);
    let values: Vec<f64> = held.chain(x.iter().zip(moved).map(value)).collect();
    model.set_free_parameters(&values);
}

/// Under scaled branch lengths: optimises the scalers of all genes with at least two taxa by Brent's method,
/// then divides them by their mean, weighted by numbers of sites, and multiplies all branch lengths by this
/// mean. Returns the log-likelihood.
///
/// # Errors
/// The engine has failed.
pub(super) fn optimize_brlen_scalers(evaluator: &mut Evaluator) -> Result<f64> {
    let genes: Vec<usize> =
        (0..evaluator.num_genes()).filter(|&gene| evaluator.num_taxa_of(gene) >= 2).collect();
    let [lo, hi] = SCALER_BOUNDS.map(libm::log);
    let mut minimisers: Vec<Brent> = genes
        .iter()
        .map(|&gene| {
            let start = libm::log(evaluator.brlen_scaler(gene));
            // The division by the mean may have moved a scaler out of the bounds, which are then extended, so that
            // the likelihood cannot decrease.
            Brent::new(lo.min(start), start, hi.max(start), 1e-6, 40).with_first_step(0.05)
        })
        .collect();
    loop {
        let mut asked = Vec::new();
        for (i, minimiser) in minimisers.iter().enumerate() {
            if let Some(x) = minimiser.ask() {
                evaluator.set_brlen_scaler(genes[i], libm::exp(x));
                asked.push(i);
            }
        }
        if asked.is_empty() {
            break;
        }
        let wanted: Vec<usize> = asked.iter().map(|&i| genes[i]).collect();
        let lnls = evaluator.log_likelihoods_of(&wanted)?;
        for (&i, lnl) in asked.iter().zip(lnls) {
            minimisers[i].tell(-lnl);
        }
    }
    for (&gene, minimiser) in genes.iter().zip(&minimisers) {
        evaluator.set_brlen_scaler(gene, libm::exp(minimiser.best().0));
    }
    normalise_scalers(evaluator, &genes);
    evaluator.log_likelihood()
}

fn normalise_scalers(evaluator: &mut Evaluator, genes: &[usize]) {
    let weighted = |gene: &usize| evaluator.num_sites_of(*gene) * evaluator.brlen_scaler(*gene);
    let sum: f64 = genes.iter().map(weighted).sum();
    let sites: f64 = genes.iter().map(|&gene| evaluator.num_sites_of(gene)).sum();
    if sites > 0.0 && sum > 0.0 {
        let mean = sum / sites;
        for &gene in genes {
            let scaler = evaluator.brlen_scaler(gene) / mean;
            evaluator.set_brlen_scaler(gene, scaler);
        }
        evaluator.scale_brlens(mean);
    }
}

/// All optimised parameters with values at their bounds, of which users are warned.
pub(crate) fn parameters_at_bounds(
    evaluator: &Evaluator,
    models: &[Model],
) -> Vec<ParameterAtBound> {
    let mut found = Vec::new();
    for (gene, model) in models.iter().enumerate() {
        if evaluator.num_taxa_of(gene) < 2 {
            continue;
        }
        for FreeParameter { name, value, lo, hi, .. } in model.free_parameters() {
            if value <= lo * 1.001 || value >= hi * 0.999 {
                found.push(ParameterAtBound { gene, parameter: name, value });
            }
        }
    }
    found
}
