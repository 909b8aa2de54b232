//! [`SchemeFit`]: a fit of a partition scheme with all its parameters.

use super::subset_fit::SubsetFit;
use crate::error::Result;
use crate::model::{Model, ModelValues};
use crate::optimize::{Goal, OptimizeOptions, OptimizePlan};
use crate::partition::Partition;
use crate::runtime::{RunRecord, Setup};
use crate::steps::optimize::optimize_in_steps;
use crate::tree::Tree;
use serde::{Deserialize, Serialize};

/// Accuracy (log units).
const SCHEME_EPSILON: f64 = 0.1;

/// A fit of a scheme.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SchemeFit {
    /// The tree, under unlinked lengths with their averages.
    pub tree: Tree,
    /// Under unlinked lengths, the tree of each subset.
    pub own_trees: Vec<Tree>,
    /// Scalers of the lengths.
    pub scalers: Vec<f64>,
    /// Values of the models' parameters.
    pub values: Vec<ModelValues>,
    /// Log-likelihoods of the subsets.
    pub lnls: Vec<f64>,
}

impl SchemeFit {
    /// Fits a scheme with all its parameters. It begins with the lengths of the tree, and these scalers and own trees.
    pub(super) fn fit(
        setup: &Setup,
        tree: &Tree,
        subsets: &[Partition],
        models: &[Model],
        starts: Option<&[SubsetFit]>,
        record: &mut RunRecord,
    ) -> Result<SchemeFit> {
        let jobs = setup.jobs("scheme", 1);
        let RunRecord { checkpoint, progress, .. } = record;
        let mut found = jobs.run(checkpoint.as_ref(), progress, |job| {
            let tree = tree.clone();
            let linkage = setup.linkage;
            let initial = models;
            let mut models = initial.to_vec();
            let mut evaluator = match starts {
                None => setup.evaluator(job.resources, subsets, &models, tree, linkage)?,
                Some(_) => job.resources.evaluator(subsets, &models, tree, linkage)?,
            };
            for (number, start) in starts.unwrap_or_default().iter().enumerate() {
                evaluator.set_brlen_scaler(number, start.scaler);
                if let Some(tree) = &start.own_tree {
                    evaluator.set_partition_brlens(number, tree);
                }
            }
            let options = OptimizeOptions::to(SCHEME_EPSILON);
            let plan = OptimizePlan::new(Goal::Scheme, &options);
            optimize_in_steps(plan, &mut evaluator, &mut models, initial, &options, job)?;
            let lnls = evaluator.partition_log_likelihoods()?;
            let all = 0..subsets.len();
            let own_trees = match linkage.has_own_lengths() {
                true => all.clone().map(|i| evaluator.partition_tree(i).0.clone()).collect(),
                false => Vec::new(),
            };
            if linkage.has_own_lengths() {
                evaluator.average_brlens();
                evaluator.clamp_brlens();
            }
            Ok(SchemeFit {
                tree: evaluator.tree().clone(),
                own_trees,
                scalers: all.map(|i| evaluator.brlen_scaler(i)).collect(),
                values: models.iter().map(Model::values).collect(),
                lnls,
            })
        })?;
        Ok(found.remove(0))
    }
}
