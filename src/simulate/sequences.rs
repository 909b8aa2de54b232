//! States drawn site by site: a rate category, a state at one node, then along every edge.

use crate::rng::Rng;
use crate::tree::{NodeId, Tree};
use rand::RngExt;

/// A substitution model as plain numbers, n states.
///
/// P(t) = V · exp(Λ·r·t) · V⁻¹ with eigenvalues Λ of the rate matrix Q, normalised so that one unit
/// of time is one expected substitution per site at rate 1.
#[derive(Debug, Clone)]
pub struct SimModel<'a> {
    /// Number of states, n.
    pub num_states: usize,
    /// Λ: n values.
    pub eigenvals: &'a [f64],
    /// V, row by row: element (i, k) at `i * n + k`.
    pub eigenvecs: &'a [f64],
    /// V⁻¹, row by row: element (k, j) at `k * n + j`.
    pub inv_eigenvecs: &'a [f64],
    /// Equilibrium frequencies: n values that sum to 1.
    pub freqs: &'a [f64],
    /// Rate of each category as the likelihood uses it, already divided by 1 - `pinv`.
    pub rates: &'a [f64],
    /// Probability of each category among variable sites; they sum to 1.
    pub rate_weights: &'a [f64],
    /// Proportion of invariable sites.
    pub pinv: f64,
}

impl SimModel<'_> {
    /// Rows of P(t) as running sums: entry (i, j) is the probability of ending in a state <= j.
    /// Computed as I + V·expm1(Λt)·V⁻¹, which is exact for short branches.
    fn calc_cumulative_pmatrix(&self, time: f64) -> Vec<f64> {
        let n = self.num_states;
        let grown: Vec<f64> = self.eigenvals.iter().map(|l| libm::expm1(l * time)).collect();
        let mut pmatrix = vec![0.0; n * n];
        for i in 0..n {
            let mut sum = 0.0;
            for j in 0..n {
                let mut p = if i == j { 1.0 } else { 0.0 };
                for (k, grown) in grown.iter().enumerate() {
                    p += self.eigenvecs[i * n + k] * grown * self.inv_eigenvecs[k * n + j];
                }
                sum += p.max(0.0);
                pmatrix[i * n + j] = sum;
            }
        }
        pmatrix
    }

    fn assert_shapes(&self) {
        let n = self.num_states;
        assert_eq!(self.eigenvals.len(), n, "eigenvalues");
        assert_eq!(self.eigenvecs.len(), n * n, "eigenvectors");
        assert_eq!(self.inv_eigenvecs.len(), n * n, "inverse eigenvectors");
        assert_eq!(self.freqs.len(), n, "frequencies");
        assert_eq!(self.rates.len(), self.rate_weights.len(), "categories");
        assert!(n <= 256 && !self.rates.is_empty(), "states fit a byte, there is a category");
    }
}

/// Draws from a distribution given as running sums; its total need not be exactly 1.
fn draw(cumulative: &[f64], rng: &mut Rng) -> usize {
    let total = cumulative[cumulative.len() - 1];
    let x = rng.random::<f64>() * total;
    cumulative.iter().position(|&sum| x < sum).unwrap_or(cumulative.len() - 1)
}

fn running_sums(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |value: &f64| {
        sum += value;
        sum
    };
    values.iter().map(add).collect()
}

/// States of every tip: `result[tip][site]`, each below `num_states`.
///
/// The model is reversible, so the node at which a site's history begins does not matter; edges are
/// walked from it in a fixed order.
pub fn simulate_states(
    tree: &Tree,
    model: &SimModel<'_>,
    num_sites: usize,
    rng: &mut Rng,
) -> Vec<Vec<u8>> {
    model.assert_shapes();
    let n = model.num_states;
    let freqs = running_sums(model.freqs);
    let rate_weights = running_sums(model.rate_weights);
    // `None`: the site cannot change.
    let rate_cats: Vec<Option<usize>> = (0..num_sites)
        .map(|_| {
            let invariable = rng.random::<f64>() < model.pinv;
            let cat = draw(&rate_weights, rng);
            (!invariable).then_some(cat)
        })
        .collect();
    let root = NodeId(tree.num_nodes().saturating_sub(1) as u32);
    let mut states: Vec<Vec<u8>> = vec![Vec::new(); tree.num_nodes()];
    if tree.num_nodes() == 0 {
        return states;
    }
    states[root.index()] = (0..num_sites).map(|_| draw(&freqs, rng) as u8).collect();
    let mut stack: Vec<_> = tree.links(root).map(|(child, edge)| (root, child, edge)).collect();
    stack.reverse();
    while let Some((parent, node, edge)) = stack.pop() {
        let brlen = tree.brlen(edge);
        let pmatrices: Vec<Vec<f64>> =
            model.rates.iter().map(|r| model.calc_cumulative_pmatrix(r * brlen)).collect();
        let from = &states[parent.index()];
        let to: Vec<u8> = from
            .iter()
            .zip(&rate_cats)
            .map(|(&state, cat)| match cat {
                None => state,
                Some(cat) => {
                    let row = usize::from(state) * n;
                    draw(&pmatrices[*cat][row..row + n], rng) as u8
                }
            })
            .collect();
        states[node.index()] = to;
        if !tree.is_tip(node) {
            let [first, second] = tree.other_links(node, edge);
            stack.push((node, second.0, second.1));
            stack.push((node, first.0, first.1));
        }
    }
    states.truncate(tree.num_tips());
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    /// F81 with frequencies f: Q = u (1 f' - I), so V and its inverse can be written down.
    /// Eigenvalue 0 belongs to the all-ones vector, -u to every vector orthogonal to f.
    struct F81 {
        vals: [f64; 4],
        vecs: [f64; 16],
        inv: [f64; 16],
        freqs: [f64; 4],
    }

    fn f81(freqs: [f64; 4]) -> F81 {
        let u = 1.0 / (1.0 - freqs.iter().map(|f| f * f).sum::<f64>());
        let (mut vecs, mut inv) = ([0.0; 16], [0.0; 16]);
        for i in 0..4 {
            vecs[i * 4] = 1.0;
            inv[i] = freqs[i];
        }
        // Columns k = 1..4 of V: e_k - 1 * f_k ... pick e_k - e_0 * f_k / f_0, orthogonal to f.
        for k in 1..4 {
            vecs[k * 4 + k] = 1.0;
            vecs[k] = -freqs[k] / freqs[0];
            for j in 0..4 {
                inv[k * 4 + j] = if j == k { 1.0 - freqs[j] } else { -freqs[j] };
            }
        }
        F81 { vals: [0.0, -u, -u, -u], vecs, inv, freqs }
    }

    impl F81 {
        fn model<'a>(&'a self, rates: &'a [f64], weights: &'a [f64], pinv: f64) -> SimModel<'a> {
            SimModel {
                num_states: 4,
                eigenvals: &self.vals,
                eigenvecs: &self.vecs,
                inv_eigenvecs: &self.inv,
                freqs: &self.freqs,
                rates,
                rate_weights: weights,
                pinv,
            }
        }
    }

    fn differing(a: &[u8], b: &[u8]) -> f64 {
        a.iter().zip(b).filter(|(x, y)| x != y).count() as f64 / a.len() as f64
    }

    #[test]
    fn pmatrix_matches_the_closed_form_of_f81() {
        let f = f81([0.4, 0.3, 0.2, 0.1]);
        let p = f.model(&[1.0], &[1.0], 0.0).calc_cumulative_pmatrix(0.3);
        let stay = libm::exp(f.vals[1] * 0.3);
        let mut sum = 0.0;
        for j in 0..4 {
            sum += f.freqs[j] * (1.0 - stay) + if j == 2 { stay } else { 0.0 };
            assert!((p[2 * 4 + j] - sum).abs() < 1e-14, "{j}: {} {sum}", p[8 + j]);
        }
    }

    #[test]
    fn frequencies_and_distances_come_out_as_the_model_says() {
        let f = f81([0.4, 0.3, 0.2, 0.1]);
        let tree = Tree::from_edges(3, &[(0, 3, 0.1), (1, 3, 0.2), (2, 3, 3.0)]);
        let sites = 100_000;
        let rng = &mut stream(1, Purpose::Test, 0);
        let states = simulate_states(&tree, &f.model(&[1.0], &[1.0], 0.0), sites, rng);
        for tip in &states {
            for (state, freq) in f.freqs.iter().enumerate() {
                let seen = tip.iter().filter(|&&s| usize::from(s) == state).count() as f64;
                // Five standard errors.
                let error = 5.0 * (freq * (1.0 - freq) / sites as f64).sqrt();
                assert!((seen / sites as f64 - freq).abs() < error);
            }
        }
        // Tips 0 and 1 are 0.3 apart: p = (1 - sum f^2)(1 - exp(-u t)).
        let expected = (1.0 / -f.vals[1]) * (1.0 - libm::exp(f.vals[1] * 0.3));
        let seen = differing(&states[0], &states[1]);
        assert!((seen - expected).abs() < 0.008, "{seen} {expected}");
    }

    #[test]
    fn categories_and_invariable_sites_slow_change_down() {
        let f = f81([0.25; 4]);
        let tree = Tree::from_edges(2, &[(0, 1, 50.0)]);
        let fraction = |rates: &[f64], weights: &[f64], pinv| {
            let rng = &mut stream(2, Purpose::Test, 0);
            let states = simulate_states(&tree, &f.model(rates, weights, pinv), 40_000, rng);
            differing(&states[0], &states[1])
        };
        // At saturation 3/4 of the sites that can change differ.
        assert!((fraction(&[1.0], &[1.0], 0.4) - 0.45).abs() < 0.02);
        assert!((fraction(&[0.0, 1.25], &[0.2, 0.8], 0.0) - 0.6).abs() < 0.02);
    }

    #[test]
    fn the_same_seed_gives_the_same_sequences() {
        let f = f81([0.25; 4]);
        let tree = Tree::from_edges(3, &[(0, 3, 0.1), (1, 3, 0.2), (2, 3, 0.3)]);
        let draw = |seed| {
            let rng = &mut stream(seed, Purpose::SimulatedSequences, 0);
            simulate_states(&tree, &f.model(&[0.5, 1.5], &[0.5, 0.5], 0.1), 200, rng)
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
