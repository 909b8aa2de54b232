//! Every verb of an engine, as an evaluator uses them, and what is found.

use super::cases::Case;
use super::shapes::{DEEP, LONG};
use crate::likelihood::engine::Engine;
use crate::likelihood::{
    BranchOptions, BrlenLinkage, Evaluator, Gamma, GammaPrior, NodeStates, Result,
};
use crate::tree::{EdgeId, NodeId, Tree};

/// Lists of numbers with what they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found(Vec<(String, Vec<f64>)>);

impl Found {
    fn note(&mut self, what: impl Into<String>, values: impl IntoIterator<Item = f64>) {
        self.0.push((what.into(), values.into_iter().collect()));
    }

    /// All numbers in their order, with what they are.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().flat_map(|(what, values)| values.iter().map(|&value| (what.as_str(), value)))
    }

    /// The lists that are called this, in their order.
    pub fn lists(&self, what: &str) -> Vec<&[f64]> {
        let called = self.0.iter().filter(|list| list.0 == what);
        called.map(|list| list.1.as_slice()).collect()
    }

    /// How many numbers there are, and how many of them have other bits than those of another engine, or are missing there.
    pub fn differing(&self, other: &Found) -> (usize, usize) {
        let (own, others) = (self.numbers().count(), other.numbers().count());
        let pairs = self.numbers().zip(other.numbers());
        let differing = pairs.filter(|((_, a), (_, b))| a.to_bits() != b.to_bits()).count();
        (own, differing + own.abs_diff(others))
    }
}

/// True for deep trees and many sites, with which a few numbers of each kind are enough.
fn is_large(evaluator: &Evaluator) -> bool {
    let num_sites = |partition| evaluator.num_sites_of(partition);
    let is_long = (0..evaluator.num_partitions()).map(num_sites).any(|sites| sites > LONG as f64);
    is_long || evaluator.tree().num_tips() >= DEEP
}

/// Where a subtree hangs, and edges that it could be put into.
type Movable = ((NodeId, EdgeId), Vec<EdgeId>);

/// Subtrees of a tree that hang at so many of its nodes.
fn subtrees(tree: &Tree, num_nodes: usize) -> Vec<Movable> {
    let inner: Vec<NodeId> = tree.nodes().skip(tree.num_tips()).collect();
    let mut found = Vec::new();
    for &attach in inner.iter().step_by(inner.len().div_ceil(num_nodes)) {
        for (_, pendant) in tree.links(attach) {
            let mut edges = Vec::new();
            for (node, edge) in tree.other_links(attach, pendant) {
                edges.extend(tree.preorder(node, edge).into_iter().skip(1).map(|(_, edge)| edge));
            }
            edges.truncate(8);
            if !edges.is_empty() {
                found.push(((attach, pendant), edges));
            }
        }
    }
    found
}

/// Every verb, on one case: what an engine computes. `after_moves` may look at the evaluator after subtrees were moved and moved
/// back.
///
/// # Errors
/// The engine has failed.
pub fn everything(
    case: &Case,
    linkage: BrlenLinkage,
    engine: Box<dyn Engine>,
    after_moves: impl FnOnce(&mut Evaluator),
) -> Result<Found> {
    let mut found = Found::default();
    let mut evaluator = case.evaluator(linkage, engine);
    let evaluator = &mut evaluator;
    likelihoods(evaluator, &mut found)?;
    gradients(evaluator, &mut found)?;
    regrafts(evaluator, &mut found)?;
    after_moves(evaluator);
    branches(evaluator, &mut found)?;
    let options = BranchOptions { max_sweeps: 2, lnl_epsilon: 0.01, gain_tolerance: 1e-6 };
    found.note("optimised", [evaluator.optimize_branches(&options)?]);
    found.note("optimised gene", evaluator.partition_log_likelihoods()?);
    found.note("lengths optimised", evaluator.brlen_sets().into_iter().flatten());
    // A replicate of the same sites, and another model.
    for (partition, sampled) in case.partitions.iter().enumerate() {
        let weights: Vec<f64> = (0..sampled.data.weights.len()).map(|i| (i % 3) as f64).collect();
        evaluator.set_pattern_weights(partition, &weights)?;
    }
    found.note("other weights", evaluator.partition_log_likelihoods()?);
    for (partition, sampled) in case.partitions.iter().enumerate() {
        let mut model = sampled.model.clone();
        let values = model.free_parameters().into_iter().map(|p| (p.value * 1.1).clamp(p.lo, p.hi));
        let values: Vec<f64> = values.collect();
        model.set_free_parameters(&values);
        evaluator.set_model(partition, &model);
    }
    found.note("other model", evaluator.partition_log_likelihoods()?);
    found.note("optimised again", [evaluator.optimize_branches(&options)?]);
    found.note("lengths optimised again", evaluator.brlen_sets().into_iter().flatten());
    Ok(found)
}

/// Likelihoods at several roots: of partitions, patterns and states.
fn likelihoods(evaluator: &mut Evaluator, found: &mut Found) -> Result<()> {
    found.note("likelihood", evaluator.partition_log_likelihoods()?);
    for partition in 0..evaluator.num_partitions() {
        let lnls = evaluator.pattern_log_likelihoods(partition)?;
        found.note("likelihood of a pattern", lnls);
        let num_taxa = evaluator.num_taxa_of(partition);
        if num_taxa >= 2 {
            evaluator.set_virtual_root(partition, EdgeId(1.min(num_taxa as u32 - 2)));
        }
    }
    found.note("likelihood at another root", evaluator.partition_log_likelihoods()?);
    let inner: Vec<NodeId> = evaluator.tree().nodes().skip(evaluator.tree().num_tips()).collect();
    let num_nodes = if is_large(evaluator) { 2 } else { 8 };
    for &node in inner.iter().step_by(inner.len().div_ceil(num_nodes)) {
        let states = NodeStates::new(evaluator).at(node)?;
        for (partition, states) in states.into_iter().enumerate() {
            let what = format!("likelihood of the states of partition {partition} at {node:?}");
            found.note(what, states.into_iter().flatten());
        }
    }
    Ok(())
}

/// Derivatives in the P-matrices of some branches: lists called "derivatives in P-matrices".
///
/// # Errors
/// The engine has failed.
pub fn gradients(evaluator: &mut Evaluator, found: &mut Found) -> Result<()> {
    let has_gradient = |&partition: &usize| evaluator.has_rate_matrix_gradient(partition);
    let partitions: Vec<usize> = (0..evaluator.num_partitions()).filter(has_gradient).collect();
    if partitions.is_empty() {
        return Ok(());
    }
    for number in 0..3 {
        let branch = |&partition: &usize| {
            let num_edges = evaluator.partition_tree(partition).0.num_edges();
            (partition, EdgeId((number * num_edges / 3) as u32))
        };
        let branches: Vec<(usize, EdgeId)> = partitions.iter().map(branch).collect();
        for (length, gradient) in evaluator.pmatrix_gradients(&branches)? {
            found.note("derivatives in P-matrices", gradient.into_iter().chain([length]));
        }
    }
    Ok(())
}

/// Densities of lengths, and derivatives.
fn branches(evaluator: &mut Evaluator, found: &mut Found) -> Result<()> {
    let has_own_lengths = evaluator.linkage().has_own_lengths();
    let partition = has_own_lengths.then_some(0);
    let num_edges = evaluator.partition_tree(0).0.num_edges().min(evaluator.tree().num_edges());
    for edge in (0..num_edges as u32).step_by(num_edges.div_ceil(6).max(1)) {
        let prior = GammaPrior { power: 0.9, gamma: Gamma { shape: 1.0, rate: 10.0 } };
        let density = evaluator.length_density(partition, EdgeId(edge), prior, 0.1)?;
        let density = density.into_iter().flat_map(|Gamma { shape, rate }| [shape, rate]);
        found.note(format!("density of the length of edge {edge}"), density);
    }
    if !has_own_lengths {
        let edges: Vec<EdgeId> = evaluator.tree().edges().collect();
        let derivatives = evaluator.brlen_derivatives(&edges)?;
        found.note("derivatives of the lengths", derivatives.into_iter().flatten());
    }
    Ok(())
}

/// Pruning, scoring, trying and moving, one by one and as one batch, which must be the same: lists called "score", "trial", "lengths of a
/// trial", and the same "in a batch".
///
/// # Errors
/// The engine has failed.
pub fn regrafts(evaluator: &mut Evaluator, found: &mut Found) -> Result<()> {
    let subtrees = subtrees(evaluator.tree(), if is_large(evaluator) { 2 } else { 4 });
    let places: Vec<_> = subtrees.iter().map(|(place, _)| *place).collect();
    for tolerance in [None, Some(1e-2)] {
        let prunes = evaluator.prune(&places, tolerance)?;
        let requests: Vec<_> =
            prunes.iter().zip(&subtrees).map(|(prune, (_, edges))| (prune, &edges[..])).collect();
        for scores in evaluator.score(&requests)? {
            found.note("score in a batch", scores);
        }
        let pairs: Vec<_> = requests.iter().map(|(prune, edges)| (*prune, edges[0])).collect();
        for trial in evaluator.try_insertions(&pairs, 1e-2, -1e9)? {
            found.note("trial in a batch", [trial.lnl]);
            found.note("lengths of a trial in a batch", trial.lengths());
        }
        for (place, edges) in &subtrees {
            let prune = &evaluator.prune(&[*place], tolerance)?[0];
            found.note("score", evaluator.score(&[(prune, edges)])?.swap_remove(0));
            let pair = [(prune, edges[0])];
            let trial = &evaluator.try_insertions(&pair, 1e-2, -1e9)?[0];
            found.note("trial", [trial.lnl]);
            found.note("lengths of a trial", trial.lengths());
            // One that is given up after its first branch.
            let given_up = &evaluator.try_insertions(&pair, 1e-2, 0.0)?[0];
            found.note("trial given up", [given_up.lnl]);
            found.note("lengths of a trial given up", given_up.lengths());
        }
        for (place, edges) in &subtrees {
            let prune = &evaluator.prune(&[*place], tolerance)?[0];
            let trials = evaluator.try_insertions(&[(prune, edges[0])], 1e-2, -1e9)?;
            let mut moved = evaluator.insert(prune, &trials[0]);
            found.note("moved", [evaluator.log_likelihood()?]);
            evaluator.optimize_around(&mut moved, 1, 1e-2)?;
            found.note("optimised around", [evaluator.log_likelihood()?]);
            let lengths = evaluator.brlen_sets().into_iter().flatten();
            found.note("lengths optimised around", lengths);
            evaluator.undo_move(moved);
        }
    }
    Ok(())
}
