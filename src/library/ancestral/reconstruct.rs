//! The most likely state of every pattern at every inner node.

use super::nodes::InnerNodes;
use crate::likelihood::{self, Evaluator, NodeStates};
use std::ops::ControlFlow;

/// States whose probabilities differ by less than this are equally likely: the difference is a rounding error.
const SAME_PROBABILITY: f64 = 1e-9;

/// The reconstructed states of a tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AncestralStates {
    /// `[inner node][partition][pattern]`: the most likely state, the first in the order of the alphabet if several
    /// are equally likely; `None` for a partition that says nothing about the node.
    pub states: Vec<Vec<Option<Vec<u8>>>>,
    /// Mean probability of these states over the sites of each inner node; `None` for a node without states.
    pub mean_probabilities: Vec<Option<f64>>,
}

/// Reconstructs the states of all inner nodes, in their order. `weights[partition][pattern]` are numbers of sites. `seen`
/// gets the number of each node with the probabilities of the states of each partition, `[pattern][state]`, and can end
/// the reconstruction.
///
/// # Errors
/// The engine has failed.
pub fn reconstruct(
    evaluator: &mut Evaluator,
    nodes: &InnerNodes,
    weights: &[&[u32]],
    mut seen: impl FnMut(usize, &[Option<Vec<f64>>]) -> ControlFlow<()>,
) -> likelihood::Result<AncestralStates> {
    let num_states: Vec<usize> = (0..evaluator.num_partitions())
        .map(|partition| evaluator.model(partition).num_states())
        .collect();
    let mut at_nodes = NodeStates::new(evaluator);
    let mut found = AncestralStates::default();
    for (number, &node) in nodes.nodes().iter().enumerate() {
        let probabilities = at_nodes.at(node)?;
        let (mut sum, mut sites) = (0.0, 0.0);
        let mut of_partition = |(partition, of_partition): (usize, &Option<Vec<f64>>)| {
            let of_partition = of_partition.as_ref()?;
            let patterns = of_partition.chunks_exact(num_states[partition]);
            let best: Vec<u8> =
                patterns.clone().map(|pattern| most_likely(pattern) as u8).collect();
            for ((pattern, &state), &weight) in patterns.zip(&best).zip(weights[partition]) {
                sum += f64::from(weight) * pattern[usize::from(state)];
                sites += f64::from(weight);
            }
            Some(best)
        };
        found.states.push(probabilities.iter().enumerate().map(&mut of_partition).collect());
        found.mean_probabilities.push((sites > 0.0).then(|| sum / sites));
        if seen(number, &probabilities).is_break() {
            break;
        }
    }
    Ok(found)
}

/// The most likely state; the first of equally likely ones.
pub fn most_likely(probabilities: &[f64]) -> usize {
    let largest = probabilities.iter().copied().fold(0.0, f64::max);
    probabilities.iter().position(|&p| p >= largest - SAME_PROBABILITY).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equally_likely_states_the_first_is_taken() {
        assert_eq!(most_likely(&[0.1, 0.4, 0.4 + 1e-15, 0.1]), 1);
        assert_eq!(most_likely(&[0.1, 0.4, 0.41, 0.09]), 2);
        assert_eq!(most_likely(&[0.25; 4]), 0);
    }
}
