//! Tree bisection and reconnection guided by parsimony (Zhang, Huelsenbeck & Ronquist 2020, Syst. Biol. 69:1016).
//!
//! ```text
//!    \         /       A: the tree on one side of the branch, with one branch m of the two beside its end
//!     o--cut--o        B: that on the other side, with n
//!    /         \       a pair of places: a branch of A and one of B, which are joined in their middles
//! ```
//!
//! 1. An inner branch is drawn, with a high probability beside branches that the data give up readily, and cut.
//! 2. A branch of A at most [`RADIUS`] branches from m is drawn, and one of B as near to n: c and d.
//! 3. One of the pairs of a branch as near to c and one as near to d, but not m and n, is drawn by its weight.
//! 4. On each side where the branch has another place, it joins the two branches that it leaves and splits the one to which it
//!    comes.
//!
//! Weights depend on A and B alone. So the Hastings ratio is that of [`guided_spr`](super::guided_spr), with pairs in the place of
//! places, the product of the numbers of branches from which c and d are drawn, and that of the densities of both points.
//!
//! It needs lengths that all partitions share: of branches that are joined and split there, a partition with lengths of its
//! own may have none.

use super::chain::Chain;
use super::conflicts::{Drawn, Guide};
use super::guided_spr::{LN_WEIGHT_OF_CHANGE, Region, choose, move_to};
use super::proposal::{Proposal, Undo};
use crate::parsimony::ParsimonyData;
use crate::tree::EdgeId;

/// Steps 2 and 3 go so far; in tests of few taxa less far, so that the numbers of near branches differ.
const RADIUS: usize = if cfg!(test) { 1 } else { 3 };

/// A branch is cut, and both parts are joined where parsimony likes it. `None` if there is no other pair of places.
pub(super) fn parsimony_tbr(
    chain: &mut Chain,
    data: &ParsimonyData,
    heat: f64,
    guide: &Guide,
) -> Option<Proposal> {
    let Chain { evaluator, rng, conflicts, .. } = chain;
    let tree = evaluator.tree();
    let known = conflicts.get(tree, guide);
    let cut = known.draw_cut(tree, rng)?;
    let drawn = Drawn::Cut(cut);
    let ln_before = known.ln_chance(tree, drawn);
    let regions = tree.ends(cut).map(|end| Region::draw(tree, (end, cut), RADIUS, rng));
    let [first, second] = regions.each_ref().map(|region| region.places.as_slice());
    let pairs: Vec<[EdgeId; 2]> =
        first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b])).collect();
    if pairs.len() < 2 {
        return None;
    }
    let costs = conflicts.rows.joining_costs(tree, cut, [first, second], data);
    let ln_weights: Vec<f64> =
        costs.iter().map(|&cost| -heat * LN_WEIGHT_OF_CHANGE * cost as f64).collect();
    let present = regions.each_ref().map(|region| region.present);
    let num_near = |[a, b]: [EdgeId; 2]| regions[0].num_near(a) * regions[1].num_near(b);
    let (places, mut ln_ratio) = choose(&pairs, present, &ln_weights, num_near, rng)?;
    let mut moved = Vec::new();
    for (region, place) in regions.iter().zip(places) {
        if place != region.present {
            let (of_end, ln_lengths) = move_to(evaluator, region, place, rng);
            moved.push(of_end);
            ln_ratio += ln_lengths;
        }
    }
    conflicts.renew();
    ln_ratio -= ln_before;
    Some(Proposal { undo: Undo::Moved(moved), ln_ratio, drawn: Some(drawn) })
}
