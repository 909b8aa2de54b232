//! Alternating optimisation of branch lengths and model parameters, in rounds until convergence.

use super::learnt::Learnt;
use super::params::{Known, Parameters};
use crate::likelihood::{BranchOptions, Evaluator, Result};
use crate::model::Model;
use crate::observer::{Event, Observer};
use serde::{Deserialize, Serialize};

/// What is optimised, and the stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimizeOptions {
    /// Optimise the parameters of the models that are not fixed.
    pub model: bool,
    /// Optimise branch lengths and, under scaled lengths, the scalers of the partitions.
    pub branches: bool,
    /// The optimisation ends after a round that gains less than this (log units).
    pub lnl_epsilon: f64,
    /// Maximum number of rounds.
    pub max_rounds: usize,
}

impl OptimizeOptions {
    /// Optimisation of branch lengths and model parameters up to the given epsilon (log units), with at most 100
    /// rounds.
    pub fn to(lnl_epsilon: f64) -> Self {
        OptimizeOptions { model: true, branches: true, lnl_epsilon, max_rounds: 100 }
    }

    /// The same without the optimisation of models if these have no free parameters.
    pub(super) fn of(&self, models: &[Model]) -> Self {
        let any = models.iter().any(Model::has_open_parameters);
        OptimizeOptions { model: self.model && any, ..*self }
    }
}

/// When rounds end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Until {
    /// After one that gains less than the epsilon.
    SmallGain,
    /// After one after which further rounds would gain less than a share of the epsilon, were gains to decrease as they did in the
    /// last two. A round has one sweep: where a parameter begins with a known curvature, its step takes a third of the time of a
    /// sweep (LG+C20+G4 on 140 proteins: 0.6 of 2.3 s).
    LittleExpected,
    /// After one that gains less than the epsilon, if further rounds would gain less than a tenth of it, were gains to
    /// decrease as they did in the last two rounds.
    NothingOutstanding,
    /// The same, where parameters have a smaller epsilon, and their minimisers begin once more without what was learnt. The
    /// minimiser of a partition may stall far from the optimum, so a single round with a small gain does not show convergence
    /// (primates in six partitions, GTR+I+G4: 0.1 log units were missing).
    TheEnd,
}

/// The state of rounds between two of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Rounds {
    until: Until,
    /// Number of rounds so far.
    number: usize,
    /// What the last round gained (log units).
    gain_before: f64,
    /// What parameters gained after the last sweep before them, as a share of its gain.
    share_of_parameters: f64,
    /// The minimisers of parameters are to begin once more without what was learnt.
    to_check: bool,
}

impl Rounds {
    /// Before the first round.
    pub(super) fn new(options: &OptimizeOptions, until: Until) -> Self {
        let to_check = until == Until::TheEnd && options.model;
        let (gain_before, share_of_parameters) = (f64::INFINITY, f64::INFINITY);
        Rounds { until, number: 0, gain_before, share_of_parameters, to_check }
    }

    /// One round, with what was learnt of the parameters before. Returns true if it was the last.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn step(
        &mut self,
        evaluator: &mut Evaluator,
        models: &mut [Model],
        options: &OptimizeOptions,
        learnt: &mut Learnt,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        let before = evaluator.log_likelihood()?;
        if !options.model && !options.branches {
            return Ok(true);
        }
        let to_the_end = self.until != Until::SmallGain;
        if !options.model && !evaluator.linkage().has_scalers() {
            let lnl = optimize_lengths_alone(evaluator, options, to_the_end)?;
            tell(observer, 1, lnl);
            return Ok(true);
        }
        if self.number >= options.max_rounds {
            return Ok(true);
        }
        if self.until == Until::LittleExpected
            && options.branches
            && !evaluator.linkage().has_scalers()
        {
            return self.take_turns(evaluator, models, options, learnt, observer);
        }
        // In the first round, branch lengths need not be more accurate than the parameters on which they depend.
        let max_sweeps = if self.number == 0 { 4 } else { 8 };
        // After a small gain, rounds go on only where lengths converge slowly, which takes sweeps in a row.
        let share = if self.gain_before < options.lnl_epsilon { PATIENTLY } else { 0.5 };
        let is_tight = self.until == Until::TheEnd;
        let model_epsilon = if is_tight { TIGHTLY } else { 1.0 } * options.lnl_epsilon;
        let epsilons = Epsilons { branches: share * options.lnl_epsilon, model: model_epsilon };
        let lnl = optimize_in_turn(evaluator, models, options, max_sweeps, &epsilons, learnt)?;
        self.number += 1;
        tell(observer, self.number, lnl);
        let gain = lnl - before;
        // In the first round, lengths are set to within their bounds.
        let is_sound = self.number == 1 || gain > -LOSS * models.len() as f64;
        debug_assert!(is_sound, "round {} ends at {lnl}, after {before}", self.number);
        let outstanding = gain * gain / (self.gain_before - gain).max(f64::MIN_POSITIVE);
        // Partitions with their own lengths or scalers converge one after the other, which looks like slow convergence.
        let is_slow = outstanding >= OUTSTANDING * options.lnl_epsilon;
        let linkage = evaluator.linkage();
        let enough = !to_the_end || !is_slow || linkage.has_own_lengths() || linkage.has_scalers();
        self.gain_before = gain;
        let mut is_over = gain < options.lnl_epsilon && enough;
        // One parameter has no direction that a minimiser may overlook.
        let has_directions =
            |model: &Model| model.has_linked_rates() || model.free_parameters().len() > 1;
        let may_stall = models.iter().any(has_directions);
        if is_over && std::mem::take(&mut self.to_check) && may_stall {
            // What was learnt may be wrong, so that minimisers stall: the last rounds begin without it.
            *learnt = Learnt::default();
            is_over = false;
        }
        Ok(is_over || self.number >= options.max_rounds)
    }

    /// A round of one sweep, and of a step of parameters unless little is left.
    fn take_turns(
        &mut self,
        evaluator: &mut Evaluator,
        models: &mut [Model],
        options: &OptimizeOptions,
        learnt: &mut Learnt,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        let before = evaluator.log_likelihood()?;
        let lnl_epsilon = options.lnl_epsilon;
        let gain_tolerance = gain_tolerance(options);
        let sweep = BranchOptions { max_sweeps: 1, lnl_epsilon, gain_tolerance };
        let mut lnl = evaluator.optimize_branches_to(&sweep, 0.0)?;
        let gain = lnl - before;
        let little = EXPECTED * lnl_epsilon;
        let is_over = gain < lnl_epsilon || self.outstanding(gain) < little;
        if !is_over && self.share_of_parameters * gain >= little {
            // What the next sweep leaves is more than the rest of a small step.
            let lnl_epsilon = lnl_epsilon.max(OF_SWEEP * gain);
            let options = OptimizeOptions { lnl_epsilon, ..*options };
            let before = lnl;
            lnl = optimize_parameters(evaluator, models, &options, learnt)?;
            self.share_of_parameters = (lnl - before) / gain;
        }
        self.number += 1;
        self.gain_before = lnl - before;
        tell(observer, self.number, lnl);
        Ok(is_over || self.number >= options.max_rounds)
    }

    /// What further rounds would gain, were gains to decrease as from that of the last round to this one.
    fn outstanding(&self, gain: f64) -> f64 {
        match gain < self.gain_before {
            true if self.gain_before.is_finite() => gain * gain / (self.gain_before - gain),
            _ => f64::INFINITY,
        }
    }
}

fn tell(observer: &mut dyn Observer, round: usize, lnl: f64) {
    observer.event(&Event::Progress { phase: "branch lengths and model".into(), round, lnl });
}

/// Gains (log units) below which a round's sweeps over branch lengths and its steps of parameters end.
struct Epsilons {
    branches: f64,
    model: f64,
}

/// All rounds in one, where nothing but lengths is optimised.
fn optimize_lengths_alone(
    evaluator: &mut Evaluator,
    options: &OptimizeOptions,
    to_the_end: bool,
) -> Result<f64> {
    let share = if to_the_end { PATIENTLY } else { 0.5 };
    let branches = BranchOptions {
        max_sweeps: 8 * options.max_rounds,
        lnl_epsilon: (share * options.lnl_epsilon).max(1e-6),
        gain_tolerance: gain_tolerance(options),
    };
    evaluator.optimize_branches_to(&branches, if to_the_end { 0.0 } else { ROUGHLY })
}

/// One round.
fn optimize_in_turn(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
    max_sweeps: usize,
    epsilons: &Epsilons,
    learnt: &mut Learnt,
) -> Result<f64> {
    if options.branches {
        let lnl_epsilon = epsilons.branches.max(1e-6);
        let gain_tolerance = gain_tolerance(options);
        let branches = BranchOptions { max_sweeps, lnl_epsilon, gain_tolerance };
        evaluator.optimize_branches_to(&branches, SHARE_OF_GAIN)?;
    }
    if options.model {
        let options = OptimizeOptions { lnl_epsilon: epsilons.model, ..*options };
        optimize_parameters(evaluator, models, &options, learnt)?;
    }
    if options.branches && evaluator.linkage().has_scalers() {
        super::params::optimize_brlen_scalers(evaluator, epsilons.model)?;
    }
    evaluator.log_likelihood()
}

/// Optimises parameters at the present lengths and, with branches, factors of these. Returns the log-likelihood.
///
/// # Errors
/// The engine has failed.
pub(super) fn optimize_parameters(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
    learnt: &mut Learnt,
) -> Result<f64> {
    let parameters = Parameters::new(evaluator, models);
    let parameters = if options.branches { parameters.with_lengths() } else { parameters };
    parameters.optimize(options.lnl_epsilon, learnt)
}

fn gain_tolerance(options: &OptimizeOptions) -> f64 {
    (options.lnl_epsilon * 1e-3).clamp(1e-8, 1e-3)
}

/// What a round may lose of each partition's log-likelihood by rounding, and by lengths that are cut at their bounds.
const LOSS: f64 = 1e-3;

/// A round's sweeps of branch lengths end after one that gains less than this share of what all of them gained.
const SHARE_OF_GAIN: f64 = 0.1;

/// The same where nothing but lengths is optimised, before the end.
const ROUGHLY: f64 = 1e-4;

/// Factors of the epsilon in rounds until [`Until::TheEnd`]: for the parameters, for branch lengths that converge slowly, and
/// for the estimated gain of further rounds.
const TIGHTLY: f64 = 0.02;
const PATIENTLY: f64 = 0.002;
const OUTSTANDING: f64 = 0.1;

/// The same for what may be left in rounds until [`Until::LittleExpected`].
const EXPECTED: f64 = 0.2;

/// Share of a sweep's gain that is the epsilon of the parameters after it, in such rounds.
const OF_SWEEP: f64 = 0.1;

/// Optimises the parameters of all partitions from `initial` values at the present branch lengths, and keeps the
/// results of partitions that gain more than the epsilon; returns true if there are any. Parameters that were first
/// optimised at poor branch lengths may be in a local optimum (62 carnivores, 3 codon positions: a rate of A-G
/// 1426 times that of G-T, and a log-likelihood 128 units too low).
///
/// # Errors
/// The engine has failed.
pub(super) fn restart_parameters(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    initial: &[Model],
    options: &OptimizeOptions,
    learnt: &mut Learnt,
) -> Result<bool> {
    let before = (evaluator.partition_log_likelihoods()?, models.to_vec());
    // Weights of classes have one optimum, wherever they begin; and linked rates are those of other partitions, too.
    let mut begun = initial.to_vec();
    begun.iter_mut().zip(&before.1).for_each(|(model, found)| {
        model.take_linked_rates(found);
        if found.estimates_class_weights() {
            model.set_class_weights(found.free_class_weights());
        }
    });
    set_models(evaluator, models, &begun);
    let known = Known { models: &before.1, lnls: before.0.clone() };
    let parameters = Parameters::new(evaluator, models).until(&known);
    parameters.optimize(options.lnl_epsilon, &mut learnt.clone())?;
    let after = evaluator.partition_log_likelihoods()?;
    let mut any_better = false;
    for (partition, model) in models.iter_mut().enumerate() {
        if after[partition] - before.0[partition] > options.lnl_epsilon {
            any_better = true;
            learnt.forget(partition);
        } else {
            model.clone_from(&before.1[partition]);
            evaluator.set_model(partition, model);
        }
    }
    Ok(any_better)
}

pub(super) fn set_models(evaluator: &mut Evaluator, models: &mut [Model], values: &[Model]) {
    models.clone_from_slice(values);
    for (partition, model) in models.iter().enumerate() {
        evaluator.set_model(partition, model);
    }
}
