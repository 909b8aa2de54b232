//! From a starting tree to a local optimum: fast rounds, then thorough ones.

use super::observer::{Event, Observer};
use super::schedule as at;
use super::spr::{RoundOptions, spr_round};
use crate::likelihood::{BranchOptions, Evaluator};
use crate::model::Model;
use crate::optimize::{OptimizeOptions, optimize};

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
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            spr_radius: None,
            spr_cutoff: None,
            lnl_epsilon: None,
            optimize_model: true,
            unlinked: false,
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
    let mut climb = Climb {
        evaluator,
        models,
        options,
        observer,
    };
    climb.phase("start: branch lengths and model");
    climb.optimize(at::START_EPSILON.max(epsilon));
    let fast = RoundOptions {
        radius: options.spr_radius.unwrap_or(at::FAST_RADIUS),
        verified: at::FAST_VERIFIED,
        within,
    };
    climb.rounds("fast SPR", &fast, at::FAST_EPSILON.max(epsilon));
    climb.phase("branch lengths and model");
    climb.optimize(at::FAST_EPSILON.max(epsilon));
    if options.unlinked {
        climb.phase("own branch lengths per partition");
        climb.evaluator.unlink();
        climb.optimize(at::FAST_EPSILON.max(epsilon));
    }
    let thorough = RoundOptions {
        radius: options.spr_radius.unwrap_or(at::THOROUGH_RADIUS),
        verified: at::THOROUGH_VERIFIED,
        within,
    };
    climb.rounds("thorough SPR", &thorough, epsilon);
    climb.phase("final branch lengths and model");
    climb.optimize(epsilon)
}

struct Climb<'a> {
    evaluator: &'a mut Evaluator,
    models: &'a mut [Model],
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
}

impl Climb<'_> {
    fn phase(&mut self, name: &str) {
        self.observer.event(&Event::Phase {
            name: name.to_string(),
        });
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

    fn rounds(&mut self, name: &str, round_options: &RoundOptions, epsilon: f64) {
        self.phase(name);
        for round in 1.. {
            let before = self.evaluator.log_likelihood();
            let result = spr_round(self.evaluator, round_options);
            let branches = BranchOptions {
                max_sweeps: 2,
                lnl_epsilon: epsilon,
                gain_tolerance: 1e-3,
            };
            let lnl = self.evaluator.optimize_branches(&branches);
            let progress = Event::Progress {
                phase: name.to_string(),
                round,
                lnl,
            };
            self.observer.event(&progress);
            if std::env::var_os("MLSEARCH_TRACE").is_some() {
                eprintln!("{name} {round}: {result:?} -> {lnl}");
            }
            if result.accepted == 0 || lnl - before < epsilon {
                break;
            }
        }
    }
}
