//! From a starting tree to a local optimum: fast rounds, then thorough ones.

use super::meter::{Meter, part_of_rounds};
use super::perturb::perturb;
use super::schedule::{self as at, RoundOptions, SearchEffort, SearchPhase, Shares};
use super::spr::{Changed, RoundResult, spr_round};
use crate::likelihood::{BranchOptions, Evaluator, Snapshot};
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::optimize::{OptimizeOptions, approach_scale, conclude, optimize};
use crate::parsimony::ParsimonyData;
use crate::rng::{Purpose, stream};
use crate::tree::Tree;

/// What a user may change about the search; `None` is the schedule's own.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// Most edges between pruning and regrafting place, in all rounds.
    pub spr_radius: Option<usize>,
    /// How far below the tree's likelihood a position's lazy score may lie to be looked at;
    /// `Some(None)` for any.
    pub spr_cutoff: Option<Option<f64>>,
    /// Thorough rounds and the last optimisation end when one gains less.
    pub lnl_epsilon: Option<f64>,
    /// Optimise model parameters too.
    pub optimize_model: bool,
    /// Give every gene its own branch lengths after the fast rounds.
    pub unlinked: bool,
    /// Further starting trees: each is improved by fast rounds, and the search goes on from the best.
    pub alternatives: Vec<Tree>,
    /// How much time it may take.
    pub effort: SearchEffort,
    /// Decides the perturbations, together with `index`.
    pub seed: u64,
    /// Number of the starting tree or replicate.
    pub index: u64,
    /// Optimise lengths and model to the end; without, only the topology is what it will be.
    pub conclude: bool,
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
            effort: SearchEffort::Normal,
            seed: 0,
            index: 0,
            conclude: true,
        }
    }
}

impl SearchOptions {
    /// The options of a round as the user wants them.
    fn adapt(&self, round: &RoundOptions) -> RoundOptions {
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

/// Searches from the evaluator's tree; the best tree found is in the evaluator afterwards, and its
/// log-likelihood is returned. `models` are those of the evaluator's genes, and follow it; `data` are the
/// same genes' as parsimony sees them.
pub fn search(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    data: &ParsimonyData,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> f64 {
    let epsilon = options.lnl_epsilon.unwrap_or(at::FINAL_EPSILON);
    let fast_epsilon = at::FAST_EPSILON.max(epsilon);
    let schedule = options.effort.schedule();
    let initial = models.to_vec();
    let shares = options.effort.shares();
    let meter = Meter::new(&shares);
    let mut climb = Climb { evaluator, models, data, options, observer, shares, meter };
    climb.phase("first lengths and model", climb.shares.of(SearchPhase::Start));
    approach_scale(climb.evaluator);
    climb.optimize(at::START_EPSILON.max(epsilon));
    // Three taxa have only one tree: nothing can be moved.
    let can_move = climb.evaluator.tree().num_tips() > 3;
    if can_move {
        climb.screen(schedule.kept, fast_epsilon);
        climb.perturb(schedule.perturbations_in_vain(climb.evaluator.tree().num_tips()));
    }
    if options.unlinked {
        climb.phase("own lengths per partition", 0.0);
        climb.evaluator.unlink();
    }
    if can_move && (schedule.thorough || options.unlinked) {
        climb.phase("lengths and model", 0.0);
        climb.optimize(fast_epsilon);
        let last = if schedule.thorough { at::THOROUGH } else { at::FAST };
        climb.rounds("last SPR", climb.shares.of(SearchPhase::Last), &last, epsilon);
    }
    if !options.conclude {
        return climb.evaluator.log_likelihood();
    }
    climb.phase("final lengths and model", climb.shares.of(SearchPhase::End));
    climb.conclude(&initial, options.lnl_epsilon.unwrap_or(at::LAST_EPSILON))
}

struct Climb<'a> {
    evaluator: &'a mut Evaluator,
    models: &'a mut [Model],
    data: &'a ParsimonyData,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    shares: Shares,
    meter: Meter,
}

impl Climb<'_> {
    /// A phase begins, which usually takes this share of the search's time.
    fn phase(&mut self, name: &str, share: f64) {
        self.meter.begin(share);
        self.observer.event(&Event::Phase { name: name.to_string() });
        self.observer.advance(self.meter.at_start());
    }

    fn optimize(&mut self, lnl_epsilon: f64) -> f64 {
        let options = self.optimize_options(lnl_epsilon);
        let lnl = optimize(self.evaluator, self.models, &options, self.observer);
        self.observer.event(&Event::Optimized { lnl });
        lnl
    }

    /// The last optimisation: to where an evaluation of the tree ends, or higher.
    fn conclude(&mut self, initial: &[Model], lnl_epsilon: f64) -> f64 {
        let options = self.optimize_options(lnl_epsilon);
        let lnl = conclude(self.evaluator, self.models, initial, &options, self.observer);
        self.observer.event(&Event::Optimized { lnl });
        lnl
    }

    fn optimize_options(&self, lnl_epsilon: f64) -> OptimizeOptions {
        OptimizeOptions { model: self.options.optimize_model, ..OptimizeOptions::to(lnl_epsilon) }
    }

    /// One fast round from each starting tree, further ones from the best `kept`; goes on with the best.
    fn screen(&mut self, kept: usize, epsilon: f64) {
        let num_starts = self.options.alternatives.len() + 1;
        let share = self.shares.of(SearchPhase::Screen) / num_starts as f64;
        let mut ends = Vec::with_capacity(num_starts);
        for number in 1..=num_starts {
            let name = among("fast SPR", "start", number, num_starts);
            self.phase(&name, share);
            if number > 1 {
                self.evaluator.set_tree(self.options.alternatives[number - 2].clone());
                self.evaluator.optimize_branches(&BranchOptions {
                    max_sweeps: 4,
                    lnl_epsilon: at::START_EPSILON,
                    gain_tolerance: at::ROUND_TOLERANCE,
                });
            }
            let mut changed = Changed::all(self.evaluator.tree());
            self.round(&name, 1, &at::FAST, epsilon, &mut changed);
            ends.push(End::of(self.evaluator, changed));
        }
        keep_best(&mut ends, kept);
        let kept = ends.len();
        let share = self.shares.of(SearchPhase::Fast) / kept as f64;
        for (i, end) in ends.iter_mut().enumerate() {
            self.evaluator.restore(&end.snapshot);
            let changed = std::mem::replace(&mut end.changed, Changed::none(self.evaluator.tree()));
            let name = among("more fast SPR", "tree", i + 1, kept);
            self.rounds_where(&name, share, &at::FAST, epsilon, changed);
            *end = End::of(self.evaluator, Changed::all(self.evaluator.tree()));
        }
        keep_best(&mut ends, kept);
        // Its parameters were those of the first starting tree.
        self.evaluator.restore(&ends[0].snapshot);
        self.phase("lengths and model", self.shares.of(SearchPhase::Model));
        self.optimize(epsilon);
        ends[0] = End::of(self.evaluator, Changed::all(self.evaluator.tree()));
        let share = self.shares.of(SearchPhase::Wide) / kept as f64;
        for (i, end) in ends.iter_mut().enumerate() {
            self.evaluator.restore(&end.snapshot);
            self.rounds(&among("wide SPR", "tree", i + 1, kept), share, &at::WIDE, epsilon);
            *end = End::of(self.evaluator, Changed::none(self.evaluator.tree()));
        }
        keep_best(&mut ends, 1);
        self.evaluator.restore(&ends[0].snapshot);
    }

    /// Perturbs the local optimum again and again, see `perturb.rs`.
    fn perturb(&mut self, limit: usize) {
        if limit == 0 {
            return;
        }
        let name = "perturbation";
        self.phase(name, self.shares.of(SearchPhase::Perturb));
        let mut rng = stream(self.options.seed, Purpose::Perturbation, self.options.index);
        let round_options = self.options.adapt(&at::NEARBY);
        let (observer, meter) = (&mut *self.observer, &self.meter);
        perturb(self.evaluator, self.data, &round_options, limit, &mut rng, |attempt| {
            let round = attempt.number;
            if let Some(lnl) = attempt.better {
                observer.event(&Event::Progress { phase: name.to_string(), round, lnl });
            }
            // If nothing better is found from here on.
            let all = (round + limit - attempt.failures) as f64;
            observer.advance(meter.at(round as f64 / all));
        });
    }

    fn rounds(&mut self, name: &str, share: f64, round_options: &RoundOptions, epsilon: f64) {
        let changed = Changed::all(self.evaluator.tree());
        self.rounds_where(name, share, round_options, epsilon, changed);
    }

    /// Rounds until one gains less than `epsilon`, at first only where something has changed.
    fn rounds_where(
        &mut self,
        name: &str,
        share: f64,
        round_options: &RoundOptions,
        epsilon: f64,
        mut changed: Changed,
    ) {
        self.phase(name, share);
        for number in 1.. {
            let before = self.evaluator.log_likelihood();
            let result = self.round(name, number, round_options, epsilon, &mut changed);
            if result.accepted == 0 || self.evaluator.log_likelihood() - before < epsilon {
                break;
            }
        }
    }

    fn round(
        &mut self,
        name: &str,
        number: usize,
        round_options: &RoundOptions,
        epsilon: f64,
        changed: &mut Changed,
    ) -> RoundResult {
        let round_options = self.options.adapt(round_options);
        let (observer, meter) = (&mut *self.observer, &self.meter);
        let advance = |part| observer.advance(meter.at(part_of_rounds(number, part)));
        let result = spr_round(self.evaluator, self.data, &round_options, changed, advance);
        let lnl = self.evaluator.optimize_branches(&BranchOptions {
            max_sweeps: 2,
            lnl_epsilon: epsilon,
            gain_tolerance: at::ROUND_TOLERANCE,
        });
        self.observer.event(&Event::Progress { phase: name.to_string(), round: number, lnl });
        log::debug!("{name} {number}: {result:?}");
        result
    }
}

/// `fast SPR, start 2 of 4`; only the name if there is but one.
fn among(name: &str, noun: &str, number: usize, count: usize) -> String {
    match count {
        1 => name.to_string(),
        _ => format!("{name}, {noun} {number} of {count}"),
    }
}

/// Where the search from one starting tree stands.
struct End {
    lnl: f64,
    snapshot: Snapshot,
    /// Where the next round has something to look at.
    changed: Changed,
}

impl End {
    fn of(evaluator: &mut Evaluator, changed: Changed) -> Self {
        End { lnl: evaluator.log_likelihood(), snapshot: evaluator.snapshot(), changed }
    }
}

/// The best `count`, best first; of equal ones those that come first.
fn keep_best(ends: &mut Vec<End>, count: usize) {
    ends.sort_by(|a, b| b.lnl.total_cmp(&a.lnl));
    ends.truncate(count);
}
