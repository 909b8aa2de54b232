//! From several starting trees to one: a fast round from each, and recombination with the best tree so far, until
//! starting trees add nothing. How many are needed shows how hard the data are.

use super::changed::Changed;
use super::fuse::fuse;
use super::hill_climb::Search;
use super::perturb::perturb;
use super::schedule::{self as at, SearchEffort, SearchPhase};
use super::start::parsimony_start;
use super::state::{End, Perturbing, SearchStage};
use crate::likelihood::{BranchOptions, Result};
use crate::observer::{Event, Observer};
use crate::parsimony::parsimony_brlens;
use crate::rng::{Purpose, stream, substream};
use crate::tree::{DEFAULT_BRLEN, Tree, adopt_shared_brlens, edges_not_in, same_topology};

/// What a further starting tree has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A tree of which something is better than in the best tree so far.
    Better,
    /// The best tree, up to branches without length.
    TheSame,
    /// Another tree, of which nothing is better.
    Nothing,
}

impl Search<'_> {
    /// Begins one fast round from a starting tree; the evaluator already has the first one.
    pub(super) fn begin_screening(
        &mut self,
        number: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let usual = match self.num_starts() {
            1 => 1,
            _ => at::USUAL_STARTS,
        };
        self.begin_start(number, self.part_of(SearchPhase::Screen, number, usual), observer)?;
        if let Some(rounds) = &mut self.plan.rounds {
            rounds.only_one = true;
        }
        Ok(())
    }

    /// Begins fast rounds from a further starting tree.
    pub(super) fn begin_exploring(
        &mut self,
        number: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let explored = self.plan.history.more_starts.len() - self.plan.screened;
        let share = self.part_of(SearchPhase::Explore, explored, at::USUALLY_EXPLORED);
        self.begin_start(number, share, observer)
    }

    fn begin_start(
        &mut self,
        number: usize,
        share: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let name = match self.num_starts() {
            1 => "fast SPR".to_string(),
            _ => format!("fast SPR, starting tree {}", number + 1),
        };
        self.phase(&name, share, observer);
        if number > 0 {
            self.set_start(number)?;
        }
        self.plan.rounds = Some(self.rounds(name, &at::FAST, self.fast_epsilon()));
        Ok(())
    }

    /// Share in the time of the search of one of the starting trees of a phase, which usually has this many.
    fn part_of(&self, phase: SearchPhase, number: usize, usual: usize) -> f64 {
        if number < usual { self.share(phase) / usual as f64 } else { 0.0 }
    }

    /// Maximum number of starting trees before the first perturbations.
    fn num_starts(&self) -> usize {
        let more = if self.options.explores { self.schedule.more_starts } else { 0 };
        1 + self.options.alternatives.len() + more
    }

    pub(super) fn end_screening(&mut self, number: usize) -> Result<SearchStage> {
        let reached = (self.evaluator.log_likelihood()?, self.evaluator.tree().clone());
        self.plan.history.reached.push(reached);
        let found = self.recombine_present()?;
        self.plan.in_vain = match found {
            Found::Better => 0,
            // Where starting trees lead to the same tree, fewer of them suffice.
            Found::TheSame => self.plan.in_vain + 2,
            Found::Nothing => self.plan.in_vain + 1,
        };
        let is_over = self.plan.in_vain >= self.schedule.starts_in_vain;
        if !is_over && number + 1 < self.num_starts() {
            return Ok(SearchStage::Screen(number + 1));
        }
        self.plan.best = None;
        Ok(SearchStage::Fast)
    }

    /// The stage after perturbations have been in vain. A search that explores further starting trees first does all that
    /// one with less effort does, so that it never ends lower.
    pub(super) fn after_perturbations(&mut self) -> Result<SearchStage> {
        self.plan.best = None;
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

    pub(super) fn end_exploring(&mut self, number: usize) -> Result<SearchStage> {
        match self.recombine_present()? {
            Found::Better => {
                self.plan.in_vain = 0;
                Ok(SearchStage::Renew(number))
            }
            Found::TheSame | Found::Nothing => {
                self.plan.in_vain += 1;
                self.after_exploring(number)
            }
        }
    }

    /// The stage after a further starting tree has been explored.
    pub(super) fn after_exploring(&mut self, number: usize) -> Result<SearchStage> {
        let changed = self.plan.changed.clone();
        self.plan.best = Some(End::of(self.evaluator, changed)?);
        let explored = self.plan.history.more_starts.len() - self.plan.screened;
        let in_vain = self.plan.in_vain == self.schedule.explored_in_vain;
        if !in_vain && explored < self.schedule.explored {
            return Ok(SearchStage::Explore(number + 1));
        }
        self.plan.explored = true;
        self.plan.best = None;
        if let Some(perturbing) = &mut self.plan.perturbing {
            perturbing.is_announced = false;
        }
        Ok(SearchStage::Perturb)
    }

    /// Begins the next perturbation of the best tree; returns false if there is none.
    pub(super) fn begin_perturbation(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let [limit, most] = self.perturbations();
        let begin =
            || Perturbing { is_announced: false, number: 0, failures: 0, wave: Vec::new() };
        let mut perturbing = self.plan.perturbing.take().unwrap_or_else(begin);
        let in_wave = !perturbing.wave.is_empty();
        let goes_on = in_wave || (perturbing.failures < limit && perturbing.number < most);
        if goes_on {
            let best = match self.plan.best.take() {
                Some(best) => best,
                None => End::of(self.evaluator, self.plan.changed.clone())?,
            };
            if !std::mem::replace(&mut perturbing.is_announced, true) {
                let is_later = self.plan.explored;
                let phase = if is_later { SearchPhase::PerturbMore } else { SearchPhase::Perturb };
                self.phase("perturbations", self.share(phase), observer);
            }
            self.evaluator.restore(&best.snapshot);
            self.plan.best = Some(best);
            let (seed, index) = (self.options.seed, self.options.index);
            let number = perturbing.number as u64;
            let mut rng = substream(seed, Purpose::Perturbation, index, number);
            let changed = perturb(self.evaluator, self.data.constraint(), &mut rng);
            self.optimize_start()?;
            perturbing.number += 1;
            let name = format!("perturbation {}", perturbing.number);
            let mut rounds = self.rounds(name, &at::FAST, self.fast_epsilon());
            rounds.changed = changed;
            rounds.only_one = at::x("ONE", 0) == 1;
            self.plan.rounds = Some(rounds);
        }
        self.plan.perturbing = Some(perturbing);
        Ok(goes_on)
    }

    /// The stage after the rounds from a perturbed tree. The last one of a wave is followed by the recombination of all of
    /// them with the best tree.
    pub(super) fn end_perturbation(&mut self, observer: &mut dyn Observer) -> Result<SearchStage> {
        let end = End::of(self.evaluator, self.plan.changed.clone())?;
        let Some(perturbing) = &mut self.plan.perturbing else { return Ok(SearchStage::Perturb) };
        perturbing.wave.push(end);
        if perturbing.wave.len() < at::x("W", 4) {
            return Ok(SearchStage::Perturb);
        }
        let wave = std::mem::take(&mut perturbing.wave);
        let count = wave.len();
        let before = self.plan.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.lnl);
        if let Some(best) = &self.plan.best {
            self.evaluator.restore(&best.snapshot);
        }
        for end in wave {
            self.recombine(end)?;
        }
        let lnl = self.evaluator.log_likelihood()?;
        let is_better = lnl > before + at::FINAL_EPSILON;
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
        let (phase, round) = ("perturbations".to_string(), perturbing.number);
        observer.event(&Event::Progress { phase, round, lnl });
        self.plan.best = None;
        Ok(SearchStage::Improve)
    }

    /// The completed part of the perturbations, if the next ones are all in vain; `None` in other stages.
    pub(super) fn part_of_perturbations(&self) -> Option<f64> {
        let is_perturbed = matches!(self.plan.stage, SearchStage::Perturb | SearchStage::Improve);
        let perturbing = self.plan.perturbing.as_ref().filter(|_| is_perturbed)?;
        let [limit, most] = self.perturbations();
        let all = (perturbing.number + limit - perturbing.failures).min(most);
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

    /// Gives the evaluator a further starting tree, with the lengths of the best tree where that has the same splits.
    fn set_start(&mut self, number: usize) -> Result<()> {
        let mut tree = self.start(number);
        // Where the data contradict the constraint, the lengths of one tree lead others to the same optimum.
        let adopts = !self.options.explores_for_the_constraint();
        if let Some(best) = self.plan.best.as_ref().filter(|_| adopts) {
            adopt_shared_brlens(&mut tree, best.snapshot.tree());
        }
        self.evaluator.set_tree(tree);
        self.optimize_start()
    }

    /// Branch lengths of a tree from which the search will climb.
    fn optimize_start(&mut self) -> Result<()> {
        self.evaluator.optimize_branches(&BranchOptions {
            max_sweeps: at::FURTHER_START_SWEEPS,
            lnl_epsilon: at::START_EPSILON,
            gain_tolerance: at::ROUND_TOLERANCE,
        })?;
        Ok(())
    }

    /// A starting tree, by its number; the first, number 0, is the tree with which the search began.
    fn start(&mut self, number: usize) -> Tree {
        if let Some(tree) = self.options.alternatives.get(number - 1) {
            return tree.clone();
        }
        let index = self.options.index + number as u64;
        let tree = match self.data.constraint().filter(|_| self.explores_at_random(number)) {
            Some(constraint) => {
                let mut rng = stream(self.options.seed, Purpose::RandomTree, index);
                let mut tree = constraint.random_tree(DEFAULT_BRLEN, &mut rng);
                parsimony_brlens(&mut tree, self.data);
                tree
            }
            None => parsimony_start(self.data, self.options.seed, Purpose::ParsimonyTree, index),
        };
        self.plan.history.more_starts.push(tree.clone());
        tree
    }

    /// True if the starting tree of this number is a random one: every other one that is explored under a constraint that
    /// the data contradict, under which parsimony trees are too much alike.
    fn explores_at_random(&self, number: usize) -> bool {
        let explores = matches!(self.plan.stage, SearchStage::Explore(_));
        explores && self.options.explores_for_the_constraint() && number.is_multiple_of(2)
    }

    /// Recombines the evaluator's tree with the best one so far; the evaluator then has the result, which is the best
    /// tree from now on.
    fn recombine_present(&mut self) -> Result<Found> {
        let new = End::of(self.evaluator, self.plan.changed.clone())?;
        if let Some(best) = &self.plan.best {
            self.evaluator.restore(&best.snapshot);
        }
        self.recombine(new)
    }

    /// Recombines a tree with the best one so far, which the evaluator has; the evaluator then has the result, which is
    /// the best tree from now on.
    fn recombine(&mut self, new: End) -> Result<Found> {
        let Some(old) = self.plan.best.take() else {
            self.plan.best = Some(new);
            return Ok(Found::Better);
        };
        let gain = new.lnl - old.lnl;
        let is_same = same_topology(new.snapshot.tree(), old.snapshot.tree());
        let (best, other) = if gain > 0.0 { (new, old) } else { (old, new) };
        if gain > 0.0 {
            self.evaluator.restore(&best.snapshot);
        }
        let mut changed: Changed = best.changed;
        if gain > 0.0 {
            // What is new has been scanned by fast rounds only.
            let tree = best.snapshot.tree();
            for edge in edges_not_in(tree, other.snapshot.tree()) {
                changed.mark_within(tree, edge, at::DIFFERENT_RADIUS);
            }
        }
        let taken = fuse(self.evaluator, other.snapshot.tree(), &mut changed)?;
        self.plan.changed = changed.clone();
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
            search.recombine_present().unwrap()
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
