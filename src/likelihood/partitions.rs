//! Evaluators for partitions as they were read.

use super::engine::{EngineOptions, GeneData, Result};
use super::evaluator::{BrlenLinkage, Evaluator};
use super::select::make_engine;
use crate::model::Model;
use crate::partition::Partition;
use crate::tree::Tree;

fn data_of(partitions: &[Partition], models: &[Model]) -> Vec<GeneData> {
    let pairs = partitions.iter().zip(models);
    pairs.map(|(partition, model)| GeneData::new(&partition.patterns, model)).collect()
}

/// An evaluator for a tree over all taxa; gene g has the data of partition g and the model `models[g]`.
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
    let data = data_of(partitions, models);
    let engine = make_engine(&data, options)?;
    let genes = data
        .iter()
        .zip(partitions)
        .zip(models)
        .map(|((data, partition), model)| {
            (data, partition.patterns.tip_taxa.as_slice(), model.clone())
        })
        .collect();
    Ok(Evaluator::new(tree, genes, linkage, engine))
}

/// Gives an evaluator of these partitions another engine: all vectors will be computed anew.
///
/// # Errors
/// An engine that this machine does not have, or too little memory.
pub(crate) fn replace_engine(
    evaluator: &mut Evaluator,
    partitions: &[Partition],
    models: &[Model],
    options: &EngineOptions,
) -> Result<()> {
    evaluator.set_engine(make_engine(&data_of(partitions, models), options)?);
    Ok(())
}
