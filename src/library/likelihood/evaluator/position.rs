//! Regraft positions of a pruned subtree on one partition's tree, with their branch lengths.
//!
//! Let S be the subtree and R the rest. For partition g, the score of a position depends only on where it
//! lies on R|g. Under *unlinked* lengths, the induced edge is split in half, and the pendant length is kept.
//! Under *linked and scaled* lengths, the lengths follow from distances in the global tree: the position on
//! the induced edge, and the distance of the subtree from this edge.

use super::brlens::halve;
use super::evaluator::Evaluator;
use super::partition_state::PartitionState;
use super::prune::Prune;
use super::view::View;
use crate::likelihood::engine::Clv;
use crate::tree::{EdgeId, Image, NodeId, Restriction, Tree};

/// One of the three branches of a partition's tree that meet at the insertion point of a subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    /// The branch to the end that is nearer to the old position of S (on the merged edge: to the end of its
    /// left part).
    First,
    /// The branch to the other end.
    Second,
    /// The branch to the subtree.
    Pendant,
}

/// A regraft position on a partition's tree, with the branch lengths that follow from the current tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Position {
    /// Edge of R|g; `None` for the merged edge.
    pub(super) edge: Option<EdgeId>,
    /// Lengths of the first and the second arm.
    pub(super) split: [f64; 2],
    /// Length of the pendant arm.
    pub(super) pendant: f64,
    /// The arms that contain the two halves of the global edge: first the half nearer to the old position of S,
    /// then the other.
    pub(super) halves: [Option<Arm>; 2],
}

/// One partition with a pruned subtree, where both S and R have taxa of the partition.
pub(super) struct PrunedPartition<'a> {
    pub(super) linked: bool,
    global: &'a Tree,
    pub(super) state: &'a PartitionState,
    /// The partition's tree with all CLVs pointing to the pendant edge.
    pub(super) view: View<'a>,
    restriction: &'a Restriction,
    /// The partition's edge to its part of S.
    pub(super) pendant: EdgeId,
    /// End of the pendant edge on the side of R.
    pub(super) attach: NodeId,
    /// End of the pendant edge on the side of S.
    pub(super) subtree: NodeId,
    /// Distance from `subtree` to the attachment node of the global tree.
    pendant_length: f64,
    /// Length of the merged edge minus the sum of its two parts.
    merged_change: f64,
    /// If all taxa of the partition in R are on one side of the attachment node: the global edges on the other
    /// side, whose paths to these taxa contain the global merged edge, and the change of that edge's length.
    empty_side: Option<(Vec<bool>, f64)>,
}

impl Evaluator {
    /// A partition (one of `prune.moving`) with the pruned subtree.
    ///
    /// # Panics
    /// If S or R has no taxon of the partition.
    pub(super) fn pruned_partition(&self, prune: &Prune, partition: usize) -> PrunedPartition<'_> {
        let state = &self.partitions[partition];
        let restriction = &self.restrictions[state.set];
        let (pendant, attach, subtree) = state
            .pendant(restriction, prune.attach, prune.pendant)
            .expect("a moving partition has taxa on both sides");
        let image = restriction.image(prune.pendant);
        let total = state.tree.tree().brlen(pendant);
        let linked = !self.linkage.has_own_lengths();
        let pendant_length = if !linked {
            total
        } else if image.near == prune.attach {
            total - image.position
        } else {
            image.position + self.tree.brlen(prune.pendant)
        };
        let mut merged_change = prune.merged_changes[partition];
        let mut empty_side = None;
        if linked && prune.merged_change != 0.0 {
            let sides = self.tree.other_links(prune.attach, prune.pendant);
            merged_change = prune.merged_change;
            if let Some((node, edge)) = sides.into_iter().find(|s| !restriction.is_on_path(s.1)) {
                let mut is_there = vec![false; self.tree.num_edges()];
                for (_, edge) in self.tree.preorder(node, edge) {
                    is_there[edge.index()] = true;
                }
                empty_side = Some((is_there, prune.merged_change));
                merged_change = 0.0;
            }
        }
        PrunedPartition {
            linked,
            global: &self.tree,
            state,
            view: View::at(&state.tree, &[pendant]),
            restriction,
            pendant,
            attach,
            subtree,
            pendant_length,
            merged_change,
            empty_side,
        }
    }
}

impl PrunedPartition<'_> {
    pub(super) fn tree(&self) -> &Tree {
        self.view.tree()
    }

    /// True if R|g is a single tip, so that scores depend only on its distance from the subtree.
    pub(super) fn rest_is_tip(&self) -> bool {
        self.tree().is_tip(self.attach)
    }

    /// The two edges of R that meet at the pendant edge of S, with their far ends (if R|g is not a single tip).
    pub(super) fn parts(&self) -> [(NodeId, EdgeId); 2] {
        self.tree().other_links(self.attach, self.pendant)
    }

    /// Length of the merged edge, which replaces those two edges without S.
    pub(super) fn merged_length(&self) -> f64 {
        let [(_, left), (_, right)] = self.parts();
        self.tree().brlen(left) + self.tree().brlen(right) + self.merged_change
    }

    /// True for the pendant edge and the two edges that form the merged edge.
    pub(super) fn is_merged(&self, edge: EdgeId) -> bool {
        edge == self.pendant || self.parts().iter().any(|link| link.1 == edge)
    }

    /// Position of a candidate on the partition's tree; `None` if the partition's tree does not change.
    pub(super) fn position(&self, candidate: EdgeId) -> Option<Position> {
        let image = self.restriction.image(candidate);
        if self.linked {
            return Some(self.linked_position(candidate, image));
        }
        if self.rest_is_tip() || self.is_merged(image.edge) {
            return None;
        }
        Some(Position {
            edge: Some(image.edge),
            split: halve(self.tree().brlen(image.edge)),
            pendant: self.pendant_length,
            halves: [Some(Arm::First), Some(Arm::Second)],
        })
    }

    /// Lengths of a position under linked lengths, from distances in the global tree.
    fn linked_position(&self, candidate: EdgeId, image: &Image) -> Position {
        let halves = halve(self.global.brlen(candidate));
        let near_half =
            if self.global.ends(candidate)[0] == image.near { halves[0] } else { halves[1] };
        // Distance along the induced edge from `image.from`, and distance from this edge.
        let (position, off) = match image.hang {
            None => (image.position + near_half, 0.0),
            Some(hang) => (image.position, hang + near_half),
        };
        let total = self.tree().brlen(image.edge);
        let from_end = |end: NodeId| {
            if image.from == end { position } else { total - position }
        };
        let hangs = [Some(Arm::Pendant), None];
        if image.edge == self.pendant {
            // The candidate is between the partition's and the global tree's attachment node of S: the position
            // on the partition's tree does not change, only the pendant length does.
            let mut pendant = self.pendant_length + off + from_end(self.attach);
            if let Some((is_there, change)) = &self.empty_side
                && is_there[candidate.index()]
            {
                pendant += change;
            }
            let halves = if image.hang.is_some() { hangs } else { [None, Some(Arm::Pendant)] };
            if self.rest_is_tip() {
                return Position { edge: None, split: [0.0; 2], pendant, halves };
            }
            let [(_, left), (_, right)] = self.parts();
            let left = self.tree().brlen(left);
            let split = [left, self.tree().brlen(right) + self.merged_change];
            return Position { edge: None, split, pendant, halves };
        }
        let pendant = self.pendant_length + off;
        let [(_, left), (_, right)] = self.parts();
        if image.edge == left || image.edge == right {
            let far = self.tree().other_end(image.edge, self.attach);
            let both = self.merged_length();
            let here = from_end(far);
            let (split, on_path) = if image.edge == left {
                ([here, both - here], [Some(Arm::Second), Some(Arm::First)])
            } else {
                ([both - here, here], [Some(Arm::First), Some(Arm::Second)])
            };
            let halves = if image.hang.is_some() { hangs } else { on_path };
            return Position { edge: None, split, pendant, halves };
        }
        let here = from_end(self.view.near_end(image.edge));
        let on_path = [Some(Arm::First), Some(Arm::Second)];
        let halves = if image.hang.is_some() { hangs } else { on_path };
        Position { edge: Some(image.edge), split: [here, total - here], pendant, halves }
    }

    /// The two CLVs from which the up-CLV of `edge`, which connects `node` to the node nearer to S, is
    /// computed (the edge is not one for which [`PrunedPartition::is_merged`] is true): the CLV of the next edge
    /// towards S (`None` stands for the up-CLV of that edge) and that of the sibling, each with its edge
    /// (`None` for the merged edge).
    pub(super) fn up_sources(
        &self,
        node: NodeId,
        edge: EdgeId,
    ) -> [(Option<Clv>, Option<EdgeId>); 2] {
        let tree = self.tree();
        let above = tree.other_end(edge, node);
        let incoming_edge = self.view.toward(above);
        let [first, second] = tree.other_links(above, incoming_edge);
        let (sibling, sibling_edge) = if first.1 == edge { second } else { first };
        let incoming = if self.is_merged(incoming_edge) {
            let [a, b] = self.parts();
            let opposite = if a.0 == above { b.0 } else { a.0 };
            (Some(self.view.clv(opposite)), None)
        } else {
            (None, Some(incoming_edge))
        };
        [incoming, (Some(self.view.clv(sibling)), Some(sibling_edge))]
    }
}
