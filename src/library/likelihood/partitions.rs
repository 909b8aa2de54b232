//! Evaluators for partitions as they were read.

use super::engine::{EngineOptions, PartitionData, Result};
use super::evaluator::{BrlenLinkage, Evaluator};
use super::select::make_engine;
use crate::model::Model;
use crate::partition::Partition;
use crate::tree::Tree;

/// An evaluator for a tree over all taxa; partition g has the data of partition g and the model `models[g]`.
///
/// # Errors
/// An engine that this machine does not have, or too little memory.
pub fn make_evaluator(
    partitions: &[Partition],
    models: &[Model],
    tree: Tree,
    linkage: BrlenLinkage,
    options: &EngineOptions,
) -> Result<Evaluator> {
    let pairs = partitions.iter().zip(models);
    let data: Vec<PartitionData> =
        pairs.map(|(partition, model)| PartitionData::new(&partition.patterns, model)).collect();
    let engine = make_engine(&data, options)?;
    let partitions = data
        .iter()
        .zip(partitions)
        .zip(models)
        .map(|((data, partition), model)| {
            (data, partition.patterns.tip_taxa.as_slice(), model.clone())
        })
        .collect();
    Ok(Evaluator::new(tree, partitions, linkage, engine))
}
