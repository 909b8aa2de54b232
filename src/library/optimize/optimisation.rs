//! [`Optimisation`]: an optimisation in steps, between which it can be stopped. Its [`OptimizeState`] is a plain value.

use super::alternatives::{Alternative, Ends, STARTS_EPSILON, WORTHWHILE, try_alternatives};
use super::learnt::Learnt;
use super::rounds::{OptimizeOptions, Rounds, Until};
use super::rounds::{optimize_parameters, restart_parameters, set_models};
use super::shifts::{InVain, shift_changes};
use super::starts::{approach_scale, fits, try_other_lengths};
use crate::likelihood::{BrlenLinkage, Evaluator, Result, Snapshot};
use crate::model::{Model, ModelValues};
use crate::observer::{Event, Observer, Silent};
use serde::{Deserialize, Serialize};

/// Maximum number of restarts of the parameters; one is almost always enough.
const MAX_RESTARTS: usize = 3;

/// Maximum number of times that other branch lengths are tried.
const MAX_LENGTHS: usize = 3;

/// Maximum number of evaluations anew.
const MAX_ANEW: usize = 4;

/// What an optimisation is to reach, on which its stages depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// The optimum near the present lengths and parameters ([`optimize`](super::optimize)).
    Nearby,
    /// The same again, on a tree that has changed since: other exchange rates, which are almost never better once they were
    /// tried, are left to [`Goal::Conclusion`].
    NearbyAgain,
    /// The best of several optima, from any lengths
    /// ([`optimize_from_several_starts`](super::optimize_from_several_starts)).
    Best,
    /// The best of several optima of one partition with one parameter, from what is best under the model's [guide](Model::guide).
    AfterGuide,
    /// The best of several optima at the end of a search, whose lengths and parameters are already close to an optimum. Other lengths are
    /// left to [`Goal::Settled`].
    Conclusion,
    /// The same where they are not yet close to one: of a partition scheme.
    Scheme,
    /// Other lengths after that, when polytomies have their resolution; the optimum near them if they are better.
    Settled,
}

/// The stages, in this order; each [`Goal`] has some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum OptimisationStage {
    /// Lengths of the right magnitude.
    Scale,
    /// The parameter and a factor of the lengths, of whose curvature the guide tells.
    Known,
    /// Rough optimisation.
    Find,
    /// Other start values of branch lengths.
    OtherLengths,
    /// The final stages begin.
    Final,
    /// Optimisation until a round gains little.
    Converge,
    /// Other exchange rates, for partitions that share branch lengths.
    OtherExchange,
    /// Other rates over sites.
    OtherRates,
    /// Optimisation until further rounds would gain little.
    End,
    /// The parameters from their initial values.
    Restart,
    Done,
}

/// The state of an optimisation apart from the tree and the models.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OptimizePlan {
    goal: Goal,
    stage: OptimisationStage,
    /// The rounds of the stage, from the first one on.
    rounds: Option<Rounds>,
    learnt: Learnt,
    restarts: usize,
}

/// The state of an optimisation between two steps. Together with the data and the options it determines all further steps:
/// an optimisation that is resumed from it, in any evaluator, gives the same bits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OptimizeState {
    snapshot: Snapshot,
    models: Vec<ModelValues>,
    plan: OptimizePlan,
}

/// An optimisation in progress.
pub struct Optimisation<'a> {
    evaluator: &'a mut Evaluator,
    models: &'a mut [Model],
    /// The models with which parameters are started again.
    initial: &'a [Model],
    options: OptimizeOptions,
    plan: OptimizePlan,
}

/// Optimises branch lengths and model parameters in turn. `models` must be the current models of the
/// evaluator's partitions and are updated together with it; each round is reported to the observer. Returns the
/// log-likelihood, which is not lower than before.
///
/// # Errors
/// The engine has failed.
pub fn optimize(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
    observer: &mut dyn Observer,
) -> Result<f64> {
    Optimisation::new(Goal::Nearby, evaluator, models, &[], options).finish(observer)
}

/// [`optimize`] from the given branch lengths and from several other start values, and to
/// convergence from the best of them. There, parameters are also optimised again from their given values. Returns the
/// log-likelihood.
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
    Optimisation::new(Goal::Best, evaluator, models, &initial, options).finish(observer)
}

/// The optimum that an evaluation of the tree finds, from `initial` models, if it is better than the present one; under
/// unlinked lengths that of each partition. No short way leads to it: lengths, exchange rates and rates over sites of a short
/// partition differ together.
///
/// # Errors
/// The engine has failed.
pub fn evaluate_anew(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    initial: &[Model],
    options: &OptimizeOptions,
    observer: &mut dyn Observer,
) -> Result<()> {
    let mut best = Ends::of(evaluator, models)?;
    let mut is_at_end = false;
    for _ in 0..MAX_ANEW {
        let before = best.log_likelihood();
        let own_lengths = evaluator.linkage().has_own_lengths();
        if own_lengths {
            evaluator.average_brlens();
            evaluator.clamp_brlens();
            evaluator.set_tree(evaluator.tree().clone());
        }
        (0..models.len()).for_each(|partition| evaluator.set_brlen_scaler(partition, 1.0));
        set_models(evaluator, models, initial);
        // Its rounds begin far below what the search has found, which would look like a loss.
        observer.event(&phase("evaluation of the tree"));
        Optimisation::new(Goal::Best, evaluator, models, initial, options).finish(&mut Silent)?;
        let found = Ends::of(evaluator, models)?;
        if own_lengths && !models.iter().any(Model::has_linked_rates) {
            best.improve(&found);
        } else if found.log_likelihood() > before {
            best = found.clone();
        }
        is_at_end = best.log_likelihood() - found.log_likelihood() < WORTHWHILE;
        best.restore(evaluator, models);
        // The next evaluation would begin with these lengths.
        if own_lengths || best.log_likelihood() - before < WORTHWHILE {
            break;
        }
    }
    if evaluator.linkage().has_own_lengths() && !is_at_end {
        let options = options.of(models);
        let mut rounds = Rounds::new(&options, Until::NothingOutstanding);
        let mut learnt = Learnt::default();
        while !rounds.step(evaluator, models, &options, &mut learnt, observer)? {}
    }
    Ok(())
}

impl OptimizePlan {
    /// Of an optimisation before its first step.
    pub fn new(goal: Goal, options: &OptimizeOptions) -> Self {
        let stage = match goal {
            Goal::Nearby | Goal::NearbyAgain | Goal::Scheme => OptimisationStage::Converge,
            Goal::Best if options.branches => OptimisationStage::Scale,
            Goal::AfterGuide => OptimisationStage::Known,
            Goal::Settled => OptimisationStage::OtherLengths,
            Goal::Best | Goal::Conclusion => OptimisationStage::Final,
        };
        OptimizePlan { goal, stage, rounds: None, learnt: Learnt::default(), restarts: 0 }
    }

    /// What comes after an optimisation of guides with this plan: that of their models. Lengths have the right magnitude.
    #[doc(hidden)]
    pub fn after_guides(self, models: &[Model]) -> Self {
        let is_known = match models {
            [only] => only.free_parameters().len() == 1 && !only.estimates_class_weights(),
            _ => false,
        };
        let (goal, stage, learnt) = match is_known && self.fits(models) {
            true => (Goal::AfterGuide, OptimisationStage::Known, self.learnt),
            false => (Goal::Best, OptimisationStage::Find, Learnt::default()),
        };
        OptimizePlan { goal, stage, rounds: None, learnt, restarts: 0 }
    }

    /// True if an optimisation of these models may have been in this state.
    pub fn fits(&self, models: &[Model]) -> bool {
        self.learnt.fits(models)
    }
}

impl OptimizeState {
    /// True if an optimisation on the evaluator's data, under these models, may have been in this state.
    pub fn fits(&self, evaluator: &Evaluator, models: &[Model]) -> bool {
        self.snapshot.fits(evaluator)
            && self.models.len() == models.len()
            && models.iter().zip(&self.models).all(|(model, values)| model.fits(values))
            && self.plan.fits(models)
    }
}

impl<'a> Optimisation<'a> {
    /// An optimisation before its first step. `models` must be the current models of the evaluator's partitions and are
    /// updated together with it; `initial` are those with which parameters are started again.
    pub fn new(
        goal: Goal,
        evaluator: &'a mut Evaluator,
        models: &'a mut [Model],
        initial: &'a [Model],
        options: &OptimizeOptions,
    ) -> Self {
        let options = options.of(models);
        let plan = OptimizePlan::new(goal, &options);
        Optimisation { evaluator, models, initial, options, plan }
    }

    /// Goes on with the same evaluator and models, in which nothing has changed.
    pub fn go_on(
        plan: OptimizePlan,
        evaluator: &'a mut Evaluator,
        models: &'a mut [Model],
        initial: &'a [Model],
        options: &OptimizeOptions,
    ) -> Self {
        let options = options.of(models);
        Optimisation { evaluator, models, initial, options, plan }
    }

    /// Goes on from a state that [fits](OptimizeState::fits), in any evaluator of the same data and with any engine.
    pub fn resume(
        state: OptimizeState,
        evaluator: &'a mut Evaluator,
        models: &'a mut [Model],
        initial: &'a [Model],
        options: &OptimizeOptions,
    ) -> Self {
        for (model, values) in models.iter_mut().zip(&state.models) {
            *model = model.with_values(values);
        }
        evaluator.resume(&state.snapshot, models);
        Optimisation::go_on(state.plan, evaluator, models, initial, options)
    }

    /// The state of the optimisation, from which it can be [resumed](Optimisation::resume).
    pub fn state(&self) -> OptimizeState {
        OptimizeState {
            snapshot: self.evaluator.snapshot(),
            models: self.models.iter().map(Model::values).collect(),
            plan: self.plan.clone(),
        }
    }

    /// Its plan, with which it can [go on](Optimisation::go_on).
    #[doc(hidden)]
    pub fn into_plan(self) -> OptimizePlan {
        self.plan
    }

    /// True if there is nothing left to do.
    pub fn is_done(&self) -> bool {
        self.plan.stage == OptimisationStage::Done
    }

    /// Makes all further steps. Returns the log-likelihood.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn finish(mut self, observer: &mut dyn Observer) -> Result<f64> {
        while !self.is_done() {
            self.step(observer)?;
        }
        self.log_likelihood()
    }

    /// The log-likelihood of the tree.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn log_likelihood(&mut self) -> Result<f64> {
        self.evaluator.log_likelihood()
    }

    /// The next step: a round, or starts from other values.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let options = self.options;
        let OptimizeOptions { model, branches, .. } = options;
        self.plan.stage = match self.plan.stage {
            OptimisationStage::Scale => {
                observer.event(&phase("initial branch lengths and model"));
                approach_scale(self.evaluator)?;
                OptimisationStage::Find
            }
            OptimisationStage::Known => {
                if model {
                    let learnt = &mut self.plan.learnt;
                    optimize_parameters(self.evaluator, self.models, &options, learnt)?;
                }
                OptimisationStage::Final
            }
            OptimisationStage::Find => {
                let lnl_epsilon = options.lnl_epsilon.max(STARTS_EPSILON);
                let roughly = OptimizeOptions { lnl_epsilon, ..options };
                match self.round(&roughly, Until::SmallGain, observer)? {
                    false => OptimisationStage::Find,
                    true => OptimisationStage::OtherLengths,
                }
            }
            OptimisationStage::OtherLengths => {
                if !self.has_one_optimum() {
                    observer.event(&phase("branch lengths from other starting values"));
                }
                let any_better = self.try_other_lengths()?;
                match self.plan.goal {
                    Goal::Settled if any_better => OptimisationStage::End,
                    Goal::Settled => OptimisationStage::Done,
                    _ => OptimisationStage::Final,
                }
            }
            OptimisationStage::Final => {
                observer.event(&phase("final branch lengths and model"));
                // Other exchange rates are compared with the best near the present ones.
                match self.plan.goal == Goal::Conclusion && self.shares_lengths() {
                    true => OptimisationStage::Converge,
                    false => OptimisationStage::OtherExchange,
                }
            }
            OptimisationStage::Converge => {
                match self.round(&options, Until::SmallGain, observer)? {
                    false => OptimisationStage::Converge,
                    true if !model || self.plan.goal == Goal::NearbyAgain => {
                        OptimisationStage::Done
                    }
                    true => OptimisationStage::OtherExchange,
                }
            }
            OptimisationStage::OtherExchange => {
                let any_better = self.try_other_exchange()?;
                match self.plan.goal {
                    Goal::Nearby if any_better && self.plan.restarts < MAX_RESTARTS => {
                        self.plan.restarts += 1;
                        OptimisationStage::Converge
                    }
                    Goal::Nearby | Goal::NearbyAgain => OptimisationStage::Done,
                    _ => OptimisationStage::OtherRates,
                }
            }
            OptimisationStage::OtherRates => {
                let others = model && self.try_other_rates(branches)?;
                if others && branches && self.plan.goal == Goal::Best {
                    // Under other rates, other lengths may be better.
                    self.try_other_lengths()?;
                }
                OptimisationStage::End
            }
            OptimisationStage::End => {
                let until = match self.plan.goal {
                    Goal::AfterGuide => Until::LittleExpected,
                    _ if self.is_easy() => Until::NothingOutstanding,
                    _ => Until::TheEnd,
                };
                match self.round(&options, until, observer)? {
                    false => OptimisationStage::End,
                    true if self.plan.goal == Goal::AfterGuide => {
                        self.plan.goal = Goal::Settled;
                        OptimisationStage::OtherLengths
                    }
                    true if model && self.plan.restarts < self.max_restarts() => {
                        OptimisationStage::Restart
                    }
                    true => OptimisationStage::Done,
                }
            }
            OptimisationStage::Restart => {
                self.plan.restarts += 1;
                let any_better = self.restart()?;
                if self.try_other_exchange()? || any_better {
                    OptimisationStage::End
                } else {
                    OptimisationStage::Done
                }
            }
            OptimisationStage::Done => OptimisationStage::Done,
        };
        Ok(())
    }

    /// The next round of the stage; true if it was the last.
    fn round(
        &mut self,
        options: &OptimizeOptions,
        until: Until,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        let OptimizePlan { rounds, learnt, .. } = &mut self.plan;
        let of_stage = rounds.get_or_insert_with(|| Rounds::new(options, until));
        let is_over = of_stage.step(self.evaluator, self.models, options, learnt, observer)?;
        if is_over {
            *rounds = None;
        }
        Ok(is_over)
    }

    /// True if partitions share lengths and the tree hardly contradicts the data.
    pub fn has_one_optimum(&self) -> bool {
        !self.evaluator.linkage().has_own_lengths() && fits(self.evaluator.tree())
    }

    /// Other branch lengths: from other starting values where there may be several optima, and by shifts of single changes.
    /// What is found in one region of the tree may make others possible. True if the log-likelihood is higher.
    fn try_other_lengths(&mut self) -> Result<bool> {
        let first = self.log_likelihood()?;
        let own_lengths = self.evaluator.linkage().has_own_lengths();
        let as_a_whole = self.plan.goal == Goal::Best;
        let mut in_vain = InVain::new();
        for number in 0..MAX_LENGTHS {
            let before = self.log_likelihood()?;
            if !self.has_one_optimum() {
                try_other_lengths(self.evaluator, as_a_whole && number == 0)?;
            }
            if own_lengths {
                break;
            }
            shift_changes(self.evaluator, &mut in_vain)?;
            if self.log_likelihood()? - before < WORTHWHILE {
                break;
            }
        }
        Ok(self.log_likelihood()? - first >= WORTHWHILE)
    }

    /// At the end of a search, parameters begin anew only where other exchange rates were not tried.
    fn max_restarts(&self) -> usize {
        let concludes = matches!(self.plan.goal, Goal::Conclusion | Goal::Scheme);
        let is_enough = concludes && self.shares_lengths();
        if is_enough || self.is_easy() { 0 } else { MAX_RESTARTS }
    }

    /// True at the end of a search if its parameters have usually one optimum, in which they already are.
    fn is_easy(&self) -> bool {
        let has_one = !self.shares_lengths()
            && !self.evaluator.linkage().has_own_lengths()
            && !self.models.iter().any(Model::estimates_free_rates);
        match self.plan.goal {
            Goal::Settled | Goal::AfterGuide => true,
            Goal::Conclusion | Goal::Scheme => has_one,
            Goal::Nearby | Goal::NearbyAgain | Goal::Best => false,
        }
    }

    /// True if partitions have branch lengths that are not the best of each, under which exchange rates have several optima.
    fn shares_lengths(&self) -> bool {
        self.evaluator.linkage() == BrlenLinkage::Linked && self.evaluator.num_partitions() > 1
    }

    /// Other exchange rates, if partitions share lengths.
    fn try_other_exchange(&mut self) -> Result<bool> {
        if !self.options.model || !self.shares_lengths() {
            return Ok(false);
        }
        let learnt = &mut self.plan.learnt;
        try_alternatives(Alternative::ExchangeRates, self.evaluator, self.models, false, learnt)
    }

    fn try_other_rates(&mut self, with_lengths: bool) -> Result<bool> {
        let learnt = &mut self.plan.learnt;
        let which = Alternative::RatesOverSites;
        try_alternatives(which, self.evaluator, self.models, with_lengths, learnt)
    }

    fn restart(&mut self) -> Result<bool> {
        let learnt = &mut self.plan.learnt;
        restart_parameters(self.evaluator, self.models, self.initial, &self.options, learnt)
    }
}

fn phase(name: &str) -> Event {
    Event::Phase { name: name.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::rounds_tests::case;
    use super::*;
    use crate::likelihood::BrlenLinkage;

    /// The tree, the models and the log-likelihood, with all digits.
    fn end(optimisation: &mut Optimisation) -> String {
        let lnl = optimisation.log_likelihood().unwrap();
        format!("{lnl:?} {:?} {:?}", optimisation.evaluator.snapshot(), optimisation.models)
    }

    fn goes_on_from_any_state(goal: Goal, linkage: BrlenLinkage, texts: [&str; 2]) {
        let initial = texts.map(|text| Model::parse(text).unwrap());
        let options = OptimizeOptions::to(1e-3);
        let (mut models, mut evaluator) = (initial.clone(), case(linkage, &initial));
        let mut optimisation =
            Optimisation::new(goal, &mut evaluator, &mut models, &initial, &options);
        let mut states = Vec::new();
        while !optimisation.is_done() {
            states.push(postcard::to_stdvec(&optimisation.state()).unwrap());
            optimisation.step(&mut Silent).unwrap();
        }
        let expected = end(&mut optimisation);
        assert!(states.len() >= 2, "{goal:?}, {linkage:?}: {} steps", states.len());
        for (number, bytes) in states.iter().enumerate() {
            let (mut models, mut evaluator) = (initial.clone(), case(linkage, &initial));
            let state: OptimizeState = postcard::from_bytes(bytes).unwrap();
            assert!(state.fits(&evaluator, &models));
            let mut resumed =
                Optimisation::resume(state, &mut evaluator, &mut models, &initial, &options);
            while !resumed.is_done() {
                resumed.step(&mut Silent).unwrap();
            }
            let found = end(&mut resumed);
            assert!(found == expected, "{goal:?}, {linkage:?}, from state {number}");
        }
    }

    #[test]
    fn an_optimisation_goes_on_from_any_of_its_states_with_the_same_bits() {
        let linkages = [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked];
        for linkage in linkages {
            for goal in [Goal::Nearby, Goal::NearbyAgain, Goal::Best, Goal::Conclusion] {
                goes_on_from_any_state(goal, linkage, ["HKY+FE+G4", "K80+FE+I+G4"]);
            }
            goes_on_from_any_state(Goal::Conclusion, linkage, ["JC+R4", "HKY+FE+I+G4"]);
            goes_on_from_any_state(Goal::Scheme, linkage, ["GTR+FE+G4", "HKY+FE+I+G4"]);
        }
    }

    /// Spoils the parameters of the first partition at an optimum, evaluates anew, and returns the log-likelihoods of both
    /// partitions at the optimum, spoilt, and in the end.
    fn spoilt_and_evaluated(linkage: BrlenLinkage) -> [Vec<f64>; 3] {
        let initial = ["GTR+FE+G4", "HKY+FE+G4"].map(|text| Model::parse(text).unwrap());
        let options = OptimizeOptions::to(1e-3);
        let (mut models, mut evaluator) = (initial.clone(), case(linkage, &initial));
        optimize_from_several_starts(&mut evaluator, &mut models, &options, &mut Silent).unwrap();
        let good = evaluator.partition_log_likelihoods().unwrap();
        models[0].set_free_parameters(&[1e-4, 1e5, 1e-4, 1e5, 1e-4, 1.0]);
        evaluator.set_model(0, &models[0]);
        let spoilt = evaluator.partition_log_likelihoods().unwrap();
        evaluate_anew(&mut evaluator, &mut models, &initial, &options, &mut Silent).unwrap();
        let end = evaluator.partition_log_likelihoods().unwrap();
        (0..2).for_each(|partition| evaluator.set_model(partition, &models[partition]));
        assert!(evaluator.partition_log_likelihoods().unwrap() == end, "these are its models");
        [good, spoilt, end]
    }

    #[test]
    fn an_evaluation_anew_finds_the_optimum_and_loses_nothing() {
        let [good, spoilt, end] = spoilt_and_evaluated(BrlenLinkage::Unlinked);
        assert!(spoilt[0] < good[0] - 10.0 && end[0] > good[0] - 0.05, "{good:?} {end:?}");
        assert!(end[1] >= good[1] - 1e-6, "{good:?} {end:?}");
        let [good, _, end] =
            spoilt_and_evaluated(BrlenLinkage::Linked).map(|lnls| lnls.iter().sum::<f64>());
        assert!(end > good - 0.05, "{good} {end}");
    }

    #[test]
    fn a_state_of_other_models_or_data_does_not_fit() {
        let texts = ["HKY+FE+G4", "K80+FE+I+G4"];
        let initial = texts.map(|text| Model::parse(text).unwrap());
        let mut evaluator = case(BrlenLinkage::Linked, &initial);
        let (mut models, options) = (initial.clone(), OptimizeOptions::to(1e-3));
        let mut optimisation =
            Optimisation::new(Goal::Nearby, &mut evaluator, &mut models, &initial, &options);
        optimisation.step(&mut Silent).unwrap();
        let state = optimisation.state();
        assert!(state.fits(&evaluator, &initial));
        let other = ["GTR+FE+G4", "K80+FE+I+G4"].map(|text| Model::parse(text).unwrap());
        assert!(!state.plan.fits(&other) && !state.fits(&evaluator, &other));
        assert!(!state.fits(&evaluator, &initial[..1]));
    }
}
