//! [`Choosing`]: the fits of a model selection, in stages, and the ranking of models.
//!
//! ```text
//! first      branch lengths under the reference matrix with +G4            roughly
//! rates      the reference matrix with all rates over sites except +R      roughly
//! refined    those that are close to the best                              to convergence
//! matrices   all matrices with the best rates, and mixtures                parameters only
//! refined    those that may be close after optimising branch lengths       to convergence
//! crossed    the best matrices with the other rates close to the best      to convergence
//! free       if the best model has +G4, its matrix with +R2, +R3 ...       roughly
//!            as long as a further category is better
//! refined    those of them that are close to the best                      to convergence
//! profiles   if asked for, the best matrix and LG with C10, C20 ... as      roughly
//!            long as more are better
//! refined    those of them that are close to the best                      to convergence
//! ```
//!
//! Each fit starts from results of the previous stages and is independent of the others of its stage, so these may
//! be computed in any order and in parallel.
//!
//! Models are compared for each partition separately, on the given tree restricted to its taxa and with its own
//! branch lengths, all of which count as parameters (2n - 3 for n taxa), whether or not partitions share branch
//! lengths in the run. Their number is the same for all models and does not affect differences of AIC or BIC.

use super::candidates::{Candidate, CandidateSet};
use super::criteria::{Criterion, Scores, criterion_weights};
use super::fit::{Effort, Fit, Task, start_from};
use crate::alignment::Patterns;
use crate::model::{FreeRates, Heterogeneity, Model, ParamMode, bounds};
use crate::partition::count_freqs;

/// Rates over sites that are worse than the best by more than this (units of the criterion) are not combined
/// with other matrices, nor such matrices with other rates.
const CLOSE: f64 = 10.0;
/// Rough fits that are worse than the best by more than this (units of the criterion) are not refined.
const NOT_FAR: f64 = 30.0;
/// Addition to [`NOT_FAR`] per branch for fits at the branch lengths of another model, whose own lengths may be
/// better.
const NOT_FAR_PER_LENGTH: f64 = 1.0;
/// Second start of +I+G, whose likelihood often has two optima: the proportion of invariant sites, and the factor
/// of alpha (rates of the other sites that differ less).
const SECOND_START: [f64; 2] = [0.3, 3.0];

/// Start values of the proportion of slow sites for an additional category of free rates.
const SLOW_SHARES: [f64; 2] = [0.1, 0.4];

/// The stages of a model selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelectionStage {
    First,
    Rates,
    RatesRefined,
    Matrices,
    MatricesRefined,
    Crossed,
    /// The index of the free rates in the list of candidates.
    Free(usize),
    FreeRefined,
    /// The index of the profiles in the list of candidates.
    Profiles(usize),
    ProfilesRefined,
    Done,
}

/// Selection of one partition's model, in progress.
#[derive(Debug)]
pub struct Choosing {
    candidates: CandidateSet,
    criterion: Criterion,
    num_sites: usize,
    num_lengths: usize,
    stage: SelectionStage,
    /// The fit whose branch lengths are the start values of others.
    first: Option<Fit>,
    /// The best fit of each candidate, in the order of their first fits.
    fits: Vec<Fit>,
}

/// A model in the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The model with its parameters.
    pub model: Model,
    /// Log-likelihood.
    pub lnl: f64,
    /// Number of free parameters, including branch lengths.
    pub num_parameters: usize,
    /// Values of the criteria.
    pub scores: Scores,
    /// Weight by the selected criterion.
    pub weight: f64,
    /// False for a model that was not optimised to convergence, because others were clearly better.
    pub fine: bool,
}

impl Choosing {
    /// Begins a selection for a partition with `num_sites` sites and `num_taxa` taxa with data, at least three. With so few sites
    /// that AICc is not defined for any model, models are compared by AIC.
    pub fn new(
        candidates: CandidateSet,
        criterion: Criterion,
        num_sites: usize,
        num_taxa: usize,
    ) -> Self {
        let num_lengths = (2 * num_taxa).saturating_sub(3);
        Choosing {
            candidates,
            criterion: criterion.where_defined(num_lengths, num_sites),
            num_sites,
            num_lengths,
            stage: SelectionStage::First,
            first: None,
            fits: Vec::new(),
        }
    }

    /// The fits of the next stage; none if the selection is completed.
    pub fn ask(&mut self, patterns: &Patterns) -> Vec<Task> {
        loop {
            let tasks = match self.stage {
                SelectionStage::First => {
                    vec![self.rich_task(self.candidates.first_rates(), patterns)]
                }
                SelectionStage::Rates => self.rates_tasks(patterns),
                SelectionStage::RatesRefined => self.refining_tasks(NOT_FAR),
                SelectionStage::Matrices => self.matrix_tasks(patterns),
                SelectionStage::MatricesRefined => {
                    self.refining_tasks(NOT_FAR + NOT_FAR_PER_LENGTH * self.num_lengths as f64)
                }
                SelectionStage::Crossed => self.crossing_tasks(patterns),
                SelectionStage::Free(i) => self.free_rates_tasks(i, patterns),
                SelectionStage::FreeRefined => {
                    let mut tasks = self.refining_tasks(CLOSE);
                    tasks.retain(|task| self.is_free(&task.candidate));
                    tasks
                }
                SelectionStage::Profiles(i) => self.profiles_tasks(i, patterns),
                SelectionStage::ProfilesRefined => {
                    let mut tasks = self.refining_tasks(CLOSE);
                    tasks.retain(|task| has_profiles(&task.candidate));
                    tasks
                }
                SelectionStage::Done => return Vec::new(),
            };
            if !tasks.is_empty() {
                return tasks;
            }
            self.advance();
        }
    }

    /// Receives the fits of the tasks that were requested last.
    pub fn tell(&mut self, fits: Vec<Fit>) {
        if self.stage == SelectionStage::First {
            self.first = fits.into_iter().next();
        } else {
            for fit in fits {
                match self.fits.iter_mut().find(|known| known.candidate == fit.candidate) {
                    None => self.fits.push(fit),
                    Some(known) if fit.lnl > known.lnl => *known = fit,
                    Some(known) => known.effort = known.effort.max(fit.effort),
                }
            }
        }
        self.advance();
    }

    /// The criterion by which models are compared.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// Log-likelihood of the best fit so far.
    pub fn best_lnl(&self) -> Option<f64> {
        let all = self.fits.iter().chain(&self.first);
        all.map(|fit| fit.lnl).reduce(f64::max)
    }

    /// All fitted models, best first. Of models with equal values, those with fewer parameters come first, then
    /// those fitted first.
    pub fn ranking(&self) -> Vec<Ranked> {
        let values: Vec<f64> = self.fits.iter().map(|fit| self.value(fit)).collect();
        let mut ranked: Vec<Ranked> = self
            .fits
            .iter()
            .zip(criterion_weights(&values))
            .map(|(fit, weight)| Ranked {
                model: fit.model.clone(),
                lnl: fit.lnl,
                num_parameters: self.num_parameters(fit),
                scores: self.scores(fit),
                weight,
                fine: fit.effort == Effort::Full,
            })
            .collect();
        ranked.sort_by(|a, b| {
            // AICc may be undefined for several models; AIC then determines their order.
            let by = |scores: &Scores| [scores.by(self.criterion), scores.aic];
            let pairs = by(&a.scores).into_iter().zip(by(&b.scores));
            let order = pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne());
            order.unwrap_or_else(|| a.num_parameters.cmp(&b.num_parameters))
        });
        ranked
    }

    fn advance(&mut self) {
        self.stage = match self.stage {
            SelectionStage::First => SelectionStage::Rates,
            SelectionStage::Rates => SelectionStage::RatesRefined,
            SelectionStage::RatesRefined => SelectionStage::Matrices,
            SelectionStage::Matrices => SelectionStage::MatricesRefined,
            SelectionStage::MatricesRefined => SelectionStage::Crossed,
            SelectionStage::Crossed => SelectionStage::Free(0),
            SelectionStage::Free(i) if self.goes_on_from(i) => SelectionStage::Free(i + 1),
            SelectionStage::Free(_) => SelectionStage::FreeRefined,
            SelectionStage::FreeRefined => SelectionStage::Profiles(0),
            SelectionStage::Profiles(i) if self.gains_by_profiles(i) => {
                SelectionStage::Profiles(i + 1)
            }
            SelectionStage::Profiles(_) => SelectionStage::ProfilesRefined,
            SelectionStage::ProfilesRefined | SelectionStage::Done => SelectionStage::Done,
        };
    }

    fn num_parameters(&self, fit: &Fit) -> usize {
        fit.model.num_free_parameters() + self.num_lengths
    }

    fn scores(&self, fit: &Fit) -> Scores {
        // An underflow of the likelihood counts as the lowest value.
        let lnl = if fit.lnl.is_finite() { fit.lnl } else { f64::NEG_INFINITY };
        Scores::new(lnl, self.num_parameters(fit), self.num_sites)
    }

    fn value(&self, fit: &Fit) -> f64 {
        self.scores(fit).by(self.criterion)
    }

    fn find(&self, matrix: &str, rates: &str) -> Option<&Fit> {
        let is_wanted = |c: &Candidate| c.matrix == matrix && c.rates == rates;
        self.fits.iter().find(|fit| is_wanted(&fit.candidate))
    }

    /// Of the candidates for which `which` is true, the fits whose criterion is at most `margin` above the lowest.
    fn within(&self, margin: f64, which: impl Fn(&Candidate) -> bool) -> Vec<&Fit> {
        let fits: Vec<&Fit> = self.fits.iter().filter(|fit| which(&fit.candidate)).collect();
        let best = fits.iter().map(|fit| self.value(fit)).fold(f64::INFINITY, f64::min);
        fits.into_iter().filter(|fit| self.value(fit) <= best + margin).collect()
    }

    /// A candidate's model with its default start values and empirical frequencies.
    fn model(&self, candidate: &Candidate, patterns: &Patterns) -> Model {
        let mut model = self.candidates.model(candidate);
        count_freqs(&mut model, patterns);
        model
    }

    fn rich_task(&self, rates: &'static str, patterns: &Patterns) -> Task {
        let candidate = Candidate { matrix: self.candidates.rich_matrix(), rates };
        let mut start = self.model(&candidate, patterns);
        if let Some(first) = &self.first {
            start_from(&mut start, &first.model);
        }
        let lengths = self.first.as_ref().map(|first| first.tree.clone());
        Task { candidate, start, other_starts: Vec::new(), lengths, effort: Effort::Rough }
    }

    fn rates_tasks(&self, patterns: &Patterns) -> Vec<Task> {
        let mut tasks = Vec::new();
        for rates in self.candidates.rates() {
            let task = self.rich_task(rates, patterns);
            let mut second = task.clone();
            tasks.push(task);
            if let (Some(invariant), Heterogeneity::Gamma(gamma)) =
                (&mut second.start.invariant, &mut second.start.heterogeneity)
            {
                invariant.pinv = SECOND_START[0];
                gamma.alpha = (gamma.alpha * SECOND_START[1]).min(bounds::ALPHA_MAX);
                tasks.push(second);
            }
        }
        tasks
    }

    /// The best fit with the reference matrix.
    fn best_rates(&self) -> &Fit {
        let rich = self.candidates.rich_matrix();
        self.within(0.0, |c| c.matrix == rich).first().expect("rates over sites were fitted")
    }

    fn is_free(&self, candidate: &Candidate) -> bool {
        self.candidates.free_rates().contains(&candidate.rates)
    }

    /// The best fit except those with free rates and mixtures.
    fn best_without_free_rates(&self) -> &Fit {
        let mixtures = self.candidates.mixtures();
        let is_wanted = |c: &Candidate| !self.is_free(c) && !mixtures.contains(c);
        self.within(0.0, is_wanted).first().expect("matrices were fitted")
    }

    /// Tasks for the best matrix with free rates number `number`, if its best rates include +G. The start values
    /// are the rates with one category fewer, with one of them split in two, or with one of a few very fast sites.
    fn free_rates_tasks(&self, number: usize, patterns: &Patterns) -> Vec<Task> {
        let best = self.best_without_free_rates();
        let (matrix, all) = (best.candidate.matrix.clone(), self.candidates.free_rates());
        let fewer = match number {
            0 => Some(best),
            _ => self.find(&matrix, all[number - 1]),
        };
        let (Some(&rates), Some(fewer)) = (all.get(number), fewer) else { return Vec::new() };
        if best.model.heterogeneity == Heterogeneity::Uniform {
            return Vec::new();
        }
        let candidate = Candidate { matrix, rates };
        let mut start = self.model(&candidate, patterns);
        start_from(&mut start, &fewer.model);
        let cats = match &fewer.model.heterogeneity {
            Heterogeneity::Free(cats) => cats.clone(),
            _ => FreeRates { rates: vec![1.0], weights: vec![1.0], mode: ParamMode::Optimized },
        };
        let split = (0..cats.rates.len()).map(|cat| cats.split(cat));
        let slow = SLOW_SHARES.iter().map(|&share| cats.with_hardly_varying(share));
        let with = |cats| Model { heterogeneity: Heterogeneity::Free(cats), ..start.clone() };
        let mut starts: Vec<Model> = split.chain(slow).map(with).collect();
        let task = Task {
            candidate,
            start: starts.swap_remove(0),
            other_starts: starts,
            lengths: Some(fewer.tree.clone()),
            effort: Effort::Rough,
        };
        // Where some sites are very fast, another optimum is not the likeliest start (32 gall wasps: +R5 ended below +R4).
        let few_fast =
            Task { start: with(cats.with_few_fast()), other_starts: Vec::new(), ..task.clone() };
        vec![task, few_fast]
    }

    /// True if free rates with a further category are to be tried after those with this number.
    fn goes_on_from(&self, number: usize) -> bool {
        let matrix = &self.best_without_free_rates().candidate.matrix;
        let value = |number: usize| {
            let rates = self.candidates.free_rates().get(number)?;
            self.find(matrix, rates).map(|fit| self.value(fit))
        };
        match number {
            0 => value(0).is_some(),
            _ => value(number).zip(value(number - 1)).is_some_and(|(more, fewer)| more < fewer),
        }
    }

    /// The best fit that has neither profiles nor matrices of its rates over sites.
    fn best_of_one_matrix(&self) -> &Fit {
        let mixtures = self.candidates.mixtures();
        let is_wanted = |c: &Candidate| !has_profiles(c) && !mixtures.contains(c);
        self.within(0.0, is_wanted).first().expect("matrices were fitted")
    }

    /// The best matrix and the reference with profiles number `number`: what is best for one class need not be for many. Frequencies of their
    /// own would be a further class, with weights that are estimated.
    fn with_profiles(&self, number: usize) -> Vec<Candidate> {
        let best = &self.best_of_one_matrix().candidate;
        let (own, rich) = (best.matrix.trim_end_matches("+F"), self.candidates.rich_matrix());
        let mut matrices = vec![own, &rich];
        matrices.dedup();
        let profiles = self.candidates.profiles().get(number).into_iter();
        let candidate = |profiles| {
            let with = |matrix: &&str| Candidate {
                matrix: format!("{matrix}{profiles}"),
                rates: best.rates,
            };
            matrices.iter().map(with).collect::<Vec<_>>()
        };
        profiles.flat_map(candidate).collect()
    }

    fn profiles_tasks(&self, number: usize, patterns: &Patterns) -> Vec<Task> {
        let fewer = number.checked_sub(1).map_or(Vec::new(), |fewer| self.with_profiles(fewer));
        let tasks = self.with_profiles(number).into_iter().enumerate();
        tasks
            .map(|(matrix, candidate)| {
                let fewer = fewer.get(matrix).and_then(|one| self.find(&one.matrix, one.rates));
                let fewer = fewer.unwrap_or_else(|| self.best_of_one_matrix());
                let mut start = self.model(&candidate, patterns);
                start_from(&mut start, &fewer.model);
                let (lengths, other_starts) = (Some(fewer.tree.clone()), Vec::new());
                Task { candidate, start, other_starts, lengths, effort: Effort::Rough }
            })
            .collect()
    }

    /// True if more profiles are to be tried after those with this number.
    fn gains_by_profiles(&self, number: usize) -> bool {
        let value = |number: usize| {
            let fits = self.with_profiles(number).into_iter();
            let fits = fits.filter_map(|one| self.find(&one.matrix, one.rates));
            fits.map(|fit| self.value(fit)).reduce(f64::min)
        };
        let fewer = match number.checked_sub(1) {
            Some(fewer) => value(fewer),
            None => Some(self.value(self.best_of_one_matrix())),
        };
        value(number).zip(fewer).is_some_and(|(more, fewer)| more < fewer)
    }

    fn matrix_tasks(&self, patterns: &Patterns) -> Vec<Task> {
        let rich = self.best_rates();
        let rates = rich.candidate.rates;
        let matrices = self.candidates.matrices().into_iter();
        let candidates = matrices.map(|matrix| Candidate { matrix, rates });
        candidates
            .chain(self.candidates.mixtures())
            .filter(|candidate| self.find(&candidate.matrix, candidate.rates).is_none())
            .map(|candidate| {
                let mut start = self.model(&candidate, patterns);
                start_from(&mut start, &rich.model);
                Task {
                    candidate,
                    start,
                    other_starts: Vec::new(),
                    lengths: Some(rich.tree.clone()),
                    effort: Effort::Screened,
                }
            })
            .collect()
    }

    fn refining_tasks(&self, margin: f64) -> Vec<Task> {
        let close = self.within(margin, |_| true).into_iter();
        let rough = close.filter(|fit| fit.effort < Effort::Full);
        rough
            .map(|fit| Task {
                candidate: fit.candidate.clone(),
                start: fit.model.clone(),
                other_starts: Vec::new(),
                lengths: Some(fit.tree.clone()),
                effort: Effort::Full,
            })
            .collect()
    }

    fn crossing_tasks(&self, patterns: &Patterns) -> Vec<Task> {
        let best_rates = self.best_rates().candidate.rates;
        let rich = self.candidates.rich_matrix();
        let rates = self.within(CLOSE, |candidate| candidate.matrix == rich);
        let matrices = self.within(CLOSE, |candidate| candidate.rates == best_rates);
        let mixtures = self.candidates.mixtures();
        let mut tasks = Vec::new();
        for matrix in matrices.iter().filter(|fit| !mixtures.contains(&fit.candidate)) {
            for with_rates in &rates {
                let name = &matrix.candidate.matrix;
                let candidate =
                    Candidate { matrix: name.clone(), rates: with_rates.candidate.rates };
                if self.find(name, candidate.rates).is_none() {
                    let mut start = self.model(&candidate, patterns);
                    start_from(&mut start, &matrix.model);
                    // After the line above, because it may also have set rates over sites.
                    start_rates_from(&mut start, &with_rates.model);
                    let lengths = Some(with_rates.tree.clone());
                    let other_starts = Vec::new();
                    tasks.push(Task {
                        candidate,
                        start,
                        other_starts,
                        lengths,
                        effort: Effort::Full,
                    });
                }
            }
        }
        tasks
    }
}

fn has_profiles(candidate: &Candidate) -> bool {
    candidate.matrix.contains("+C")
}

/// Sets the rates over sites to those of another model with the same kind of rates.
fn start_rates_from(model: &mut Model, other: &Model) {
    model.heterogeneity.clone_from(&other.heterogeneity);
    model.invariant = other.invariant;
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
