//! From several starting trees to one, further starting trees, and perturbations: which waves of climbs follow each other, and
//! when they end. How much is needed shows how hard the data are.

use super::hill_climb::{Search, SearchOptions};
use super::schedule::{self as at, SearchEffort, SearchPhase};
use super::start::parsimony_start;
use super::state::{End, Perturbing, SearchStage};
use super::wave::{Climb, Found, Wave};
use crate::likelihood::Result;
use crate::observer::{Event, Observer};
use crate::parallel::side_by_side;
use crate::parsimony::{ParsimonyData, parsimony_brlens};
use crate::rng::{Purpose, stream};
use crate::tree::{DEFAULT_BRLEN, Tree};

impl Search<'_> {
    /// Begins the wave of one fast round from each starting tree from this number on; the evaluator already has the first one.
    pub(super) fn begin_screening(&mut self, first: usize, observer: &mut dyn Observer) {
        if first == 0 {
            let share = self.share(SearchPhase::Screen) / if self.num_starts() == 1 { 1.0 } else { 2.0 };
            self.phase("fast SPR", share, observer);
            self.plan.wave = Some(Wave::new(vec![Climb::First]));
            return;
        }
        let last = self.num_starts().min(first + at::STARTS_PER_WAVE);
        let share = if first == 1 { self.share(SearchPhase::Screen) / 2.0 } else { 0.0 };
        self.begin_starts(first..last, share, Climb::Screen, observer);
    }

    /// Begins the wave of fast rounds from further starting trees from this number on.
    pub(super) fn begin_exploring(&mut self, first: usize, observer: &mut dyn Observer) {
        let explored = self.plan.history.more_starts.len() - self.plan.screened;
        let share = self.part_of(SearchPhase::Explore, explored, at::USUALLY_EXPLORED);
        let count = at::EXPLORED_PER_WAVE.min(self.schedule.explored - explored);
        self.begin_starts(first..first + count, share, Climb::Explore, observer);
    }

    fn begin_starts(
        &mut self,
        numbers: std::ops::Range<usize>,
        share: f64,
        climb: fn(usize, Tree) -> Climb,
        observer: &mut dyn Observer,
    ) {
        let trees = match numbers.len() {
            1 => format!("tree {}", numbers.end),
            _ => format!("trees {} to {}", numbers.start + 1, numbers.end),
        };
        self.phase(&format!("fast SPR, starting {trees}"), share, observer);
        let starts = self.starts(numbers.clone());
        let climbs = numbers.zip(starts).map(|(number, tree)| climb(number, tree)).collect();
        self.plan.wave = Some(Wave::new(climbs));
    }

    /// Share in the time of the search of one of the starting trees of a phase, which usually has this many.
    fn part_of(&self, phase: SearchPhase, number: usize, usual: usize) -> f64 {
        if number < usual {
            self.share(phase) * at::EXPLORED_PER_WAVE as f64 / usual as f64
        } else {
            0.0
        }
    }

    /// Maximum number of starting trees before the first perturbations.
    fn num_starts(&self) -> usize {
        let more = if self.options.explores { self.schedule.more_starts } else { 0 };
        1 + self.options.alternatives.len() + more
    }

    /// The stage after the wave of starting trees from the number `first` on, which have led to this.
    pub(super) fn end_screening(&mut self, first: usize, found: &[Found]) -> Result<SearchStage> {
        let next = first + found.len();
        let goes_on = first == 0 || found.contains(&Found::Better);
        self.plan.disagree |= found.iter().any(|found| *found != Found::TheSame) && first > 0;
        if next < self.num_starts() && goes_on {
            return Ok(SearchStage::Screen(next));
        }
        self.take_best();
        Ok(SearchStage::Fast)
    }

    /// Ends waves: the evaluator has the best tree, from which the search goes on.
    fn take_best(&mut self) {
        if let Some(best) = self.plan.best.take() {
            self.plan.changed = best.changed;
        }
    }

    /// The stage after perturbations have been in vain. A search that explores further starting trees first does all that
    /// one with less effort does, so that it never ends lower.
    pub(super) fn after_perturbations(&mut self) -> Result<SearchStage> {
        self.take_best();
        if self.plan.explored || !self.explores() {
            self.plan.perturbing = None;
            return Ok(SearchStage::Unlink);
        }
        // The last rounds of a search with less effort: with separate branch lengths, they cannot come before exploring.
        match self.options.unlinked || self.plan.changed.is_empty() {
            true => self.explore(),
            false => Ok(SearchStage::BeforeLast),
        }
    }

    /// The stage after the last rounds.
    pub(super) fn after_last(&mut self) -> Result<SearchStage> {
        match self.plan.explored || !self.explores() {
            true => Ok(SearchStage::End),
            false => self.explore(),
        }
    }

    /// The first stage of further starting trees.
    fn explore(&mut self) -> Result<SearchStage> {
        self.plan.in_vain = 0;
        let changed = self.plan.changed.clone();
        self.plan.best = Some(End::of(self.evaluator, changed)?);
        self.plan.screened = self.plan.history.more_starts.len();
        Ok(SearchStage::Explore(1 + self.options.alternatives.len() + self.plan.screened))
    }

    /// True if the search goes on to further starting trees after the first perturbations. A search from a given
    /// tree makes no others.
    fn explores(&self) -> bool {
        self.schedule.explored > 0 && self.options.explores
    }

    /// The stage after the wave of further starting trees from the number `first` on, which have led to this.
    pub(super) fn end_exploring(&mut self, first: usize, found: &[Found]) -> SearchStage {
        let next = first + found.len();
        if !found.contains(&Found::Better) {
            self.plan.in_vain += found.len();
            return self.after_exploring(next);
        }
        self.plan.in_vain = 0;
        self.take_best();
        SearchStage::Renew(next)
    }

    /// The stage after the best tree has been renewed.
    pub(super) fn after_renewing(&mut self, next: usize) -> Result<SearchStage> {
        let changed = self.plan.changed.clone();
        self.plan.best = Some(End::of(self.evaluator, changed)?);
        Ok(self.after_exploring(next))
    }

    /// The stage after further starting trees have been explored; the next one would have this number.
    fn after_exploring(&mut self, next: usize) -> SearchStage {
        let explored = self.plan.history.more_starts.len() - self.plan.screened;
        let in_vain = self.plan.in_vain >= self.schedule.explored_in_vain;
        if !in_vain && explored < self.schedule.explored {
            return SearchStage::Explore(next);
        }
        self.plan.explored = true;
        self.take_best();
        if let Some(perturbing) = &mut self.plan.perturbing {
            perturbing.is_announced = false;
        }
        SearchStage::Perturb
    }

    /// Begins the next wave of perturbations of the best tree; returns false if there is none.
    pub(super) fn begin_perturbations(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let [limit, most] = self.perturbations();
        let begin = || Perturbing { is_announced: false, number: 0, failures: 0 };
        let mut perturbing = self.plan.perturbing.take().unwrap_or_else(begin);
        let goes_on = perturbing.failures < limit && perturbing.number < most;
        if goes_on {
            if self.plan.best.is_none() {
                self.plan.best = Some(End::of(self.evaluator, self.plan.changed.clone())?);
            }
            if !std::mem::replace(&mut perturbing.is_announced, true) {
                let is_later = self.plan.explored;
                let phase = if is_later { SearchPhase::PerturbMore } else { SearchPhase::Perturb };
                self.phase("perturbations", self.share(phase), observer);
            }
            let next = perturbing.number;
            perturbing.number = next + if self.plan.disagree { at::x("W", 4) } else { at::x("WE", 4) };
            let numbers = next..perturbing.number;
            self.plan.wave = Some(Wave::new(numbers.map(Climb::Perturb).collect()));
        }
        self.plan.perturbing = Some(perturbing);
        Ok(goes_on)
    }

    /// The stage after a wave of so many perturbations, with this gain of log-likelihood.
    pub(super) fn end_perturbations(
        &mut self,
        count: usize,
        gain: f64,
        observer: &mut dyn Observer,
    ) -> Result<SearchStage> {
        let is_better = gain > at::FINAL_EPSILON;
        let history = &mut self.plan.history;
        history.perturbations += count;
        history.improvements += usize::from(is_better);
        history.still_adding = is_better;
        let Some(perturbing) = &mut self.plan.perturbing else { return Ok(SearchStage::Perturb) };
        if !is_better {
            perturbing.failures += count;
            return Ok(SearchStage::Perturb);
        }
        perturbing.failures = 0;
        self.plan.disagree = true;
        let (phase, round) = ("perturbations".to_string(), perturbing.number);
        let lnl = self.evaluator.log_likelihood()?;
        observer.event(&Event::Progress { phase, round, lnl });
        self.take_best();
        Ok(SearchStage::Improve)
    }

    /// The completed part of the perturbations, if the next ones are all in vain; `None` in other stages.
    pub(super) fn part_of_perturbations(&self) -> Option<f64> {
        let is_perturbed = matches!(self.plan.stage, SearchStage::Perturb | SearchStage::Improve);
        let perturbing = self.plan.perturbing.as_ref().filter(|_| is_perturbed)?;
        let [limit, most] = self.perturbations();
        let all = (perturbing.number + limit - perturbing.failures.min(limit)).min(most);
        Some(perturbing.number.saturating_sub(1) as f64 / all as f64)
    }

    /// Number of unsuccessful perturbations in succession that ends them, and the most in all: before further starting trees
    /// are explored, those of a search with less effort.
    fn perturbations(&self) -> [usize; 2] {
        let schedule = match self.explores() && !self.plan.explored {
            true => SearchEffort::Normal.schedule(),
            false => self.schedule,
        };
        [schedule.perturbed_in_vain, schedule.perturbed]
    }

    /// The starting trees with these numbers; the first, number 0, is the tree with which the search began.
    fn starts(&mut self, numbers: std::ops::Range<usize>) -> Vec<Tree> {
        let given = self.options.alternatives.len() + 1;
        let own = numbers.start.max(given)..numbers.end.max(given);
        let explores = matches!(self.plan.stage, SearchStage::Explore(_));
        let (data, options) = (self.data, self.options);
        let make = |_: &mut (), job: usize, _: &dyn Fn() -> bool| {
            Some(make_start(data, options, own.start + job, explores))
        };
        let mut workers = vec![(); self.companions.len().max(1)];
        let made = side_by_side(&mut workers, own.len(), make, |_| false);
        let made: Vec<Tree> = made.into_iter().flatten().collect();
        self.plan.history.more_starts.extend(made.iter().cloned());
        let alternatives = numbers.filter_map(|number| self.options.alternatives.get(number - 1));
        alternatives.cloned().chain(made).collect()
    }
}

/// The starting tree of this number, when it is made for the first perturbations or to explore after them.
fn make_start(
    data: &ParsimonyData,
    options: &SearchOptions,
    number: usize,
    explores: bool,
) -> Tree {
    let index = options.index + number as u64;
    // Under a constraint that the data contradict, parsimony trees are too much alike.
    let at_random =
        explores && options.explores_for_the_constraint() && number.is_multiple_of(2);
    match data.constraint().filter(|_| at_random) {
        Some(constraint) => {
            let mut rng = stream(options.seed, Purpose::RandomTree, index);
            let mut tree = constraint.random_tree(DEFAULT_BRLEN, &mut rng);
            parsimony_brlens(&mut tree, data);
            tree
        }
        None => parsimony_start(data, options.seed, Purpose::ParsimonyTree, index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment_from;
    use crate::likelihood::{BrlenLinkage, EngineOptions, make_evaluator};
    use crate::parsimony::ParsimonyData;
    use crate::partition::Partition;
    use crate::search::SearchOptions;

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

    /// What each tree leads to, in a search that comes to these trees.
    fn found(trees: &[Tree]) -> Vec<Found> {
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
    fn another_resolution_of_a_polytomy_is_the_same_tree() {
        let resolutions = [[2, 3], [2, 4], [3, 4]].map(|pair| tree([0, 1], pair));
        assert!(!same_topology(&resolutions[0], &resolutions[1]));
        let expected = [Found::Better, Found::TheSame, Found::TheSame];
        assert_eq!(found(&resolutions), expected);
    }

    #[test]
    fn a_tree_without_a_supported_split_is_not_the_same() {
        let (good, poor) = (tree([0, 1], [2, 3]), tree([0, 2], [1, 3]));
        assert_eq!(found(&[good.clone(), poor.clone()]), [Found::Better, Found::Nothing]);
        assert_eq!(
            found(&[poor, good.clone(), good]),
            [Found::Better, Found::Better, Found::TheSame]
        );
    }
}
