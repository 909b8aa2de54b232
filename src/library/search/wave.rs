//! Waves: climbs from several starting trees, or from several perturbations of the best tree, that do not depend on each other.
//! They all begin with the same best tree. When all are over, it is recombined with what each has reached, in their order. So
//! they may go on side by side, and what comes of them does not depend on how many do.

use super::changed::Changed;
use super::fuse::fuse;
use super::hill_climb::{Search, SearchOptions};
use super::perturb::perturb;
use super::rounds::{Ended, Rounds};
use super::schedule as at;
use super::state::{End, SearchStage};
use crate::likelihood::{BranchOptions, Evaluator, Result};
use crate::observer::{Event, Observer};
use crate::parallel::side_by_side;
use crate::parsimony::ParsimonyData;
use crate::rng::{Purpose, substream};
use crate::tree::{Tree, adopt_shared_brlens, edges_not_in, same_topology};
use serde::{Deserialize, Serialize};

/// One climb of a wave.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Climb {
    /// One round from the tree with which the search began, which the evaluator has.
    First,
    /// One round from a further starting tree, with its number.
    Screen(usize, Tree),
    /// Rounds from a further starting tree, with its number.
    Explore(usize, Tree),
    /// Rounds from a perturbation of the best tree, with its number.
    Perturb(usize),
}

impl Climb {
    /// Its name, as shown to users.
    fn name(&self) -> String {
        match self {
            Climb::First => "fast SPR".to_string(),
            Climb::Screen(number, _) | Climb::Explore(number, _) => {
                format!("fast SPR, starting tree {}", number + 1)
            }
            Climb::Perturb(number) => format!("perturbation {}", number + 1),
        }
    }
}

/// A wave in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wave {
    pub(super) climbs: Vec<Climb>,
    /// What the first of them have reached.
    pub(super) ends: Vec<End>,
}

impl Wave {
    pub(super) fn new(climbs: Vec<Climb>) -> Self {
        Wave { climbs, ends: Vec::new() }
    }

    /// The completed part, if this part of the present climb is completed.
    pub(super) fn part(&self, part_of_climb: f64) -> f64 {
        (self.ends.len() as f64 + part_of_climb) / self.climbs.len() as f64
    }
}

/// What a further starting tree has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A tree of which something is better than in the best tree so far.
    Better,
    /// The best tree, up to branches without length.
    TheSame,
    /// Another tree, of which nothing is better.
    Nothing,
}

/// What the climbs of a wave have in common.
struct Common<'a, 'd> {
    data: &'d ParsimonyData,
    options: &'a SearchOptions,
    /// The best tree so far.
    best: Option<&'a End>,
}

impl<'d> Common<'_, 'd> {
    /// Gives the evaluator the tree with which a climb begins. The evaluator must have the models of the search.
    fn begin(&self, climb: &Climb, evaluator: &mut Evaluator) -> Result<Rounds> {
        if let Some(best) = self.best {
            evaluator.return_to(&best.snapshot);
        }
        let changed = match climb {
            Climb::First => Changed::all(evaluator.tree()),
            Climb::Screen(_, tree) | Climb::Explore(_, tree) => {
                let mut tree = tree.clone();
                // Where the data contradict the constraint, the lengths of one tree lead others to the same optimum.
                let adopts = !self.options.explores_for_the_constraint();
                if let Some(best) = self.best.filter(|_| adopts) {
                    adopt_shared_brlens(&mut tree, best.snapshot.tree());
                }
                evaluator.set_tree(tree);
                Changed::all(evaluator.tree())
            }
            Climb::Perturb(number) => {
                let SearchOptions { seed, index, .. } = *self.options;
                let mut rng = substream(seed, Purpose::Perturbation, index, *number as u64);
                perturb(evaluator, self.data.constraint(), &mut rng)
            }
        };
        if !matches!(climb, Climb::First) {
            let slot = if matches!(climb, Climb::Perturb(_)) { 16 } else { 17 };
            at::timed(slot, || match self.best.filter(|_| slot == 16 && at::x("LO", 1) == 1) {
                Some(best) => super::rounds::optimize_near_differences(evaluator, best.snapshot.tree()),
                None => evaluator.optimize_branches(&BranchOptions {
                    max_sweeps: at::FURTHER_START_SWEEPS,
                    lnl_epsilon: at::START_EPSILON,
                    gain_tolerance: at::ROUND_TOLERANCE,
                }),
            })?;
        }
        let options = self.options.adapt(&at::FAST);
        let mut rounds =
            Rounds::new(climb.name(), options, self.options.fast_epsilon(), changed);
        rounds.only_one = matches!(climb, Climb::First | Climb::Screen(..));
        Ok(rounds)
    }

    /// A whole climb; `None` if it was left out.
    fn climb(
        &self,
        climb: &Climb,
        evaluator: &mut Evaluator,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<End>> {
        let mut rounds = self.begin(climb, evaluator)?;
        let mut views = None;
        let best = self.best.map(|best| best.snapshot.tree());
        while !is_over() {
            if let Ended::All { .. } = rounds.step(evaluator, &mut views, self.data, best)? {
                return Ok(Some(End::of(evaluator, rounds.changed)?));
            }
        }
        Ok(None)
    }
}

impl Search<'_> {
    /// Goes on with the present wave: all climbs that are left side by side, if there are evaluators for that, or the next
    /// one. Returns the next stage.
    pub(super) fn go_on_with_wave(&mut self, observer: &mut dyn Observer) -> Result<SearchStage> {
        let Some(wave) = &mut self.plan.wave else { return Ok(self.plan.stage) };
        let (data, options, best) = (self.data, self.options, self.plan.best.as_ref());
        let common = Common { data, options, best };
        let left = &wave.climbs[wave.ends.len()..];
        match (best, left) {
            (Some(best), [_, _, ..]) if self.companions.len() > 1 => {
                let models = &*self.models;
                self.companions.iter_mut().for_each(|other| other.resume(&best.snapshot, models));
                let climb = |evaluator: &mut Evaluator, number: usize, is_over: &dyn Fn() -> bool| {
                    common.climb(&left[number], evaluator, is_over).transpose()
                };
                let (done, all) = (wave.ends.len(), wave.climbs.len() as f64);
                let meter = &self.plan.meter;
                let ends = side_by_side(&mut self.companions, left.len(), climb, |number| {
                    observer.advance(meter.at((done + number) as f64 / all));
                    observer.must_stop()
                });
                // Those after one that was left out are computed again when the search goes on.
                let ends: Vec<End> = ends.into_iter().map_while(|end| end).collect::<Result<_>>()?;
                wave.ends.extend(ends);
            }
            (_, [climb, ..]) => {
                let rounds = common.begin(climb, self.evaluator)?;
                self.plan.rounds = Some(rounds);
            }
            (_, []) => {}
        }
        match wave.ends.len() == wave.climbs.len() {
            true => self.end_wave(observer),
            false => Ok(self.plan.stage),
        }
    }

    /// Ends the present climb. Returns the next stage.
    pub(super) fn end_climb(
        &mut self,
        changed: Changed,
        observer: &mut dyn Observer,
    ) -> Result<SearchStage> {
        let end = End::of(self.evaluator, changed)?;
        let Some(wave) = &mut self.plan.wave else { return Ok(self.plan.stage) };
        wave.ends.push(end);
        match wave.ends.len() == wave.climbs.len() {
            true => self.end_wave(observer),
            false => Ok(self.plan.stage),
        }
    }

    /// Recombines the best tree with what the climbs of the wave have reached. Returns the next stage.
    fn end_wave(&mut self, observer: &mut dyn Observer) -> Result<SearchStage> {
        let Some(Wave { climbs, ends }) = self.plan.wave.take() else {
            return Ok(self.plan.stage);
        };
        for (climb, end) in climbs.iter().zip(&ends) {
            let (phase, round, lnl) = (climb.name(), 1, end.lnl);
            observer.event(&Event::Progress { phase, round, lnl });
        }
        let before = self.plan.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.lnl);
        if let Some(best) = &self.plan.best {
            self.evaluator.return_to(&best.snapshot);
        }
        let mut found = Vec::new();
        for end in ends {
            found.push(self.recombine(end)?);
        }
        let gain = self.evaluator.log_likelihood()? - before;
        match self.plan.stage {
            SearchStage::Screen(first) => self.end_screening(first, &found),
            SearchStage::Explore(first) => Ok(self.end_exploring(first, &found)),
            _ => self.end_perturbations(found.len(), gain, observer),
        }
    }

    /// Recombines a tree with the best one so far, which the evaluator has; the evaluator then has the result, which is
    /// the best tree from now on. The first tree of all is the evaluator's.
    pub(super) fn recombine(&mut self, new: End) -> Result<Found> {
        if matches!(self.plan.stage, SearchStage::Screen(_)) {
            let reached = (new.lnl, new.snapshot.tree().clone());
            self.plan.history.reached.push(reached);
        }
        let Some(old) = self.plan.best.take() else {
            self.plan.best = Some(new);
            return Ok(Found::Better);
        };
        let gain = new.lnl - old.lnl;
        let is_same = same_topology(new.snapshot.tree(), old.snapshot.tree());
        let (best, other) = if gain > 0.0 { (new, old) } else { (old, new) };
        let mut changed: Changed = best.changed;
        if gain > 0.0 {
            self.evaluator.return_to(&best.snapshot);
            // What is new has been scanned by fast rounds only.
            let tree = best.snapshot.tree();
            for edge in edges_not_in(tree, other.snapshot.tree()) {
                changed.mark_within(tree, edge, at::DIFFERENT_RADIUS);
            }
        }
        let taken = at::timed(18, || fuse(self.evaluator, other.snapshot.tree(), &mut changed))?;
        self.plan.best = Some(End::of(self.evaluator, changed)?);
        Ok(if taken > 0 || gain >= at::SAME {
            Found::Better
        } else if is_same || gain > -at::SAME {
            Found::TheSame
        } else {
            Found::Nothing
        })
    }
}
