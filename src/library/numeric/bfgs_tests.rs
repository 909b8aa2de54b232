//! Tests of the quasi-Newton minimiser: textbook functions, bounds, noise, and nothing to do.

use super::*;

fn run(mut bfgs: Bfgs, f: impl Fn(&[f64]) -> f64) -> (Vec<f64>, f64, usize) {
    let (mut evals, mut first) = (0, None);
    while let Some(x) = bfgs.ask() {
        for i in 0..x.len() {
            assert!(x[i] >= bfgs.lo[i] && x[i] <= bfgs.hi[i], "{x:?} outside");
        }
        let value = f(x);
        first.get_or_insert(value);
        bfgs.tell(value);
        evals += 1;
        assert!(evals < 20_000);
    }
    let (x, value) = bfgs.best();
    assert!(value <= first.unwrap());
    (x.to_vec(), value, evals)
}

fn square(x: f64) -> f64 {
    x * x
}

fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * square(w[1] - w[0] * w[0]) + square(1.0 - w[0])).sum()
}

#[test]
fn rosenbrock_in_2_and_5_dimensions() {
    let two = Bfgs::new(vec![-1.2, 1.0], vec![-10.0; 2], vec![10.0; 2], 1e-12, 200);
    let (x, f, evals) = run(two, rosenbrock);
    assert!(f < 1e-6 && x.iter().all(|x| (x - 1.0).abs() < 1e-2), "{x:?} {f}");
    assert!(evals < 300, "{evals}");
    let five =
        Bfgs::new(vec![-1.2, 1.0, 0.5, 2.0, -0.5], vec![-10.0; 5], vec![10.0; 5], 1e-12, 500);
    let (x, f, evals) = run(five, rosenbrock);
    assert!(f < 1e-6 || (f - 3.93).abs() < 0.01, "{x:?} {f}");
    assert!(evals < 1000, "{evals}");
}

#[test]
fn bounded_quadratic_ends_on_the_bounds() {
    // Coupled; the free minimum (1, 2, 3) is cut off by x1 <= 1.5 and x2 >= 3.5.
    let f = |x: &[f64]| {
        let d = [x[0] - 1.0, x[1] - 2.0, x[2] - 3.0];
        2.0 * d[0] * d[0] + d[1] * d[1] + 3.0 * d[2] * d[2] + d[0] * d[1] - d[1] * d[2]
    };
    // With x1 and x2 at their bounds: 4 d0 + d1 = 0, d1 = -0.5.
    let expected = [1.125, 1.5, 3.5];
    for x0 in [[0.0, 0.0, 4.0], [5.0, 1.5, 3.5], [-5.0, -5.0, 5.0], [5.0, -5.0, 3.5]] {
        let (lo, hi) = (vec![-5.0, -5.0, 3.5], vec![5.0, 1.5, 5.0]);
        let (x, _, evals) = run(Bfgs::new(x0.to_vec(), lo, hi, 1e-12, 100), f);
        for (x, e) in x.iter().zip(expected) {
            assert!((x - e).abs() < 1e-5, "{x} {e} from {x0:?}");
        }
        assert!(evals < 80, "{evals}");
    }
}

#[test]
fn noisy_log_likelihood_like_quadratic() {
    // Values of 1e3..1e7 with a relative noise of 1e-13, curvatures apart by 1e4, correlated.
    for magnitude in [1e3, 1e5, 1e7] {
        let noisy = |x: &[f64]| {
            let c = magnitude / 100.0;
            let f = c * square(x[0] - 0.3)
                + 1e-2 * c * square(x[1] + x[0])
                + 1e-4 * c * square(x[2] - x[1] - 2.0);
            let bits = x.iter().fold(7u64, |h, x| {
                (h ^ x.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
            });
            let noise = (bits >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            magnitude + f + magnitude * 2e-13 * noise
        };
        let start = Bfgs::new(vec![2.0, 2.0, -3.0], vec![-9.0; 3], vec![14.0; 3], 1e-3, 100);
        let (x, f, evals) = run(start, noisy);
        assert!(f - magnitude < 2e-3, "{x:?} {}", f - magnitude);
        assert!(evals < 100, "{evals}");
    }
}

#[test]
fn no_dimension_no_room_no_number() {
    assert_eq!(run(Bfgs::new(vec![], vec![], vec![], 1e-6, 10), |_| 4.0).1, 4.0);
    let stuck = Bfgs::new(vec![1.0, 2.0], vec![1.0, -3.0], vec![1.0, 3.0], 1e-9, 50);
    let (x, _, _) = run(stuck, |x| square(x[0]) + square(x[1]));
    assert!(x[0] == 1.0 && x[1].abs() < 1e-6);
    // The function breaks off right below the minimum.
    let cliff = |x: &[f64]| {
        if x[0] < 0.0 { f64::NAN } else { x[0] + square(x[1] - 1.0) }
    };
    let (x, f, _) = run(Bfgs::new(vec![3.0, 3.0], vec![-5.0; 2], vec![5.0; 2], 1e-9, 100), cliff);
    assert!(f < 0.05, "{x:?} {f}");
    assert_eq!(run(Bfgs::new(vec![0.5], vec![0.0], vec![1.0], 1e-9, 100), |_| 3.0).0, vec![0.5]);
}

#[test]
fn a_start_at_the_minimum_costs_little() {
    let f = |x: &[f64]| 1e5 + 300.0 * square(x[0]) + 20.0 * square(x[1]);
    let (_, _, evals) = run(Bfgs::new(vec![0.0; 2], vec![-1.0; 2], vec![1.0; 2], 0.1, 50), f);
    assert!(evals <= 8, "{evals}");
}

/// A quadratic whose axes are strongly correlated.
fn valley(x: &[f64]) -> f64 {
    let (sum, difference) = (x[0] + x[1] - 1.0, x[0] - x[1] - 0.5);
    50.0 * sum * sum + 0.5 * difference * difference
}

#[test]
fn a_known_hessian_saves_evaluations_wherever_it_was_measured() {
    let minimiser = || Bfgs::new(vec![0.2, 0.2], vec![-5.0; 2], vec![5.0; 2], 1e-9, 100);
    let (_, f, afresh) = run(minimiser(), valley);
    let hessian = [101.0, 99.0, 99.0, 101.0];
    let (_, at_once, near) = run(minimiser().with_hessian(hessian.to_vec(), false), valley);
    // On the scales of another place, a hundred times and a hundredth of these.
    let scaled = vec![10100.0, 99.0, 99.0, 1.01];
    let (x, elsewhere, far) = run(minimiser().with_hessian(scaled, true), valley);
    assert!(f < 1e-6 && at_once < 1e-6 && elsewhere < 1e-6, "{f} {at_once} {elsewhere}");
    assert!((x[0] - 0.75).abs() < 1e-2 && (x[1] - 0.25).abs() < 1e-2, "{x:?}");
    assert!(near < afresh && far < afresh, "{near} {far} {afresh}");
}

#[test]
fn a_share_of_the_gain_ends_a_minimisation_early() {
    let minimiser = |share| {
        Bfgs::new(vec![-1.2, 1.0], vec![-10.0; 2], vec![10.0; 2], 1e-12, 200)
            .with_share_of_gain(share)
    };
    let ((_, rough, few), (_, fine, many)) =
        (run(minimiser(0.5), rosenbrock), run(minimiser(0.0), rosenbrock));
    assert!(few < many && fine < rough, "{few} {many} {fine} {rough}");
}

/// Argmin's simplex, which knows no derivatives either, from the same start.
#[test]
fn argmin_ends_where_this_does() {
    use argmin::core::{CostFunction, Error, Executor};
    use argmin::solver::neldermead::NelderMead;
    struct Problem(fn(&[f64]) -> f64);
    impl CostFunction for Problem {
        type Param = Vec<f64>;
        type Output = f64;
        fn cost(&self, x: &Vec<f64>) -> std::result::Result<f64, Error> {
            Ok((self.0)(x))
        }
    }
    let convex = |x: &[f64]| {
        let sides = x.iter().map(|x| libm::exp(x - 0.3) + libm::exp(-2.0 * x)).sum::<f64>();
        sides + 0.5 * square(x.iter().sum::<f64>() - 1.0)
    };
    for (f, start) in [
        (rosenbrock as fn(&[f64]) -> f64, vec![-1.2, 1.0]),
        (convex, vec![2.0, -1.0]),
        (convex, vec![0.5, 1.0, -2.0]),
    ] {
        let size = start.len();
        let corner = |axis: usize| {
            let mut corner = start.clone();
            if let Some(x) = corner.get_mut(axis) {
                *x += 0.5;
            }
            corner
        };
        let solver = NelderMead::new((0..=size).map(corner).collect()).with_sd_tolerance(1e-14);
        let found = Executor::new(Problem(f), solver.unwrap())
            .configure(|state| state.max_iters(2000))
            .timer(false)
            .run()
            .unwrap();
        let want = found.state.best_cost;
        let bfgs = Bfgs::new(start.clone(), vec![-10.0; size], vec![10.0; size], 1e-13, 500);
        let (x, value, _) = run(bfgs, f);
        assert!((value - want).abs() < 1e-6, "from {start:?}: {value} at {x:?}, argmin {want}");
    }
}

#[test]
fn slopes_that_are_told_save_differences() {
    // The first four of six coordinates are told, with the diagonal of the Hessian.
    let f = |x: &[f64]| {
        let squares: f64 = (0..6).map(|i| (1 + i) as f64 * square(x[i] - i as f64 / 3.0)).sum();
        squares + square(x[0] + x[1] + x[4]) + 0.1 * square(square(x[3]))
    };
    let slope = |x: &[f64], i: usize| {
        let own = 2.0 * (1 + i) as f64 * (x[i] - i as f64 / 3.0);
        let joint = if i < 2 { 2.0 * (x[0] + x[1] + x[4]) } else { 0.0 };
        own + joint + if i == 3 { 0.4 * x[3] * square(x[3]) } else { 0.0 }
    };
    let start = || Bfgs::new(vec![3.0; 6], vec![-9.0; 6], vec![9.0; 6], 1e-10, 100);
    let (want, least, evals) = run(start(), f);
    let mut told = start().with_slopes_of(0..4);
    let (mut num_values, mut num_slopes) = (0, 0);
    while let Some(x) = told.ask() {
        let x = x.to_vec();
        if told.wants_slopes() {
            let mut hessian = vec![0.0; 16];
            (0..4).for_each(|i| hessian[5 * i] = 2.0 * (2 + i) as f64);
            told.tell_slopes((0..4).map(|i| slope(&x, i)).collect(), hessian);
            num_slopes += 1;
        } else {
            told.tell(f(&x));
            num_values += 1;
        }
    }
    let (x, value) = told.best();
    assert!((value - least).abs() < 1e-8, "{value} {least}");
    assert!(x.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-4), "{x:?} {want:?}");
    assert!(num_values + num_slopes < evals * 2 / 3, "{num_values} {num_slopes} {evals}");
    // All of them: nothing but values along lines.
    let mut all = Bfgs::new(vec![3.0], vec![-9.0], vec![9.0], 1e-10, 100).with_slopes_of(0..1);
    let mut num_values = 0;
    while let Some(x) = all.ask() {
        let x = x[0];
        if all.wants_slopes() {
            all.tell_slopes(vec![2.0 * (x - 1.0)], vec![2.0]);
        } else {
            all.tell(square(x - 1.0));
            num_values += 1;
        }
    }
    assert!((all.best().0[0] - 1.0).abs() < 1e-9 && num_values < 6, "{num_values}");
}
