//! Rounds of parameters and branch lengths in turn, until a round gains too little.

use super::params::Parameters;
use crate::likelihood::{BranchOptions, BrlenLinkage, Evaluator};
use crate::model::Model;

/// What is optimised, and how far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimizeOptions {
    /// Optimise the parameters of the models that are not fixed.
    pub model: bool,
    /// Optimise branch lengths (and in scaled mode the partitions' scalers).
    pub branches: bool,
    /// A round that gains less than this (log units) is the last.
    pub lnl_epsilon: f64,
    /// Most rounds.
    pub max_rounds: usize,
}

impl OptimizeOptions {
    /// Everything, to an epsilon.
    pub fn to(lnl_epsilon: f64) -> Self {
        OptimizeOptions { model: true, branches: true, lnl_epsilon, max_rounds: 100 }
    }
}

/// Optimises model parameters and branch lengths in turn. `models` are those of the evaluator's
/// genes, and follow it. Returns the log-likelihood, which is never lower than before.
pub fn optimize(evaluator: &mut Evaluator, models: &mut [Model], options: &OptimizeOptions) -> f64 {
    let mut lnl = evaluator.log_likelihood();
    if !options.model && !options.branches {
        return lnl;
    }
    for round in 0..options.max_rounds {
        let before = lnl;
        if options.branches {
            // Far from the end, lengths need not be better than the parameters they depend on.
            let max_sweeps = if round == 0 { 4 } else { 8 };
            let lnl_epsilon = (options.lnl_epsilon / 2.0).max(1e-6);
            let gain_tolerance = (options.lnl_epsilon * 1e-3).clamp(1e-8, 1e-3);
            let branches = BranchOptions { max_sweeps, lnl_epsilon, gain_tolerance };
            lnl = evaluator.optimize_branches(&branches);
        }
        if options.model {
            lnl = Parameters::new(evaluator, models).optimize(options.lnl_epsilon);
        }
        if options.branches && evaluator.linkage() == BrlenLinkage::Scaled {
            lnl = super::params::optimize_brlen_scalers(evaluator);
        }
        if lnl - before < options.lnl_epsilon {
            break;
        }
    }
    lnl
}
