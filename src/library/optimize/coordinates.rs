//! Coordinates in which a partition's free parameters are optimised: logarithms, and of ratios with a reference that is
//! well determined.

use crate::model::{FreeParameter, Model, Ratios};
use std::ops::Range;

/// Bounds of the factor of all branch lengths that is optimised together with the parameters.
const LENGTHS_FACTOR: [f64; 2] = [0.1, 10.0];

/// The coordinates of a partition's free parameters, and of a factor of its branch lengths if that is moved, too.
///
/// The model has ratios to the *last* of several values (exchange rates to that of G-T). If that one is small and
/// poorly determined, all ratios depend on it strongly, and a minimiser that begins with the axes needs many steps.
/// Here, ratios are to the *best* determined value, whose place the last one takes.
pub(super) struct Coordinates {
    parameters: Vec<FreeParameter>,
    num_held: usize,
    /// Positions of parameters that are ratios to one value, and of the best determined among them.
    turned: Vec<(Range<usize>, usize)>,
    factor: Option<f64>,
}

impl Coordinates {
    /// Of the parameters of a model after the first `num_held`, and of the factor of lengths with its present value.
    pub(super) fn of(model: &Model, num_held: usize, factor: Option<f64>) -> Self {
        let parameters = model.free_parameters();
        let turned = model.ratios().into_iter().filter_map(|Ratios { parameters, best }| {
            let to_turn = parameters.start >= num_held && best < parameters.end;
            to_turn
                .then(|| (parameters.start - num_held..parameters.end - num_held, best - num_held))
        });
        let turned = turned.collect();
        Coordinates { parameters, num_held, turned, factor }
    }

    /// The factor of lengths at the beginning.
    pub(super) fn factor(&self) -> Option<f64> {
        self.factor
    }

    /// The present values, and lower and upper bounds.
    pub(super) fn begin(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut parts = (Vec::new(), Vec::new(), Vec::new());
        for parameter in &self.parameters[self.num_held..] {
            let scale = |value: f64| if parameter.logarithmic { libm::log(value) } else { value };
            parts.0.push(scale(parameter.value));
            parts.1.push(scale(parameter.lo));
            parts.2.push(scale(parameter.hi));
        }
        for (range, best) in &self.turned {
            let shift = parts.0[*best];
            for i in range.clone().filter(|i| i != best) {
                parts.1[i] -= shift;
                parts.2[i] -= shift;
            }
            let (lo, hi) = (parts.1[*best], parts.2[*best]);
            (parts.1[*best], parts.2[*best]) = (-hi, -lo);
        }
        self.turn(&mut parts.0);
        if let Some(factor) = self.factor {
            parts.0.push(libm::log(factor));
            parts.1.push(libm::log(factor * LENGTHS_FACTOR[0]));
            parts.2.push(libm::log(factor * LENGTHS_FACTOR[1]));
        }
        parts
    }

    /// The coordinates of another model's parameters (and the present factor of lengths).
    pub(super) fn place_of(&self, model: &Model) -> Vec<f64> {
        let (parameters, turned) = (model.free_parameters(), self.turned.clone());
        let other = Coordinates { parameters, turned, ..*self };
        other.begin().0
    }

    /// All free parameters of the model, and the factor of lengths.
    pub(super) fn values(&self, x: &[f64]) -> (Vec<f64>, Option<f64>) {
        let mut x = x.to_vec();
        let factor = self.factor.and_then(|_| x.pop()).map(libm::exp);
        self.turn(&mut x);
        let (held, moved) = self.parameters.split_at(self.num_held);
        let value = |(x, parameter): (f64, &FreeParameter)| {
            let value = if parameter.logarithmic { libm::exp(x) } else { x };
            value.clamp(parameter.lo, parameter.hi)
        };
        let held = held.iter().map(|parameter| parameter.value);
        (held.chain(x.into_iter().zip(moved).map(value)).collect(), factor)
    }

    /// Logarithms of ratios to the last value into those to the best, and back.
    fn turn(&self, x: &mut [f64]) {
        for (range, best) in &self.turned {
            let shift = x[*best];
            for i in range.clone().filter(|i| i != best) {
                x[i] -= shift;
            }
            x[*best] = -shift;
        }
    }

    /// Number of coordinates.
    fn dims(&self) -> usize {
        self.parameters.len() - self.num_held + usize::from(self.factor.is_some())
    }

    /// What a minimiser is told of the exchange rates, which are the first parameters: slopes in their logarithms and a diagonal Hessian, as
    /// slopes and a Hessian in these coordinates.
    pub(super) fn turn_slopes(&self, slopes: &[f64], curvatures: &[f64]) -> (Vec<f64>, Vec<f64>) {
        assert!(self.num_held == 0, "exchange rates are held");
        let (count, dims) = (slopes.len(), self.dims());
        let mut turned = slopes.to_vec();
        for (range, best) in self.turned.iter().filter(|(range, _)| range.end <= count) {
            turned[*best] = -slopes[range.clone()].iter().sum::<f64>();
        }
        let mut hessian = vec![0.0; dims * dims];
        for (i, &curvature) in curvatures.iter().enumerate() {
            hessian[i * dims + i] = curvature;
        }
        let hessian = self.turn_hessian(&hessian);
        let rows = hessian.chunks_exact(dims.max(1)).take(count);
        (turned, rows.flat_map(|row| row[..count].iter().copied()).collect())
    }

    /// A Hessian in the coordinates of ratios to the last value into one in these coordinates, and back.
    pub(super) fn turn_hessian(&self, hessian: &[f64]) -> Vec<f64> {
        let mut turned = hessian.to_vec();
        let dims = self.dims();
        for (range, best) in &self.turned {
            // Along the axis of the best, all ratios of its range decrease: first columns, then rows.
            for (stride, step) in [(dims, 1), (1, dims)] {
                for i in 0..dims {
                    let sum: f64 = range.clone().map(|j| turned[i * stride + j * step]).sum();
                    turned[i * stride + best * step] = -sum;
                }
            }
        }
        turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        Model::parse("GTR+FO+R3").unwrap()
    }

    #[test]
    fn values_go_in_and_out() {
        let mut model = model();
        let values = [0.5, 7.0, 0.1, 0.2, 5.0, 0.8, 2.0, 0.7, 0.3, 0.9, 0.2, 1.4];
        model.set_free_parameters(&values);
        for num_held in [0, 8] {
            let coordinates = Coordinates::of(&model, num_held, Some(2.0));
            let (x, lo, hi) = coordinates.begin();
            assert_eq!(x.len(), 13 - num_held);
            assert!((0..x.len()).all(|i| lo[i] < x[i] && x[i] < hi[i]), "{lo:?} {x:?} {hi:?}");
            let (again, factor) = coordinates.values(&x);
            assert!((factor.unwrap() - 2.0).abs() < 1e-12);
            assert!(
                again.iter().zip(values).all(|(a, b)| (a / b - 1.0).abs() < 1e-12),
                "{again:?}"
            );
        }
    }

    #[test]
    fn a_hessian_gives_the_same_form_in_both_coordinates() {
        let mut model = model();
        model.set_free_parameters(&[0.5, 7.0, 0.1, 0.2, 5.0, 0.8, 2.0, 0.7, 0.3, 0.9, 0.2, 1.4]);
        let coordinates = Coordinates::of(&model, 0, Some(1.0));
        let dims = 13;
        let hessian: Vec<f64> =
            (0..dims * dims).map(|i| 1.0 / (1 + i / dims + i % dims) as f64).collect();
        let form = |hessian: &[f64], x: &[f64]| -> f64 {
            (0..dims * dims).map(|i| hessian[i] * x[i / dims] * x[i % dims]).sum()
        };
        let step: Vec<f64> = (0..dims).map(|i| 0.3 - 0.1 * i as f64).collect();
        let mut there = step.clone();
        coordinates.turn(&mut there);
        let turned = coordinates.turn_hessian(&hessian);
        assert!((form(&hessian, &step) - form(&turned, &there)).abs() < 1e-12);
        for (a, b) in coordinates.turn_hessian(&turned).iter().zip(&hessian) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
