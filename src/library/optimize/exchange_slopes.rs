//! Slopes of the log-likelihood in many exchange rates at once, from its derivatives in the rate matrices: with finite differences, each
//! of the 189 rates of proteins would take a likelihood.

use super::coordinates::Coordinates;
use crate::likelihood::{Evaluator, RateMatrixGradient, Result};
use crate::model::{EigenModel, Exchange, Model, ParamMode, RateClasses};

/// With fewer rates, slopes are differences. (Not measured: derivatives take, at each branch, updates of CLVs, a likelihood and the products of all
/// pairs of states. Where there are 189 rates, they are far ahead; DNA has 5.)
const FEWEST: usize = 20;

/// Least curvature, of a rate of which the data say nothing: the Hessian must be positive definite.
const LEAST_COUNT: f64 = 1e-3;

/// Slopes in the logarithms of a model's exchange rates (those of the free parameters), and curvatures.
#[derive(Debug, Clone, Default)]
pub(super) struct ExchangeSlopes {
    /// d lnL / d ln rate.
    pub(super) slopes: Vec<f64>,
    /// The curvature (of −lnL) that the substitutions would give if they were known: their expected number, or, if that is larger, the
    /// number expected before the data are known. It is the curvature that the method of expectation and maximisation uses (Holmes & Rubin
    /// 2002, J Mol Biol 317:753), an upper bound of the likelihood's.
    pub(super) curvatures: Vec<f64>,
}

/// Number of the exchange rates among a model's free parameters, of which they are the first, if their slopes are computed in this way.
pub(super) fn num_with_slopes(evaluator: &Evaluator, partition: usize, model: &Model) -> usize {
    let Exchange::Classes(classes) = &model.exchange else { return 0 };
    let count = classes.free().len();
    if count >= FEWEST && evaluator.has_rate_matrix_gradient(partition) { count } else { 0 }
}

impl ExchangeSlopes {
    /// Those of each partition, whose models estimate exchange rates, or link them.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn of(evaluator: &mut Evaluator, partitions: &[usize]) -> Result<Vec<Self>> {
        let gradients = evaluator.rate_matrix_gradients(partitions)?;
        let of_partition = |(&partition, gradient): (&usize, RateMatrixGradient)| {
            Self::from_gradient(evaluator.model(partition), &gradient)
        };
        Ok(partitions.iter().zip(gradients).map(of_partition).collect())
    }

    /// The sum of several partitions'.
    pub(super) fn sum(all: Vec<Self>) -> Self {
        let mut all = all.into_iter();
        let mut sum = all.next().unwrap_or_default();
        for next in all {
            sum.slopes.iter_mut().zip(next.slopes).for_each(|(a, b)| *a += b);
            sum.curvatures.iter_mut().zip(next.curvatures).for_each(|(a, b)| *a += b);
        }
        sum
    }

    /// As slopes and a Hessian of what is minimised, −lnL.
    pub(super) fn in_coordinates(&self, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let slopes: Vec<f64> = self.slopes.iter().map(|slope| -slope).collect();
        coordinates.turn_slopes(&slopes, &self.curvatures)
    }

    /// From the derivatives in each rate matrix `Q[i][j] = s[i][j] * pi[j] / mu`.
    fn from_gradient(model: &Model, found: &RateMatrixGradient) -> Self {
        let Exchange::Classes(classes) = &model.exchange else { return Self::default() };
        let num_classes = usize::from(classes.num_classes());
        let (mut slopes, mut counts) = (vec![0.0; num_classes], vec![0.0; num_classes]);
        let mut rest = &found.gradient[..];
        for matrix in &found.matrices {
            let (own, others) = rest.split_at(matrix.num_states.pow(2));
            rest = others;
            add_matrix(classes, matrix, own, &mut slopes, &mut counts);
        }
        let as_free = RateClasses { mode: ParamMode::Optimized, ..classes.clone() };
        let free: Vec<usize> = as_free.free().into_iter().map(usize::from).collect();
        let curvature = |&class: &usize| {
            let (count, slope) = (counts[class], slopes[class]);
            count.max(count - slope).max(LEAST_COUNT)
        };
        ExchangeSlopes {
            slopes: free.iter().map(|&class| slopes[class]).collect(),
            curvatures: free.iter().map(curvature).collect(),
        }
    }
}

/// Adds the slopes in the logarithms of rates through one rate matrix, and the expected numbers of substitutions under it (Hobolth & Jensen
/// 2005, Stat Appl Genet Mol Biol 4:18).
fn add_matrix(
    classes: &RateClasses,
    matrix: &EigenModel,
    gradient: &[f64],
    slopes: &mut [f64],
    counts: &mut [f64],
) {
    let (n, freqs) = (matrix.num_states, &matrix.freqs);
    let pairs = || (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let flow = |((i, j), rate): ((usize, usize), &f64)| 2.0 * rate * freqs[i] * freqs[j];
    let total: f64 = pairs().zip(&classes.rates).map(flow).sum();
    let at = |i: usize, j: usize| gradient[i * n + j];
    // As if the matrix were not normalised: through both elements of the pair and those of the diagonal.
    let direct = |(i, j): (usize, usize), rate: f64| {
        let up = freqs[j] * (at(i, j) - at(i, i));
        let down = freqs[i] * (at(j, i) - at(j, j));
        rate * (up + down) / total
    };
    let all: f64 = pairs().zip(&classes.rates).map(|(pair, &rate)| direct(pair, rate)).sum();
    for ((i, j), (&rate, &class)) in pairs().zip(classes.rates.iter().zip(&classes.classes)) {
        let share = 2.0 * rate * freqs[i] * freqs[j] / total;
        slopes[usize::from(class)] += direct((i, j), rate) - share * all;
        let count = rate * (freqs[j] * at(i, j) + freqs[i] * at(j, i)) / total;
        counts[usize::from(class)] += count;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds_tests::case;
    use super::*;
    use crate::likelihood::BrlenLinkage;

    /// Log-likelihood of the partition with a rate (by its number among the free parameters) times a factor.
    fn with_rate(evaluator: &mut Evaluator, rate: usize, factor: f64) -> f64 {
        let model = evaluator.model(0).clone();
        let mut other = model.clone();
        let mut values: Vec<f64> = model.free_parameters().iter().map(|p| p.value).collect();
        values[rate] *= factor;
        other.set_free_parameters(&values);
        evaluator.set_model(0, &other);
        let lnl = evaluator.log_likelihoods_of(&[0]).unwrap()[0];
        evaluator.set_model(0, &model);
        lnl
    }

    #[test]
    fn slopes_are_the_limits_of_differences() {
        let texts =
            ["GTR+FE+G4{0.5}", "GTR+I{0.2}+G4{2}", "012321+R4{0.1/0.5/1/3}{0.3/0.3/0.2/0.2}"];
        for text in texts {
            let mut models = [text, "GTR+G4"].map(|text| Model::parse(text).unwrap());
            let mut evaluator = case(BrlenLinkage::Scaled, &models);
            let values = models[0].free_parameters().into_iter().enumerate();
            let values: Vec<f64> =
                values.map(|(i, p)| (p.value * (1.0 + 0.3 * i as f64)).clamp(p.lo, p.hi)).collect();
            models[0].set_free_parameters(&values);
            evaluator.set_model(0, &models[0]);
            evaluator.set_brlen_scaler(0, 1.3);
            let lnl = evaluator.log_likelihoods_of(&[0, 1]).unwrap();
            let found = ExchangeSlopes::of(&mut evaluator, &[1, 0]).unwrap().swap_remove(1);
            assert_eq!(evaluator.log_likelihoods_of(&[0, 1]).unwrap(), lnl, "{text}");
            let Exchange::Classes(classes) = &models[0].exchange else { panic!("no classes") };
            assert_eq!(found.slopes.len(), classes.free().len(), "{text}");
            for (rate, &slope) in found.slopes.iter().enumerate() {
                const STEP: f64 = 1e-4;
                let [up, down] =
                    [STEP, -STEP].map(|step| with_rate(&mut evaluator, rate, libm::exp(step)));
                let difference = (up - down) / (2.0 * STEP);
                let close = (difference - slope).abs() < 1e-4 * (1.0 + slope.abs());
                assert!(close, "{text}, rate {rate}: {slope}, {difference}");
                let curvature = (2.0 * lnl[0] - up - down) / (STEP * STEP);
                assert!(found.curvatures[rate] > curvature - 1e-2, "{text}, rate {rate}");
            }
        }
    }
}
