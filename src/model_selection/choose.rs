//! [`Choosing`]: which fits are worth making, in stages, and what they come to.
//!
//! ```text
//! first      lengths under the rich matrix with +G4                        roughly
//! rates      the rich matrix with every kind of rates over sites but +R    roughly
//! refined    those that are not far behind                                 to the end
//! matrices   every matrix with the best rates, and mixtures                parameters only
//! refined    those that may come close when lengths are optimised          to the end
//! crossed    the best of these with the other rates that came close        to the end
//! free       if the best of all has +G4, its matrix with +R2, +R3 ...      roughly
//!            as long as one more rate is better
//! refined    those of them that came close                                 to the end
//! ```
//!
//! Every fit starts from what the stages before found, and none looks at another of its stage: they may
//! be made in any order, and at the same time.
//!
//! The partition is judged alone: on the given tree of its own taxa, with branch lengths of its own,
//! which all count as parameters (2n - 3 for n taxa), whether or not partitions share lengths in the
//! run. The number is the same for all models, so it moves neither AIC nor BIC of one against another.

use super::candidates::{Candidate, Question};
use super::criteria::{Criterion, Scores, criterion_weights};
use super::fit::{Effort, Fit, Task, start_from};
use crate::alignment::Patterns;
use crate::model::{FreeRates, Heterogeneity, Model, ParamMode, bounds};
use crate::partition::count_freqs;

/// Rates over sites that are worse than the best by more than this (units of the criterion) are tried
/// with no other matrix; and matrices, with no other rates.
const CLOSE: f64 = 10.0;
/// Rough fits that are worse than the best by more than this are not refined.
const NOT_FAR: f64 = 30.0;
/// The same of fits at the lengths of another model, for each branch: what its own length may bring.
const NOT_FAR_PER_LENGTH: f64 = 1.0;
/// A second start of +I+G, whose likelihood often has two optima: many invariant sites, and the others
/// more alike.
const SECOND_START: [f64; 2] = [0.3, 3.0];

/// Shares of sites that hardly vary with which one more free rate may begin.
const SLOW_SHARES: [f64; 2] = [0.1, 0.4];

/// What the next fits are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    First,
    Rates,
    RatesRefined,
    Matrices,
    MatricesRefined,
    Crossed,
    /// The number of the free rates in the question's list.
    Free(usize),
    FreeRefined,
    Done,
}

/// The choice of one partition's model, on its way.
#[derive(Debug)]
pub(crate) struct Choosing {
    question: Question,
    criterion: Criterion,
    num_sites: usize,
    num_lengths: usize,
    stage: Stage,
    /// The fit that the others' lengths start from.
    first: Option<Fit>,
    /// The best fit of every candidate, in the order of their coming.
    fits: Vec<Fit>,
}

/// A model in its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranked {
    /// The model with its parameters.
    pub model: Model,
    /// Log-likelihood.
    pub lnl: f64,
    /// Number of parameters, branch lengths included.
    pub num_parameters: usize,
    /// What the criteria say.
    pub scores: Scores,
    /// Weight by the criterion that decides.
    pub weight: f64,
    /// False for a model that was so far behind that it was not optimised to the end.
    pub fine: bool,
}

impl Choosing {
    /// Begins. `num_taxa` of the partition have data, at least three.
    pub(crate) fn new(
        question: Question,
        criterion: Criterion,
        num_sites: usize,
        num_taxa: usize,
    ) -> Self {
        Choosing {
            question,
            criterion,
            num_sites,
            num_lengths: (2 * num_taxa).saturating_sub(3),
            stage: Stage::First,
            first: None,
            fits: Vec::new(),
        }
    }

    /// The fits that are wanted now; none when all is known.
    pub(crate) fn ask(&mut self, patterns: &Patterns) -> Vec<Task> {
        loop {
            let tasks = match self.stage {
                Stage::First => vec![self.rich_task(self.question.first_rates(), patterns)],
                Stage::Rates => self.rates_tasks(patterns),
                Stage::RatesRefined => self.refining_tasks(NOT_FAR),
                Stage::Matrices => self.matrix_tasks(patterns),
                Stage::MatricesRefined => {
                    self.refining_tasks(NOT_FAR + NOT_FAR_PER_LENGTH * self.num_lengths as f64)
                }
                Stage::Crossed => self.crossing_tasks(patterns),
                Stage::Free(i) => self.free_rates_task(i, patterns).into_iter().collect(),
                Stage::FreeRefined => {
                    let mut tasks = self.refining_tasks(CLOSE);
                    tasks.retain(|task| self.is_free(&task.candidate));
                    tasks
                }
                Stage::Done => return Vec::new(),
            };
            if !tasks.is_empty() {
                return tasks;
            }
            self.advance();
        }
    }

    /// Takes the fits of the tasks asked for last.
    pub(crate) fn tell(&mut self, fits: Vec<Fit>) {
        if self.stage == Stage::First {
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

    /// Log-likelihood of the best fit so far.
    pub(crate) fn best_lnl(&self) -> Option<f64> {
        let all = self.fits.iter().chain(&self.first);
        all.map(|fit| fit.lnl).reduce(f64::max)
    }

    /// All models that were fitted, the best first. Between equals the one with fewer parameters, then
    /// the one listed first, is better.
    pub(crate) fn ranking(&self) -> Vec<Ranked> {
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
            // AICc may not be defined for any of them.
            let by = |scores: &Scores| [scores.by(self.criterion), scores.aic];
            let pairs = by(&a.scores).into_iter().zip(by(&b.scores));
            let order = pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne());
            order.unwrap_or_else(|| a.num_parameters.cmp(&b.num_parameters))
        });
        ranked
    }

    fn advance(&mut self) {
        self.stage = match self.stage {
            Stage::First => Stage::Rates,
            Stage::Rates => Stage::RatesRefined,
            Stage::RatesRefined => Stage::Matrices,
            Stage::Matrices => Stage::MatricesRefined,
            Stage::MatricesRefined => Stage::Crossed,
            Stage::Crossed => Stage::Free(0),
            Stage::Free(i) if self.goes_on_from(i) => Stage::Free(i + 1),
            Stage::Free(_) => Stage::FreeRefined,
            Stage::FreeRefined | Stage::Done => Stage::Done,
        };
    }

    fn num_parameters(&self, fit: &Fit) -> usize {
        fit.model.num_free_parameters() + self.num_lengths
    }

    fn scores(&self, fit: &Fit) -> Scores {
        // A likelihood of 0 is the worst there is, and no number to compute with.
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

    /// The fits of some candidates that are no further from the best of them than `margin`.
    fn within(&self, margin: f64, which: impl Fn(&Candidate) -> bool) -> Vec<&Fit> {
        let fits: Vec<&Fit> = self.fits.iter().filter(|fit| which(&fit.candidate)).collect();
        let best = fits.iter().map(|fit| self.value(fit)).fold(f64::INFINITY, f64::min);
        fits.into_iter().filter(|fit| self.value(fit) <= best + margin).collect()
    }

    /// A candidate's model at its own start values, frequencies counted.
    fn model(&self, candidate: &Candidate, patterns: &Patterns) -> Model {
        let mut model = self.question.model(candidate);
        count_freqs(&mut model, patterns);
        model
    }

    fn rich_task(&self, rates: &'static str, patterns: &Patterns) -> Task {
        let candidate = Candidate { matrix: self.question.rich_matrix(), rates };
        let mut start = self.model(&candidate, patterns);
        if let Some(first) = &self.first {
            start_from(&mut start, &first.model);
        }
        let lengths = self.first.as_ref().map(|first| first.tree.clone());
        Task { candidate, start, other_starts: Vec::new(), lengths, effort: Effort::Rough }
    }

    fn rates_tasks(&self, patterns: &Patterns) -> Vec<Task> {
        let mut tasks = Vec::new();
        for rates in self.question.rates() {
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

    /// The rates that are best with the rich matrix.
    fn best_rates(&self) -> &Fit {
        let rich = self.question.rich_matrix();
        self.within(0.0, |c| c.matrix == rich).first().expect("rates were compared")
    }

    fn is_free(&self, candidate: &Candidate) -> bool {
        self.question.free_rates().contains(&candidate.rates)
    }

    /// The best fit but for those with free rates and mixtures.
    fn best_without_free_rates(&self) -> &Fit {
        let mixtures = self.question.mixtures();
        let is_wanted = |c: &Candidate| !self.is_free(c) && !mixtures.contains(c);
        self.within(0.0, is_wanted).first().expect("matrices were compared")
    }

    /// The best matrix with the number-th free rates, where its rates are of +G: one of the rates with one
    /// fewer in two.
    fn free_rates_task(&self, number: usize, patterns: &Patterns) -> Option<Task> {
        let best = self.best_without_free_rates();
        let rates = self.question.free_rates().get(number)?;
        if best.model.heterogeneity == Heterogeneity::Uniform {
            return None;
        }
        let matrix = best.candidate.matrix.clone();
        let fewer = match number {
            0 => best,
            _ => self.find(&matrix, self.question.free_rates()[number - 1])?,
        };
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
        Some(Task {
            candidate,
            start: starts.swap_remove(0),
            other_starts: starts,
            lengths: Some(fewer.tree.clone()),
            effort: Effort::Rough,
        })
    }

    /// True if the rates that were tried last are reason enough to try more.
    fn goes_on_from(&self, number: usize) -> bool {
        let matrix = &self.best_without_free_rates().candidate.matrix;
        let value = |number: usize| {
            let rates = self.question.free_rates().get(number)?;
            self.find(matrix, rates).map(|fit| self.value(fit))
        };
        match number {
            0 => value(0).is_some(),
            _ => value(number).zip(value(number - 1)).is_some_and(|(more, fewer)| more < fewer),
        }
    }

    fn matrix_tasks(&self, patterns: &Patterns) -> Vec<Task> {
        let rich = self.best_rates();
        let rates = rich.candidate.rates;
        let matrices = self.question.matrices().into_iter();
        let candidates = matrices.map(|matrix| Candidate { matrix, rates });
        candidates
            .chain(self.question.mixtures())
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
        let rich = self.question.rich_matrix();
        let rates = self.within(CLOSE, |candidate| candidate.matrix == rich);
        let matrices = self.within(CLOSE, |candidate| candidate.rates == best_rates);
        let mixtures = self.question.mixtures();
        let mut tasks = Vec::new();
        for matrix in matrices.iter().filter(|fit| !mixtures.contains(&fit.candidate)) {
            for with_rates in &rates {
                let name = &matrix.candidate.matrix;
                let candidate =
                    Candidate { matrix: name.clone(), rates: with_rates.candidate.rates };
                if self.find(name, candidate.rates).is_none() {
                    let mut start = self.model(&candidate, patterns);
                    start_from(&mut start, &matrix.model);
                    // Later, because both may know of rates over sites.
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

/// The rates over sites of another model of the same kind.
fn start_rates_from(model: &mut Model, other: &Model) {
    model.heterogeneity.clone_from(&other.heterogeneity);
    model.invariant = other.invariant;
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
