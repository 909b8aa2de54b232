//! SPR moves that prefer promising places: guided by parsimony (Zhang, Huelsenbeck & Ronquist 2020, Syst. Biol. 69:1016) or
//! by the likelihood of every place, computed as one batch (Metropolised Gibbs sampling: Liu 1996, Biometrika 83:681).
//!
//! ```text
//!            S                      R: the tree without the subtree S
//!            | pendant              m: the edge of R from which S hangs now, of the lengths a and b
//!    ---a----+----b---              e: any other edge of R
//! ```
//!
//! 1. A subtree S is drawn: where a block goes on that of the last move, else with the probability p(S), which is high beside
//!    branches that the data give up readily (`conflicts`).
//! 2. An edge c of R at most [`RADIUS`] edges from m is drawn, each with the same probability.
//! 3. One of the edges at most [`RADIUS`] edges from c, but not m, is drawn by its weight w.
//!
//! 4. The point of e to which S comes is drawn by a density h on its length, see [`ln_split_density`].
//!
//! The way back draws the same S and c among the edges near e, of which there may be more or fewer, and then m and the point
//! between a and b. The weights depend on R alone, so that they are the same on both ways. With the sum W of all weights near
//! c, S at the distance x from the end of e that is nearer to m, and at the distance a from that of m nearer to e, the
//! Hastings ratio is
//!
//! ```text
//! p'(S) / p(S) * near(m) / near(e) * (w(m) / (W - w(e))) / (w(e) / (W - w(m))) * h(a; a + b) / h(x; length of e)
//! ```
//!
//! where p' is that of the new tree. The lengths change from a, b, x + y to a + b, x, y: the determinant of this is 1.
//!
//! Where partitions have lengths of their own, S takes the branches of its path along, as in other topology moves, and each S
//! has the same probability.

use super::chain::{Block, Chain};
use super::conflicts::{Drawn, Guide, random_subtree};
use super::proposal::{Moved, Proposal, Swap, Undo};
use super::topology_moves::num_sites;
use crate::likelihood::{Evaluator, Result};
use crate::parsimony::ParsimonyData;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// Steps 2 and 3 go so far; in tests of few taxa less far, so that the numbers of near edges differ.
const RADIUS: usize = if cfg!(test) { 1 } else { 6 };

/// The same where likelihoods are computed, which takes longer.
const LIKELIHOOD_RADIUS: usize = if cfg!(test) { 1 } else { 3 };

/// A place weighs exp(-this) as much for every change that it needs more than another.
pub(super) const LN_WEIGHT_OF_CHANGE: f64 = 0.5;

/// Expected number of changes between the point to which a subtree comes and the nearer end of the edge, if it is a close one.
const CLOSE: f64 = 1.5;

/// Moves of a subtree that parsimony guides, in a row.
pub(super) const OF_A_SUBTREE: u32 = 3;

/// Places weigh as their likelihoods to this power: the lengths of their branches are not those of the posterior.
const POWER: f64 = 0.7;

/// The places of a subtree near an edge that was drawn near its own.
pub(super) struct Region {
    attach: NodeId,
    pendant: EdgeId,
    /// m, with its number in R.
    pub(super) present: EdgeId,
    /// The places at most `radius` edges from c, m among them.
    pub(super) places: Vec<EdgeId>,
    radius: usize,
    /// R.
    rest: Tree,
}

impl Region {
    /// Step 2.
    pub(super) fn draw(
        tree: &Tree,
        (attach, pendant): (NodeId, EdgeId),
        radius: usize,
        rng: &mut Rng,
    ) -> Region {
        let mut rest = tree.clone();
        let present = rest.prune(attach, pendant).merged;
        let near = near(&rest, present, radius);
        let places = self::near(&rest, near[rng.random_range(0..near.len())], radius);
        Region { attach, pendant, present, places, radius, rest }
    }

    /// Number of edges from which c is drawn if the subtree is at a place.
    pub(super) fn num_near(&self, place: EdgeId) -> usize {
        near(&self.rest, place, self.radius).len()
    }

    /// Step 3: the place that is drawn, and the logarithm of those factors of the Hastings ratio that are of places. `None` if
    /// no place but the present one has any weight.
    fn choose(&self, ln_weights: &[f64], rng: &mut Rng) -> Option<(EdgeId, f64)> {
        choose(&self.places, self.present, ln_weights, |place| self.num_near(place), rng)
    }
}

/// Step 3, for places of any kind.
pub(super) fn choose<T: Copy + PartialEq>(
    places: &[T],
    present: T,
    ln_weights: &[f64],
    num_near: impl Fn(T) -> usize,
    rng: &mut Rng,
) -> Option<(T, f64)> {
    let most = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = ln_weights.iter().map(|ln| libm::exp(ln - most)).collect();
    let sum_without = |left_out: T| -> f64 {
        let others = places.iter().zip(&weights).filter(|(place, _)| **place != left_out);
        others.map(|(_, weight)| weight).sum()
    };
    let all_others = sum_without(present);
    let mut at = rng.random::<f64>() * all_others;
    let others = places.iter().enumerate().filter(|(_, place)| **place != present);
    let mut chosen = None;
    for (number, &place) in others.filter(|(number, _)| weights[*number] > 0.0) {
        chosen = Some((number, place));
        at -= weights[number];
        if at < 0.0 {
            break;
        }
    }
    let (number, place) = chosen?;
    let here = places.iter().position(|place| *place == present)?;
    let ln_ratio = libm::log(num_near(present) as f64 / num_near(place) as f64)
        + (ln_weights[here] - libm::log(sum_without(place)))
        - (ln_weights[number] - libm::log(all_others));
    Some((place, ln_ratio))
}

/// An edge and those at most `radius` edges away.
fn near(rest: &Tree, edge: EdgeId, radius: usize) -> Vec<EdgeId> {
    let others = rest.edges_within(edge, radius).into_iter().map(|(edge, _)| edge);
    std::iter::once(edge).chain(others).collect()
}

/// A subtree moves to a place that parsimony likes. `None` if there is no other place.
pub(super) fn parsimony_spr(
    chain: &mut Chain,
    data: &ParsimonyData,
    heat: f64,
    guide: &Guide,
) -> Option<Proposal> {
    let Chain { evaluator, rng, block, conflicts, .. } = chain;
    let has_own_lengths = evaluator.linkage().has_own_lengths();
    let subtree = match *block {
        _ if has_own_lengths => random_subtree(evaluator.tree(), rng),
        Block::Subtree(attach, pendant, left @ 1..) => {
            *block = Block::Subtree(attach, pendant, left - 1);
            (attach, pendant)
        }
        _ => {
            let known = conflicts.get(evaluator.tree(), guide);
            let (attach, pendant) = known.draw_subtree(evaluator.tree(), rng);
            *block = Block::Subtree(attach, pendant, OF_A_SUBTREE - 1);
            (attach, pendant)
        }
    };
    let tree = evaluator.tree();
    let region = Region::draw(tree, subtree, RADIUS, rng);
    let Region { attach, pendant, ref places, ref rest, .. } = region;
    let costs = conflicts.rows.insertion_costs(rest, subtree, places, data);
    let ln_weight = |cost: u64| -heat * LN_WEIGHT_OF_CHANGE * cost as f64;
    let ln_weights: Vec<f64> = costs.into_iter().map(ln_weight).collect();
    let (place, ln_ratio) = region.choose(&ln_weights, rng)?;
    if has_own_lengths {
        let swaps = swaps_to(tree, attach, pendant, place);
        for &[edge, first, second] in &swaps {
            evaluator.swap_subtrees(edge, first, second);
        }
        conflicts.renew();
        return Some((Undo::Swaps(swaps, Vec::new()), ln_ratio).into());
    }
    Some(carry(chain, guide, &region, place, ln_ratio))
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

/// The logarithm of the density of the point to which a subtree comes on an edge of some length, x from the end that is nearer
/// to where it was: half of them are anywhere, the others close to that end. `rate` is the inverse of the distance of these.
fn ln_split_density(x: f64, length: f64, rate: f64) -> f64 {
    let close = rate * libm::exp(-rate * x) / -libm::expm1(-rate * length);
    libm::log(0.5 / length + 0.5 * close)
}

/// A point with this density.
fn draw_split(length: f64, rate: f64, rng: &mut Rng) -> f64 {
    let at: f64 = rng.random();
    match rng.random_range(0..2) {
        0 => at * length,
        _ => -libm::log1p(at * libm::expm1(-rate * length)) / rate,
    }
}

/// Steps 1 and 4: moves the subtree to a place. `ln_ratio_of_places` is that of step 3.
fn carry(
    chain: &mut Chain,
    guide: &Guide,
    region: &Region,
    place: EdgeId,
    ln_ratio_of_places: f64,
) -> Proposal {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let drawn = Drawn::Subtree((region.attach, region.pendant));
    let ln_before = conflicts.ln_chance(evaluator.tree(), guide, drawn);
    let (moved, ln_lengths) = move_to(evaluator, region, place, rng);
    conflicts.renew();
    let ln_ratio = ln_ratio_of_places + ln_lengths - ln_before;
    Proposal { undo: Undo::Moved(vec![moved]), ln_ratio, drawn: Some(drawn) }
}

/// Step 4. Returns what takes it back and the logarithm of those factors of the Hastings ratio that are of lengths.
pub(super) fn move_to(
    evaluator: &mut Evaluator,
    region: &Region,
    place: EdgeId,
    rng: &mut Rng,
) -> (Moved, f64) {
    let Region { attach, pendant, present, ref rest, .. } = *region;
    let rate = num_sites(evaluator) / CLOSE;
    let tree = evaluator.tree();
    let links = tree.other_links(attach, pendant);
    let before = links.map(|(_, edge)| (edge, tree.brlen(edge)));
    let back = usize::from(links[1].0 == rest.nearer_end(present, rest.ends(place)[0]));
    let (back, both) = (before[back].1, before[0].1 + before[1].1);
    let near = rest.nearer_end(place, rest.ends(present)[0]);
    let length = tree.brlen(place);
    let split = draw_split(length, rate, rng);
    let moved = evaluator.move_subtree(attach, pendant, place);
    let links = evaluator.tree().other_links(attach, pendant);
    let near = usize::from(links[1].0 == near);
    evaluator.set_brlens(&[(links[near].1, split), (links[1 - near].1, length - split)]);
    let ln_lengths = ln_split_density(back, both, rate) - ln_split_density(split, length, rate);
    ((moved, before), ln_lengths)
}

/// A subtree moves to a place where the likelihood is high if the subtree hangs from the middle of the branch. `None` if there
/// is no other place.
pub(super) fn likelihood_spr(
    chain: &mut Chain,
    prior_only: bool,
    heat: f64,
    guide: &Guide,
) -> Result<Option<Proposal>> {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let known = conflicts.get(evaluator.tree(), guide);
    let subtree = known.draw_subtree(evaluator.tree(), rng);
    let region = Region::draw(evaluator.tree(), subtree, LIKELIHOOD_RADIUS, rng);
    if region.places.len() < 2 {
        return Ok(None);
    }
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
    Ok(Some(carry(chain, guide, &region, place, ln_ratio)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_distribution;
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn points_have_their_density() {
        let mut rng = stream(41, Purpose::Test, 0);
        for (length, rate) in [(0.01, 1500.0), (0.3, 20.0), (1e-6, 1000.0)] {
            let close = |x: f64| libm::expm1(-rate * x) / libm::expm1(-rate * length);
            let below = |x: f64| 0.5 * x / length + 0.5 * close(x);
            let points: Vec<f64> = (0..4000).map(|_| draw_split(length, rate, &mut rng)).collect();
            for x in &points[..20] {
                let step = 1e-5 * length;
                let slope = (below(x + step) - below(x - step)) / (2.0 * step);
                let density = libm::exp(ln_split_density(*x, length, rate));
                assert!((density / slope - 1.0).abs() < 1e-4, "{density}, not {slope}");
            }
            assert_distribution(points, below, "points");
        }
    }
}
