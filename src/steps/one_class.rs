//! Under a profile mixture, work begins with its [guide](crate::model::Model::guide): one class with the mean frequencies. Where sites have
//! frequencies of their own, an evaluation begins with the mean of these.

use crate::error::{Error, Result};
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::observer::{Advance, Event, Observer, Silent};
use crate::optimize::{Goal, Optimisation, OptimizeOptions, OptimizePlan, OptimizeState};
use crate::partition::Partition;
use crate::runtime::{JobContext, Resources, Setup};
use crate::search::SearchHistory;
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Gain (log units) below which lengths under the guide are good enough to begin with.
const BEGUN: f64 = 0.1;

/// The share of a search that is under the guide, for the display of progress: 22 of 124 s with 20 classes and 140 proteins.
const SHARE: f64 = 0.2;

/// These models, and the guides of those that have any; `None` if none has, or if all classes are to be used from the beginning.
pub(super) fn guides(setup: &Setup, models: &[Model]) -> Option<Vec<Model>> {
    let found: Vec<Option<Model>> = models.iter().map(Model::guide).collect();
    if setup.plan.search.whole_mixture || found.iter().all(Option::is_none) {
        return None;
    }
    let guides = found.into_iter().zip(models);
    Some(guides.map(|(guide, model)| guide.unwrap_or_else(|| model.clone())).collect())
}

/// The models take from their guides what they share.
pub(super) fn follow(models: &mut [Model], guides: &[Model]) {
    models.iter_mut().zip(guides).for_each(|(model, guide)| match model.guide() {
        Some(_) => model.follow(guide),
        None => model.clone_from(guide),
    });
}

/// What is optimised: the models of these partitions, from `initial` ones, and the branch lengths of a tree.
pub(crate) struct TreeToOptimize<'a> {
    pub setup: &'a Setup<'a>,
    pub partitions: &'a [Partition],
    pub initial: &'a [Model],
    pub tree: &'a Tree,
    pub options: OptimizeOptions,
}

/// Where it is between two steps.
#[derive(Serialize, Deserialize)]
struct TreeState {
    /// The optimisation began with one class.
    began_with_one_class: bool,
    /// What that has led to, while the optimisation from all classes goes on.
    from_one_class: Option<(f64, OptimizeState)>,
    present: OptimizeState,
}

impl TreeToOptimize<'_> {
    /// Optimises models and lengths, beginning with one class where models have guides or sites have frequencies, and where a tree contradicts the data with all classes,
    /// too: then lengths have several optima, and either start may lead to the better one (on random trees of 21 to 60 proteins
    /// under LG+C10+G4, those of the two differ by up to 99 log units, the higher one as often from one class as from all). `begun` is
    /// done with the evaluator before. Returns it with the models and the log-likelihood.
    ///
    /// # Errors
    /// There is not enough memory, the engine has failed, or the run is to end.
    pub(crate) fn optimize(
        &self,
        resources: Resources,
        begun: impl Fn(&mut Evaluator) -> Result<()>,
        job: &mut JobContext,
    ) -> Result<(Evaluator, Vec<Model>, f64)> {
        let TreeToOptimize { setup, partitions, initial, tree, options } = self;
        let begin = |models: &[Model], tree: &Tree| {
            let tree = tree.clone();
            let mut evaluator =
                setup.evaluator(resources, partitions, models, tree, setup.linkage)?;
            begun(&mut evaluator)?;
            Ok::<_, Error>(evaluator)
        };
        let (mut models, mut guided) = (initial.to_vec(), None);
        if !setup.linkage.has_own_lengths() && !job.is_resumed() {
            guided = begin_with_one_class(setup, partitions, &mut models, tree, resources)?;
        }
        let mut began_with_one_class = guided.is_some();
        let (lengths, plan) = guided.unzip();
        let mut evaluator = begin(&models, lengths.as_ref().unwrap_or(tree))?;
        let plan = plan.unwrap_or_else(|| OptimizePlan::new(Goal::Best, options));
        let mut from_one_class = None;
        let fits = |state: &TreeState| {
            let before = state.from_one_class.iter().map(|(_, state)| state);
            before.chain([&state.present]).all(|state| state.fits(&evaluator, &models))
        };
        let mut optimisation = match job.resume_state(fits)? {
            None => Optimisation::go_on(plan, &mut evaluator, &mut models, initial, options),
            Some(state) => {
                (began_with_one_class, from_one_class) =
                    (state.began_with_one_class, state.from_one_class);
                let present = state.present;
                Optimisation::resume(present, &mut evaluator, &mut models, initial, options)
            }
        };
        loop {
            // What begins anew is far below what was found, which would look like a loss.
            job.mute(from_one_class.is_some());
            while !optimisation.is_done() {
                let state = || TreeState {
                    began_with_one_class,
                    from_one_class: from_one_class.clone(),
                    present: optimisation.state(),
                };
                job.save_state(false, || (state(), None))?;
                optimisation.step(job)?;
            }
            let is_left = began_with_one_class && from_one_class.is_none();
            if !is_left || !options.branches || optimisation.has_one_optimum() {
                break;
            }
            from_one_class = Some((optimisation.log_likelihood()?, optimisation.state()));
            drop(evaluator);
            models = initial.to_vec();
            evaluator = begin(&models, tree)?;
            let plan = OptimizePlan::new(Goal::Best, options);
            optimisation = Optimisation::go_on(plan, &mut evaluator, &mut models, initial, options);
        }
        job.mute(false);
        let mut lnl = optimisation.log_likelihood()?;
        if let Some((before, state)) = from_one_class.filter(|(before, _)| *before >= lnl) {
            drop(Optimisation::resume(state, &mut evaluator, &mut models, initial, options));
            lnl = before;
        }
        Ok((evaluator, models, lnl))
    }
}

/// Branch lengths of a tree, and rates over sites, with which the optimisation of models that have guides, or of frequencies of sites, begins,
/// and how it goes on; `None` without these. Partitions do not have lengths of their own.
///
/// # Errors
/// There is not enough memory, or the engine has failed.
fn begin_with_one_class(
    setup: &Setup,
    partitions: &[Partition],
    models: &mut [Model],
    tree: &Tree,
    resources: Resources,
) -> Result<Option<(Tree, OptimizePlan)>> {
    let search = &setup.plan.search;
    let mut data = Cow::Borrowed(partitions);
    let mut guides = guides(setup, models);
    if partitions.iter().any(|partition| partition.patterns.freqs.is_some()) {
        data.to_mut().iter_mut().for_each(|partition| partition.patterns.freqs = None);
        // These have the mean of the frequencies of sites.
        guides.get_or_insert_with(|| models.to_vec());
    }
    let Some(mut guides) = guides.filter(|_| search.opt_branches) else { return Ok(None) };
    let mut evaluator =
        setup.evaluator(resources, &data, &guides, tree.clone(), BrlenLinkage::Linked)?;
    let options = OptimizeOptions { model: search.opt_model, ..OptimizeOptions::to(BEGUN) };
    let initial = guides.clone();
    let mut optimisation =
        Optimisation::new(Goal::Best, &mut evaluator, &mut guides, &initial, &options);
    while !optimisation.is_done() {
        optimisation.step(&mut Silent)?;
    }
    let plan = optimisation.into_plan().after_guides(models);
    if search.opt_model {
        follow(models, &guides);
    }
    Ok(Some((evaluator.tree().clone(), plan)))
}

/// A part of a search.
pub(super) enum Part<'a> {
    /// All of it, where models have no guides.
    Whole,
    /// That under guides.
    UnderGuides,
    /// That under the models themselves, after what was met under guides.
    AfterGuides(&'a SearchHistory),
}

/// Tells an observer of a part of a search.
pub(super) struct ObserverOfPart<'a> {
    /// Who is told.
    pub observer: &'a mut dyn Observer,
    /// Which part it is.
    pub part: &'a Part<'a>,
}

impl Observer for ObserverOfPart<'_> {
    fn event(&mut self, event: &Event) {
        let told = match event {
            _ if !matches!(self.part, Part::UnderGuides) => event.clone(),
            Event::Phase { name } => Event::Phase { name: of_one_class(name) },
            Event::Progress { phase, round, lnl } => {
                Event::Progress { phase: of_one_class(phase), round: *round, lnl: *lnl }
            }
            other => other.clone(),
        };
        self.observer.event(&told);
    }

    fn advance(&mut self, advance: Advance) {
        let whole = advance.whole.map(|done| match self.part {
            Part::Whole => done,
            Part::UnderGuides => SHARE * done,
            Part::AfterGuides(_) => SHARE + (1.0 - SHARE) * done,
        });
        self.observer.advance(Advance { whole, ..advance });
    }

    fn must_stop(&self) -> bool {
        self.observer.must_stop()
    }
}

fn of_one_class(phase: &str) -> String {
    format!("{phase} (one class)")
}
