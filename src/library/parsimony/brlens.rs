//! Starting branch lengths from the changes that parsimony puts on each edge.

use super::data::ParsimonyData;
use super::orders::Order;
use crate::tree::{DEFAULT_BRLEN, EdgeId, NodeId, Tree};
use std::borrow::Cow;

/// Length of an edge is never below this, so that an optimiser can start from it.
const MIN_BRLEN: f64 = 1e-6;
/// Nor above this: where changes saturate, their number is not informative.
const MAX_BRLEN: f64 = 1.0;
/// Changes taken for an edge without any: it is short, not absent.
const PSEUDO_CHANGES: f64 = 0.1;

/// Sets every length from the changes on the edge in one most parsimonious reconstruction (Fitch's
/// second pass; of several possible states the parent's, else the first), as a share p of the sites
/// of all partitions with taxa on both sides, corrected for multiple changes as Jukes & Cantor do:
/// t = -b ln(1 - p/b), b = (s-1)/s, with the s states of the partition with most sites. Edges of which
/// no partition has data on both sides get the default length.
pub fn parsimony_brlens(tree: &mut Tree, data: &ParsimonyData) {
    if tree.num_edges() == 0 {
        return;
    }
    let changes = count_changes(tree, data);
    let sites = count_sites(tree, data);
    let largest = data.parts.iter().max_by_key(|part| part.num_sites);
    let num_states = largest.map_or(4, |part| part.num_states.max(2)) as f64;
    let b = (num_states - 1.0) / num_states;
    for edge in tree.edges() {
        let changed = (changes[edge.index()] as f64).max(PSEUDO_CHANGES);
        let length = match changed / sites[edge.index()] as f64 {
            _ if sites[edge.index()] == 0 => DEFAULT_BRLEN,
            p if p < b => -b * libm::log1p(-p / b),
            _ => MAX_BRLEN,
        };
        tree.set_brlen(edge, length.clamp(MIN_BRLEN, MAX_BRLEN));
    }
}

/// Changes per edge; their sum is the tree's score.
fn count_changes(tree: &Tree, data: &ParsimonyData) -> Vec<u64> {
    let mut changes = data.sum(Order::Changes(Cow::Borrowed(tree)));
    for tip in 0..tree.num_tips() {
        let (_, edge) = tree.links(NodeId(tip as u32)).next().expect("a tip has an edge");
        changes[edge.index()] += data.tip_changes[tip];
    }
    changes
}

/// Per edge the sites of the partitions that have taxa on both sides of it.
fn count_sites(tree: &Tree, data: &ParsimonyData) -> Vec<u64> {
    let order = tree.postorder(EdgeId(0));
    let mut sites = vec![0u64; tree.num_edges()];
    let mut below = vec![0usize; tree.num_nodes()];
    for part in &data.parts {
        below.fill(0);
        for &taxon in &part.tip_taxa {
            below[taxon] = 1;
        }
        for &(node, edge) in &order {
            if !tree.is_tip(node) {
                below[node.index()] = tree
                    .other_links(node, edge)
                    .iter()
                    .map(|(child, _)| below[child.index()])
                    .sum();
            }
            // The root edge would be counted from both of its ends.
            let is_second_root_end = edge == EdgeId(0) && node == tree.ends(edge)[1];
            if !is_second_root_end && (1..part.tip_taxa.len()).contains(&below[node.index()]) {
                sites[edge.index()] += part.num_sites;
            }
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use super::super::data::ParsimonyPart;
    use super::super::naive::Sample;
    use super::super::parsimony_score;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn changes_on_the_edges_sum_up_to_the_score() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_taxa in [2, 3, 4, 30] {
            let data = Sample::draw(num_taxa, &[4, 20, 4], 200, &mut rng).pack();
            let mut tree = random_tree(num_taxa, 0.1, &mut rng);
            assert_eq!(
                count_changes(&tree, &data).iter().sum::<u64>(),
                parsimony_score(&tree, &data)
            );
            parsimony_brlens(&mut tree, &data);
            tree.assert_integrity();
        }
    }

    /// ```text
    ///  0 AAA \     2 CAA      / 3 CGA      first column: a change on the edge 5-6
    ///         5 ----- 6 ----- 7            second: one on the branch of tip 3
    ///  1 AAA /                \ 4 ???      third, of weight 8: none
    /// ```
    #[test]
    fn lengths_are_corrected_shares_of_the_sites_that_count() {
        let mut tree = Tree::from_edges(
            5,
            &[(0, 5, 0.), (1, 5, 0.), (5, 6, 0.), (2, 6, 0.), (6, 7, 0.), (3, 7, 0.), (4, 7, 0.)],
        );
        let codes = [vec![1, 1, 1], vec![1, 1, 1], vec![2, 1, 1], vec![2, 4, 1]];
        let part = ParsimonyPart {
            num_states: 4,
            tip_taxa: &[0, 1, 2, 3],
            codes: &codes,
            code_masks: &[0, 1, 2, 3, 4],
            weights: &[1, 1, 8],
        };
        let data = ParsimonyData::new(5, &[part]);
        parsimony_brlens(&mut tree, &data);
        let corrected = |changes: f64| -0.75 * libm::log(1.0 - changes / 10.0 / 0.75);
        let found: Vec<f64> = tree.edges().map(|edge| tree.brlen(edge)).collect();
        let none = corrected(0.1);
        // Tip 4 has no data: nothing is known about its branch.
        let expected = [none, none, corrected(1.0), none, none, corrected(1.0), 0.1];
        for (edge, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < 1e-9, "edge {edge}: {found} {expected}");
        }
    }
}
