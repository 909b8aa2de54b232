//! States drawn site by site: a rate category, a state at one node, then along every edge.

use crate::model::{EigenModel, RateCats};
use crate::rng::Rng;
use crate::tree::{NodeId, Tree};
use rand::RngExt;

/// A substitution model as numbers.
#[derive(Debug, Clone, Copy)]
pub struct SimModel<'a> {
    /// Rate matrices, to which the categories refer.
    pub matrices: &'a [EigenModel],
    /// Rates and probabilities of the categories, and the proportion of invariable sites.
    pub cats: &'a RateCats,
}

impl SimModel<'_> {
    fn matrix(&self, cat: usize) -> &EigenModel {
        &self.matrices[self.cats.matrices[cat]]
    }

    /// Per category rows of P(t) as running sums: entry (i, j) is the probability of ending in a
    /// state <= j.
    fn calc_cumulative_pmatrices(&self, brlen: f64) -> Vec<Vec<f64>> {
        let cumulative = |(cat, rate): (usize, &f64)| -> Vec<f64> {
            let matrix = self.matrix(cat);
            let pmatrix = matrix.transition_probabilities(rate * brlen);
            pmatrix.chunks(matrix.num_states).flat_map(running_sums).collect()
        };
        self.cats.rates.iter().enumerate().map(cumulative).collect()
    }

    fn assert_shapes(&self) {
        let num_cats = self.cats.rates.len();
        assert!(self.cats.matrices.iter().all(|&matrix| matrix < self.matrices.len()), "matrices");
        assert_eq!(self.cats.matrices.len(), num_cats, "categories");
        assert_eq!(self.cats.weights.len(), num_cats, "categories");
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
    let n = model.matrices[0].num_states;
    let freqs: Vec<Vec<f64>> =
        (0..model.cats.rates.len()).map(|cat| running_sums(&model.matrix(cat).freqs)).collect();
    let rate_weights = running_sums(&model.cats.weights);
    // Category, and whether the site can change.
    let rate_cats: Vec<(usize, bool)> = (0..num_sites)
        .map(|_| {
            let variable = rng.random::<f64>() >= model.cats.pinv;
            (draw(&rate_weights, rng), variable)
        })
        .collect();
    let root = NodeId(tree.num_nodes().saturating_sub(1) as u32);
    let mut states: Vec<Vec<u8>> = vec![Vec::new(); tree.num_nodes()];
    if tree.num_nodes() == 0 {
        return states;
    }
    states[root.index()] = rate_cats.iter().map(|&(cat, _)| draw(&freqs[cat], rng) as u8).collect();
    let mut stack: Vec<_> = tree.links(root).map(|(child, edge)| (root, child, edge)).collect();
    stack.reverse();
    while let Some((parent, node, edge)) = stack.pop() {
        let brlen = tree.brlen(edge);
        let pmatrices = model.calc_cumulative_pmatrices(brlen);
        let from = &states[parent.index()];
        let to: Vec<u8> = from
            .iter()
            .zip(&rate_cats)
            .map(|(&state, &(cat, variable))| {
                if !variable {
                    return state;
                }
                let row = usize::from(state) * n;
                draw(&pmatrices[cat][row..row + n], rng) as u8
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

    /// F81 with frequencies f, and its rate of change u: P(t) = e^(-ut) I + (1 - e^(-ut)) 1 f'.
    fn f81(freqs: [f64; 4]) -> (EigenModel, f64) {
        let u = 1.0 / (1.0 - freqs.iter().map(|f| f * f).sum::<f64>());
        (EigenModel::new(&[1.0; 6], &freqs), u)
    }

    fn cats(rates: &[f64], weights: &[f64], pinv: f64) -> RateCats {
        let matrices = vec![0; rates.len()];
        RateCats { rates: rates.to_vec(), weights: weights.to_vec(), matrices, pinv }
    }

    fn differing(a: &[u8], b: &[u8]) -> f64 {
        a.iter().zip(b).filter(|(x, y)| x != y).count() as f64 / a.len() as f64
    }

    #[test]
    fn pmatrix_matches_the_closed_form_of_f81() {
        let (f, u) = f81([0.4, 0.3, 0.2, 0.1]);
        let matrices = [f];
        let cats = cats(&[1.0], &[1.0], 0.0);
        let model = SimModel { matrices: &matrices, cats: &cats };
        let p = model.calc_cumulative_pmatrices(0.3).swap_remove(0);
        let stay = libm::exp(-u * 0.3);
        let mut sum = 0.0;
        for j in 0..4 {
            sum += matrices[0].freqs[j] * (1.0 - stay) + if j == 2 { stay } else { 0.0 };
            assert!((p[2 * 4 + j] - sum).abs() < 1e-14, "{j}: {} {sum}", p[8 + j]);
        }
    }

    #[test]
    fn frequencies_and_distances_come_out_as_the_model_says() {
        let (f, u) = f81([0.4, 0.3, 0.2, 0.1]);
        let tree = Tree::from_edges(3, &[(0, 3, 0.1), (1, 3, 0.2), (2, 3, 3.0)]);
        let sites = 100_000;
        let rng = &mut stream(1, Purpose::Test, 0);
        let model =
            SimModel { matrices: std::slice::from_ref(&f), cats: &cats(&[1.0], &[1.0], 0.0) };
        let states = simulate_states(&tree, &model, sites, rng);
        for tip in &states {
            for (state, freq) in f.freqs.iter().enumerate() {
                let seen = tip.iter().filter(|&&s| usize::from(s) == state).count() as f64;
                // Five standard errors.
                let error = 5.0 * (freq * (1.0 - freq) / sites as f64).sqrt();
                assert!((seen / sites as f64 - freq).abs() < error);
            }
        }
        // Tips 0 and 1 are 0.3 apart: p = (1 - sum f^2)(1 - exp(-u t)).
        let expected = (1.0 / u) * (1.0 - libm::exp(-u * 0.3));
        let seen = differing(&states[0], &states[1]);
        assert!((seen - expected).abs() < 0.008, "{seen} {expected}");
    }

    #[test]
    fn categories_and_invariable_sites_slow_change_down() {
        let matrices = [f81([0.25; 4]).0];
        let tree = Tree::from_edges(2, &[(0, 1, 50.0)]);
        let fraction = |rates: &[f64], weights: &[f64], pinv| {
            let rng = &mut stream(2, Purpose::Test, 0);
            let cats = cats(rates, weights, pinv);
            let model = SimModel { matrices: &matrices, cats: &cats };
            let states = simulate_states(&tree, &model, 40_000, rng);
            differing(&states[0], &states[1])
        };
        // At saturation 3/4 of the sites that can change differ.
        assert!((fraction(&[1.0], &[0.6], 0.4) - 0.45).abs() < 0.02);
        assert!((fraction(&[0.0, 1.25], &[0.2, 0.8], 0.0) - 0.6).abs() < 0.02);
    }

    #[test]
    fn every_category_may_have_its_own_matrix() {
        let matrices = [f81([0.97, 0.01, 0.01, 0.01]).0, f81([0.01, 0.97, 0.01, 0.01]).0];
        let tree = Tree::from_edges(2, &[(0, 1, 1.0)]);
        let cats = RateCats { matrices: vec![0, 1], ..cats(&[1.0, 1.0], &[0.3, 0.7], 0.0) };
        let model = SimModel { matrices: &matrices, cats: &cats };
        let states = simulate_states(&tree, &model, 40_000, &mut stream(3, Purpose::Test, 0));
        let share = |state| states[1].iter().filter(|&&s| s == state).count() as f64 / 40_000.0;
        assert!((share(0) - (0.3 * 0.97 + 0.7 * 0.01)).abs() < 0.02);
        assert!((share(1) - (0.7 * 0.97 + 0.3 * 0.01)).abs() < 0.02);
    }

    #[test]
    fn the_same_seed_gives_the_same_sequences() {
        let matrices = [f81([0.25; 4]).0];
        let cats = cats(&[0.5, 1.5], &[0.45, 0.45], 0.1);
        let model = SimModel { matrices: &matrices, cats: &cats };
        let tree = Tree::from_edges(3, &[(0, 3, 0.1), (1, 3, 0.2), (2, 3, 0.3)]);
        let draw = |seed| {
            let rng = &mut stream(seed, Purpose::SimulatedSequences, 0);
            simulate_states(&tree, &model, 200, rng)
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
