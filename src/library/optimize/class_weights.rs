//! Weights of the classes of mixtures: at given branch lengths and other parameters, their likelihood is concave, and all that
//! must be known of it is the likelihood of each class at each pattern.

use super::learnt::MAX_ITERATIONS;
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::model::bounds::CLASS_WEIGHT_MIN;
use crate::numeric::{Bfgs, MixtureLikelihoods};

/// Smallest ratio of two weights of classes that have rates of their own, where branch lengths stay as they are.
const LEAST_RATIO: f64 = 1e-9;

/// Optimises the weights of classes of these partitions, where they are estimated, up to `lnl_epsilon` (log units). No
/// log-likelihood becomes lower. Branch lengths change with the weights only if they may.
///
/// # Errors
/// The engine has failed.
pub(super) fn optimize_class_weights(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    partitions: &[usize],
    lnl_epsilon: f64,
    may_change_lengths: bool,
) -> Result<()> {
    let linkage = evaluator.linkage();
    let has_own = linkage.has_scalers() || linkage.has_own_lengths() || models.len() == 1;
    for &partition in partitions {
        let model = &mut models[partition];
        if !model.estimates_class_weights() || evaluator.num_taxa_of(partition) < 2 {
            continue;
        }
        let lnls = evaluator.class_log_likelihoods(partition)?;
        let mixture = MixtureLikelihoods::new(&lnls, evaluator.pattern_weights(partition));
        let before = model.free_class_weights();
        let weights = mixture.estimate(before, CLASS_WEIGHT_MIN, lnl_epsilon);
        if weights == before {
            continue;
        }
        let (old, mean) = (model.clone(), model.mean_class_rate());
        model.set_class_weights(&weights);
        let factor = model.mean_class_rate() / mean;
        if factor == 1.0 {
            evaluator.set_class_weights(partition, model);
        } else if may_change_lengths && has_own {
            set_with_lengths(evaluator, partition, model, &old, factor)?;
        } else {
            model.clone_from(&old);
            optimize_at_lengths(evaluator, partition, model, lnl_epsilon)?;
        }
    }
    Ok(())
}

/// Sets weights of classes that have rates of their own, which are relative to their mean: the rates of all have changed, and with
/// branch lengths that are longer by a factor, the likelihood is that of the weights alone, unless lengths were cut at their bounds.
fn set_with_lengths(
    evaluator: &mut Evaluator,
    partition: usize,
    model: &mut Model,
    old: &Model,
    factor: f64,
) -> Result<()> {
    let before = evaluator.log_likelihood()?;
    let lengths = evaluator.brlen_sets();
    let scaler = evaluator.brlen_scaler(partition);
    evaluator.set_model(partition, model);
    evaluator.set_brlen_scaler(partition, scaler * factor);
    if !evaluator.linkage().has_scalers() {
        evaluator.absorb_brlen_scaler(partition);
    }
    if evaluator.log_likelihood()? < before {
        model.clone_from(old);
        evaluator.set_model(partition, model);
        evaluator.set_brlen_scaler(partition, scaler);
        evaluator.set_brlen_sets(&lengths);
    }
    Ok(())
}

/// Optimises weights of classes that have rates of their own where branch lengths stay as they are: their likelihood is not concave then,
/// because the rates of all classes change with the weights.
fn optimize_at_lengths(
    evaluator: &mut Evaluator,
    partition: usize,
    model: &mut Model,
    lnl_epsilon: f64,
) -> Result<()> {
    let start = model.free_class_weights().to_vec();
    let by_weight = |&a: &usize, &b: &usize| start[a].total_cmp(&start[b]);
    let largest = (0..start.len()).max_by(by_weight).unwrap_or(0);
    let others: Vec<usize> = (0..start.len()).filter(|&class| class != largest).collect();
    let [lo, hi] = [LEAST_RATIO, 1.0 / LEAST_RATIO].map(libm::log);
    let ratio = |&class: &usize| libm::log(start[class] / start[largest]).clamp(lo, hi);
    let x = others.iter().map(ratio).collect();
    let weights_at = |x: &[f64]| -> Vec<f64> {
        let mut weights = vec![1.0; start.len()];
        others.iter().zip(x).for_each(|(&class, &x)| weights[class] = libm::exp(x));
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    };
    let (lo, hi) = (vec![lo; others.len()], vec![hi; others.len()]);
    let mut minimiser = Bfgs::new(x, lo, hi, lnl_epsilon, MAX_ITERATIONS);
    let before = evaluator.log_likelihoods_of(&[partition])?[0];
    while let Some(x) = minimiser.ask() {
        model.set_class_weights(&weights_at(x));
        evaluator.set_model(partition, model);
        minimiser.tell(-evaluator.log_likelihoods_of(&[partition])?[0]);
    }
    let (best, value) = minimiser.best();
    model.set_class_weights(&if -value > before { weights_at(best) } else { start.clone() });
    evaluator.set_model(partition, model);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::PartitionData;
    use crate::likelihood::select::make_engine;
    use crate::likelihood::{BrlenLinkage, EngineOptions};
    use crate::observer::Silent;
    use crate::optimize::{OptimizeOptions, optimize, optimize_from_several_starts};
    use crate::rng::{Purpose, stream};
    use crate::simulate::{sample_partition, yule_tree};

    /// Data simulated with these weights, and an evaluator of them with those of a model.
    fn case(truth: &str, model: &Model, num_sites: usize) -> Evaluator {
        let mut rng = stream(4, Purpose::Test, 0);
        let tree = yule_tree(9, 0.4, &mut rng);
        let truth = Model::parse(truth).unwrap();
        let patterns = sample_partition(&tree, &truth, 9, num_sites, &mut rng);
        let data = PartitionData::new(&patterns, model);
        let engine = make_engine(std::slice::from_ref(&data), &EngineOptions::default()).unwrap();
        let taxa = patterns.tip_taxa.clone();
        let partition = (&data, taxa.as_slice(), model.clone());
        Evaluator::new(tree, vec![partition], BrlenLinkage::Linked, engine)
    }

    #[test]
    fn weights_of_simulated_data_are_recovered_and_vectors_stay_valid() {
        let truth = "LG+C10+WU{40/0/0/30/0/0/0/20/0/10}";
        let mut models = vec![Model::parse("LG+C10+WO").unwrap()];
        let mut evaluator = case(truth, &models[0], 400);
        let before = evaluator.log_likelihood().unwrap();
        let of_classes = evaluator.class_log_likelihoods(0).unwrap();
        let all = evaluator.pattern_log_likelihoods(0).unwrap();
        let weights = models[0].free_class_weights();
        for (pattern, lnl) in all.iter().enumerate() {
            let of_class = of_classes.iter().zip(weights);
            let sum: f64 = of_class.map(|(lnls, weight)| weight * libm::exp(lnls[pattern])).sum();
            assert!((libm::log(sum) - lnl).abs() < 1e-9, "pattern {pattern}");
        }
        optimize_class_weights(&mut evaluator, &mut models, &[0], 1e-6, true).unwrap();
        let after = evaluator.log_likelihood().unwrap();
        assert!(after > before + 10.0, "{before} {after}");
        evaluator.assert_clvs();
        let found = models[0].free_class_weights();
        for (class, expected) in [(0, 0.4), (3, 0.3), (7, 0.2), (9, 0.1)] {
            assert!((found[class] - expected).abs() < 0.1, "{found:?}");
        }
        // They are at their maximum, whatever else is optimised.
        let options = OptimizeOptions { branches: false, ..OptimizeOptions::to(1e-3) };
        let again = optimize(&mut evaluator, &mut models, &options, &mut Silent).unwrap();
        assert!((again - after).abs() < 1e-3, "{after} {again}");
    }

    #[test]
    fn classes_with_rates_of_their_own_take_branch_lengths_with_them() {
        let mut models = vec![Model::parse("EX3").unwrap()];
        let mut evaluator = case("EX3+WU{6/3/1}", &models[0], 300);
        let before = evaluator.log_likelihood().unwrap();
        let length = evaluator.tree().total_length();
        optimize_class_weights(&mut evaluator, &mut models, &[0], 1e-6, true).unwrap();
        let after = evaluator.log_likelihood().unwrap();
        assert!(after > before + 1.0, "{before} {after}");
        assert!(evaluator.tree().total_length() < length, "slow classes have more sites");
        let cats = models[0].rate_cats();
        let mean: f64 = cats.rates.iter().zip(&cats.weights).map(|(r, w)| r * w).sum();
        assert!((mean - 1.0).abs() < 1e-12);
        // At the maximum, other lengths and weights gain little.
        let again = optimize_class_weights(&mut evaluator, &mut models, &[0], 1e-6, true);
        again.unwrap();
        let lnl = evaluator.log_likelihood().unwrap();
        assert!((lnl - after).abs() < 1e-4, "{after} {lnl}");
        // Where parameters begin anew at the end, lengths and weights remain those of the optimum.
        let mut models = vec![Model::parse("EX3+G2").unwrap()];
        let mut evaluator = case("EX3+WU{6/3/1}+G2{0.5}", &models[0], 100);
        let options = OptimizeOptions::to(0.01);
        let near = optimize(&mut evaluator, &mut models, &options, &mut Silent).unwrap();
        let best = optimize_from_several_starts(&mut evaluator, &mut models, &options, &mut Silent);
        assert!(best.unwrap() > near - 1e-3, "{near}");
    }

    #[test]
    fn lengths_that_may_not_change_stay_and_weights_are_the_best_at_these() {
        let mut models = vec![Model::parse("EX2").unwrap()];
        let mut evaluator = case("EX2+WU{8/2}", &models[0], 300);
        let lengths = evaluator.brlen_sets();
        let before = evaluator.log_likelihood().unwrap();
        optimize_class_weights(&mut evaluator, &mut models, &[0], 1e-6, false).unwrap();
        let after = evaluator.log_likelihood().unwrap();
        assert!(after > before + 1.0, "{before} {after}");
        assert_eq!(evaluator.brlen_sets(), lengths);
        // No other weights are better.
        let found = models[0].free_class_weights()[0];
        for weight in (1..200).map(|i| f64::from(i) / 200.0) {
            models[0].set_class_weights(&[weight, 1.0 - weight]);
            evaluator.set_model(0, &models[0]);
            let lnl = evaluator.log_likelihood().unwrap();
            assert!(lnl < after + 1e-4, "{weight}: {lnl}, {found}: {after}");
        }
    }

    #[test]
    fn a_class_of_counted_frequencies_and_other_parameters_are_estimated_with_the_weights() {
        let mut models = vec![Model::parse("LG+C10+F+G2").unwrap()];
        let mut evaluator = case("LG+C10+F+WU{0/1/1/0/0/0/0/0/0/0/8}+G2{0.5}", &models[0], 300);
        let before = evaluator.log_likelihood().unwrap();
        let options = OptimizeOptions::to(0.01);
        let after = optimize(&mut evaluator, &mut models, &options, &mut Silent).unwrap();
        assert!(after > before + 1.0, "{before} {after}");
        let weights = models[0].free_class_weights();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9 && weights[10] > 0.5);
        let alpha = models[0].free_parameters()[0].value;
        assert!((0.3..0.9).contains(&alpha), "{alpha}");
    }
}
