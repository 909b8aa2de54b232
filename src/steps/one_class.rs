//! Under a profile mixture, work begins with its [guide](crate::model::Model::guide): one class with the mean frequencies.

use crate::error::Result;
use crate::likelihood::BrlenLinkage;
use crate::model::Model;
use crate::observer::{Advance, Event, Observer, Silent};
use crate::optimize::{Goal, Optimisation, OptimizeOptions, OptimizePlan};
use crate::partition::Partition;
use crate::runtime::{Resources, Setup};
use crate::search::SearchHistory;
use crate::tree::Tree;

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

/// Branch lengths of a tree, and rates over sites, with which the optimisation of models that have guides begins, and how it goes on.
/// Partitions do not have lengths of their own. The tree remains as it is without guides.
///
/// # Errors
/// There is not enough memory, or the engine has failed.
pub(crate) fn begin_with_one_class(
    setup: &Setup,
    partitions: &[Partition],
    models: &mut [Model],
    tree: Tree,
    resources: Resources,
) -> Result<(Tree, Option<OptimizePlan>)> {
    let search = &setup.plan.search;
    let Some(mut guides) = guides(setup, models).filter(|_| search.opt_branches) else {
        return Ok((tree, None));
    };
    let mut evaluator =
        setup.evaluator(resources, partitions, &guides, tree, BrlenLinkage::Linked)?;
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
    Ok((evaluator.tree().clone(), Some(plan)))
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
