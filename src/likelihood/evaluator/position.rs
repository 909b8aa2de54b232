//! Where a pruned subtree could hang on one gene's tree, and at which lengths.
//!
//! Let S be the subtree and R the rest. What a position scores depends, for gene g, only on where it
//! lies on R|g. *Unlinked*: any induced edge is split in half, the pendant length is kept. *Linked
//! and scaled*: lengths follow from distances in the global tree: where on the induced edge the
//! position lies, and how far the subtree then hangs off it.

use super::brlens::halve;
use super::evaluator::Evaluator;
use super::gene_state::GeneState;
use super::prune::Prune;
use super::view::View;
use crate::likelihood::engine::Vector;
use crate::tree::{EdgeId, Image, NodeId, Restriction, Tree};

/// One of the three branches of a gene's tree that meet where a subtree is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    /// To the end that is nearer to S's old place (on the merged edge: to the end of its left part).
    First,
    /// To the other end.
    Second,
    /// To the subtree.
    Pendant,
}

/// One distinct score of a gene: the place of the subtree, with lengths as the tree has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Position {
    /// Induced edge of R|g; the merged edge is `None`.
    pub(super) edge: Option<EdgeId>,
    /// Lengths of the first and the second arm.
    pub(super) split: [f64; 2],
    /// Length of the pendant arm.
    pub(super) pendant: f64,
    /// The arms that contain the halves of the global edge: the one nearer to S's old place, the other.
    pub(super) halves: [Option<Arm>; 2],
}

/// One gene, one pruned subtree, with taxa of the gene both in S and in R.
pub(super) struct PrunedGene<'a> {
    pub(super) linked: bool,
    global: &'a Tree,
    pub(super) state: &'a GeneState,
    /// The gene's tree, looking at the pendant edge.
    pub(super) view: View<'a>,
    restriction: &'a Restriction,
    /// The gene's edge to its part of S, its end on R's side and its end on S's side.
    pub(super) pendant: EdgeId,
    pub(super) attach: NodeId,
    pub(super) subtree: NodeId,
    /// Distance from S's end to the global node that is pruned.
    pendant_length: f64,
    /// By how much the merged edge is longer than its two parts.
    merged_change: f64,
    /// If R's taxa of the gene are all on one side of the pruned node: the global edges of the other
    /// side, from which the way to them leads over the global merged edge, and that edge's change.
    empty_side: Option<(Vec<bool>, f64)>,
}

impl Evaluator {
    /// A gene (one of `prune.moving`) with the pruned subtree.
    pub(super) fn pruned_gene(&self, prune: &Prune, gene: usize) -> PrunedGene<'_> {
        let state = &self.genes[gene];
        let restriction = &self.restrictions[state.set];
        let (pendant, attach, subtree) = state
            .pendant(restriction, prune.attach, prune.pendant)
            .expect("a moving gene has taxa on both sides");
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
        let mut merged_change = prune.merged_changes[gene];
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
        PrunedGene {
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

impl PrunedGene<'_> {
    pub(super) fn tree(&self) -> &Tree {
        self.view.tree()
    }

    /// True if R|g is a single tip: only its distance matters.
    pub(super) fn rest_is_tip(&self) -> bool {
        self.tree().is_tip(self.attach)
    }

    /// The two edges that meet at S's place, with their far ends (R|g is no single tip).
    pub(super) fn parts(&self) -> [(NodeId, EdgeId); 2] {
        self.tree().other_links(self.attach, self.pendant)
    }

    /// Length of the edge those two are without S.
    pub(super) fn merged_length(&self) -> f64 {
        let [(_, left), (_, right)] = self.parts();
        self.tree().brlen(left) + self.tree().brlen(right) + self.merged_change
    }

    /// True for the three edges that meet where the gene's part of S hangs: without S they are one.
    pub(super) fn is_merged(&self, edge: EdgeId) -> bool {
        edge == self.pendant || self.parts().iter().any(|link| link.1 == edge)
    }

    /// Where a candidate lies; `None` if the gene's tree stays as it is.
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
        // Where on the induced edge, measured from `image.from`, and how far off it.
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
            // Between the place S hangs at (for this gene) and the pruned node: it all hangs there.
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

    /// What the up-vector of an edge above `node` is made from (the edge is none of the three at S's
    /// place): the vector that comes in from further above (`None` stands for the up-vector of the
    /// edge above) and the sibling's, each with its edge (`None` for the merged edge).
    pub(super) fn up_sources(
        &self,
        node: NodeId,
        edge: EdgeId,
    ) -> [(Option<Vector>, Option<EdgeId>); 2] {
        let tree = self.tree();
        let above = tree.other_end(edge, node);
        let incoming_edge = self.view.toward(above);
        let [first, second] = tree.other_links(above, incoming_edge);
        let (sibling, sibling_edge) = if first.1 == edge { second } else { first };
        let incoming = if self.is_merged(incoming_edge) {
            let [a, b] = self.parts();
            let opposite = if a.0 == above { b.0 } else { a.0 };
            (Some(self.view.vector(opposite)), None)
        } else {
            (None, Some(incoming_edge))
        };
        [incoming, (Some(self.view.vector(sibling)), Some(sibling_edge))]
    }
}
