//! From a starting tree to a local optimum: fast rounds, then thorough ones.

use super::observer::{Event, Observer};
use super::perturb::perturb;
use super::schedule as at;
use super::spr::{Changed, RoundOptions, spr_round};
use crate::likelihood::{BranchOptions, Evaluator};
use crate::model::Model;
use crate::optimize::{OptimizeOptions, optimize};
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
    /// How often in a row a local optimum is perturbed in vain before the search goes on.
    pub perturbations: Option<usize>,
    /// Decides the perturbations, together with `index`.
    pub seed: u64,
    /// Number of the starting tree or replicate.
    pub index: u64,
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
            perturbations: None,
            seed: 0,
            index: 0,
        }
    }
}

/// Searches from the evaluator's tree; the best tree found is in the evaluator afterwards, and its
/// log-likelihood is returned. `models` are those of the evaluator's genes, and follow it.
pub fn search(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> f64 {
    let epsilon = options.lnl_epsilon.unwrap_or(at::FINAL_EPSILON);
    let within = match options.spr_cutoff {
        None => at::VERIFY_WITHIN,
        Some(None) => f64::INFINITY,
        Some(Some(cutoff)) => cutoff,
    };
    let round = |radius, verified| RoundOptions {
        radius: options.spr_radius.unwrap_or(radius),
        verified,
        within,
        near_miss: at::NEAR_MISS,
    };
    let fast_epsilon = at::FAST_EPSILON.max(epsilon);
    let mut climb = Climb { evaluator, models, options, observer };
    climb.phase("start: branch lengths and model");
    climb.optimize(at::START_EPSILON.max(epsilon));
    climb.local_optimum(&round(at::FAST_RADIUS, at::FAST_VERIFIED), fast_epsilon);
    climb.try_alternatives(
        &round(at::FAST_RADIUS, at::FAST_VERIFIED),
        &round(at::WIDE_RADIUS, at::WIDE_VERIFIED),
        fast_epsilon,
    );
    let near = round(at::PERTURBATION_RADIUS, at::PERTURBATION_VERIFIED);
    climb.perturb(&RoundOptions { near_miss: 0.0, ..near });
    if options.unlinked {
        climb.phase("own branch lengths per partition");
        climb.evaluator.unlink();
    }
    climb.phase("branch lengths and model");
    climb.optimize(fast_epsilon);
    climb.rounds("thorough SPR", &round(at::THOROUGH_RADIUS, at::THOROUGH_VERIFIED), epsilon);
    climb.phase("final branch lengths and model");
    climb.optimize(options.lnl_epsilon.unwrap_or(at::LAST_EPSILON))
}

struct Climb<'a> {
    evaluator: &'a mut Evaluator,
    models: &'a mut [Model],
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
}

impl Climb<'_> {
    fn phase(&mut self, name: &str) {
        self.observer.event(&Event::Phase { name: name.to_string() });
    }

    fn optimize(&mut self, lnl_epsilon: f64) -> f64 {
        let options = OptimizeOptions {
            model: self.options.optimize_model,
            ..OptimizeOptions::to(lnl_epsilon)
        };
        let lnl = optimize(self.evaluator, self.models, &options);
        self.observer.event(&Event::NewBest { lnl });
        lnl
    }

    /// Fast rounds, then the model again: its parameters were those of the starting tree.
    fn local_optimum(&mut self, fast: &RoundOptions, epsilon: f64) {
        self.rounds("fast SPR", fast, epsilon);
        self.phase("branch lengths and model");
        self.optimize(epsilon);
    }

    /// Fast rounds from each further starting tree, wide ones from the best few; goes on with the best.
    fn try_alternatives(&mut self, fast: &RoundOptions, wide: &RoundOptions, epsilon: f64) {
        let mut ends = vec![(self.evaluator.log_likelihood(), self.evaluator.snapshot())];
        for tree in &self.options.alternatives {
            self.evaluator.set_tree(tree.clone());
            let branches = BranchOptions {
                max_sweeps: 4,
                lnl_epsilon: at::START_EPSILON,
                gain_tolerance: at::ROUND_TOLERANCE,
            };
            self.evaluator.optimize_branches(&branches);
            self.rounds("further start, fast SPR", fast, epsilon);
            ends.push((self.evaluator.log_likelihood(), self.evaluator.snapshot()));
        }
        ends.sort_by(|a, b| b.0.total_cmp(&a.0));
        ends.truncate(at::WIDE_STARTS);
        for (lnl, end) in &mut ends {
            self.evaluator.restore(end);
            self.rounds("wide SPR", wide, epsilon);
            *lnl = self.evaluator.log_likelihood();
            *end = self.evaluator.snapshot();
        }
        ends.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.evaluator.restore(&ends[0].1);
    }

    /// Perturbs the local optimum again and again, see `perturb.rs`.
    fn perturb(&mut self, round_options: &RoundOptions) {
        let limit = self
            .options
            .perturbations
            .unwrap_or_else(|| at::perturbations(self.evaluator.tree().num_tips()));
        if limit == 0 {
            return;
        }
        let name = "perturbation";
        self.phase(name);
        let mut rng = stream(self.options.seed, Purpose::Perturbation, self.options.index);
        let observer = &mut *self.observer;
        perturb(self.evaluator, round_options, limit, &mut rng, |round, lnl| {
            let phase = name.to_string();
            observer.event(&Event::Progress { phase, round, lnl });
        });
    }

    fn rounds(&mut self, name: &str, round_options: &RoundOptions, epsilon: f64) {
        self.phase(name);
        let mut changed = Changed::all(self.evaluator.tree());
        for round in 1.. {
            let before = self.evaluator.log_likelihood();
            let result = spr_round(self.evaluator, round_options, &mut changed);
            let branches = BranchOptions {
                max_sweeps: 2,
                lnl_epsilon: epsilon,
                gain_tolerance: at::ROUND_TOLERANCE,
            };
            let lnl = self.evaluator.optimize_branches(&branches);
            let phase = name.to_string();
            self.observer.event(&Event::Progress { phase, round, lnl });
            log::debug!("{name} {round}: {result:?}");
            if result.accepted == 0 || lnl - before < epsilon {
                break;
            }
        }
    }
}
