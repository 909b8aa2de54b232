//! Starting trees.

use crate::parsimony::{ParsimonyData, parsimony_brlens, parsimony_spr, stepwise_addition};
use crate::rng::{Purpose, stream};
use crate::tree::Tree;

/// Radius of the parsimony SPR that follows stepwise addition, as in RAxML 8.
const PARSIMONY_RADIUS: usize = 20;

/// A parsimony tree made by randomised stepwise addition and parsimony SPR, with branch lengths from the numbers of
/// changes. `seed`, `purpose` and `index` determine the stream of random numbers, and thus the tree.
pub fn parsimony_start(data: &ParsimonyData, seed: u64, purpose: Purpose, index: u64) -> Tree {
    let mut rng = stream(seed, purpose, index);
    let mut tree = stepwise_addition(data, &mut rng);
    parsimony_spr(&mut tree, data, PARSIMONY_RADIUS, &mut rng);
    parsimony_brlens(&mut tree, data);
    tree
}
