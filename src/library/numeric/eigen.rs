//! Eigensystems of real symmetric matrices: a thin interface to nalgebra.
//!
//! nalgebra's `SymmetricEigen` (Householder tridiagonalisation, then implicit QR) uses only + - * /
//! and sqrt in plain loops: neither its run-time dispatched matrix product nor any platform function,
//! so the bits are the same everywhere. Do not use its `*` for matrices here.

use nalgebra::{DMatrix, SymmetricEigen};

/// QR steps allowed per eigenvalue; about 2 are needed.
const MAX_STEPS_PER_VALUE: usize = 100;

/// Eigenvalues, ascending, and the orthonormal eigenvectors of the symmetric `n` x `n` row-major
/// `matrix` (its lower triangle is read).
///
/// The eigenvectors are the columns of the returned row-major matrix: component `i` of vector `k` is
/// at `i * n + k`. The sign is fixed: the component of largest magnitude (the first such) is positive.
///
/// # Panics
///
/// If `matrix` has another size or holds a value that is not finite: a bug of the caller.
pub fn symmetric_eigen(n: usize, matrix: &[f64]) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(matrix.len(), n * n, "not an {n} x {n} matrix");
    assert!(matrix.iter().all(|v| v.is_finite()), "matrix with a value that is not finite");
    let system = SymmetricEigen::try_new(
        DMatrix::from_row_slice(n, n, matrix),
        f64::EPSILON,
        MAX_STEPS_PER_VALUE * n,
    )
    .expect("implicit QR converges on every finite symmetric matrix");
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| system.eigenvalues[i].total_cmp(&system.eigenvalues[j]));
    let values = order.iter().map(|&k| system.eigenvalues[k]).collect();
    let mut vectors = vec![0.0; n * n];
    for (k, &source) in order.iter().enumerate() {
        let column = system.eigenvectors.column(source);
        let mut largest = 0.0_f64;
        for &component in column.iter() {
            if component.abs() > largest.abs() {
                largest = component;
            }
        }
        let sign = if largest < 0.0 { -1.0 } else { 1.0 };
        for (i, &component) in column.iter().enumerate() {
            vectors[i * n + k] = sign * component;
        }
    }
    (values, vectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn known_values_ascending_with_fixed_signs() {
        let (values, vectors) = symmetric_eigen(2, &[2.0, 1.0, 1.0, 2.0]);
        assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
        let h = 0.5_f64.sqrt();
        // Equal magnitudes: rounding decides which component counts as the largest.
        assert!((vectors[0].abs() - h).abs() < 1e-15 && (vectors[0] + vectors[2]).abs() < 1e-15);
        assert!((vectors[1] - h).abs() < 1e-15 && (vectors[3] - h).abs() < 1e-15);
        assert_eq!(symmetric_eigen(1, &[-4.0]), (vec![-4.0], vec![1.0]));
        assert_eq!(symmetric_eigen(3, &[0.0; 9]).0, vec![0.0; 3]);
    }

    #[test]
    fn random_matrices_are_rebuilt() {
        let mut rng = stream(1, Purpose::Test, 0);
        for n in 2..=64 {
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    let value: f64 = rng.random::<f64>() - 0.5;
                    (a[i * n + j], a[j * n + i]) = (value, value);
                }
            }
            let (values, u) = symmetric_eigen(n, &a);
            assert!(values.windows(2).all(|w| w[0] <= w[1]));
            for i in 0..n {
                for j in 0..n {
                    let rebuilt: f64 =
                        (0..n).map(|k| u[i * n + k] * values[k] * u[j * n + k]).sum();
                    let dot: f64 = (0..n).map(|k| u[k * n + i] * u[k * n + j]).sum();
                    assert!((rebuilt - a[i * n + j]).abs() < 1e-12, "n {n}");
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12, "n {n}");
                }
            }
        }
    }
}
