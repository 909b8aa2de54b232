//! Derivatives of the log-likelihood in the entries of a partition's rate matrices: from those in the P-matrices of all branches, in one
//! passage over the tree. From these, the slopes in all exchange rates follow, of which differences take a likelihood each.

use super::evaluator::Evaluator;
use crate::likelihood::engine::{EdgeJob, PartitionModel, Result};
use crate::model::{EigenModel, Model};
use crate::tree::EdgeId;

/// Derivatives of a partition's log-likelihood in the entries of its normalised rate matrices.
pub(crate) struct RateMatrixGradient {
    /// The matrices.
    pub(crate) matrices: Vec<EigenModel>,
    /// The derivatives, as if all entries were independent of each other: `[matrix][row][column]`.
    pub(crate) gradient: Vec<f64>,
}

impl Evaluator {
    /// True if [`Evaluator::rate_matrix_gradients`] can be computed for a partition: it has neither a correction of ascertainment bias nor
    /// state frequencies of each pattern, and at least two taxa.
    pub(crate) fn has_rate_matrix_gradient(&self, partition: usize) -> bool {
        self.num_taxa_of(partition) >= 2 && self.partitions[partition].has_gradients
    }

    /// Derivatives of the log-likelihood of each of these partitions in the entries of its rate matrices.
    ///
    /// With Q = V Λ V⁻¹, a change dQ changes P(t) by V (F ∘ V⁻¹ dQ V) V⁻¹, where F_kl = (exp λ_k t − exp λ_l t) / (λ_k − λ_l), or
    /// t exp λ_k t where they are equal (Kalbfleisch & Lawless 1985, J Am Stat Assoc 80:863; Schadt & Lange 2002, Mol Biol Evol 19:1534).
    ///
    /// # Errors
    /// The engine has failed.
    ///
    /// # Panics
    /// If a partition has no such gradient ([`Evaluator::has_rate_matrix_gradient`]).
    pub(crate) fn rate_matrix_gradients(
        &mut self,
        partitions: &[usize],
    ) -> Result<Vec<RateMatrixGradient>> {
        self.update_restrictions();
        let mut sums: Vec<BranchSums> =
            partitions.iter().map(|&partition| BranchSums::new(self.model(partition))).collect();
        let edges: Vec<Vec<EdgeId>> =
            partitions.iter().map(|&partition| self.edges_from_root(partition)).collect();
        let most = edges.iter().map(Vec::len).max().unwrap_or(0);
        for step in 0..most {
            let with_edge = (0..partitions.len()).filter(|&number| step < edges[number].len());
            let numbers: Vec<usize> = with_edge.collect();
            let branches: Vec<(usize, EdgeId)> =
                numbers.iter().map(|&number| (partitions[number], edges[number][step])).collect();
            let found = self.pmatrix_gradients(&branches)?;
            for (number, (length, gradient)) in numbers.into_iter().zip(found) {
                sums[number].add(length, &gradient);
            }
        }
        // Where they were, so that the likelihood has the bits that it had before.
        for (&partition, edges) in partitions.iter().zip(&edges) {
            self.set_virtual_root(partition, edges[0]);
        }
        Ok(sums.into_iter().map(BranchSums::gradient).collect())
    }

    /// The length of a branch of each of these partitions (each at most once), and the derivatives of the partition's log-likelihood in the
    /// P-matrices of the branch ([`Engine::pmatrix_gradients`](crate::likelihood::engine::Engine::pmatrix_gradients)).
    ///
    /// # Errors
    /// The engine has failed.
    pub(crate) fn pmatrix_gradients(
        &mut self,
        branches: &[(usize, EdgeId)],
    ) -> Result<Vec<(f64, Vec<f64>)>> {
        let mut jobs: Vec<EdgeJob> = Vec::with_capacity(branches.len());
        for &(partition, edge) in branches {
            let state = &mut self.partitions[partition];
            if state.tree.root() != edge {
                state.tree.move_root(edge);
                state.lnl = None;
            }
            jobs.push(state.root_job(partition));
        }
        let partitions: Vec<usize> = branches.iter().map(|(partition, _)| *partition).collect();
        self.update_partials(&partitions)?;
        let gradients = self.compute(|engine| engine.pmatrix_gradients(&jobs))?;
        Ok(jobs.iter().map(|job| job.brlen).zip(gradients).collect())
    }

    /// All branches of a partition's tree, from its virtual root on, neighbours after each other.
    fn edges_from_root(&self, partition: usize) -> Vec<EdgeId> {
        let state = &self.partitions[partition].tree;
        let (tree, root) = (state.tree(), state.root());
        let behind = |end| tree.preorder(end, root).into_iter().skip(1).map(|(_, edge)| edge);
        std::iter::once(root).chain(tree.ends(root).into_iter().flat_map(behind)).collect()
    }
}

/// Sums over branches of F ∘ Vᵀ N V⁻ᵀ, where N are the derivatives in the P-matrix of a branch, for each rate matrix.
struct BranchSums {
    model: PartitionModel,
    of_matrix: Vec<Vec<f64>>,
}

impl BranchSums {
    fn new(model: &Model) -> Self {
        let model = PartitionModel::new(model);
        let zeros = |matrix: &EigenModel| vec![0.0; matrix.num_states.pow(2)];
        let of_matrix = model.matrices.iter().map(zeros).collect();
        BranchSums { model, of_matrix }
    }

    /// Adds a branch of this length, with the derivatives in its P-matrices, `[rate][row][column]` with padding.
    fn add(&mut self, length: f64, gradient: &[f64]) {
        let num_rates = self.model.rates.len();
        let padded = (gradient.len() / num_rates).isqrt();
        let of_rates = gradient.chunks_exact(padded * padded);
        for (rate, gradient) in of_rates.enumerate() {
            let matrix = self.model.matrix(rate);
            let n = matrix.num_states;
            let rows = |i: usize| &gradient[i * padded..][..n];
            let turned = turn(n, rows, &matrix.eigenvecs, &matrix.inv_eigenvecs);
            let t = self.model.rates[rate] * length;
            let sums = &mut self.of_matrix[self.model.matrix_of_rate[rate]];
            for k in 0..n {
                for l in 0..=k {
                    let factor = divided_difference(matrix.eigenvals[k], matrix.eigenvals[l], t);
                    sums[k * n + l] += factor * turned[k * n + l];
                    if l < k {
                        sums[l * n + k] += factor * turned[l * n + k];
                    }
                }
            }
        }
    }

    /// V⁻ᵀ M Vᵀ of the sums M, for all matrices.
    fn gradient(self) -> RateMatrixGradient {
        let of_matrix = self.model.matrices.iter().zip(&self.of_matrix);
        let back = |(matrix, sums): (&EigenModel, &Vec<f64>)| {
            let n = matrix.num_states;
            turn(n, |k| &sums[k * n..][..n], &matrix.inv_eigenvecs, &matrix.eigenvecs)
        };
        let gradient = of_matrix.flat_map(back).collect();
        RateMatrixGradient { gradient, matrices: self.model.matrices }
    }
}

/// Aᵀ X Bᵀ for matrices of n rows, X by its rows, the others row-major.
fn turn<'a>(n: usize, rows: impl Fn(usize) -> &'a [f64], a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut left = vec![0.0; n * n];
    for i in 0..n {
        for (factor, out) in a[i * n..][..n].iter().zip(left.chunks_exact_mut(n)) {
            out.iter_mut().zip(rows(i)).for_each(|(sum, x)| *sum += factor * x);
        }
    }
    let mut transposed = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            transposed[j * n + i] = b[i * n + j];
        }
    }
    let mut both = vec![0.0; n * n];
    for (row, out) in left.chunks_exact(n).zip(both.chunks_exact_mut(n)) {
        for (factor, column) in row.iter().zip(transposed.chunks_exact(n)) {
            out.iter_mut().zip(column).for_each(|(sum, x)| *sum += factor * x);
        }
    }
    both
}

/// (exp at − exp bt) / (a − b), or its limit t·exp at, for numbers that are not positive.
fn divided_difference(a: f64, b: f64, t: f64) -> f64 {
    let larger = libm::exp(a.max(b) * t);
    let x = -(a - b).abs() * t;
    t * larger * if x == 0.0 { 1.0 } else { libm::expm1(x) / x }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn divided_differences_have_no_cancellation_and_no_overflow() {
        for (a, b, t) in [(0.0, -1.0, 0.3), (-2.0, -2.5, 1.7), (-1.0, -1.0 - 1e-9, 0.1)] {
            let want = (libm::exp(a * t) - libm::exp(b * t)) / (a - b);
            assert!((divided_difference(a, b, t) / want - 1.0).abs() < 1e-5, "{a} {b} {t}");
            assert_eq!(divided_difference(a, b, t), divided_difference(b, a, t));
        }
        assert_eq!(divided_difference(-3.0, -3.0, 0.5), 0.5 * libm::exp(-1.5));
        assert_eq!(divided_difference(0.0, -1e6, 100.0), 1e-6);
        assert_eq!(divided_difference(-1.0, -2.0, 0.0), 0.0);
    }
}
