//! Starting values for rates over sites, whose likelihood has many local optima.

use super::bounds;
use super::mixture::ClassWeights;
use super::modes::ParamMode;
use super::parameters::Model;
use super::rates::{FreeRates, Gamma, Heterogeneity};
use crate::numeric::{GammaMode, discrete_gamma};

/// Shapes of gamma distributions to begin with.
const ALPHAS: [f64; 4] = [0.2, 0.5, 1.2, 4.0];
/// The same under a correction of ascertainment bias: variable sites alone hardly tell short branches with strong variation of
/// rates from long ones with little (200 variable sites of 12 primates: without these, 3.7 log units were missing).
const ALPHAS_OF_VARIABLE: [f64; 4] = [0.1, 0.2, 0.5, 1.2];
/// Proportions of (nearly) invariant sites to begin with.
const PINVS: [f64; 4] = [0.0, 0.15, 0.35, 0.6];
/// Rate of nearly invariant sites, relative to the mean of the others.
const HARDLY: f64 = 1e-3;
/// Rate of a few very fast sites relative to the fastest of the others, and their share.
const FAST: f64 = 10.0;
/// The same for a matrix of a mixture: LG4X's best optimum on 19 taxa has one with 1.5 times the fastest of the others.
const FAST_OF_MIXTURE: [f64; 2] = [3.0, 10.0];
const FEW: f64 = 0.003;
/// The parts of a rate that is split differ from it by this share.
const SPREAD: f64 = 0.5;

impl FreeRates {
    /// The same with one rate split into two; what was there has half the weight each.
    pub fn split(&self, cat: usize) -> Self {
        let mut parts = self.clone();
        parts.weights[cat] *= 0.5;
        parts.rates[cat] *= 1.0 - SPREAD;
        parts.weights.insert(cat + 1, parts.weights[cat]);
        parts.rates.insert(cat + 1, self.rates[cat] * (1.0 + SPREAD));
        parts
    }

    /// The same with one more rate, of nearly invariant sites, which takes a share of all weight.
    pub(crate) fn with_hardly_varying(&self, share: f64) -> Self {
        let mut more = self.clone();
        more.weights.iter_mut().for_each(|weight| *weight *= 1.0 - share);
        more.weights.insert(0, share);
        more.rates.insert(0, HARDLY);
        more.normalise();
        more
    }

    /// The same with one more rate, of a few very fast sites. Without this start, +R5 ended 11 log units below +I+R4 on
    /// a parsimony tree of 32 gall wasps, whose fastest rate is 65 times the mean.
    pub(crate) fn with_few_fast(&self) -> Self {
        let mut more = self.clone();
        let fastest = more.rates.iter().copied().fold(0.0, f64::max);
        more.weights.iter_mut().for_each(|weight| *weight *= 1.0 - FEW);
        more.weights.push(FEW);
        more.rates.push(fastest * FAST);
        more.normalise();
        more
    }

    /// The same with a category that is that of a few very fast sites.
    fn fast(&self, cat: usize, factor: f64) -> Self {
        let mut more = self.clone();
        more.rates[cat] = factor * more.rates.iter().copied().fold(0.0, f64::max);
        more.weights[cat] = FEW;
        more.normalise();
        more
    }

    /// The same with two neighbouring rates (in order of the categories) as one.
    fn merge(&self, cat: usize) -> Self {
        let mut merged = self.clone();
        let (weight, rate) = (merged.weights.remove(cat + 1), merged.rates.remove(cat + 1));
        let sum = merged.weights[cat] + weight;
        merged.rates[cat] = (merged.rates[cat] * merged.weights[cat] + rate * weight) / sum;
        merged.weights[cat] = sum;
        merged
    }

    fn sorted(&self) -> Self {
        let mut order: Vec<usize> = (0..self.rates.len()).collect();
        order.sort_by(|&a, &b| self.rates[a].total_cmp(&self.rates[b]));
        self.permuted(&order)
    }

    /// The same with the categories in this order.
    fn permuted(&self, order: &[usize]) -> Self {
        FreeRates {
            rates: order.iter().map(|&cat| self.rates[cat]).collect(),
            weights: order.iter().map(|&cat| self.weights[cat]).collect(),
            mode: self.mode,
        }
    }

    fn gamma(num_cats: usize, alpha: f64) -> Self {
        FreeRates {
            rates: discrete_gamma(alpha, num_cats, GammaMode::Mean),
            weights: vec![1.0 / num_cats as f64; num_cats],
            mode: ParamMode::Optimized,
        }
    }
}

/// All orders of so many categories, the present one first.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for cat in 0..count {
        let with = |order: &Vec<usize>, place: usize| {
            let mut order = order.clone();
            order.insert(place, cat);
            order
        };
        orders = (0..=cat)
            .rev()
            .flat_map(|place| orders.iter().map(move |order| with(order, place)))
            .collect();
    }
    orders
}

impl Model {
    /// This model with other rates over sites to begin an optimisation with, where their likelihood may have
    /// several optima: free rates, and gamma-distributed ones beside invariant sites or of variable sites alone. None where they are
    /// fixed. Where they belong to the matrices of a mixture, these exchange theirs.
    pub(crate) fn other_rates_over_sites(&self) -> Vec<Model> {
        let is_open = |mode| mode == ParamMode::Optimized;
        let pinv_is_open = self.invariant.is_some_and(|invariant| is_open(invariant.pinv_mode));
        let with = |heterogeneity, pinv: Option<f64>| {
            let mut model = Model { heterogeneity, ..self.clone() };
            if let (Some(invariant), Some(pinv)) = (&mut model.invariant, pinv) {
                invariant.pinv = pinv;
            }
            model
        };
        let both = ALPHAS.iter().flat_map(|&alpha| PINVS.iter().map(move |&pinv| (alpha, pinv)));
        match &self.heterogeneity {
            Heterogeneity::Gamma(gamma) if is_open(gamma.alpha_mode) && pinv_is_open => both
                .map(|(alpha, pinv)| {
                    with(Heterogeneity::Gamma(Gamma { alpha, ..*gamma }), Some(pinv))
                })
                .collect(),
            Heterogeneity::Gamma(gamma)
                if is_open(gamma.alpha_mode) && self.ascertainment.is_some() =>
            {
                let begun = |alpha| with(Heterogeneity::Gamma(Gamma { alpha, ..*gamma }), None);
                ALPHAS_OF_VARIABLE.into_iter().map(begun).collect()
            }
            Heterogeneity::Free(free)
                if is_open(free.mode) && free.rates.len() > 1 && !self.has_matrices_of_rates() =>
            {
                let num_cats = free.rates.len();
                let mut starts: Vec<FreeRates> = both
                    .map(|(alpha, share)| match share {
                        0.0 => FreeRates::gamma(num_cats, alpha),
                        _ => FreeRates::gamma(num_cats - 1, alpha).with_hardly_varying(share),
                    })
                    .collect();
                let now = free.sorted();
                for merged in (0..num_cats - 1).map(|cat| now.merge(cat)) {
                    starts.extend((0..num_cats - 1).map(|cat| merged.split(cat)));
                    starts.push(merged.with_hardly_varying(PINVS[1]));
                    starts.push(merged.with_few_fast());
                }
                let hardly = pinv_is_open.then_some(bounds::PINV_MIN);
                starts
                    .into_iter()
                    .flat_map(|free| {
                        let pinvs = [None, hardly];
                        let count = if pinv_is_open { 2 } else { 1 };
                        pinvs.into_iter().take(count).map(move |pinv| (free.clone(), pinv))
                    })
                    .map(|(free, pinv)| with(Heterogeneity::Free(free), pinv))
                    .collect()
            }
            // Which of the matrices has which rate and weight, or is that of a few very fast sites.
            Heterogeneity::Free(free) if is_open(free.mode) => {
                let num_cats = free.rates.len();
                let others = permutations(num_cats).into_iter().skip(1);
                let permuted = others.map(|order| free.permuted(&order));
                let fast = (0..num_cats)
                    .flat_map(|cat| FAST_OF_MIXTURE.map(|factor| free.fast(cat, factor)));
                permuted.chain(fast).map(|free| with(Heterogeneity::Free(free), None)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// True if each category of rates over sites has a rate matrix of its own, so that they cannot exchange their places.
    pub(crate) fn has_matrices_of_rates(&self) -> bool {
        self.mixture.as_ref().is_some_and(|mixture| mixture.weights == ClassWeights::OfRates)
    }

    /// True if rates over sites are free (+R) and estimated.
    pub(crate) fn estimates_free_rates(&self) -> bool {
        matches!(&self.heterogeneity, Heterogeneity::Free(free) if free.mode == ParamMode::Optimized)
    }

    /// Number of the [`Model::free_parameters`], the last ones, that determine rates over sites.
    pub(crate) fn num_parameters_of_rates(&self) -> usize {
        let heterogeneity = match &self.heterogeneity {
            Heterogeneity::Gamma(gamma) if gamma.alpha_mode == ParamMode::Optimized => 1,
            Heterogeneity::Free(free) if free.mode == ParamMode::Optimized => {
                2 * (free.rates.len() - 1)
            }
            _ => 0,
        };
        let open = |i: &super::rates::Invariant| i.pinv_mode == ParamMode::Optimized;
        heterogeneity + usize::from(self.invariant.as_ref().is_some_and(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_has_as_many_categories_and_a_mean_rate_of_1() {
        for (text, count) in [
            ("GTR+R4", 31),
            ("JC+R2+I", 38),
            ("HKY+I+G4", 16),
            ("GTR+G4", 0),
            ("GTR+G4+ASC", 4),
            ("LG4X", 31),
            ("JC+R4{1/2/3/4}{.1/.2/.3/.4}", 0),
        ] {
            let model = Model::parse(text).unwrap();
            let starts = model.other_rates_over_sites();
            assert_eq!(starts.len(), count, "{text}");
            for start in starts {
                let (cats, before) = (start.rate_cats(), model.rate_cats());
                let mean: f64 = cats.rates.iter().zip(&cats.weights).map(|(r, w)| r * w).sum();
                assert!((mean - 1.0).abs() < 1e-12, "{start}");
                assert_eq!(cats.rates.len(), before.rates.len());
            }
        }
    }

    #[test]
    fn the_last_parameters_are_those_of_rates_over_sites() {
        for (text, count) in
            [("GTR+FO+I+G", 2), ("GTR+R4+I", 7), ("LG4X", 6), ("JC", 0), ("GY+G", 1)]
        {
            let model = Model::parse(text).unwrap();
            assert_eq!(model.num_parameters_of_rates(), count, "{text}");
            let all = model.free_parameters();
            let is_of_rates = |name: &str| {
                name == "alpha" || name.contains("invariable") || name.contains("free rate")
            };
            let names: Vec<bool> = all.iter().map(|p| is_of_rates(&p.name)).collect();
            assert!(names[all.len() - count..].iter().all(|&is| is), "{text}");
            assert!(!names[..all.len() - count].contains(&true), "{text}");
        }
    }
}
