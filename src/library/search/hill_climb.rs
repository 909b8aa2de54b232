//! Hill climbing by SPR from starting trees to the best tree: fast rounds, wide rounds, perturbations, thorough
//! rounds.

use super::changed::Changed;
use super::crew::Companions;
use super::history::SearchHistory;
use super::meter::{Meter, part_of_rounds};
use super::resolution::{resolve, settle};
use super::rounds::{Ended, Rounds};
use super::schedule::{self as at, RoundOptions, Schedule, SearchEffort, SearchPhase, Shares};
use super::start::same_starts;
use super::state::{Agreement, Plan, SearchStage, SearchState};
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::optimize::{Goal, Optimisation, OptimizeOptions, approach_scale};
use crate::parallel::Pool;
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::tree::Tree;
use std::sync::Arc;

/// Options of the search; for those that are `None`, the constants of the schedule are used.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// Maximum number of edges between pruning and regraft position, in all rounds.
    pub spr_radius: Option<usize>,
    /// A regraft position is tried only if its score, without optimisation, is at most this far below the
    /// tree's log-likelihood (log units); `Some(None)` for no limit.
    pub spr_cutoff: Option<Option<f64>>,
    /// The last SPR rounds and the final optimisation end after a round that gains less than this (log units).
    pub lnl_epsilon: Option<f64>,
    /// Optimise model parameters in addition to branch lengths.
    pub optimize_model: bool,
    /// Unlink branch lengths before the last rounds, so that each partition has its own.
    pub unlinked: bool,
    /// Further starting trees: each is improved by one fast round and recombined with the best tree so far.
    pub alternatives: Vec<Tree>,
    /// After the perturbations, the search makes further starting trees of its own, if its effort or a contradicted constraint
    /// asks for it.
    pub explores: bool,
    /// The tree is the best under a simpler model: the search begins with wide rounds.
    pub begun: bool,
    /// Trade-off between computing time and thoroughness.
    pub effort: SearchEffort,
    /// The data contradict the constraint strongly. The search then goes on to further starting trees, if it makes any
    /// (`explores`): its moves change one subtree at a time, and a tree that the data contradict has many optima of which
    /// none leads to the next.
    pub contradicted: bool,
    /// Seed of the perturbations, together with `index`.
    pub seed: u64,
    /// Number of the starting tree or bootstrap replicate.
    pub index: u64,
    /// Optimise branch lengths and model to convergence at the end. Otherwise only the topology is final.
    pub conclude: bool,
    /// Give polytomies their canonical resolution at the end.
    pub resolve: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            spr_radius: None,
            spr_cutoff: None,
            lnl_epsilon: None,
            optimize_model: true,
            unlinked: false,
            alternatives: Vec::new(),
            explores: false,
            begun: false,
            effort: SearchEffort::Normal,
            contradicted: false,
            seed: 0,
            index: 0,
            conclude: true,
            resolve: true,
        }
    }
}

impl SearchOptions {
    fn schedule(&self) -> Schedule {
        let usual = self.effort.schedule();
        if self.explores_for_the_constraint() {
            usual.under_contradicted_constraint()
        } else {
            usual
        }
    }

    fn shares(&self) -> Shares {
        let effort = match self.explores_for_the_constraint() {
            true => SearchEffort::Thorough,
            false => self.effort,
        };
        effort.shares()
    }

    /// True if the search explores further starting trees because of a constraint that the data contradict.
    pub(super) fn explores_for_the_constraint(&self) -> bool {
        self.contradicted && self.explores
    }

    /// Fast rounds end after one that gains less than this (log units).
    pub(super) fn fast_epsilon(&self) -> f64 {
        at::FAST_EPSILON.max(self.lnl_epsilon.unwrap_or(at::FINAL_EPSILON))
    }

    /// The options of a round, with those set by the user.
    pub(super) fn adapt(&self, round: &RoundOptions) -> RoundOptions {
        RoundOptions {
            radius: self.spr_radius.unwrap_or(round.radius),
            within: match self.spr_cutoff {
                None => round.within,
                Some(cutoff) => cutoff.unwrap_or(f64::INFINITY),
            },
            ..*round
        }
    }
}

/// A search in progress, which can be stopped and resumed between steps. All further steps are determined by its
/// [`SearchState`], the data and the options.
pub struct Search<'a> {
    pub(super) evaluator: &'a mut Evaluator,
    /// The models of the evaluator's partitions.
    pub(super) models: &'a mut [Model],
    /// The parsimony data of the same partitions.
    pub(super) data: &'a ParsimonyData,
    pub(super) options: &'a SearchOptions,
    pub(super) schedule: Schedule,
    pub(super) plan: Plan,
    /// Parsimony views of the current tree, during a round; computed if missing.
    views: Vec<ParsimonyViews<'a>>,
    pub(super) companions: Companions,
}

/// Searches for the maximum-likelihood tree from the evaluator's tree. Afterwards, the evaluator has the best
/// tree found; its log-likelihood is returned. `models` must be the current models of the evaluator's partitions and
/// are updated together with it; `data` has the parsimony data of the same partitions. If these have a
/// [constraint](ParsimonyData::constrained), the evaluator's tree and the alternatives among the options must satisfy it;
/// so does the best tree.
///
/// # Errors
/// The engine has failed.
///
/// # Examples
///
/// A fast search from a parsimony tree, under a single model for all columns:
///
/// ```
/// use mlsearch_library::alignment::read_alignment;
/// use mlsearch_library::likelihood::{BrlenLinkage, EngineOptions, make_evaluator};
/// use mlsearch_library::observer::Silent;
/// use mlsearch_library::parsimony::ParsimonyData;
/// use mlsearch_library::partition::Partition;
/// use mlsearch_library::rng::Purpose;
/// use mlsearch_library::search::{SearchEffort, SearchOptions, parsimony_start, search};
/// use std::path::Path;
///
/// let alignment = read_alignment(Path::new("../../datasets/primates.phy"))?;
/// let partitions = [Partition::whole(&alignment, "HKY+F")?];
/// let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
/// let tree = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
///
/// let mut models = [partitions[0].model.clone()];
/// let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
/// let mut evaluator = make_evaluator(&partitions, &models, tree, linked, &engine)?;
/// let before = evaluator.log_likelihood()?;
/// let options = SearchOptions { effort: SearchEffort::Fast, ..SearchOptions::default() };
/// let lnl = search(&mut evaluator, &mut models, &data, &options, &mut Silent)?;
/// println!("log-likelihood: {lnl:.2}, model: {}", models[0]);
/// assert!(lnl > before);
/// # Ok::<(), mlsearch_library::error::Error>(())
/// ```
pub fn search(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    data: &ParsimonyData,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<f64> {
    let mut search = Search::new(evaluator, models, data, options);
    while !search.is_done() {
        search.step(observer)?;
    }
    search.evaluator.log_likelihood()
}

impl<'a> Search<'a> {
    /// A search from the evaluator's tree, before its first step.
    pub fn new(
        evaluator: &'a mut Evaluator,
        models: &'a mut [Model],
        data: &'a ParsimonyData,
        options: &'a SearchOptions,
    ) -> Self {
        let plan = Plan {
            stage: SearchStage::Start,
            rounds: None,
            optimising: None,
            best: None,
            starts: same_starts(evaluator.tree(), &options.alternatives),
            in_vain: 0,
            changed: Changed::all(evaluator.tree()),
            wave: None,
            perturbing: None,
            agreement: Agreement::Partial,
            explored: false,
            initial: models.iter().map(Model::values).collect(),
            meter: Meter::new(&options.shares()),
            history: SearchHistory::default(),
        };
        let schedule = options.schedule();
        Search {
            evaluator,
            models,
            data,
            options,
            schedule,
            plan,
            views: Vec::new(),
            companions: Companions::none(),
        }
    }

    /// Continues a search with the same data, models and options from its state, in any evaluator and with any engine.
    /// Only the values of the models' parameters are taken from the state, which must
    /// [fit](SearchState::fits).
    pub fn resume(
        evaluator: &'a mut Evaluator,
        models: &'a mut [Model],
        data: &'a ParsimonyData,
        options: &'a SearchOptions,
        state: SearchState,
    ) -> Self {
        for (model, values) in models.iter_mut().zip(&state.models) {
            *model = model.with_values(values);
        }
        evaluator.resume(&state.snapshot, models);
        Search { plan: state.plan, ..Search::new(evaluator, models, data, options) }
    }

    /// The search, with evaluators of the same data, each of which gets a thread: independent climbs from starting trees and
    /// perturbations go on side by side there, and subtrees are scanned side by side. The result does not depend on how
    /// many there are.
    pub fn with_companions(self, companions: Vec<Evaluator>) -> Self {
        let pool = Pool::new(companions.len());
        self.with_crew(companions, pool)
    }

    /// The same on a pool of as many workers (for benchmarks).
    #[doc(hidden)]
    pub fn with_crew(self, companions: Vec<Evaluator>, pool: Pool) -> Self {
        let companions = Companions {
            pool: (companions.len() > 1).then_some(pool),
            evaluators: companions,
            scan_side_by_side: self.evaluator.capabilities().best_batch == 1,
            are_ready: false,
        };
        Search { companions, ..self }
    }

    /// The state of the search, from which it can be [resumed](Search::resume).
    pub fn state(&self) -> SearchState {
        SearchState {
            snapshot: Arc::new(self.evaluator.snapshot()),
            models: self.models.iter().map(Model::values).collect(),
            plan: self.plan.clone(),
        }
    }

    /// What the search has met so far.
    pub fn history(&self) -> &SearchHistory {
        &self.plan.history
    }

    /// True if the search has ended; the evaluator then has the best tree.
    pub fn is_done(&self) -> bool {
        self.plan.stage == SearchStage::Done
    }

    /// True unless the search is in the middle of rounds of a stage.
    pub fn is_between_rounds(&self) -> bool {
        self.plan.rounds.is_none() && self.plan.optimising.is_none()
    }

    /// Carries out the next step: some subtrees of a round, a perturbation, or a round of an
    /// optimisation.
    ///
    /// # Errors
    /// The engine has failed. The search can be [resumed](Search::resume) from the state before the step.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let Some(mut rounds) = self.plan.rounds.take() else { return self.begin_stage(observer) };
        observer.advance(self.plan.meter.at(self.completed_part(&rounds)));
        let in_wave = self.plan.stage.is_of_waves();
        let best = self.plan.best.as_ref().filter(|_| in_wave).map(|best| best.snapshot.tree());
        let mut crew = self.companions.crew(self.evaluator, self.models);
        let ended = rounds.step(&mut crew, &mut self.views, self.data, best)?;
        // What is told of a wave is told at its end, because its climbs may go on side by side.
        if let (Ended::Round { lnl, number } | Ended::All { lnl, number }, false) = (ended, in_wave)
        {
            let phase = rounds.name.clone();
            observer.event(&Event::Progress { phase, round: number, lnl });
        }
        if let Ended::All { .. } = ended {
            return self.end_rounds(rounds.changed, observer);
        }
        self.plan.rounds = Some(rounds);
        Ok(())
    }

    /// The completed part of the present phase.
    fn completed_part(&self, rounds: &Rounds) -> f64 {
        let part = part_of_rounds(rounds.number, rounds.part_of_round());
        let of_wave = || self.plan.wave.as_ref().map(|wave| wave.part(part));
        self.part_of_perturbations(part).or_else(of_wave).unwrap_or(part)
    }

    fn begin_stage(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.companions.are_ready = false;
        self.plan.stage = match self.plan.stage {
            SearchStage::Start => {
                if self.plan.optimising.is_none() {
                    let share = self.share(SearchPhase::Start);
                    self.phase("initial branch lengths and model", share, observer);
                    if !self.options.begun {
                        approach_scale(self.evaluator)?;
                    }
                }
                let epsilon = at::START_EPSILON.max(self.epsilon());
                let then = match self.can_move() {
                    true if self.options.begun => SearchStage::Wide,
                    true => SearchStage::Screen(0),
                    false => SearchStage::Unlink,
                };
                self.optimize(Goal::Nearby, epsilon, then, observer)?
            }
            SearchStage::Screen(_) | SearchStage::Explore(_) | SearchStage::Perturb
                if self.plan.wave.is_some() =>
            {
                self.go_on_with_wave(observer)?
            }
            SearchStage::Screen(done) => {
                self.begin_screening(done, observer);
                SearchStage::Screen(done)
            }
            SearchStage::Fast => {
                self.begin_rounds("more fast SPR", Some(SearchPhase::Fast), &at::FAST, observer);
                SearchStage::Fast
            }
            SearchStage::Model => {
                if self.plan.optimising.is_none() {
                    let share = self.share(SearchPhase::Model);
                    self.phase("branch lengths and model", share, observer);
                }
                self.optimize(Goal::NearbyAgain, self.fast_epsilon(), SearchStage::Wide, observer)?
            }
            SearchStage::Wide => {
                let options = match (self.schedule.thorough, self.options.begun) {
                    (true, _) => &at::THOROUGH,
                    (false, false) => &at::WIDE,
                    // Measured with LG+C20+G4 on 31 to 140 proteins: searches with wide rounds end no higher, and take 1.4 times as long.
                    (false, true) => &at::FAST,
                };
                self.begin_rounds("wide SPR", Some(SearchPhase::Wide), options, observer);
                SearchStage::Wide
            }
            SearchStage::Perturb => match self.begin_perturbations(observer)? {
                true => SearchStage::Perturb,
                false => self.after_perturbations()?,
            },
            SearchStage::Improve => {
                let changed = self.plan.changed.clone();
                let (name, epsilon) = ("rounds after perturbations", self.fast_epsilon());
                self.plan.rounds = Some(self.rounds(name, &at::THOROUGH, epsilon, changed));
                SearchStage::Improve
            }
            SearchStage::Explore(first) => {
                self.begin_exploring(first, observer);
                SearchStage::Explore(first)
            }
            SearchStage::Renew(number) => {
                self.begin_rounds("wide SPR", None, &at::THOROUGH, observer);
                SearchStage::Renew(number)
            }
            SearchStage::Unlink => {
                if self.options.unlinked {
                    self.phase("separate branch lengths per partition", 0.0, observer);
                    self.evaluator.unlink();
                }
                let has_changed = match self.options.unlinked {
                    true => true,
                    false => self.schedule.thorough && !self.plan.changed.is_empty(),
                };
                if self.can_move() && has_changed {
                    SearchStage::BeforeLast
                } else {
                    SearchStage::End
                }
            }
            SearchStage::BeforeLast => {
                if self.plan.optimising.is_none() {
                    self.phase("branch lengths and model", 0.0, observer);
                }
                self.optimize(Goal::NearbyAgain, self.fast_epsilon(), SearchStage::Last, observer)?
            }
            SearchStage::Last => {
                let last = if self.schedule.thorough { at::THOROUGH } else { at::FAST };
                self.phase("final SPR", self.share(SearchPhase::Last), observer);
                let changed = match self.options.unlinked {
                    true => Changed::all(self.evaluator.tree()),
                    false => self.plan.changed.clone(),
                };
                self.plan.rounds = Some(self.rounds("final SPR", &last, self.epsilon(), changed));
                SearchStage::Last
            }
            SearchStage::End if self.options.conclude => {
                if self.plan.optimising.is_none() {
                    let share = self.share(SearchPhase::End);
                    self.phase("final branch lengths and model", share, observer);
                }
                // To the log-likelihood that an evaluation of the tree reaches, or higher.
                let epsilon = self.last_epsilon();
                // Partitions with their own lengths reach it when the tree is evaluated anew.
                let goal = if self.options.unlinked { Goal::Nearby } else { Goal::Conclusion };
                self.optimize(goal, epsilon, SearchStage::Resolve, observer)?
            }
            SearchStage::End => SearchStage::Resolve,
            SearchStage::Resolve => {
                let constraint = self.data.constraint();
                match self.options {
                    SearchOptions { resolve: false, .. } => {}
                    SearchOptions { conclude: false, .. } => resolve(self.evaluator, constraint)?,
                    _ => {
                        let options = self.optimize_options(self.last_epsilon());
                        let initial = self.initial_models();
                        let (evaluator, models) = (&mut *self.evaluator, &mut *self.models);
                        settle(evaluator, models, &initial, &options, constraint, observer)?;
                    }
                }
                SearchStage::Done
            }
            SearchStage::Done => SearchStage::Done,
        };
        Ok(())
    }

    /// Begins rounds over the subtrees that have changed. Without a phase, they are part of the present one.
    fn begin_rounds(
        &mut self,
        name: &str,
        phase: Option<SearchPhase>,
        options: &RoundOptions,
        observer: &mut dyn Observer,
    ) {
        self.phase(name, phase.map_or(0.0, |phase| self.share(phase)), observer);
        let changed = self.plan.changed.clone();
        self.plan.rounds = Some(self.rounds(name, options, self.fast_epsilon(), changed));
    }

    /// Ends the rounds of a stage. `changed` marks the subtrees that the next rounds need to scan.
    fn end_rounds(&mut self, changed: Changed, observer: &mut dyn Observer) -> Result<()> {
        if self.plan.stage.is_of_waves() {
            self.plan.stage = self.end_climb(changed, observer)?;
            return Ok(());
        }
        self.plan.changed = changed;
        self.plan.stage = match self.plan.stage {
            SearchStage::Fast => {
                self.plan.changed = Changed::all(self.evaluator.tree());
                SearchStage::Model
            }
            SearchStage::Wide | SearchStage::Improve => {
                self.plan.changed = Changed::none(self.evaluator.tree());
                SearchStage::Perturb
            }
            SearchStage::Renew(next) => {
                self.plan.changed = Changed::none(self.evaluator.tree());
                self.after_renewing(next)?
            }
            SearchStage::Last => self.after_last()?,
            other => other,
        };
        Ok(())
    }

    /// Rounds over the evaluator's tree that begin with these subtrees.
    fn rounds(&self, name: &str, options: &RoundOptions, epsilon: f64, changed: Changed) -> Rounds {
        Rounds::new(name.to_string(), self.options.adapt(options), epsilon, changed)
    }

    /// Reports the beginning of a phase, which usually takes this share of the search's time.
    pub(super) fn phase(&mut self, name: &str, share: f64, observer: &mut dyn Observer) {
        self.plan.meter.begin(share);
        observer.event(&Event::Phase { name: name.to_string() });
        observer.advance(self.plan.meter.at_start());
    }

    pub(super) fn share(&self, phase: SearchPhase) -> f64 {
        self.options.shares().of(phase)
    }

    fn epsilon(&self) -> f64 {
        self.options.lnl_epsilon.unwrap_or(at::FINAL_EPSILON)
    }

    fn last_epsilon(&self) -> f64 {
        self.options.lnl_epsilon.unwrap_or(at::LAST_EPSILON)
    }

    fn optimize_options(&self, lnl_epsilon: f64) -> OptimizeOptions {
        let model = self.options.optimize_model;
        OptimizeOptions { model, ..OptimizeOptions::to(lnl_epsilon) }
    }

    fn fast_epsilon(&self) -> f64 {
        self.options.fast_epsilon()
    }

    /// False for three taxa, for which there is only one topology.
    fn can_move(&self) -> bool {
        self.evaluator.tree().num_tips() > 3
    }

    /// The models with which the search began.
    fn initial_models(&self) -> Vec<Model> {
        let initial = self.models.iter().zip(&self.plan.initial);
        initial.map(|(model, values)| model.with_values(values)).collect()
    }

    /// A step of the present stage's optimisation, which begins if there is none. Returns the present stage, or `then`
    /// at the end.
    fn optimize(
        &mut self,
        goal: Goal,
        lnl_epsilon: f64,
        then: SearchStage,
        observer: &mut dyn Observer,
    ) -> Result<SearchStage> {
        let options = self.optimize_options(lnl_epsilon);
        let initial = self.initial_models();
        let mut optimisation = match self.plan.optimising.take() {
            None => Optimisation::new(goal, self.evaluator, self.models, &initial, &options),
            Some(plan) => {
                Optimisation::go_on(plan, self.evaluator, self.models, &initial, &options)
            }
        };
        optimisation.step(observer)?;
        if !optimisation.is_done() {
            self.plan.optimising = Some(optimisation.into_plan());
            return Ok(self.plan.stage);
        }
        let lnl = optimisation.log_likelihood()?;
        observer.event(&Event::Optimized { lnl });
        Ok(then)
    }
}
