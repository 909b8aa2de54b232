//! The likelihood of each class of a mixture, and of each category of rates over sites, at each pattern.

use super::evaluator::Evaluator;
use crate::likelihood::engine::Result;
use crate::model::Model;

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
        let alone = self.classes_alone(partition);
        self.log_likelihoods_under(partition, &alone)
    }

    /// The model of a partition with each of its classes alone.
    fn classes_alone(&self, partition: usize) -> Vec<Model> {
        let model = self.model(partition);
        let classes = model.mixture.as_ref().and_then(|mixture| mixture.own_weights());
        let num_classes = classes.expect("the model has classes").len();
        (0..num_classes).map(|class| model.of_one_class(class)).collect()
    }

    /// Log-likelihood of every pattern of a partition (unweighted) in each category of rates over sites, `[category][pattern]`,
    /// those of variable sites alone and then, under a model with invariant sites, the sum of the
    /// likelihoods of invariant ones, with their proportion as a factor: minus infinity, or as good as that, where the pattern is variable.
    ///
    /// # Errors
    /// The engine has failed.
    ///
    /// # Panics
    /// If the partition has less than two taxa.
    pub fn rate_log_likelihoods(&mut self, partition: usize) -> Result<Vec<Vec<f64>>> {
        let model = self.model(partition).clone();
        self.rate_log_likelihoods_under(partition, &model)
    }

    /// The same under each class of the partition's model alone, `[class][category][pattern]`.
    ///
    /// # Errors
    /// The engine has failed.
    ///
    /// # Panics
    /// If the model of the partition has no classes with weights of their own, or the partition less than two taxa.
    pub fn rate_log_likelihoods_of_classes(
        &mut self,
        partition: usize,
    ) -> Result<Vec<Vec<Vec<f64>>>> {
        let alone = self.classes_alone(partition);
        alone.iter().map(|model| self.rate_log_likelihoods_under(partition, model)).collect()
    }

    fn rate_log_likelihoods_under(
        &mut self,
        partition: usize,
        model: &Model,
    ) -> Result<Vec<Vec<f64>>> {
        let num_cats = model.rates_over_sites().rates.len();
        let mut alone: Vec<Model> = (0..num_cats).map(|cat| model.of_one_rate(Some(cat))).collect();
        alone.extend(model.invariant.map(|_| model.of_one_rate(None)));
        let mut lnls = self.log_likelihoods_under(partition, &alone)?;
        if let Some(invariant) = model.invariant {
            let (variable, constant) = lnls.split_at_mut(num_cats);
            for of_cat in variable {
                for (lnl, constant) in of_cat.iter_mut().zip(&constant[0]) {
                    let both = libm::exp(*constant - *lnl);
                    *lnl += libm::log1p(-both.min(1.0)) - libm::log1p(-invariant.pinv);
                }
            }
        }
        Ok(lnls)
    }

    /// Log-likelihood of every pattern under models that differ from that of the partition in the weights of its categories.
    fn log_likelihoods_under(
        &mut self,
        partition: usize,
        models: &[Model],
    ) -> Result<Vec<Vec<f64>>> {
        assert!(self.num_taxa_of(partition) >= 2, "partition {partition} has no edge");
        self.update_partials(&[partition])?;
        let model = self.model(partition).clone();
        let job = self.partitions[partition].root_job(partition);
        self.compute(|engine| {
            let mut lnls = Vec::with_capacity(models.len());
            for alone in models {
                engine.set_models(&[(partition, alone)])?;
                lnls.push(engine.pattern_log_likelihoods(&job)?);
            }
            engine.set_models(&[(partition, &model)])?;
            Ok(lnls)
        })
    }
}
