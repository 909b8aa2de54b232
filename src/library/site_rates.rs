//! Rates and profiles of sites by empirical Bayes: posterior means over the categories of a model, at its estimated parameters.
//!
//! ```text
//! P(category c | site) = w[c] L[c] / sum over d of  w[d] L[d]
//! rate of the site     = sum over c of  P(c | site) rate[c]                 (Yang 1995, Genetics 139:993; Mayrose et al. 2004, Mol Biol Evol 21:1781)
//! profile of the site  = sum over classes k of  P(k | site) frequencies[k]  (Wang et al. 2018, Syst Biol 67:216)
//! ```
//!
//! Posteriors of categories are summed over the classes of a mixture, and those of its classes over rates. Where classes have rates of their own
//! (EX2, UL3), the rate of a site is the mean over the categories of all of them.

use crate::likelihood::{Evaluator, Result};
use crate::model::Model;

/// What a model says of each pattern of a partition.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternRates {
    /// The posterior mean of the rate.
    pub means: Vec<f64>,
    /// The most probable category, counted from 1; 0 is that of invariant sites.
    pub categories: Vec<usize>,
    /// Under a profile mixture the posterior mean of the frequencies, `[pattern][state]`.
    pub profiles: Option<Vec<Vec<f64>>>,
}

/// Rates and profiles of the patterns of a partition with at least two taxa.
///
/// # Errors
/// The engine has failed.
pub fn pattern_rates(evaluator: &mut Evaluator, partition: usize) -> Result<PatternRates> {
    let model = evaluator.model(partition).clone();
    let cats = model.rates_over_sites();
    let lnls = evaluator.rate_log_likelihoods(partition)?;
    // The likelihood of invariant sites has their proportion as a factor already.
    let weights: Vec<f64> =
        cats.weights.iter().copied().chain(model.invariant.map(|_| 1.0)).collect();
    let posteriors = posteriors(&lnls, &weights);
    let num_cats = cats.rates.len();
    let best = |posterior: &Vec<f64>| {
        let best =
            (0..posterior.len()).rev().max_by(|&a, &b| posterior[a].total_cmp(&posterior[b]));
        best.map_or(0, |best| if best == num_cats { 0 } else { best + 1 })
    };
    Ok(PatternRates {
        means: match model.mixture.as_ref().filter(|mixture| mixture.has_different_rates()) {
            Some(mixture) if mixture.own_weights().is_some() => {
                means_over_classes(evaluator, partition, &model)?
            }
            _ => means(&posteriors, &cats.rates),
        },
        categories: posteriors.iter().map(best).collect(),
        profiles: profiles(evaluator, partition, &model)?,
    })
}

/// Means of the rates of categories by their posteriors, `[pattern][category]`; a category without a rate is that of invariant sites.
fn means(posteriors: &[Vec<f64>], rates: &[f64]) -> Vec<f64> {
    let mean = |posterior: &Vec<f64>| posterior.iter().zip(rates).map(|(p, rate)| p * rate).sum();
    posteriors.iter().map(mean).collect()
}

/// The means where classes have rates of their own, over the categories of all of them.
fn means_over_classes(
    evaluator: &mut Evaluator,
    partition: usize,
    model: &Model,
) -> Result<Vec<f64>> {
    let cats = model.rate_cats();
    let classes = model.mixture.as_ref().and_then(|mixture| mixture.own_weights()).unwrap_or(&[]);
    let (mut variable, mut invariant) = (Vec::new(), Vec::new());
    for mut of_class in evaluator.rate_log_likelihoods_of_classes(partition)? {
        let of_invariant = of_class.split_off(cats.rates.len() / classes.len());
        variable.extend(of_class);
        invariant.extend(of_invariant);
    }
    let weights = cats.weights.iter().chain(classes.iter().take(invariant.len()));
    let weights: Vec<f64> = weights.copied().collect();
    let lnls: Vec<Vec<f64>> = variable.into_iter().chain(invariant).collect();
    Ok(means(&posteriors(&lnls, &weights), &cats.rates))
}

fn profiles(
    evaluator: &mut Evaluator,
    partition: usize,
    model: &Model,
) -> Result<Option<Vec<Vec<f64>>>> {
    let Some(mixture) = model.mixture.as_ref().filter(|mixture| mixture.is_of_frequencies()) else {
        return Ok(None);
    };
    let Some(weights) = mixture.own_weights() else { return Ok(None) };
    let lnls = evaluator.class_log_likelihoods(partition)?;
    let profile = |posterior: Vec<f64>| {
        let mut freqs = vec![0.0; model.num_states()];
        for (class, share) in mixture.classes.iter().zip(posterior) {
            let of_class = class.freqs.as_deref().unwrap_or(&model.freqs);
            freqs.iter_mut().zip(of_class).for_each(|(sum, freq)| *sum += share * freq);
        }
        freqs
    };
    Ok(Some(posteriors(&lnls, weights).into_iter().map(profile).collect()))
}

/// `[pattern][category]`, of `[category][pattern]` log-likelihoods.
fn posteriors(lnls: &[Vec<f64>], weights: &[f64]) -> Vec<Vec<f64>> {
    let num_patterns = lnls.first().map_or(0, Vec::len);
    (0..num_patterns)
        .map(|pattern| {
            let logs = lnls.iter().zip(weights);
            let logs: Vec<f64> =
                logs.map(|(of_cat, weight)| of_cat[pattern] + libm::log(*weight)).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shares: Vec<f64> = logs.iter().map(|log| libm::exp(log - most)).collect();
            let sum: f64 = shares.iter().sum();
            shares.iter().map(|share| share / sum).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::PartitionData;
    use crate::likelihood::select::make_engine;
    use crate::likelihood::{BrlenLinkage, EngineOptions};
    use crate::rng::{Purpose, stream};
    use crate::simulate::{sample_partition, yule_tree};
    use crate::tree::Tree;

    /// Posteriors computed from the likelihoods of single categories in a model of its own each.
    #[test]
    fn posterior_means_are_those_of_likelihoods_of_single_categories() {
        let mut rng = stream(7, Purpose::Test, 0);
        let tree = yule_tree(8, 0.3, &mut rng);
        for text in [
            "JC+G3{0.5}",
            "HKY{2}+FE+G2{0.4}+I{0.3}",
            "LG+C10+R2{0.3/1.7}{0.5/0.5}",
            "LG+C10+G2{0.5}+I{0.2}",
            "LG4M",
        ] {
            let model = Model::parse(text).unwrap();
            let patterns = sample_partition(&tree, &model, 8, 60, &mut rng);
            let data = PartitionData::new(&patterns, &model);
            let engine =
                make_engine(std::slice::from_ref(&data), &EngineOptions::default()).unwrap();
            let partition = (&data, patterns.tip_taxa.as_slice(), model.clone());
            let mut evaluator =
                Evaluator::new(tree.clone(), vec![partition], BrlenLinkage::Linked, engine);
            let before = evaluator.pattern_log_likelihoods(0).unwrap();
            let found = pattern_rates(&mut evaluator, 0).unwrap();
            assert_eq!(
                evaluator.pattern_log_likelihoods(0).unwrap(),
                before,
                "{text}: left as it was"
            );
            let cats = model.rates_over_sites();
            let lnls = evaluator.rate_log_likelihoods(0).unwrap();
            for pattern in 0..found.means.len() {
                // All categories together are the likelihood.
                let of_cats =
                    cats.weights.iter().zip(&lnls).map(|(w, l)| w * libm::exp(l[pattern]));
                let invariant = lnls.get(cats.rates.len()).map_or(0.0, |l| libm::exp(l[pattern]));
                let sum = of_cats.clone().sum::<f64>() + invariant;
                assert!((libm::log(sum) - before[pattern]).abs() < 1e-9, "{text}, {pattern}");
                let mean: f64 =
                    of_cats.zip(&cats.rates).map(|(l, rate)| l * rate).sum::<f64>() / sum;
                assert!((mean - found.means[pattern]).abs() < 1e-9, "{text}, {pattern}");
                let largest = cats.rates.iter().copied().fold(0.0, f64::max);
                assert!(
                    found.means[pattern] <= largest
                        && found.categories[pattern] <= cats.rates.len()
                );
            }
            assert_eq!(found.profiles.is_some(), text.contains("C10"), "{text}");
            for profile in found.profiles.iter().flatten() {
                assert!((profile.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
    }

    /// Likelihoods of single categories under a model without classes each, with longer branches.
    #[test]
    fn rates_of_classes_are_in_the_means() {
        let mut rng = stream(8, Purpose::Test, 0);
        let tree = yule_tree(7, 0.4, &mut rng);
        for (text, matrices) in [
            ("MIX{LG:0.5:0.3/WAG:1.5:0.7}+G2{0.7}", ["LG", "WAG"]),
            ("MIX{LG:0.2:0.6/JTT:3:0.4}+I{0.2}", ["LG", "JTT"]),
        ] {
            let model = Model::parse(text).unwrap();
            let patterns = sample_partition(&tree, &model, 7, 80, &mut rng);
            let evaluator = |tree: &Tree, model: &Model| {
                let data = PartitionData::new(&patterns, model);
                let engine =
                    make_engine(std::slice::from_ref(&data), &EngineOptions::default()).unwrap();
                let partition = (&data, patterns.tip_taxa.as_slice(), model.clone());
                Evaluator::new(tree.clone(), vec![partition], BrlenLinkage::Linked, engine)
            };
            let cats = model.rate_cats();
            let mut weighted = Vec::new();
            for (number, (rate, weight)) in cats.rates.iter().zip(&cats.weights).enumerate() {
                let mut longer = tree.clone();
                for edge in longer.edges().collect::<Vec<_>>() {
                    longer.set_brlen(edge, rate * tree.brlen(edge));
                }
                let matrix = matrices[number * 2 / cats.rates.len()];
                let mut alone = evaluator(&longer, &Model::parse(matrix).unwrap());
                let lnls = alone.pattern_log_likelihoods(0).unwrap();
                weighted.resize(lnls.len(), 0.0);
                for (pattern, lnl) in lnls.into_iter().enumerate() {
                    weighted[pattern] += rate * weight * libm::exp(lnl);
                }
            }
            let mut all = evaluator(&tree, &model);
            let lnls = all.pattern_log_likelihoods(0).unwrap();
            let found = pattern_rates(&mut all, 0).unwrap();
            assert_eq!(all.pattern_log_likelihoods(0).unwrap(), lnls, "{text}: left as it was");
            for (pattern, mean) in found.means.iter().enumerate() {
                // (The lengths of the longer branches are rounded to 6e-11; invariant sites have the rate 0.)
                let want = weighted[pattern] / libm::exp(lnls[pattern]);
                assert!((mean - want).abs() < 1e-7, "{text}, {pattern}: {mean} {want}");
            }
        }
    }
}
