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

/// By elimination with the largest pivot of each column; the first of equal ones.
fn determinant(matrix: &mut [f64], n: usize) -> f64 {
    let mut determinant = 1.0;
    for column in 0..n {
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
        if head == 0.0 {
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
