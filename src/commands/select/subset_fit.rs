//! Fits of subsets of the partitions: their data, the values from which a fit begins, and the jobs that carry it out.

use crate::alignment::Alignment;
use crate::error::{Place, Result};
use crate::likelihood::BrlenLinkage;
use crate::model::{Model, ModelValues};
use crate::model_selection::{SchemeParts, SubsetScore, SubsetTraits};
use crate::optimize::{OptimizeOptions, Optimum, measure_optimum, optimize, optimize_at_lengths};
use crate::partition::{Partition, PartitionDef, build_patterns, count_freqs};
use crate::runtime::{JobContext, Setup};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};

/// Accuracy of a fit (log units). A tenth of it decides hardly ever whether two subsets are merged.
const FIT_EPSILON: f64 = 0.1;
/// Most rounds of a fit with branch lengths of its own.
const MAX_ROUNDS: usize = 6;

/// A fitted subset.
#[derive(Debug, Clone)]
pub(super) struct SubsetFit {
    /// Its model with its parameters.
    pub model: Model,
    /// The factor of the branch lengths of the tree.
    pub scaler: f64,
    /// Under unlinked lengths, the tree of its taxa with its own lengths.
    pub own_tree: Option<Tree>,
    /// Log-likelihood.
    pub lnl: f64,
    /// Number of its taxa with data.
    pub num_taxa: usize,
    /// What is known of the likelihood around the parameters, under shared lengths.
    pub optimum: Option<Optimum>,
}

/// Values from which a fit begins.
#[derive(Debug, Clone)]
pub(super) struct FitStart {
    /// The model; its frequencies are counted anew.
    pub model: Model,
    /// The factor of the branch lengths.
    pub scaler: f64,
    /// What is known of the likelihood: where its optimum is expected, and the curvature there.
    pub optimum: Option<Optimum>,
}

/// The result of a job: what is not known of the fit before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Found {
    /// The best start.
    start: usize,
    values: ModelValues,
    scaler: f64,
    own_tree: Option<Tree>,
    lnl: f64,
    num_taxa: usize,
    optimum: Option<Optimum>,
}

impl Found {
    /// The fit that began with these.
    pub(super) fn of(self, starts: &[FitStart]) -> SubsetFit {
        let Found { start, values, scaler, own_tree, lnl, num_taxa, optimum } = self;
        let model = starts[start].model.with_values(&values);
        SubsetFit { model, scaler, own_tree, lnl, num_taxa, optimum }
    }
}

impl SubsetFit {
    /// What it adds to the criterion of a scheme.
    pub(super) fn score(&self, linkage: BrlenLinkage) -> SubsetScore {
        SubsetScore {
            lnl: self.lnl,
            num_parameters: num_parameters(&self.model, self.num_taxa, linkage),
        }
    }

    /// What is compared of it with other subsets.
    pub(super) fn traits(&self) -> SubsetTraits {
        let length = self
            .own_tree
            .as_ref()
            .map_or(1.0, |tree| tree.total_length() / tree.num_edges().max(1) as f64);
        SubsetTraits::of(&self.model, self.scaler * length)
    }

    /// A fit with its model that begins where it ended, for so many times as many data.
    pub(super) fn start(&self, more_data: f64) -> FitStart {
        FitStart {
            model: self.model.clone(),
            scaler: self.scaler,
            optimum: self.optimum.as_ref().map(|optimum| optimum.with_more_data(more_data)),
        }
    }
}

/// Number of parameters that a subset has for itself: those of its model, and the scaler or the branch lengths if they are its own.
pub(super) fn num_parameters(model: &Model, num_taxa: usize, linkage: BrlenLinkage) -> usize {
    let lengths = match linkage {
        BrlenLinkage::Linked => 0,
        BrlenLinkage::Scaled => usize::from(num_taxa >= 2),
        BrlenLinkage::Unlinked => (2 * num_taxa).saturating_sub(3),
    };
    model.num_free_parameters() + lengths
}

/// Fits of the union of two subsets with so many sites: with the model of both, or with that of each.
pub(super) fn starts_of_union(fits: [(&SubsetFit, f64); 2]) -> Vec<FitStart> {
    let [(a, sites_a), (b, sites_b)] = fits;
    let sites = sites_a + sites_b;
    if a.model.label() != b.model.label() {
        return vec![a.start(sites / sites_a), b.start(sites / sites_b)];
    }
    let (larger, smaller) = if sites_a >= sites_b { (a, b) } else { (b, a) };
    let pooled = larger.optimum.as_ref().zip(smaller.optimum.as_ref());
    let optimum = pooled.and_then(|(one, other)| one.pooled(other));
    let mut start = larger.start(sites / sites_a.max(sites_b));
    if optimum.is_some() {
        start.optimum = optimum;
    }
    vec![start]
}

/// The data of some partitions as one, with the columns in the order of the partition file.
pub(super) fn union_of(setup: &Setup, members: &[usize], name: &str) -> Partition {
    let loaded = &setup.loaded;
    let sites: Vec<u32> = in_file_order(setup, members)
        .into_iter()
        .flat_map(|member| loaded.partitions[member].sites.iter().copied())
        .collect();
    let first = &loaded.partitions[members[0]];
    if let [_] = members {
        return Partition { name: name.to_string(), ..first.clone() };
    }
    let alignment: &Alignment = loaded.alignment.as_ref().expect("it was asked for");
    let def = PartitionDef {
        name: name.to_string(),
        model: String::new(),
        sites,
        place: Place::default(),
    };
    let patterns = build_patterns(alignment, &def, first.model.data_type);
    let mut patterns = patterns.expect("the characters of its partitions were read before");
    if !setup.plan.data.restricted {
        patterns.add_missing_taxa(loaded.taxa.len());
    }
    Partition { name: def.name, model: first.model.clone(), patterns, sites: def.sites }
}

/// Partitions by their numbers, in the order of the partition file.
pub(super) fn in_file_order(setup: &Setup, members: &[usize]) -> Vec<usize> {
    let numbers = setup.loaded.numbers_in_file();
    let mut members = members.to_vec();
    members.sort_unstable_by_key(|&member| numbers[member]);
    members
}

/// Fits a subset on a tree from each of these starts, and returns the fit with the best criterion. With `measures`, the curvature
/// of the likelihood is measured.
///
/// # Errors
/// The engine has failed, or the run is to end.
pub(super) fn fit_subset(
    setup: &Setup,
    tree: &Tree,
    members: &[usize],
    starts: &[FitStart],
    (parts, measures): (&SchemeParts, bool),
    job: &mut JobContext,
) -> Result<Found> {
    let linkage = setup.linkage;
    let subset = union_of(setup, members, "");
    let num_taxa = subset.patterns.num_tips();
    job.mute(true);
    let mut best: Option<(f64, Found)> = None;
    for (number, start) in starts.iter().enumerate() {
        let mut models = [start.model.clone()];
        count_freqs(&mut models[0], &subset.patterns);
        let one = std::slice::from_ref(&subset);
        let mut evaluator = job.resources.evaluator(one, &models, tree.clone(), linkage)?;
        evaluator.set_brlen_scaler(0, start.scaler);
        let is_scaled = linkage.has_scalers() && num_taxa >= 2;
        let (lnl, optimum) = match linkage {
            BrlenLinkage::Unlinked => {
                let options =
                    OptimizeOptions { max_rounds: MAX_ROUNDS, ..OptimizeOptions::to(FIT_EPSILON) };
                (optimize(&mut evaluator, &mut models, &options, job)?, None)
            }
            BrlenLinkage::Linked | BrlenLinkage::Scaled => {
                let known = start.optimum.as_ref();
                let (lnl, optimum) = optimize_at_lengths(
                    &mut evaluator,
                    &mut models,
                    is_scaled,
                    FIT_EPSILON,
                    known,
                )?;
                let optimum = match optimum {
                    None if measures && num_taxa >= 2 => {
                        Some(measure_optimum(&mut evaluator, &mut models, is_scaled)?)
                    }
                    optimum => optimum,
                };
                (lnl, optimum)
            }
        };
        let num_parameters = num_parameters(&models[0], num_taxa, linkage);
        let value = parts.value_of(SubsetScore { lnl, num_parameters });
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            let own_tree = linkage.has_own_lengths().then(|| evaluator.partition_tree(0).0.clone());
            let scaler = evaluator.brlen_scaler(0);
            let values = models[0].values();
            best = Some((
                value,
                Found { start: number, values, scaler, own_tree, lnl, num_taxa, optimum },
            ));
        }
    }
    job.mute(false);
    Ok(best.expect("there are starts").1)
}
