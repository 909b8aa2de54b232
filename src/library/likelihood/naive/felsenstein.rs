//! Felsenstein's pruning algorithm (1981, J Mol Evol 17:368) in its simplest form.
//!
//! There are no blocks, scaling, tables or stored CLVs, and P(t) is computed directly from the eigensystem with
//! the exponential function of `libm`. Likelihoods of large trees underflow.

use crate::likelihood::engine::{PartitionData, PartitionModel};
use crate::model::{Ascertainment, EigenModel};
use crate::tree::{EdgeId, NodeId, Tree};

/// Log-likelihood of each pattern (unweighted) of a tree whose tip numbers are those of the data's rows, without
/// correction of ascertainment bias.
pub fn naive_pattern_log_likelihoods(
    tree: &Tree,
    data: &PartitionData,
    model: &PartitionModel,
    brlen_scaler: f64,
) -> Vec<f64> {
    let root = EdgeId(0);
    let [a, b] = tree.ends(root);
    let orders = [tree.preorder(a, root), tree.preorder(b, root)];
    (0..data.num_patterns())
        .map(|pattern| {
            let mut likelihood = 0.0;
            for (r, (rate, weight)) in model.rates.iter().zip(&model.rate_weights).enumerate() {
                let matrix = model.matrix(r);
                let length = |edge| rate * brlen_scaler * tree.brlen(edge);
                let vector = |order: &[(NodeId, EdgeId)]| {
                    let mut vectors = vec![Vec::new(); tree.num_nodes()];
                    for &(node, edge) in order.iter().rev() {
                        vectors[node.index()] = if tree.is_tip(node) {
                            let mask =
                                data.code_masks[data.tip_codes[node.index()][pattern] as usize];
                            let bit = |i| f64::from(u8::from(mask >> i & 1 == 1));
                            (0..data.num_states).map(bit).collect()
                        } else {
                            let [x, y] = tree.other_links(node, edge).map(|(child, up)| {
                                through(matrix, length(up), &vectors[child.index()])
                            });
                            x.iter().zip(y).map(|(x, y)| x * y).collect::<Vec<f64>>()
                        };
                    }
                    vectors.swap_remove(order[0].0.index())
                };
                let x = vector(&orders[0]);
                let y = through(matrix, length(root), &vector(&orders[1]));
                let sum: f64 = matrix.freqs.iter().zip(x).zip(y).map(|((f, x), y)| f * x * y).sum();
                likelihood += weight * sum;
            }
            let shared = data.shared_states(pattern);
            for (i, freq) in model.freqs.iter().enumerate() {
                if shared >> i & 1 == 1 {
                    likelihood += model.pinv * freq;
                }
            }
            libm::log(likelihood)
        })
        .collect()
}

/// Weighted sum of [`naive_pattern_log_likelihoods`], with the data's correction of ascertainment bias.
pub fn naive_log_likelihood(
    tree: &Tree,
    data: &PartitionData,
    model: &PartitionModel,
    brlen_scaler: f64,
) -> f64 {
    let lnls =
        |data: &PartitionData| naive_pattern_log_likelihoods(tree, data, model, brlen_scaler);
    let weighted = |data: &PartitionData| -> f64 {
        lnls(data).iter().zip(&data.weights).map(|(lnl, weight)| lnl * weight).sum()
    };
    let seen = weighted(data);
    let Some(constant) = data.constant_patterns() else {
        return seen;
    };
    let sum: f64 = lnls(&constant).into_iter().map(libm::exp).sum();
    let sites: f64 = data.weights.iter().sum();
    seen + match data.ascertainment.as_ref().expect("it has constant patterns") {
        Ascertainment::Lewis => -sites * libm::log(1.0 - sum),
        Ascertainment::Felsenstein(left_out) => left_out * libm::log(sum),
        Ascertainment::Stamatakis(_) => weighted(&constant),
    }
}

/// P(t)·x.
pub(super) fn through(model: &EigenModel, t: f64, x: &[f64]) -> Vec<f64> {
    let n = model.num_states;
    let projected: Vec<f64> = (0..n)
        .map(|k| {
            let sum: f64 = (0..n).map(|j| model.inv_eigenvecs[k * n + j] * x[j]).sum();
            sum * libm::exp(model.eigenvals[k] * t)
        })
        .collect();
    (0..n).map(|i| (0..n).map(|k| model.eigenvecs[i * n + k] * projected[k]).sum()).collect()
}
