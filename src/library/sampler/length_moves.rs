//! Proposals of branch lengths, with the logarithms of their Hastings ratios.

use super::chain::{Block, Chain};
use super::draws::draw_gamma;
use super::lengths::LengthSet;
use super::proposal::Undo;
use super::proposal_context::ProposalContext;
use crate::likelihood::{Evaluator, Result};
use crate::numeric::{Gamma, GammaPrior};
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// Changes of lengths in a row, each beside the one before.
pub(super) const BRANCHES: u32 = 8;

/// The logarithm of a factor: uniform in a window around 0. Its Hastings ratio is the factor.
pub(super) fn ln_factor(rng: &mut Rng, step_size: f64) -> f64 {
    step_size * (rng.random::<f64>() - 0.5)
}

/// The branch whose length is to change: near that of a block of interchanges, or beside the last one, if a block goes on, or
/// any branch, with which one begins.
fn next_branch(chain: &mut Chain) -> Option<(LengthSet, EdgeId)> {
    let Chain { evaluator, rng, block, .. } = chain;
    let mut any_of = |edges: &[EdgeId]| edges[rng.random_range(0..edges.len())];
    let near = |tree: &Tree, edge: EdgeId| -> Vec<EdgeId> {
        tree.edges_within(edge, 1).into_iter().map(|(edge, _)| edge).collect()
    };
    let (set, edge, left) = match *block {
        Block::Around(center, left @ 1..) => {
            *block = Block::Around(center, left - 1);
            let mut around = near(evaluator.tree(), center);
            around.push(center);
            return Some((LengthSet::Shared, any_of(&around)));
        }
        Block::Branches(set, last, left @ 1..) => {
            let beside = near(set.tree(evaluator), last);
            (set, if beside.is_empty() { last } else { any_of(&beside) }, left - 1)
        }
        _ => {
            let set = LengthSet::draw(evaluator, 2, rng)?;
            let number = set.tree(evaluator).num_edges() as u32;
            (set, EdgeId(rng.random_range(0..number)), BRANCHES - 1)
        }
    };
    *block = Block::Branches(set, edge, left);
    Some((set, edge))
}

pub(super) fn multiply_branch(chain: &mut Chain, step_size: f64) -> Option<(Undo, f64)> {
    let (set, edge) = next_branch(chain)?;
    let ln_factor = ln_factor(&mut chain.rng, step_size);
    let before = set.tree(&chain.evaluator).brlen(edge);
    // At the virtual root a length changes without any change of CLVs.
    set.move_roots(&mut chain.evaluator, edge);
    set.set(&mut chain.evaluator, &[(edge, before * libm::exp(ln_factor))]);
    Some((Undo::Lengths(set, vec![(edge, before)]), ln_factor))
}

/// The length is drawn from the gamma distribution nearest to its density given all others, which has nothing to do with the
/// present one (Aberer, Stamatakis & Ronquist 2016, Syst. Biol. 65:161).
pub(super) fn draw_branch(
    chain: &mut Chain,
    context: &ProposalContext,
) -> Result<Option<(Undo, f64)>> {
    let Some((set, edge)) = next_branch(chain) else { return Ok(None) };
    let before = set.tree(&chain.evaluator).brlen(edge);
    let density = density_of(&mut chain.evaluator, set, edge, context)?;
    let Some(density) = density else { return Ok(None) };
    let Gamma { shape, rate } = density;
    let drawn = draw_gamma(density, &mut chain.rng);
    set.move_roots(&mut chain.evaluator, edge);
    set.set(&mut chain.evaluator, &[(edge, drawn)]);
    let ln_ratio = (shape - 1.0) * libm::log(before / drawn) - rate * (before - drawn);
    Ok(Some((Undo::Lengths(set, vec![(edge, before)]), ln_ratio)))
}

/// The gamma distribution nearest to the density of a branch length given all others.
fn density_of(
    evaluator: &mut Evaluator,
    set: LengthSet,
    edge: EdgeId,
    context: &ProposalContext,
) -> Result<Option<Gamma>> {
    let tree = set.tree(evaluator);
    let of_branch = context.brlens.of_branch(tree, edge);
    let gamma = Gamma {
        shape: 1.0 + context.heat * (of_branch.shape - 1.0),
        rate: context.heat * of_branch.rate,
    };
    let prior = GammaPrior { power: context.data_heat, gamma };
    if context.prior_only {
        return Ok(prior.alone());
    }
    let others = tree.edges().filter(|one| *one != edge);
    let sum: f64 = others.map(|one| tree.brlen(one)).sum();
    let start = sum / tree.num_edges() as f64;
    evaluator.length_density(set.partition(), edge, prior, start)
}

/// With m = a + b, m is multiplied by c and a drawn uniformly from (0, cm): the densities are 1/(wm') and 1/m' on the way
/// there, 1/(wm) and 1/m on the way back.
pub(super) fn slide_node(chain: &mut Chain, step_size: f64) -> Option<(Undo, f64)> {
    let set = LengthSet::draw(&chain.evaluator, 3, &mut chain.rng)?;
    let Chain { evaluator, rng, .. } = chain;
    let tree = set.tree(evaluator);
    let num_inner = tree.num_nodes() - tree.num_tips();
    let node = NodeId((tree.num_tips() + rng.random_range(0..num_inner)) as u32);
    let edges: Vec<EdgeId> = tree.links(node).map(|link| link.1).collect();
    let left_out = rng.random_range(0..edges.len());
    let edges = [edges[(left_out + 1) % 3], edges[(left_out + 2) % 3]];
    let before = edges.map(|edge| tree.brlen(edge));
    let ln_factor = ln_factor(rng, step_size);
    let both = (before[0] + before[1]) * libm::exp(ln_factor);
    let first = rng.random::<f64>() * both;
    set.move_roots(evaluator, edges[0]);
    set.set(evaluator, &[(edges[0], first), (edges[1], both - first)]);
    let undo = Undo::Lengths(set, edges.into_iter().zip(before).collect());
    Some((undo, 2.0 * ln_factor))
}

pub(super) fn multiply_tree(chain: &mut Chain, step_size: f64) -> Option<(Undo, f64)> {
    let set = LengthSet::draw(&chain.evaluator, 2, &mut chain.rng)?;
    let ln_factor = ln_factor(&mut chain.rng, step_size);
    let before = multiply_lengths(set, chain, libm::exp(ln_factor));
    let ln_ratio = ln_factor * before.len() as f64;
    Some((Undo::Lengths(set, before), ln_ratio))
}

/// Multiplies all lengths of a set. Returns those of before.
pub(super) fn multiply_lengths(
    set: LengthSet,
    chain: &mut Chain,
    factor: f64,
) -> Vec<(EdgeId, f64)> {
    let tree = set.tree(&chain.evaluator);
    let before: Vec<(EdgeId, f64)> = tree.edges().map(|edge| (edge, tree.brlen(edge))).collect();
    let changed: Vec<(EdgeId, f64)> = before.iter().map(|&(edge, b)| (edge, b * factor)).collect();
    set.set(&mut chain.evaluator, &changed);
    before
}
