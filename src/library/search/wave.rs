//! Waves: climbs from several starting trees, or from several perturbations of the best tree, that do not depend on each other.
//! They all begin with the same best tree. When all are over, it is recombined with what each has reached, in their order. So
//! they may go on side by side, and what comes of them does not depend on how many do.

use super::changed::Changed;
use super::climb::{Climb, End, Wave};
use super::crew::{Companions, Crew, locked};
use super::fuse::fuse;
use super::hill_climb::{Search, SearchOptions};
use super::perturb::{perturb, ratchet};
use super::rounds::{Ended, Rounds, optimize_near_differences};
use super::schedule as at;
use super::state::SearchStage;
use crate::likelihood::{BranchOptions, Evaluator, Result};
use crate::observer::{Event, Observer};
use crate::parallel::{Pool, Rehearsal, rehearsed_side_by_side, side_by_side};
use crate::parsimony::ParsimonyData;
use crate::rng::{Purpose, substream};
use crate::tree::{adopt_shared_brlens, edges_not_in};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

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
                match number % at::PERTURBATIONS_PER_WAVE < at::RATCHETS_PER_WAVE {
                    true => ratchet(evaluator, self.data, &mut rng),
                    false => perturb(evaluator, self.data.constraint(), &mut rng),
                }
            }
        };
        let is_perturbed = matches!(climb, Climb::Perturb(_));
        match (climb, self.best) {
            (Climb::First, _) => {}
            (Climb::Perturb(_), Some(best)) => {
                optimize_near_differences(evaluator, best.snapshot.tree())?;
            }
            _ => {
                evaluator.optimize_branches(&BranchOptions {
                    max_sweeps: at::FURTHER_START_SWEEPS,
                    lnl_epsilon: at::START_EPSILON,
                    gain_tolerance: at::ROUND_TOLERANCE,
                })?;
            }
        }
        let options = self.options.adapt(&at::FAST);
        let only_one = matches!(climb, Climb::First | Climb::Screen(..));
        let rounds = Rounds::new(climb.name(), options, self.options.fast_epsilon(), changed);
        Ok(Rounds { only_one, near_differences: is_perturbed, ..rounds })
    }

    /// A whole climb; `None` if it was left out.
    fn climb<'e>(
        &self,
        climb: &Climb,
        group: &mut Group<'e>,
        idle: &Idle<'e>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<End>> {
        let mut rounds = self.begin(climb, group.leader)?;
        let mut views = Vec::new();
        let best = self.best.map(|best| best.snapshot.tree());
        while !is_over() {
            group.take_in(idle);
            let step = rounds.step(&mut group.crew(), &mut views, self.data, best)?;
            if let Ended::All { .. } = step {
                return Ok(Some(End::of(group.leader, rounds.changed)?));
            }
        }
        Ok(None)
    }
}

/// Evaluators that take one climb after the other, with all their threads.
struct Group<'e> {
    leader: &'e mut Evaluator,
    others: Vec<&'e mut Evaluator>,
    /// For all of them, if there are others.
    pool: Option<Pool>,
}

/// Evaluators of groups for which no climb of the wave is left: they help those that are at work.
struct Idle<'e> {
    evaluators: Mutex<Vec<&'e mut Evaluator>>,
    /// Number of groups at work.
    num_groups: AtomicUsize,
    /// That of the wave, if it is one.
    rehearsal: Option<Arc<dyn Rehearsal>>,
}

impl<'e> Idle<'e> {
    /// None so far, of so many groups.
    fn none(num_groups: usize, rehearsal: Option<&Arc<dyn Rehearsal>>) -> Self {
        Idle {
            evaluators: Mutex::default(),
            num_groups: AtomicUsize::new(num_groups),
            rehearsal: rehearsal.cloned(),
        }
    }

    /// A group has nothing to do any more.
    fn add(&self, group: Group<'e>) {
        // Its threads end first.
        let Group { leader, others, pool } = group;
        drop(pool);
        self.num_groups.fetch_sub(1, Ordering::Relaxed);
        locked(&self.evaluators).extend(std::iter::once(leader).chain(others));
    }

    /// A fair share of them for one of the groups at work.
    fn take(&self) -> Vec<&'e mut Evaluator> {
        let mut evaluators = locked(&self.evaluators);
        let share = evaluators.len().div_ceil(self.num_groups.load(Ordering::Relaxed).max(1));
        evaluators.drain(..share).collect()
    }
}

impl<'e> Group<'e> {
    /// As many groups as there are climbs, or fewer, of nearly the same size, or of one evaluator unless they scan side by side.
    fn divide(
        mut evaluators: &'e mut [Evaluator],
        pool: &Pool,
        num_climbs: usize,
        scans_side_by_side: bool,
    ) -> Vec<Self> {
        let mut groups = Vec::new();
        for left in (1..=num_climbs.min(evaluators.len())).rev() {
            let size = if scans_side_by_side { evaluators.len().div_ceil(left) } else { 1 };
            let (group, rest) = evaluators.split_at_mut(size);
            evaluators = rest;
            if let Some((leader, others)) = group.split_first_mut() {
                let pool = (size > 1).then(|| pool.like(size));
                let others = others.iter_mut().collect();
                groups.push(Group { leader, others, pool });
            }
        }
        groups
    }

    /// Takes in evaluators of groups that have nothing to do any more.
    fn take_in(&mut self, idle: &Idle<'e>) {
        let new = idle.take();
        if !new.is_empty() {
            self.others.extend(new);
            let num_workers = 1 + self.others.len();
            self.pool = Some(match &idle.rehearsal {
                Some(rehearsal) => Pool::rehearsing(num_workers, Arc::clone(rehearsal)),
                None => Pool::beside_another(num_workers),
            });
        }
    }

    fn crew(&mut self) -> Crew<'_> {
        match &mut self.pool {
            Some(pool) => {
                Crew::new(self.leader, self.others.iter_mut().map(|other| &mut **other), pool)
            }
            None => Crew::alone(self.leader),
        }
    }
}

impl Search<'_> {
    /// The completed part of the phase now, and after each climb of the present wave that is left.
    fn parts_of_wave(&self) -> Vec<f64> {
        let Some(wave) = &self.plan.wave else { return Vec::new() };
        let left = wave.climbs.len() - wave.ends.len();
        let part = |more: f64| self.part_of_perturbations(more).unwrap_or_else(|| wave.part(more));
        (0..=left).map(|more| part(more as f64)).collect()
    }

    /// Goes on with the present wave: all climbs that are left side by side, if there are evaluators for that, or the next
    /// one. Returns the next stage.
    pub(super) fn go_on_with_wave(&mut self, observer: &mut dyn Observer) -> Result<SearchStage> {
        let parts = self.parts_of_wave();
        let Some(wave) = &mut self.plan.wave else { return Ok(self.plan.stage) };
        let (data, options, best) = (self.data, self.options, self.plan.best.as_ref());
        let common = Common { data, options, best };
        let left = &wave.climbs[wave.ends.len()..];
        let Companions { evaluators, pool, scan_side_by_side, are_ready } = &mut self.companions;
        match (best, left, &*pool) {
            (Some(best), [_, _, ..], Some(pool)) => {
                let models = &*self.models;
                evaluators.iter_mut().for_each(|other| other.resume(&best.snapshot, models));
                *are_ready = true;
                let helps = *scan_side_by_side;
                let groups = Group::divide(evaluators, pool, left.len(), helps);
                let idle = Idle::none(groups.len(), pool.rehearsal());
                let climb = |group: &mut _, number: usize, is_over: &dyn Fn() -> bool| {
                    common.climb(&left[number], group, &idle, is_over).transpose()
                };
                let leave = |group| {
                    if helps {
                        idle.add(group);
                    }
                };
                let meter = &self.plan.meter;
                let stops = |number: usize| {
                    observer.advance(meter.at(parts[number]));
                    observer.must_stop()
                };
                let ends = match pool.rehearsal() {
                    Some(rehearsal) => {
                        rehearsed_side_by_side(&**rehearsal, groups, left.len(), climb, leave)
                    }
                    None => side_by_side(groups, left.len(), climb, leave, stops),
                };
                // Those after one that was left out are computed again when the search goes on.
                let ends: Vec<End> =
                    ends.into_iter().map_while(|end| end).collect::<Result<_>>()?;
                wave.ends.extend(ends);
            }
            (_, [climb, ..], _) => {
                let rounds = common.begin(climb, self.evaluator)?;
                self.plan.rounds = Some(rounds);
            }
            (_, [], _) => {}
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
        let (count, mut better) = (ends.len(), 0);
        for end in ends {
            better += usize::from(self.recombine(end)?);
        }
        let gain = self.evaluator.log_likelihood()? - before;
        match self.plan.stage {
            SearchStage::Screen(first) => Ok(self.after_screening(first + count)),
            SearchStage::Explore(first) => Ok(self.end_exploring(first, count, better > 0)),
            _ => self.end_perturbations([count, better], gain, observer),
        }
    }

    /// Recombines a tree with the best one so far, which the evaluator has; the evaluator then has the result, which is
    /// the best tree from now on. The first tree of all is the evaluator's. Returns true if something of the tree is better than
    /// in the best one.
    fn recombine(&mut self, new: End) -> Result<bool> {
        if matches!(self.plan.stage, SearchStage::Screen(_)) {
            let reached = (new.lnl, new.snapshot.tree().clone());
            self.plan.history.reached.push(reached);
        }
        let Some(old) = self.plan.best.take() else {
            self.plan.best = Some(new);
            return Ok(true);
        };
        let gain = new.lnl - old.lnl;
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
        let mut crew = self.companions.crew(self.evaluator, self.models);
        let taken = fuse(&mut crew, other.snapshot.tree(), &mut changed)?;
        self.plan.best = Some(End::of(self.evaluator, changed)?);
        Ok(taken > 0 || gain >= at::SAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{read_alignment, read_alignment_from};
    use crate::conformance::some_of;
    use crate::likelihood::{BrlenLinkage, EngineOptions, make_evaluator};
    use crate::observer::Silent;
    use crate::parsimony::ParsimonyData;
    use crate::partition::Partition;
    use crate::rng::stream;
    use crate::search::{SearchEffort, SearchState, parsimony_start};
    use crate::tree::{Tree, random_tree, same_topology};
    use std::path::Path;

    /// Unites the pair A, B, and then C, D and E in a polytomy.
    const DATA: &str = "5 30
        A GGGGGGTAAAAAAAAAAAAAAAAAAAAAAA
        B GGGGGGATAAAAAAAAAAAAAAAAAAAAAA
        C AAAAAAAATAAAAAAAAAAAAAAAAAAAAA
        D AAAAAAAAATAAAAAAAAAAAAAAAAAAAA
        E AAAAAAAAAATAAAAAAAAAAAAAAAAAAA
    ";

    /// The tree in which the pairs are united, with the fifth taxon between them.
    fn tree([a, b]: [u32; 2], [c, d]: [u32; 2]) -> Tree {
        let between = (0..5).find(|taxon| ![a, b, c, d].contains(taxon)).expect("the fifth");
        let ends = [(a, 5), (b, 5), (5, 6), (between, 6), (6, 7), (c, 7), (d, 7)];
        Tree::from_edges(5, &ends.map(|(a, b)| (a, b, 0.1)))
    }

    /// Whether each tree is better than those before, in a search that comes to these trees.
    fn found(trees: &[Tree]) -> Vec<bool> {
        let alignment = read_alignment_from(DATA.as_bytes(), "test").unwrap();
        let partitions = [Partition::whole(&alignment, "JC").unwrap()];
        let mut models = [partitions[0].model.clone()];
        let data = ParsimonyData::of_partitions(5, &partitions);
        let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
        let first = trees[0].clone();
        let mut evaluator = make_evaluator(&partitions, &models, first, linked, &engine).unwrap();
        let options = SearchOptions::default();
        let mut search = Search::new(&mut evaluator, &mut models, &data, &options);
        let come_to = |tree: &Tree| {
            search.evaluator.set_tree(tree.clone());
            let sweeps = BranchOptions { max_sweeps: 8, lnl_epsilon: 1e-3, gain_tolerance: 1e-6 };
            search.evaluator.optimize_branches(&sweeps).unwrap();
            let end = End::of(search.evaluator, Changed::all(tree)).unwrap();
            if let Some(best) = &search.plan.best {
                search.evaluator.return_to(&best.snapshot);
            }
            search.recombine(end).unwrap()
        };
        trees.iter().map(come_to).collect()
    }

    #[test]
    fn another_resolution_of_a_polytomy_is_no_better() {
        let resolutions = [[2, 3], [2, 4], [3, 4]].map(|pair| tree([0, 1], pair));
        assert!(!same_topology(&resolutions[0], &resolutions[1]));
        assert_eq!(found(&resolutions), [true, false, false]);
    }

    #[test]
    fn a_tree_without_a_supported_split_is_no_better() {
        let (good, poor) = (tree([0, 1], [2, 3]), tree([0, 2], [1, 3]));
        assert_eq!(found(&[good.clone(), poor.clone()]), [true, false]);
        assert_eq!(found(&[poor, good.clone(), good]), [true, true, false]);
    }

    /// The tree and log-likelihood of a search with so many companions, whose state is taken and resumed every so many steps.
    fn searched(num_companions: usize, steps: usize, effort: SearchEffort) -> (Tree, f64) {
        let alignment = read_alignment(Path::new("../../datasets/anolis.phy")).unwrap();
        let partitions = [Partition::whole(&alignment, "HKY+F+G4").unwrap()];
        let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
        let random = |i| random_tree(data.num_taxa(), 0.1, &mut stream(1, Purpose::Test, i));
        let starts = [0, 1, 2].map(random);
        let make = |models: &[_]| {
            let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
            make_evaluator(&partitions, models, starts[0].clone(), linked, &engine).unwrap()
        };
        let alternatives = starts[1..].to_vec();
        let options =
            SearchOptions { alternatives, effort, explores: true, ..SearchOptions::default() };
        let mut state: Option<SearchState> = None;
        loop {
            let mut models = [partitions[0].model.clone()];
            let companions = (0..num_companions).map(|_| make(&models)).collect();
            let mut evaluator = make(&models);
            let search = match state {
                None => Search::new(&mut evaluator, &mut models, &data, &options),
                Some(state) => Search::resume(&mut evaluator, &mut models, &data, &options, state),
            };
            let mut search = search.with_companions(companions);
            for _ in 0..steps {
                if search.is_done() {
                    assert!(search.history().perturbations > 0);
                    drop(search);
                    return (evaluator.tree().clone(), evaluator.log_likelihood().unwrap());
                }
                search.step(&mut Silent).unwrap();
            }
            state = Some(search.state());
        }
    }

    #[test]
    fn climbs_side_by_side_lead_to_the_same_bits_as_one_after_the_other() {
        for (first, effort) in
            [SearchEffort::Normal, SearchEffort::Thorough].into_iter().enumerate()
        {
            let (tree, lnl) = searched(0, usize::MAX, effort);
            let ways = [(2, usize::MAX), (3, 7), (5, usize::MAX), (0, 5)];
            for &(companions, steps) in some_of(&ways, first, 2 + first) {
                let (again, lnl_again) = searched(companions, steps, effort);
                assert_eq!(lnl_again.to_bits(), lnl.to_bits(), "{companions}, {steps}");
                assert!(again == tree, "{companions} companions");
            }
        }
    }

    #[test]
    fn groups_at_work_share_the_evaluators_of_those_that_are_done() {
        let alignment = read_alignment_from(DATA.as_bytes(), "test").unwrap();
        let partitions = [Partition::whole(&alignment, "JC").unwrap()];
        let models = [partitions[0].model.clone()];
        let make = |_| {
            let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
            let start = tree([0, 1], [2, 3]);
            make_evaluator(&partitions, &models, start, linked, &engine).unwrap()
        };
        let mut evaluators: Vec<Evaluator> = (0..4).map(make).collect();
        let mut groups = Group::divide(&mut evaluators, &Pool::new(4), 3, true);
        let idle = Idle::none(groups.len(), None);
        let sizes = |groups: &mut [Group]| -> Vec<usize> {
            groups.iter_mut().map(|group| group.crew().num_scanning()).collect()
        };
        assert_eq!(sizes(&mut groups), [2, 1, 1]);
        idle.add(groups.remove(0));
        groups.iter_mut().for_each(|group| group.take_in(&idle));
        assert_eq!(sizes(&mut groups), [2, 2]);
        idle.add(groups.remove(0));
        groups[0].take_in(&idle);
        assert_eq!(sizes(&mut groups), [4]);
    }

    #[test]
    fn a_wave_that_was_stopped_goes_on_where_it_was() {
        /// Stops after so many questions.
        struct Stopping(std::sync::atomic::AtomicUsize);
        impl Observer for Stopping {
            fn event(&mut self, _: &Event) {}
            fn must_stop(&self) -> bool {
                use std::sync::atomic::Ordering::Relaxed;
                self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
            }
        }
        let alignment = read_alignment(Path::new("../../datasets/anolis.phy")).unwrap();
        let partitions = [Partition::whole(&alignment, "HKY+F+G4").unwrap()];
        let data = ParsimonyData::of_partitions(alignment.num_taxa(), &partitions);
        let start = parsimony_start(&data, 1, Purpose::ParsimonyTree, 0);
        let (linked, engine) = (BrlenLinkage::Linked, EngineOptions::default());
        let mut found = Vec::new();
        for patience in [usize::MAX, 0, 1, 2, 3] {
            let mut models = [partitions[0].model.clone()];
            let make =
                || make_evaluator(&partitions, &models, start.clone(), linked, &engine).unwrap();
            let companions = vec![make(), make()];
            let mut evaluator = make();
            let options = SearchOptions::default();
            let search = Search::new(&mut evaluator, &mut models, &data, &options);
            let mut search = search.with_companions(companions);
            while !search.is_done() {
                search.step(&mut Stopping(patience.into())).unwrap();
                // With new patience each time, waves end at last.
                if search.plan.wave.is_some() {
                    search.step(&mut Silent).unwrap();
                }
            }
            drop(search);
            found.push(evaluator.log_likelihood().unwrap().to_bits());
        }
        assert!(found.iter().all(|lnl| *lnl == found[0]), "{found:?}");
    }
}
