//! The parameters of a model as one vector of unbounded numbers, and the normal distribution that is learned of it during
//! the burn-in.
//!
//! Parameters of a model depend on each other: where one is changed at a time, each can go only as far as the others
//! allow. The proposal made with what was learned changes all of them together, mostly to a place that has nothing to do
//! with the present one (autoregressive proposals: Neal 1999; Cotter et al. 2013, Stat. Sci. 28:424).

use super::chain::Chain;
use super::draws::{draw_gamma, normal};
use super::lengths::LengthSet;
use super::parameters::Parameter;
use crate::model::Model;
use crate::model::bounds::PINV_MAX;
use crate::numeric::Gamma;
use crate::rng::Rng;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// Most numbers in a vector: of more the covariances are not learned within a burn-in.
pub(super) const MOST_DIMENSIONS: usize = 40;

/// How much wider the learned distribution is made: a proposal that rarely goes as far as the posterior stays there.
const WIDENING: f64 = 1.15;

/// Degrees of freedom of the distribution of proposals.
const FREEDOM: f64 = 5.0;

/// States that are counted as if they had told that the numbers are independent.
const PRIOR_STATES: f64 = 20.0;

/// What is sampled of a model, and the tree length if no other model depends on it, as one vector.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coordinates {
    pub(super) partition: usize,
    parameters: Vec<Parameter>,
    has_length: bool,
}

impl Coordinates {
    /// Of each model with at least two sampled numbers, and at most [`MOST_DIMENSIONS`].
    pub(super) fn list(
        parameters: &[Parameter],
        models: &[Model],
        has_own_lengths: bool,
    ) -> Vec<Coordinates> {
        let of_partition = |partition: usize| {
            let own =
                parameters.iter().filter(|parameter| parameter.partition() == Some(partition));
            let one = Coordinates {
                partition,
                parameters: own.copied().collect(),
                has_length: models.len() == 1 || has_own_lengths,
            };
            let is_worth_it = (2..=MOST_DIMENSIONS).contains(&one.size(models));
            (!one.parameters.is_empty() && is_worth_it).then_some(one)
        };
        (0..models.len()).filter_map(of_partition).collect()
    }

    /// Size of the vector.
    pub(super) fn size(&self, models: &[Model]) -> usize {
        let own = self.parameters.iter().map(|parameter| parameter.size(&models[self.partition]));
        own.sum::<usize>() + usize::from(self.has_length)
    }

    /// The present vector, and the logarithm of the determinant of what leads from it to parameters and branch lengths:
    /// shares s are ln(s / last share), a shape is its logarithm, a proportion p is ln(p / (1 - p / most)), and the tree
    /// length its logarithm, with the shares of the branches unchanged. `None` if a number is not finite.
    pub(super) fn of(&self, chain: &Chain) -> Option<(Vec<f64>, f64)> {
        let (mut vector, mut ln_jacobian) = (Vec::new(), 0.0);
        for parameter in &self.parameters {
            if let Some(shares) = parameter.shares(&chain.models, &chain.evaluator) {
                let ln_shares: Vec<f64> = shares.iter().map(|&share| libm::log(share)).collect();
                let (last, others) = ln_shares.split_last().expect("at least two shares");
                vector.extend(others.iter().map(|ln_share| ln_share - last));
                ln_jacobian += ln_shares.iter().sum::<f64>();
            } else if let Some(number) = parameter.number(&chain.models) {
                let ln_number = libm::log(number);
                let ln_rest = if matches!(parameter, Parameter::Pinv(_)) {
                    libm::log((PINV_MAX - number) / PINV_MAX)
                } else {
                    0.0
                };
                vector.push(ln_number - ln_rest);
                ln_jacobian += ln_number + ln_rest;
            }
        }
        if self.has_length {
            let tree =
                LengthSet::of_partition(&chain.evaluator, self.partition).tree(&chain.evaluator);
            let ln_length = libm::log(tree.total_length());
            vector.push(ln_length);
            ln_jacobian += tree.num_edges() as f64 * ln_length;
        }
        vector.iter().all(|x| x.is_finite()).then_some((vector, ln_jacobian))
    }

    /// Sets the parameters in a model. Returns the tree length if it is part of the vector.
    pub(super) fn set(&self, vector: &[f64], model: &mut Model) -> Option<f64> {
        let mut rest = vector;
        for &parameter in &self.parameters {
            let (own, others) = rest.split_at(parameter.size(model));
            rest = others;
            match parameter {
                Parameter::Alpha(_) => parameter.set_number(model, libm::exp(own[0])),
                Parameter::Pinv(_) => {
                    let pinv = PINV_MAX / (1.0 + PINV_MAX * libm::exp(-own[0]));
                    parameter.set_number(model, pinv);
                }
                _ => {
                    let most = own.iter().copied().fold(0.0, f64::max);
                    let powers = own.iter().copied().chain([0.0]).map(|x| libm::exp(x - most));
                    let mut shares: Vec<f64> = powers.collect();
                    let sum: f64 = shares.iter().sum();
                    shares.iter_mut().for_each(|share| *share /= sum);
                    parameter.set_shares(model, &shares);
                }
            }
        }
        self.has_length.then(|| libm::exp(rest[0]))
    }
}

/// A normal distribution: x = mean + L y with independent standard normal y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    mean: Vec<f64>,
    /// L, the rows of a lower triangle.
    factor: Vec<Vec<f64>>,
}

impl Reference {
    /// A proposal from x that leaves Student's distribution of sqrt(heat) y with [`FREEDOM`] degrees of freedom as it is: this
    /// is a normal one whose precision w is drawn by a gamma distribution, so w is drawn given y, and then y' = r y + sqrt(1 -
    /// r^2) z with standard normal z / sqrt(w heat) (Kamatani 2018, Stat. Sin. 28:2155, for such proposals). A normal
    /// distribution that is not wide enough would hold on to the chain far from its mean. Returns x' and the logarithm of the
    /// density of the way back by that of the way there.
    pub(super) fn propose(
        &self,
        x: &[f64],
        step_size: f64,
        heat: f64,
        rng: &mut Rng,
    ) -> (Vec<f64>, f64) {
        let keep = 1.0 - step_size.min(1.0);
        let y = self.to_independent(x);
        let width = |y: &[f64]| FREEDOM + heat * y.iter().map(|y| y * y).sum::<f64>();
        let shape = 0.5 * (FREEDOM + y.len() as f64);
        let precision = draw_gamma(Gamma { shape, rate: 0.5 * width(&y) }, rng);
        let noise = ((1.0 - keep * keep) / (heat * precision)).sqrt();
        let proposed: Vec<f64> = y.iter().map(|y| keep * y + noise * normal(rng)).collect();
        let ln_ratio = shape * libm::log(width(&proposed) / width(&y));
        let row = |(row, mean): (&Vec<f64>, &f64)| {
            mean + row.iter().zip(&proposed).map(|(l, y)| l * y).sum::<f64>()
        };
        (self.factor.iter().zip(&self.mean).map(row).collect(), ln_ratio)
    }

    fn to_independent(&self, x: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::with_capacity(x.len());
        for (i, row) in self.factor.iter().enumerate() {
            let known: f64 = row.iter().zip(&y).map(|(l, y)| l * y).sum();
            y.push((x[i] - self.mean[i] - known) / row[i]);
        }
        y
    }

    /// True if it is a distribution of vectors of this size.
    fn fits(&self, size: usize) -> bool {
        self.mean.len() == size
            && self.factor.len() == size
            && self.factor.iter().enumerate().all(|(i, row)| row.len() == i + 1 && row[i] > 0.0)
    }
}

/// What is known of a vector: the distribution in use, and what has been seen since.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Learner {
    pub(super) reference: Option<Reference>,
    count: f64,
    mean: Vec<f64>,
    /// Sums of the products of deviations from the mean: a lower triangle.
    products: Vec<Vec<f64>>,
}

impl Learner {
    /// Adds a state that was visited.
    pub(super) fn see(&mut self, x: &[f64]) {
        if self.mean.is_empty() {
            self.mean = vec![0.0; x.len()];
            self.products = (1..=x.len()).map(|length| vec![0.0; length]).collect();
        }
        self.count += 1.0;
        let before: Vec<f64> = x.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        self.mean.iter_mut().zip(&before).for_each(|(mean, d)| *mean += d / self.count);
        for (i, row) in self.products.iter_mut().enumerate() {
            let after = x[i] - self.mean[i];
            row.iter_mut().zip(&before).for_each(|(sum, d)| *sum += after * d);
        }
    }

    /// Uses what has been seen, if that is enough.
    pub(super) fn learn(&mut self) {
        let enough = 5.0 * self.mean.len() as f64;
        if self.count < enough.max(2.0) {
            return;
        }
        let dependence = self.count / (self.count + PRIOR_STATES);
        let size = self.mean.len();
        let covariance = DMatrix::from_fn(size, size, |i, j| {
            let shrunk = if i == j { 1.0 } else { dependence };
            WIDENING * shrunk * self.products[i.max(j)][i.min(j)] / (self.count - 1.0)
        });
        let Some(cholesky) = covariance.cholesky() else { return };
        let lower = cholesky.l();
        // What has not moved yet.
        if lower.diagonal().iter().any(|x| x.is_nan() || x * x <= 1e-12) {
            return;
        }
        let row = |i: usize| (0..=i).map(|j| lower[(i, j)]).collect();
        let factor = (0..size).map(row).collect();
        self.reference = Some(Reference { mean: self.mean.clone(), factor });
    }

    /// Forgets what has been seen, but not what is used.
    pub(super) fn forget(&mut self) {
        *self = Learner { reference: self.reference.take(), ..Learner::default() };
    }

    /// True if it may be about vectors of this size.
    pub(super) fn fits(&self, size: usize) -> bool {
        self.reference.as_ref().is_none_or(|reference| reference.fits(size))
            && (self.mean.is_empty() || self.mean.len() == size)
            && self.products.len() == self.mean.len()
            && self.products.iter().enumerate().all(|(i, row)| row.len() == i + 1)
    }
}
