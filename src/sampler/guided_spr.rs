//! SPR moves that prefer promising places: guided by parsimony (Zhang, Huelsenbeck & Ronquist 2020, Syst. Biol. 69:1016) or
//! by the likelihood of every place, computed as one batch (Metropolised Gibbs sampling: Liu 1996, Biometrika 83:681).
//!
//! ```text
//!            S                      R: the tree without the subtree S
//!            | pendant              m: the edge of R from which S hangs now, of the lengths a and b
//!    ---a----+----b---              e: any other edge of R
//! ```
//!
//! 1. A subtree S is drawn, each with the same probability.
//! 2. An edge c of R at most [`RADIUS`] edges from m is drawn, each with the same probability.
//! 3. One of the edges at most [`RADIUS`] edges from c, but not m, is drawn by its weight w.
//!
//! The way back draws the same S and c among the edges near e, of which there may be more or fewer, and then m. The weights
//! depend on R alone, so that they are the same on both ways: the Hastings ratio is
//! `near(m) / near(e) * (w(m) / (W - w(e))) / (w(e) / (W - w(m)))` with the sum W of all weights near c.

use super::chain::Chain;
use super::topology_moves::{Swap, random_subtree};
use crate::likelihood::{Result, SubtreeMove};
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// Steps 2 and 3 go so far.
const RADIUS: usize = 6;

/// The same where likelihoods are computed, which takes longer.
const LIKELIHOOD_RADIUS: usize = 3;

/// A place weighs exp(-this) as much for every change that it needs more than another.
const LN_WEIGHT_OF_CHANGE: f64 = 0.5;

/// Places weigh as their likelihoods to this power: the lengths of their branches are not those of the posterior.
const POWER: f64 = 0.7;

/// The places of a subtree near an edge that was drawn near its own.
struct Region {
    attach: NodeId,
    pendant: EdgeId,
    /// m, with its number in R.
    present: EdgeId,
    /// The places near c, m among them, and how far they are from m at most.
    places: Vec<EdgeId>,
    radius: usize,
    /// R.
    rest: Tree,
}

impl Region {
    /// Steps 1 and 2. `None` if there is no other place.
    fn draw(tree: &Tree, radius: usize, rng: &mut Rng) -> Option<Region> {
        let (attach, pendant) = random_subtree(tree, rng);
        let mut rest = tree.clone();
        let present = rest.prune(attach, pendant).merged;
        let near = near(&rest, present, radius);
        let places = self::near(&rest, near[rng.random_range(0..near.len())], radius);
        (places.len() > 1).then_some(Region { attach, pendant, present, places, radius, rest })
    }

    /// Step 3: the place that is drawn, and the logarithm of the Hastings ratio. `None` if no place but the present one has
    /// any weight.
    fn choose(&self, ln_weights: &[f64], rng: &mut Rng) -> Option<(EdgeId, f64)> {
        let most = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln_weights.iter().map(|ln| libm::exp(ln - most)).collect();
        let sum_without = |left_out: EdgeId| -> f64 {
            let others = self.places.iter().zip(&weights).filter(|(place, _)| **place != left_out);
            others.map(|(_, weight)| weight).sum()
        };
        let all_others = sum_without(self.present);
        let mut at = rng.random::<f64>() * all_others;
        let others = self.places.iter().enumerate().filter(|(_, place)| **place != self.present);
        let mut chosen = None;
        for (number, &place) in others.filter(|(number, _)| weights[*number] > 0.0) {
            chosen = Some((number, place));
            at -= weights[number];
            if at < 0.0 {
                break;
            }
        }
        let (number, place) = chosen?;
        let here = self.places.iter().position(|place| *place == self.present)?;
        let near = |edge| near(&self.rest, edge, self.radius).len() as f64;
        let ln_ratio = libm::log(near(self.present) / near(place))
            + (ln_weights[here] - libm::log(sum_without(place)))
            - (ln_weights[number] - libm::log(all_others));
        Some((place, ln_ratio))
    }
}

/// An edge and those at most `radius` edges away.
fn near(rest: &Tree, edge: EdgeId, radius: usize) -> Vec<EdgeId> {
    let others = rest.edges_within(edge, radius).into_iter().map(|(edge, _)| edge);
    std::iter::once(edge).chain(others).collect()
}

/// A random subtree moves to a place that parsimony likes, along the path to it, with the branches of the path. Returns the
/// swaps and the logarithm of the Hastings ratio; no swaps if there is no other place.
pub(super) fn parsimony_spr(
    chain: &mut Chain,
    data: &ParsimonyData,
    heat: f64,
) -> (Vec<Swap>, f64) {
    let nothing = (Vec::new(), 0.0);
    let Chain { evaluator, rng, .. } = chain;
    let tree = evaluator.tree();
    let Some(region) = Region::draw(tree, RADIUS, rng) else { return nothing };
    let Region { attach, pendant, .. } = region;
    let mut views = ParsimonyViews::new(tree, data);
    let mut costs = vec![None; tree.num_edges()];
    views.scan_insertions(tree, attach, pendant, 2 * RADIUS, |place, cost| {
        costs[place.unwrap_or(region.present).index()] = Some(cost);
        Some(u64::MAX)
    });
    let ln_weight = |place: &EdgeId| {
        let cost = costs[place.index()];
        cost.map_or(f64::NEG_INFINITY, |cost| -heat * LN_WEIGHT_OF_CHANGE * cost as f64)
    };
    let ln_weights: Vec<f64> = region.places.iter().map(ln_weight).collect();
    let Some((place, ln_ratio)) = region.choose(&ln_weights, rng) else { return nothing };
    let swaps = swaps_to(tree, attach, pendant, place);
    for &[edge, first, second] in &swaps {
        evaluator.swap_subtrees(edge, first, second);
    }
    (swaps, ln_ratio)
}

/// The swaps that take a subtree to a place: one across each branch of the path between.
fn swaps_to(tree: &Tree, attach: NodeId, pendant: EdgeId, place: EdgeId) -> Vec<Swap> {
    // The path, from the place back to the subtree.
    let mut path = Vec::new();
    for (node, edge) in tree.other_links(attach, pendant) {
        let order = tree.preorder(node, edge);
        let Some(at) = order.iter().position(|(_, edge)| *edge == place) else { continue };
        let (mut node, mut edge) = order[at];
        path.push(edge);
        while tree.other_end(edge, node) != attach {
            node = tree.other_end(edge, node);
            edge = order.iter().find(|one| one.0 == node).expect("on the way").1;
            path.push(edge);
        }
    }
    path.reverse();
    let beside = |pair: &[EdgeId]| {
        let joint = tree.ends(pair[0]).into_iter().find(|end| tree.ends(pair[1]).contains(end));
        let links = tree.other_links(joint.expect("the path is connected"), pair[0]);
        links.into_iter().map(|link| link.1).find(|edge| *edge != pair[1]).expect("two others")
    };
    path.windows(2).map(|pair| [pair[0], pendant, beside(pair)]).collect()
}

/// A subtree that was moved, with the lengths of the two branches that were beside it.
pub(super) struct Moved {
    moved: SubtreeMove,
    before: [(EdgeId, f64); 2],
}

impl Moved {
    /// Takes it back.
    pub(super) fn take_back(self, chain: &mut Chain) {
        chain.evaluator.undo_move(self.moved);
        chain.evaluator.set_brlens(&self.before);
    }
}

/// A random subtree moves to a place where the likelihood is high if the subtree hangs from the middle of the branch; then it
/// slides to a random point of that branch. Returns what takes it back and the logarithm of the Hastings ratio; `None` if
/// there is no other place.
///
/// The point is drawn uniformly from the branch of length t, and that on the way back from the branch of length a + b: their
/// densities contribute t / (a + b).
pub(super) fn likelihood_spr(
    chain: &mut Chain,
    prior_only: bool,
    heat: f64,
) -> Result<Option<(Moved, f64)>> {
    let Chain { evaluator, rng, .. } = chain;
    let region = Region::draw(evaluator.tree(), LIKELIHOOD_RADIUS, rng);
    let Some(region) = region else { return Ok(None) };
    let Region { attach, pendant, present, .. } = region;
    let tree = evaluator.tree();
    let before = tree.other_links(attach, pendant).map(|(_, edge)| (edge, tree.brlen(edge)));
    let both = before[0].1 + before[1].1;
    let lnls = if prior_only {
        vec![0.0; region.places.len()]
    } else {
        evaluator.set_brlens(&before.map(|(edge, _)| (edge, 0.5 * both)));
        let prunes = evaluator.prune(&[(attach, pendant)], None)?;
        let here = evaluator.log_likelihood()?;
        let others: Vec<EdgeId> =
            region.places.iter().copied().filter(|&place| place != present).collect();
        let mut lnls = evaluator.score(&[(&prunes[0], others.as_slice())])?.swap_remove(0);
        evaluator.set_brlens(&before);
        let at = region.places.iter().position(|&place| place == present);
        lnls.insert(at.expect("the present place is one of them"), here);
        lnls
    };
    let ln_weights: Vec<f64> = lnls.iter().map(|lnl| heat * POWER * lnl).collect();
    let Some((place, ln_ratio)) = region.choose(&ln_weights, rng) else { return Ok(None) };
    let length = evaluator.tree().brlen(place);
    let moved = evaluator.move_subtree(attach, pendant, place);
    let tree = evaluator.tree();
    let halves = tree.other_links(attach, pendant).map(|(_, edge)| edge);
    let first = length * rng.random::<f64>();
    evaluator.set_brlen(halves[0], first);
    evaluator.set_brlen(halves[1], length - evaluator.tree().brlen(halves[0]));
    let ln_lengths = libm::log(length / both);
    Ok(Some((Moved { moved, before }, ln_ratio + ln_lengths)))
}
