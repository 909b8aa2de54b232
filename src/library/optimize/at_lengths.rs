//! [`optimize_at_lengths`]: the parameters of one partition at given branch lengths, and [`Optimum`], what is then known of the
//! likelihood around them: a fit of the same model to more data begins with that.
//!
//! Near its optimum x_A, the log-likelihood of data A is about
//!
//! ```text
//! lnL_A(x) = lnL_A(x_A) - (x - x_A)' H_A (x - x_A) / 2
//! ```
//!
//! with H_A the Hessian of -lnL. Log-likelihoods of disjoint data add, so that of A and B together has its optimum at about
//! x = (H_A + H_B)^-1 (H_A x_A + H_B x_B), and the Hessian H_A + H_B there. An optimisation that begins with both needs few
//! function values.

use super::learnt::{Curvature, Learnt};
use super::params::Parameters;
use crate::likelihood::{Evaluator, Result};
use crate::model::{FreeParameter, Model};
use serde::{Deserialize, Serialize};

/// Step of second differences, in coordinates that are mostly logarithms: the curvature is wanted over about the distance
/// between the optima of two data sets, and errors of rounding are smaller than with shorter steps.
const STEP: f64 = 0.05;
/// A call of the optimiser may end where this share of what it gained is missing; there are at most so many calls.
const SHARE_LEFT: f64 = 0.02;
const MAX_CALLS: usize = 4;
/// Least curvature along an axis (log units): parameters that the data do not determine stay where they are.
const LEAST_CURVATURE: f64 = 1e-3;
/// Factor by which the curvature along the axes is increased until a Hessian is positive definite, and how often.
const DAMPING: f64 = 1.5;
const MAX_DAMPINGS: usize = 40;

/// An optimum of a model's parameters at given branch lengths, with the scaler of these lengths if that was optimised, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// The free parameters as logarithms, or as they are where they are not optimised as such; then that of the scaler.
    place: Vec<f64>,
    /// Approximate Hessian of the negative log-likelihood, row by row.
    hessian: Vec<f64>,
}

impl Optimum {
    /// The optimum of the data of two, by both Hessians. `None` if the models have different numbers of parameters.
    pub fn pooled(&self, other: &Optimum) -> Option<Optimum> {
        let n = self.place.len();
        if other.place.len() != n {
            return None;
        }
        let sum = |(a, b): (&f64, &f64)| a + b;
        let hessian: Vec<f64> = self.hessian.iter().zip(&other.hessian).map(sum).collect();
        let (a, b) = (self.times(&self.place), other.times(&other.place));
        let right: Vec<f64> = a.iter().zip(&b).map(sum).collect();
        let place = solve(&hessian, &right)?;
        // Where the data hardly determine a parameter, the solution may lie far outside of both.
        let between = |i: usize| {
            let (a, b) = (self.place[i], other.place[i]);
            place[i].clamp(a.min(b), a.max(b))
        };
        Some(Optimum { place: (0..n).map(between).collect(), hessian })
    }

    /// The same place if there are so many times as many data.
    pub fn with_more_data(&self, factor: f64) -> Optimum {
        Optimum {
            place: self.place.clone(),
            hessian: self.hessian.iter().map(|h| factor * h).collect(),
        }
    }

    /// By how much the log-likelihoods of two data sets together are lower at a place than at the optimum of each.
    pub fn loss(&self, other: &Optimum) -> Option<f64> {
        let pooled = self.pooled(other)?;
        let one = |optimum: &Optimum| {
            let step: Vec<f64> =
                pooled.place.iter().zip(&optimum.place).map(|(a, b)| a - b).collect();
            0.5 * dot(&step, &optimum.times(&step))
        };
        Some(one(self) + one(other))
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        (0..n).map(|i| dot(&self.hessian[i * n..(i + 1) * n], x)).collect()
    }

    /// Gives a model the parameters of the optimum, if it has as many; returns the scaler, if there is one.
    pub fn set_parameters(&self, model: &mut Model) -> Option<f64> {
        let parameters = model.free_parameters();
        let (own, scaler) = self.place.split_at(parameters.len().min(self.place.len()));
        if own.len() == parameters.len() {
            let values: Vec<f64> = parameters.iter().zip(own).map(from_coordinate).collect();
            model.set_free_parameters(&values);
        }
        scaler.first().map(|&scaler| libm::exp(scaler))
    }

    /// The same with the scaler of an evaluator's only partition.
    fn set(&self, evaluator: &mut Evaluator, model: &mut Model) {
        if let Some(scaler) = self.set_parameters(model) {
            evaluator.set_brlen_scaler(0, scaler);
        }
        evaluator.set_model(0, model);
    }
}

/// Optimises the parameters of an evaluator's only partition at its present branch lengths, and with `with_scaler` a factor of
/// these (under scaled lengths, the scaler), from a place that another fit tells, or from their present values. Ends where the next
/// step would gain little more than a tenth of `lnl_epsilon` (log units). Returns the log-likelihood; and what is known of it
/// if something was known before.
///
/// # Errors
/// The engine has failed.
///
/// # Panics
/// If there are several partitions.
pub fn optimize_at_lengths(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    with_scaler: bool,
    lnl_epsilon: f64,
    start: Option<&Optimum>,
) -> Result<(f64, Option<Optimum>)> {
    assert!(models.len() == 1 && evaluator.num_partitions() == 1, "one partition");
    if let Some(start) = start {
        start.set(evaluator, &mut models[0]);
    }
    let num_parameters = models[0].free_parameters().len();
    let known =
        start.filter(|start| start.place.len() == num_parameters + usize::from(with_scaler));
    let known = known.map(|start| Curvature::near(start.hessian.clone(), num_parameters));
    let is_known = known.is_some();
    let mut learnt = Learnt::of_one(known);
    let mut lnl = evaluator.log_likelihood()?;
    for _ in 0..MAX_CALLS {
        let parameters = Parameters::new(evaluator, models);
        let parameters = if with_scaler { parameters.with_scaler() } else { parameters };
        let before = std::mem::replace(&mut lnl, parameters.optimize(lnl_epsilon, &mut learnt)?);
        if SHARE_LEFT * (lnl - before) < lnl_epsilon {
            break;
        }
    }
    let hessian = learnt.into_first().filter(|_| is_known).map(Curvature::into_hessian);
    let place = || place_of(evaluator, &models[0], with_scaler);
    Ok((lnl, hessian.map(|hessian| Optimum { place: place(), hessian })))
}

fn place_of(evaluator: &Evaluator, model: &Model, with_scaler: bool) -> Vec<f64> {
    let coordinate = |p: &FreeParameter| if p.logarithmic { libm::log(p.value) } else { p.value };
    let mut place: Vec<f64> = model.free_parameters().iter().map(coordinate).collect();
    place.extend(with_scaler.then(|| libm::log(evaluator.brlen_scaler(0))));
    place
}

fn from_coordinate((parameter, x): (&FreeParameter, &f64)) -> f64 {
    let value = if parameter.logarithmic { libm::exp(*x) } else { *x };
    value.clamp(parameter.lo, parameter.hi)
}

/// The curvature of the likelihood around the present parameters of an evaluator's only partition, by second differences, and with
/// `with_scaler` around the scaler of its lengths.
///
/// # Errors
/// The engine has failed.
pub fn measure_optimum(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    with_scaler: bool,
) -> Result<Optimum> {
    let lnl = evaluator.log_likelihood()?;
    let place = place_of(evaluator, &models[0], with_scaler);
    let n = place.len();
    let mut hessian = vec![0.0; n * n];
    let before = models[0].clone();
    let scaler = evaluator.brlen_scaler(0);
    // Away from the bounds, and towards the roomier side.
    let parameters = before.free_parameters();
    let step = |i: usize| match parameters.get(i) {
        Some(p) if !p.logarithmic => STEP * if p.value > 0.5 * (p.lo + p.hi) { -0.2 } else { 0.2 },
        Some(p) if p.value * 2.0 > p.hi => -STEP,
        _ => STEP,
    };
    let mut at = |moves: &[(usize, f64)]| -> Result<f64> {
        let mut place = place.clone();
        moves.iter().for_each(|&(i, by)| place[i] += by);
        Optimum { place, hessian: Vec::new() }.set(evaluator, &mut models[0]);
        evaluator.log_likelihood()
    };
    let mut once = Vec::with_capacity(n);
    for i in 0..n {
        let (ahead, behind) = (at(&[(i, step(i))])?, at(&[(i, -step(i))])?);
        let curvature = (2.0 * lnl - ahead - behind) / (step(i) * step(i));
        hessian[i * n + i] = if curvature.is_finite() { curvature } else { 0.0 };
        once.push(ahead);
    }
    for i in 0..n {
        for j in 0..i {
            let both = at(&[(i, step(i)), (j, step(j))])?;
            let curvature = (once[i] + once[j] - lnl - both) / (step(i) * step(j));
            if curvature.is_finite() {
                (hessian[i * n + j], hessian[j * n + i]) = (curvature, curvature);
            }
        }
    }
    models[0] = before;
    evaluator.set_model(0, &models[0]);
    evaluator.set_brlen_scaler(0, scaler);
    Ok(Optimum { place, hessian: positive_definite(hessian, n) })
}

/// The same Hessian with as much more curvature along the axes as it takes to be positive definite.
fn positive_definite(mut hessian: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        hessian[i * n + i] = hessian[i * n + i].max(LEAST_CURVATURE);
    }
    for _ in 0..MAX_DAMPINGS {
        if solve(&hessian, &vec![0.0; n]).is_some() {
            return hessian;
        }
        (0..n).for_each(|i| hessian[i * n + i] *= DAMPING);
    }
    (0..n * n).map(|k| if k % (n + 1) == 0 { hessian[k] } else { 0.0 }).collect()
}

/// Solves a system with a symmetric matrix by Cholesky; `None` if that is not positive definite.
fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let n = right.len();
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let below = dot(&factor[i * n..i * n + j], &factor[j * n..j * n + j]);
            let value = matrix[i * n + j] - below;
            if i != j {
                factor[i * n + j] = value / factor[j * n + j];
            } else if value > 1e-12 * matrix[i * n + i].abs() && value.is_finite() {
                factor[i * n + i] = value.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut x = right.to_vec();
    for i in 0..n {
        let below = dot(&factor[i * n..i * n + i], &x[..i]);
        x[i] = (x[i] - below) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let above: f64 = (i + 1..n).map(|j| factor[j * n + i] * x[j]).sum();
        x[i] = (x[i] - above) / factor[i * n + i];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::PartitionData;
    use crate::likelihood::select::make_engine;
    use crate::likelihood::{BrlenLinkage, EngineOptions};
    use crate::rng::{Purpose, stream};
    use crate::simulate::{SimModel, simulate_states, yule_tree};

    /// Models with which data are simulated, and factors of the branch lengths.
    const TRUTH: [(&str, f64); 2] = [("K80{1/4}+FE+G4{0.5}", 1.0), ("K80{1/9}+FE+G4{1.2}", 1.6)];

    /// An evaluator of one partition of simulated data, of one or several of these models.
    fn case(truth: &[usize], model: &Model) -> Evaluator {
        let tree = yule_tree(9, 0.1, &mut stream(3, Purpose::Test, 0));
        let mut rows: Vec<Vec<u16>> = vec![Vec::new(); 9];
        for &number in truth {
            let (text, factor) = TRUTH[number];
            let simulated = Model::parse(text).unwrap();
            let (matrices, cats) = (simulated.eigen_models(), simulated.rate_cats());
            let simulated = SimModel { matrices: &matrices, cats: &cats };
            let mut scaled = tree.clone();
            for edge in tree.edges() {
                scaled.set_brlen(edge, factor * tree.brlen(edge));
            }
            let mut rng = stream(number as u64, Purpose::Test, 1);
            let states = simulate_states(&scaled, &simulated, 600, &mut rng);
            for (row, states) in rows.iter_mut().zip(states) {
                row.extend(states.into_iter().map(|state| 1 << state));
            }
        }
        let data = PartitionData {
            weights: vec![1.0; rows[0].len()],
            tip_codes: rows,
            code_masks: (0..16).collect(),
            undetermined: 15,
            num_states: 4,
            num_rates: model.rate_cats().rates.len(),
            ascertainment: None,
            pattern_freqs: None,
        };
        let engine = make_engine(std::slice::from_ref(&data), &EngineOptions::default()).unwrap();
        let taxa: Vec<usize> = (0..9).collect();
        let partition = (&data, taxa.as_slice(), model.clone());
        Evaluator::new(tree, vec![partition], BrlenLinkage::Scaled, engine)
    }

    fn fitted(truth: &[usize], start: Option<&Optimum>) -> (f64, Optimum, Vec<Model>, f64) {
        let mut models = vec![Model::parse("K80+FE+G4").unwrap()];
        let mut evaluator = case(truth, &models[0]);
        let (lnl, found) =
            optimize_at_lengths(&mut evaluator, &mut models, true, 1e-3, start).unwrap();
        let optimum = match found {
            Some(optimum) => optimum,
            None => measure_optimum(&mut evaluator, &mut models, true).unwrap(),
        };
        assert_eq!(evaluator.log_likelihood().unwrap(), lnl, "nothing is left of the measurement");
        let scaler = evaluator.brlen_scaler(0);
        (lnl, optimum, models, scaler)
    }

    #[test]
    fn the_optimum_of_two_is_found_from_what_is_known_of_each() {
        let [one, other] = [0, 1].map(|number| fitted(&[number], None));
        let from_scratch = fitted(&[0, 1], None);
        let pooled = one.1.pooled(&other.1).unwrap();
        let warm = fitted(&[0, 1], Some(&pooled));
        assert!((warm.0 - from_scratch.0).abs() < 1e-3, "{} {}", warm.0, from_scratch.0);
        assert!((libm::log(warm.3 / from_scratch.3)).abs() < 0.02);
        let lost = one.0 + other.0 - warm.0;
        let expected = one.1.loss(&other.1).unwrap();
        assert!(lost > 1.0 && (0.3..3.0).contains(&(expected / lost)), "{lost} {expected}");
    }

    #[test]
    fn scalers_alone_are_optimised_of_models_without_parameters() {
        let mut models = vec![Model::parse("JC").unwrap()];
        let mut evaluator = case(&[0], &models[0]);
        let before = evaluator.log_likelihood().unwrap();
        let (lnl, _) = optimize_at_lengths(&mut evaluator, &mut models, true, 1e-3, None).unwrap();
        assert!(lnl > before && evaluator.brlen_scaler(0) != 1.0);
        let (same, _) =
            optimize_at_lengths(&mut evaluator, &mut models, false, 1e-3, None).unwrap();
        assert_eq!(same, lnl);
    }

    #[test]
    fn quadratic_likelihoods_are_pooled_exactly() {
        let optimum = |place: [f64; 2], hessian: [f64; 4]| Optimum {
            place: place.to_vec(),
            hessian: hessian.to_vec(),
        };
        let a = optimum([0.0, 1.0], [2.0, 0.0, 0.0, 1.0]);
        let b = optimum([3.0, 1.0], [1.0, 0.0, 0.0, 5.0]);
        let pooled = a.pooled(&b).unwrap();
        assert_eq!(pooled.hessian, [3.0, 0.0, 0.0, 6.0]);
        assert!(pooled.place.iter().all(|x| (x - 1.0).abs() < 1e-12), "{pooled:?}");
        // 2 * 1^2 / 2 + 1 * 2^2 / 2
        assert!((a.loss(&b).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(a.with_more_data(2.0).hessian, [4.0, 0.0, 0.0, 2.0]);
        assert!(a.pooled(&Optimum { place: vec![1.0], hessian: vec![1.0] }).is_none());
        let fixed = positive_definite(vec![1.0, 3.0, 3.0, 1.0], 2);
        assert!(solve(&fixed, &[1.0, 1.0]).is_some());
    }
}
