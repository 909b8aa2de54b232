//! The likelihood of each class of a mixture at each pattern.

use super::evaluator::Evaluator;
use crate::likelihood::engine::Result;

impl Evaluator {
    /// Log-likelihood of every pattern of a partition (unweighted) under each class of its model alone, `[class][pattern]`.
    ///
    /// CLVs do not depend on the weights of classes, so that this takes one edge for each class.
    ///
    /// # Errors
    /// The engine has failed.
    ///
    /// # Panics
    /// If the model of the partition has no classes with weights of their own, or the partition less than two taxa.
    pub fn class_log_likelihoods(&mut self, partition: usize) -> Result<Vec<Vec<f64>>> {
        assert!(self.num_taxa_of(partition) >= 2, "partition {partition} has no edge");
        self.update_partials(&[partition])?;
        let model = self.model(partition).clone();
        let classes = model.mixture.as_ref().and_then(|mixture| mixture.own_weights());
        let num_classes = classes.expect("the model has classes").len();
        let job = self.partitions[partition].root_job(partition);
        self.compute(|engine| {
            let mut lnls = Vec::with_capacity(num_classes);
            for class in 0..num_classes {
                engine.set_models(&[(partition, &model.of_one_class(class))])?;
                lnls.push(engine.pattern_log_likelihoods(&job)?);
            }
            engine.set_models(&[(partition, &model)])?;
            Ok(lnls)
        })
    }
}
