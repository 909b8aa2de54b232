//! [`Outcome`]: a finished evaluator as plain results, checked once more by recomputation.

use crate::error::{Error, Result};
use crate::likelihood::{self, BrlenLinkage, Evaluator};
use crate::model::{Model, ModelValues};
use crate::optimize::{ParameterAtBound, parameters_at_bounds};
use crate::partition::Partition;
use crate::runtime::Setup;
use crate::search::SearchHistory;
use crate::tree::{EdgeId, Tree};
use serde::{Deserialize, Serialize};

/// Largest relative difference between a log-likelihood kept up to date and one computed afresh.
const LNL_TOLERANCE: f64 = 1e-9;

/// The results of one tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Where the tree came from.
    pub source: String,
    /// Log-likelihood, recomputed from scratch at the end.
    pub lnl: f64,
    /// The global tree; under unlinked lengths with their averages.
    pub tree: Tree,
    /// Models with their final parameters; none in a checkpoint until [`Outcome::with_models`].
    #[serde(skip)]
    pub models: Vec<Model>,
    /// The values of the models' parameters.
    values: Vec<ModelValues>,
    /// Scalers of the shared lengths.
    pub scalers: Vec<f64>,
    /// Log-likelihood per partition.
    pub partition_lnls: Vec<f64>,
    /// Each partition's own tree and the taxa of its tips, under unlinked lengths.
    pub partition_trees: Option<Vec<(Tree, Vec<usize>)>>,
    /// Edges that are on the tree of no partition.
    pub undetermined: Vec<EdgeId>,
    /// Parameters that ended at a bound.
    pub at_bounds: Vec<ParameterAtBound>,
    /// Log-likelihood of every site in the order of the alignment (of codons in codon data), if requested.
    pub site_lnls: Option<Vec<f64>>,
    /// Mean log-likelihoods along the alignment, each of so many sites, to be looked at.
    pub profile: (usize, Vec<f32>),
    /// `[partition][pattern]`: log-likelihoods of the patterns, if the tree is to be tested.
    pub pattern_lnls: Option<Vec<Vec<f64>>>,
    /// Bytes of CLVs.
    pub clv_bytes: usize,
    /// What the search met on its way; `None` for a tree that was only evaluated.
    pub history: Option<SearchHistory>,
}

impl Outcome {
    /// Recomputes the likelihood from scratch, and collects the results.
    ///
    /// # Errors
    /// [`Error::Failed`] if a column has likelihood 0, or if the log-likelihood is not the one the
    /// evaluator had arrived at.
    pub(crate) fn of(
        source: String,
        mut evaluator: Evaluator,
        models: Vec<Model>,
        setup: &Setup,
    ) -> Result<Self> {
        let partitions = &setup.loaded.partitions;
        let before = evaluator.log_likelihood()?;
        evaluator.forget();
        let partition_lnls = evaluator.partition_log_likelihoods()?;
        check_finite(&mut evaluator, &partition_lnls, partitions)?;
        let lnl: f64 = partition_lnls.iter().sum();
        if (lnl - before).abs() > LNL_TOLERANCE * lnl.abs().max(1.0) {
            return Err(Error::Failed(format!(
                "the final log-likelihood {before} is {lnl} when it is recomputed: this is an error of \
                 mlsearch; please report it"
            )));
        }
        let (mut site_lnls, mut pattern_lnls) = (None, None);
        let is_tested = !setup.plan.tests.kinds.is_empty();
        let of_partition = |partition| evaluator.pattern_log_likelihoods(partition);
        let lnls: Vec<_> =
            (0..partitions.len()).map(of_partition).collect::<likelihood::Result<_>>()?;
        let (of_sites, counted) = site_log_likelihoods(&lnls, partitions, setup.loaded.num_sites);
        let profile = profile_of(&counted);
        if setup.plan.output.sitelh {
            site_lnls = Some(of_sites);
        }
        if is_tested {
            pattern_lnls = Some(lnls);
        }
        let partitions = 0..partitions.len();
        let (partition_trees, undetermined) = match evaluator.linkage() {
            BrlenLinkage::Unlinked => {
                let undetermined = evaluator.average_brlens();
                if setup.plan.search.opt_branches {
                    // A partition's short branch may be the share of several of the tree's.
                    evaluator.clamp_brlens();
                }
                let tree = |partition| {
                    let (tree, taxa) = evaluator.partition_tree(partition);
                    (tree.clone(), taxa.to_vec())
                };
                (Some(partitions.clone().map(tree).collect()), undetermined)
            }
            _ => (None, evaluator.undetermined_edges()),
        };
        Ok(Outcome {
            source,
            lnl,
            tree: evaluator.tree().clone(),
            at_bounds: parameters_at_bounds(&evaluator, &models),
            values: models.iter().map(Model::values).collect(),
            models,
            scalers: partitions.map(|partition| evaluator.brlen_scaler(partition)).collect(),
            partition_lnls,
            partition_trees,
            undetermined,
            site_lnls,
            profile,
            pattern_lnls,
            clv_bytes: evaluator.capabilities().clv_bytes as usize,
            history: None,
        })
    }

    /// The same outcome with its models, which are those of the data with the values of the outcome.
    pub(crate) fn with_models(self, setup: &Setup) -> Self {
        let given = setup.models();
        let models = given.iter().zip(&self.values).map(|(m, values)| m.with_values(values));
        Outcome { models: models.collect(), ..self }
    }
}

/// A column that is impossible under the model is reported: the logarithm of its likelihood is not finite.
fn check_finite(
    evaluator: &mut Evaluator,
    partition_lnls: &[f64],
    partitions: &[Partition],
) -> Result<()> {
    for (index, partition) in partitions.iter().enumerate() {
        if partition_lnls[index].is_finite() {
            continue;
        }
        let patterns = evaluator.pattern_log_likelihoods(index)?;
        let bad = patterns.iter().position(|lnl| !lnl.is_finite());
        let column = match bad.and_then(|pattern| partition.first_column_of(pattern)) {
            Some(column) => format!("column {column}"),
            None => "a column".to_string(),
        };
        return Err(Error::Failed(format!(
            "partition '{}': the likelihood of {column} is 0: its data are impossible on this tree under \
             this model. Check for branches of length 0 between different sequences, and for extreme \
             parameter values",
            partition.name
        )));
    }
    Ok(())
}

/// Per site, in the order of the alignment's columns; a codon is at its first column. Columns in no partition
/// have 0; the second list is without them. `pattern_lnls[partition]` are the log-likelihoods of a partition's patterns, empty if it has no data: then
/// all its sites have likelihood 1.
fn site_log_likelihoods(
    pattern_lnls: &[Vec<f64>],
    partitions: &[Partition],
    num_columns: usize,
) -> (Vec<f64>, Vec<f64>) {
    let (mut sites, mut counts) = (vec![Some(0.0); num_columns], vec![false; num_columns]);
    for (partition, patterns) in partitions.iter().zip(pattern_lnls) {
        for (columns, pattern) in partition.sites_and_patterns() {
            columns.iter().for_each(|&column| sites[column as usize] = None);
            let lnl = patterns.get(pattern);
            sites[columns[0] as usize] = Some(lnl.copied().unwrap_or(0.0));
            counts[columns[0] as usize] = true;
        }
    }
    let counted = sites.iter().zip(counts).filter(|&(_, counts)| counts);
    let counted = counted.filter_map(|(site, _)| *site).collect();
    (sites.into_iter().flatten().collect(), counted)
}

/// Most values of a profile: every outcome is kept in the checkpoint with its own.
const MOST_VALUES: usize = 500;

/// Means of so many sites that there are not too many of them.
pub(super) fn profile_of(sites: &[f64]) -> (usize, Vec<f32>) {
    let per_value = sites.len().div_ceil(MOST_VALUES).max(1);
    let mean = |sites: &[f64]| (sites.iter().sum::<f64>() / sites.len() as f64) as f32;
    (per_value, sites.chunks(per_value).map(mean).collect())
}

/// Number of the outcome with the highest log-likelihood; the first of equal ones.
pub(crate) fn best_of(outcomes: &[Outcome]) -> usize {
    let mut best = 0;
    for (i, outcome) in outcomes.iter().enumerate() {
        if outcome.lnl > outcomes[best].lnl {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Patterns;
    use crate::alphabet::DataType;

    #[test]
    fn site_likelihoods_stand_in_the_order_of_the_columns_and_a_codon_is_one() {
        let partition = |data_type, sites: &[u32], codes: &[u16]| Partition {
            name: "g".into(),
            model: Model::parse("JC").unwrap(),
            patterns: Patterns::compress(data_type, 1, codes.len(), |_, row| {
                row.copy_from_slice(codes);
            }),
            sites: sites.to_vec(),
        };
        let partitions = [
            partition(DataType::codon(1).unwrap(), &[8, 9, 7, 1, 3, 5], &[4, 7]),
            partition(DataType::Dna, &[0, 2, 4], &[1, 2, 1]),
            partition(DataType::Protein, &[6], &[20]), // no data, no likelihoods
        ];
        let lnls = [vec![-8.0, -1.0], vec![-0.5, -2.0], vec![]];
        // Columns 0 to 10; 3 and 5 belong to the codon at 1, 7 and 9 to the one at 8, 10 to none.
        let expected = [-0.5, -1.0, -2.0, -0.5, 0.0, -8.0, 0.0];
        assert_eq!(profile_of(&expected).0, 1);
        let (per_value, profile) = profile_of(&[-2.0; 1001]);
        assert_eq!((per_value, profile.len(), profile[333]), (3, 334, -2.0));
        let (all, counted) = site_log_likelihoods(&lnls, &partitions, 11);
        assert_eq!(all, expected);
        assert_eq!(counted, expected[..6]);
    }
}
