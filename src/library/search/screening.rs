//! From several starting trees to one, further starting trees, and perturbations: which waves of climbs follow each other, and
//! when they end. How much is needed shows how hard the data are.

use super::climb::{Climb, End, Wave};
use super::hill_climb::{Search, SearchOptions};
use super::schedule::{self as at, SearchEffort, SearchPhase};
use super::start::parsimony_start;
use super::state::{Agreement, Perturbing, SearchStage};
use crate::likelihood::{NO_LENGTH, Result};
use crate::observer::{Event, Observer};
use crate::parallel::side_by_side;
use crate::parsimony::{ParsimonyData, parsimony_brlens};
use crate::rng::{Purpose, stream};
use crate::tree::{DEFAULT_BRLEN, Tree};
use crate::tree_distance::branch_differences;

impl Search<'_> {
    /// Begins the wave of one fast round from each of the next starting trees that differ, of which so many are done; the
    /// evaluator already has the first one.
    pub(super) fn begin_screening(&mut self, done: usize, observer: &mut dyn Observer) {
        let different = self.different_starts();
        let share = self.share(SearchPhase::Screen) / different.len() as f64;
        if done == 0 {
            self.phase("fast SPR", share, observer);
            self.plan.wave = Some(Wave::new(vec![Climb::First]));
            return;
        }
        let next = different[done..].iter().take(at::STARTS_PER_WAVE);
        let start = |&number: &usize| (number, self.options.alternatives[number - 1].clone());
        let starts: Vec<(usize, Tree)> = next.map(start).collect();
        self.begin_starts(share * starts.len() as f64, starts, Climb::Screen, observer);
    }

    /// Begins the wave of fast rounds from further starting trees from this number on.
    pub(super) fn begin_exploring(&mut self, first: usize, observer: &mut dyn Observer) {
        let explored = self.plan.history.more_starts.len();
        let count = at::EXPLORED_PER_WAVE.min(self.schedule.explored.saturating_sub(explored));
        let left = at::USUALLY_EXPLORED.saturating_sub(explored).min(count);
        let share = self.share(SearchPhase::Explore) * left as f64 / at::USUALLY_EXPLORED as f64;
        let (data, options) = (self.data, self.options);
        let make = |_: &mut (), job: usize, _: &dyn Fn() -> bool| {
            Some(make_start(data, options, first + job))
        };
        let workers = vec![(); self.companions.evaluators.len().max(1)];
        let starts = side_by_side(workers, count, make, drop, |_| false);
        let starts: Vec<Tree> = starts.into_iter().flatten().collect();
        self.plan.history.more_starts.extend(starts.iter().cloned());
        let starts = (first..).zip(starts).collect();
        self.begin_starts(share, starts, Climb::Explore, observer);
    }

    /// Begins the wave of these starting trees, which have these numbers.
    fn begin_starts(
        &mut self,
        share: f64,
        starts: Vec<(usize, Tree)>,
        climb: fn(usize, Tree) -> Climb,
        observer: &mut dyn Observer,
    ) {
        let numbers = || starts.iter().map(|(number, _)| number + 1);
        let trees = match (numbers().next(), numbers().next_back()) {
            (Some(first), Some(last)) if first < last => format!("trees {first} to {last}"),
            (first, _) => format!("tree {}", first.unwrap_or_default()),
        };
        self.phase(&format!("fast SPR, starting {trees}"), share, observer);
        let climbs = starts.into_iter().map(|(number, tree)| climb(number, tree)).collect();
        self.plan.wave = Some(Wave::new(climbs));
    }

    /// Numbers of the starting trees before the first perturbations, without those that are the same as one before.
    fn different_starts(&self) -> Vec<usize> {
        let starts = self.plan.starts.iter().enumerate();
        starts.filter(|&(number, &first)| number == first).map(|(number, _)| number).collect()
    }

    /// The stage after a wave of starting trees, when so many that differ are done.
    pub(super) fn after_screening(&mut self, done: usize) -> SearchStage {
        let different = self.different_starts();
        if done < different.len() {
            return SearchStage::Screen(done);
        }
        // Each leads to where the same tree has led.
        let reached = std::mem::take(&mut self.plan.history.reached);
        let of_start = |first: &usize| {
            let place = different.iter().position(|number| number == first);
            place.map(|place| reached[place].clone())
        };
        self.plan.history.reached = self.plan.starts.iter().filter_map(of_start).collect();
        self.plan.agreement = agreement(&self.plan.history.reached);
        if self.perturbations()[0] == 0 {
            self.plan.meter.leave_out(self.share(SearchPhase::Perturb));
        }
        self.take_best();
        SearchStage::Fast
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
        Ok(SearchStage::Explore(self.plan.starts.len()))
    }

    /// True if the search goes on to further starting trees after the first perturbations. A search from a given
    /// tree makes no others.
    fn explores(&self) -> bool {
        self.schedule.explored > 0 && self.options.explores
    }

    /// The stage after the wave of so many further starting trees from the number `first` on, one of which was better or not.
    pub(super) fn end_exploring(
        &mut self,
        first: usize,
        count: usize,
        is_better: bool,
    ) -> SearchStage {
        let next = first + count;
        if !is_better {
            self.plan.in_vain += count;
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
        let explored = self.plan.history.more_starts.len();
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
            perturbing.number = next + at::PERTURBATIONS_PER_WAVE;
            let numbers = next..perturbing.number;
            self.plan.wave = Some(Wave::new(numbers.map(Climb::Perturb).collect()));
        }
        self.plan.perturbing = Some(perturbing);
        Ok(goes_on)
    }

    /// The stage after a wave of so many perturbations, so many of which led to something better, with this gain of
    /// log-likelihood.
    pub(super) fn end_perturbations(
        &mut self,
        [count, better]: [usize; 2],
        gain: f64,
        observer: &mut dyn Observer,
    ) -> Result<SearchStage> {
        let is_better = gain > at::PERTURBATIONS_GAIN;
        let history = &mut self.plan.history;
        history.perturbations += count;
        history.improvements += better;
        history.still_adding = is_better;
        let Some(perturbing) = &mut self.plan.perturbing else { return Ok(SearchStage::Perturb) };
        if !is_better {
            perturbing.failures += count;
            return Ok(SearchStage::Perturb);
        }
        perturbing.failures = 0;
        let (phase, round) = ("perturbations".to_string(), perturbing.number);
        let lnl = self.evaluator.log_likelihood()?;
        observer.event(&Event::Progress { phase, round, lnl });
        self.take_best();
        Ok(SearchStage::Improve)
    }

    /// The completed part of the perturbations, if this part of the present climb is completed; `None` in other stages.
    pub(super) fn part_of_perturbations(&self, part_of_climb: f64) -> Option<f64> {
        let is_perturbed = matches!(self.plan.stage, SearchStage::Perturb | SearchStage::Improve);
        let perturbing = self.plan.perturbing.as_ref().filter(|_| is_perturbed)?;
        // All of the wave were counted when it began.
        let left = self.plan.wave.as_ref().map_or(0.0, |wave| wave.left(part_of_climb));
        let least = self.perturbations()[0].max(at::PERTURBATIONS_PER_WAVE);
        Some(part_of_perturbed(perturbing.number as f64 - left, least))
    }

    /// Number of unsuccessful perturbations in succession that ends them, and the most in all: before further starting trees
    /// are explored, those of a search with less effort.
    fn perturbations(&self) -> [usize; 2] {
        let schedule = match self.explores() && !self.plan.explored {
            true => SearchEffort::Normal.schedule(),
            false => self.schedule,
        };
        let in_vain = match self.plan.agreement {
            // What all starting trees lead to is easy to find, but where the data contradict the constraint, perturbations often find more.
            Agreement::Full if !self.plan.explored && !self.options.contradicted => 0,
            Agreement::Full | Agreement::Partial => schedule.perturbed_in_vain,
            Agreement::Little => schedule.perturbed_in_vain.max(at::DISAGREED_IN_VAIN),
        };
        [in_vain, schedule.perturbed]
    }
}

/// How much the trees are alike that starting trees have led to, with their log-likelihoods.
fn agreement(reached: &[(f64, Tree)]) -> Agreement {
    let trees: Vec<&Tree> = reached.iter().map(|(_, tree)| tree).collect();
    let differences = branch_differences(&trees, NO_LENGTH);
    if trees.len() > 1 && differences.most == 0 {
        return Agreement::Full;
    }
    let least = at::DISAGREEMENT * differences.branches as f64;
    match differences.fewest > 0 && differences.fewest as f64 >= least {
        true => Agreement::Little,
        false => Agreement::Partial,
    }
}

/// Completed part of the perturbations after so many, if there are at least so many: when these are over, they may end, or one of
/// them was better, and as many follow.
fn part_of_perturbed(number: f64, least: usize) -> f64 {
    const LEFT_BY_THE_LEAST: f64 = 0.4;
    1.0 - libm::pow(LEFT_BY_THE_LEAST, number / least as f64)
}

/// The starting tree of this number, which the search makes to explore.
fn make_start(data: &ParsimonyData, options: &SearchOptions, number: usize) -> Tree {
    let index = options.index + number as u64;
    // Under a constraint that the data contradict, parsimony trees are too much alike.
    let at_random = options.explores_for_the_constraint() && number.is_multiple_of(2);
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
    use crate::tree::random_tree;

    #[test]
    fn starting_trees_disagree_if_all_led_to_trees_that_are_little_alike() {
        use Agreement::{Full, Little, Partial};
        let mut rng = stream(1, Purpose::Test, 0);
        let [a, b, c] = std::array::from_fn(|_| random_tree(23, 0.1, &mut rng));
        let found = |trees: &[&Tree]| {
            let reached: Vec<(f64, Tree)> = trees.iter().map(|&tree| (0.0, tree.clone())).collect();
            agreement(&reached)
        };
        assert_eq!([found(&[&a, &b]), found(&[&a, &b, &c])], [Little; 2]);
        assert_eq!([found(&[&a]), found(&[&a, &b, &a])], [Partial; 2]);
        assert_eq!([found(&[&a, &a]), found(&[&b, &b, &b])], [Full; 2]);
        // Trees that differ in some of twenty branches.
        let inner = |edge| !a.ends(edge).iter().any(|&end| a.is_tip(end));
        let inner: Vec<_> = a.edges().filter(|&edge| inner(edge)).collect();
        let without_length = |count: usize| {
            let mut tree = a.clone();
            for &edge in &inner[..count] {
                tree.set_brlen(edge, 0.0);
            }
            tree
        };
        assert_eq!(inner.len(), 20);
        let of_pair = |count| found(&[&a, &without_length(count)]);
        assert_eq!(
            [of_pair(0), of_pair(1), of_pair(3), of_pair(4)],
            [Full, Partial, Partial, Little]
        );
        assert_eq!(found(&[&a, &b, &without_length(3)]), Partial, "two are alike");
        // Those without length are not different.
        assert_eq!(found(&[&without_length(20), &without_length(20)]), Full);
    }

    #[test]
    fn perturbations_never_go_back_and_are_not_over_before_they_end() {
        let parts: Vec<f64> = (0..=80).map(|n| part_of_perturbed(f64::from(n) / 4.0, 4)).collect();
        assert!(parts.is_sorted() && parts[0] == 0.0 && parts[80] < 1.0, "{parts:?}");
        // The first of four perturbations is not most of all.
        assert!(parts[4] < 0.25 && (parts[16] - 0.6).abs() < 1e-12, "{parts:?}");
    }
}
