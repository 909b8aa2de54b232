//! Rounds of parameters and branch lengths in turn, until a round gains too little.

use super::params::Parameters;
use crate::likelihood::{BranchOptions, BrlenLinkage, Evaluator, GeneModel, Snapshot};
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

/// How much shorter the lengths of the second start are: on short branches nothing is saturated.
const SECOND_SCALE: f64 = 0.1;

/// [`optimize`] from two starts, the lengths as they are and all of them a tenth, and the better of
/// both ends: branch lengths have several local optima when rates vary much between sites.
pub fn optimize_from_two_scales(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
) -> f64 {
    if !options.branches {
        return optimize(evaluator, models, options);
    }
    let start = (evaluator.snapshot(), models.to_vec());
    let lnl = optimize(evaluator, models, options);
    let end = (evaluator.snapshot(), models.to_vec());
    let go_to = |evaluator: &mut Evaluator, models: &mut [Model], at: &(Snapshot, Vec<Model>)| {
        evaluator.restore(&at.0);
        models.clone_from_slice(&at.1);
        for (gene, model) in models.iter().enumerate() {
            evaluator.set_model(gene, &GeneModel::new(model));
        }
    };
    go_to(evaluator, models, &start);
    evaluator.scale_brlens(SECOND_SCALE);
    if optimize(evaluator, models, options) <= lnl {
        go_to(evaluator, models, &end);
    }
    evaluator.log_likelihood()
}
