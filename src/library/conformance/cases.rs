//! Trees with simulated partitions.

use super::shapes::{CaseShape, Lengths, Shape};
use crate::alignment::{PatternFreqs, Patterns};
use crate::likelihood::engine::{Engine, PartitionData};
use crate::likelihood::{BRLEN_BOUNDS, BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::rng::{Purpose, Rng, stream};
use crate::simulate::{sample_partition, yule_tree};
use crate::tree::Tree;
use rand::RngExt;

/// What the random numbers depend on, apart from the number of taxa.
const SEED: u64 = 11;

/// A partition that was simulated along a tree.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// What engines read.
    pub data: PartitionData,
    /// What parsimony reads.
    pub patterns: Patterns,
    /// Its model.
    pub model: Model,
}

/// A tree with partitions, each over some of the taxa.
#[derive(Debug, Clone)]
pub struct Case {
    /// The tree.
    pub tree: Tree,
    /// The partitions.
    pub partitions: Vec<Sampled>,
}

impl Case {
    /// The tree and the partitions of this shape, which are always the same.
    ///
    /// # Panics
    /// If a model of the shape is none.
    pub fn new(shape: &CaseShape) -> Self {
        let mut rng = stream(SEED, Purpose::Test, shape.num_taxa as u64);
        let mut tree = yule_tree(shape.num_taxa, 0.15, &mut rng);
        let partitions =
            shape.shapes.iter().map(|shape| sampled(&tree, *shape, &mut rng)).collect();
        set_lengths(&mut tree, shape.lengths);
        Case { tree, partitions }
    }

    /// The same where each pattern has state frequencies of its own.
    pub fn with_site_frequencies(mut self) -> Self {
        for (number, partition) in self.partitions.iter_mut().enumerate() {
            let mut rng = stream(SEED + 1, Purpose::Test, number as u64);
            let mut of_pattern = || {
                let shares: Vec<f64> =
                    (0..partition.data.num_states).map(|_| rng.random_range(0.01..1.0)).collect();
                let total: f64 = shares.iter().sum();
                shares.into_iter().map(|share| share / total).collect()
            };
            let freqs: Vec<Vec<f64>> =
                (0..partition.data.num_patterns()).map(|_| of_pattern()).collect();
            partition.data.pattern_freqs = Some(PatternFreqs::new(&freqs));
        }
        self
    }

    /// An evaluator of the tree with an engine for [`Case::data`]. Under scaled lengths, partitions have different factors.
    pub fn evaluator(&self, linkage: BrlenLinkage, engine: Box<dyn Engine>) -> Evaluator {
        let partitions = self.partitions.iter().map(|partition| {
            (&partition.data, &partition.patterns.tip_taxa[..], partition.model.clone())
        });
        let mut evaluator =
            Evaluator::new(self.tree.clone(), partitions.collect(), linkage, engine);
        if linkage == BrlenLinkage::Scaled {
            for partition in 0..self.partitions.len() {
                evaluator.set_brlen_scaler(partition, 0.7 + 0.1 * partition as f64);
            }
        }
        evaluator
    }

    /// The data of all partitions, for which an engine is made.
    pub fn data(&self) -> Vec<PartitionData> {
        self.partitions.iter().map(|partition| partition.data.clone()).collect()
    }

    /// The number of sites of all partitions.
    pub fn num_sites(&self) -> f64 {
        self.partitions.iter().flat_map(|partition| &partition.data.weights).sum()
    }
}

fn sampled(tree: &Tree, (text, num_taxa, num_sites): Shape, rng: &mut Rng) -> Sampled {
    let model = Model::parse(text).expect("models of shapes can be read");
    let patterns = sample_partition(tree, &model, num_taxa, num_sites, rng);
    Sampled { data: PartitionData::new(&patterns, &model), patterns, model }
}

fn set_lengths(tree: &mut Tree, lengths: Lengths) {
    let [shortest, longest] = BRLEN_BOUNDS;
    let edges: Vec<_> = tree.edges().collect();
    for (number, edge) in edges.into_iter().enumerate() {
        let other = match (lengths, number % 7) {
            (Lengths::Simulated, _) => None,
            (Lengths::Short, _) | (Lengths::Extreme, 1 | 4) => Some(shortest),
            (Lengths::Extreme, 2) => Some(longest),
            (Lengths::Extreme, 3) => Some(0.0),
            (Lengths::Extreme, 5) => Some(9.0),
            (Lengths::Extreme, _) => None,
        };
        if let Some(length) = other {
            tree.set_brlen(edge, length);
        }
    }
}
