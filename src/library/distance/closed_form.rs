//! Distances that are a formula of the counts of sites: the share of different sites, and LogDet.

/// The number of sites with each ordered pair of determined states.
#[derive(Debug, Clone, Default)]
pub(super) struct StateCounts {
    pub(super) num_states: usize,
    /// `[state of the first][state of the second]`.
    pub(super) counts: Vec<f64>,
}

impl StateCounts {
    /// Number of sites.
    fn total(&self) -> f64 {
        self.counts.iter().sum()
    }
}

/// Share of the sites that differ, among those where both states are determined; not a number without such sites.
pub(super) fn p_distance(pair: &StateCounts) -> f64 {
    let equal: f64 = (0..pair.num_states).map(|i| pair.counts[i * pair.num_states + i]).sum();
    let total = pair.total();
    if total == 0.0 { f64::NAN } else { (total - equal) / total }
}

/// The LogDet (paralinear) distance, which holds under any model that is the same for all sites, stationary or not: with
/// the joint frequencies F of r states, and those of the states in each sequence, f and g (Lockhart et al. 1994,
/// Mol. Biol. Evol. 11:605; Lake 1994, PNAS 91:1455),
///
/// ```text
/// d = -1/r (ln det F - 1/2 Σ ln(f_i g_i))
/// ```
///
/// Infinite where the determinant is not positive, not a number without any site.
pub(super) fn log_det(pair: &StateCounts) -> f64 {
    let (n, total) = (pair.num_states, pair.total());
    if total == 0.0 {
        return f64::NAN;
    }
    let mut f: Vec<f64> = pair.counts.iter().map(|count| count / total).collect();
    let mut marginals = 0.0;
    for i in 0..n {
        let row: f64 = (0..n).map(|j| f[i * n + j]).sum();
        let column: f64 = (0..n).map(|j| f[j * n + i]).sum();
        if row == 0.0 || column == 0.0 {
            return f64::INFINITY;
        }
        marginals += libm::log(row) + libm::log(column);
    }
    let determinant = determinant(&mut f, n);
    if determinant <= 0.0 {
        return f64::INFINITY;
    }
    ((0.5 * marginals - libm::log(determinant)) / n as f64).max(0.0)
}

/// By elimination with the largest pivot of each column; the first of equal ones. A pivot that may be rounding errors only is 0: elimination
/// is exact for a matrix with entries that differ by at most n epsilon times the largest number on the way, but for a small factor
/// (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 9.3).
fn determinant(matrix: &mut [f64], n: usize) -> f64 {
    let (mut determinant, mut largest) = (1.0, 0.0_f64);
    for column in 0..n {
        let rest = &matrix[column * n..];
        largest = rest.iter().fold(largest, |largest, entry| largest.max(entry.abs()));
        let mut pivot = column;
        for row in column + 1..n {
            if matrix[row * n + column].abs() > matrix[pivot * n + column].abs() {
                pivot = row;
            }
        }
        if pivot != column {
            (0..n).for_each(|j| matrix.swap(pivot * n + j, column * n + j));
            determinant = -determinant;
        }
        let head = matrix[column * n + column];
        determinant *= head;
        if head.abs() <= n as f64 * f64::EPSILON * largest {
            return 0.0;
        }
        for row in column + 1..n {
            let factor = matrix[row * n + column] / head;
            for j in column..n {
                matrix[row * n + j] -= factor * matrix[column * n + j];
            }
        }
    }
    determinant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    /// Counts of sites, at most so many of each pair, with rows before the last one that are independent; the last one is their sum if
    /// `is_singular`.
    fn counts(num_states: usize, most: u32, is_singular: bool, number: u64) -> StateCounts {
        let mut rng = stream(number, Purpose::Test, num_states as u64);
        let n = num_states;
        let mut counts: Vec<f64> = (0..n * n)
            .map(|i| {
                let same = if i % (n + 1) == 0 { f64::from(3 * most) } else { 0.0 };
                f64::from(rng.random_range(0..=most)) + same
            })
            .collect();
        if is_singular {
            let rows = |j: usize| (0..n - 1).map(|i| counts[i * n + j]).sum::<f64>();
            let last: Vec<f64> = (0..n).map(rows).collect();
            counts[n * (n - 1)..].copy_from_slice(&last);
        }
        StateCounts { num_states, counts }
    }

    #[test]
    fn counts_of_which_some_follow_from_others_have_no_distance() {
        for num_states in [2, 3, 4, 20] {
            for (number, most) in (0..200).zip([1, 3, 9, 100, 5000].into_iter().cycle()) {
                let singular = log_det(&counts(num_states, most, true, number));
                assert_eq!(singular, f64::INFINITY, "{num_states} states, case {number}");
                let regular = log_det(&counts(num_states, most, false, number));
                assert!(regular < 3.0, "{num_states} states, case {number}: {regular}");
            }
        }
    }
}
