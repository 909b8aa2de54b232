//! [`Walk`]: the places where a subtree may be regrafted, in the order in which their costs are computed.

use crate::tree::{ConstraintView, EdgeId, Home, NodeId, Tree};
use serde::{Deserialize, Serialize};

/// One end of an edge: the view from the edge of what lies behind that end.
pub(crate) type End = (EdgeId, NodeId);

/// A subtree, with what it lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) subtree: End,
    pub(crate) between: [End; 2],
}

impl Place {
    /// The subtree behind `pendant` at `attach`.
    pub(crate) fn of(tree: &Tree, attach: NodeId, pendant: EdgeId) -> Self {
        Place {
            subtree: (pendant, tree.other_end(pendant, attach)),
            between: tree.other_links(attach, pendant).map(|(node, edge)| (edge, node)),
        }
    }
}

/// An edge into which the subtree may be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// The edge, and its end away from the subtree.
    pub(crate) edge: End,
    /// The edge beside it, at their common node.
    pub(crate) beside: End,
    /// Number of edges from that which a prune would merge.
    pub(crate) distance: usize,
    /// At distance 1: what lies behind the edge by which the common node was reached. (Further away, that is what was found for the
    /// latest step of the distance before.)
    pub(crate) above: End,
}

/// The places at most `radius` edges away from the subtree (edges next to the one that a prune would merge are at 1; numbers are those
/// of the pruned tree) that a constraint allows. Its present place is not among them.
pub(super) struct Walk<'a> {
    tree: &'a Tree,
    constraint: Option<&'a ConstraintView<'a>>,
    place: Place,
    home: Option<Home>,
    radius: usize,
    stack: Vec<Step>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        constraint: Option<&'a ConstraintView<'a>>,
        attach: NodeId,
        pendant: EdgeId,
        radius: usize,
    ) -> Self {
        let place = Place::of(tree, attach, pendant);
        let home = constraint.and_then(|view| view.home(tree, attach, pendant));
        let mut walk = Walk { tree, constraint, place, home, radius, stack: Vec::new() };
        let [a, b] = place.between;
        walk.push(b, 1, a);
        walk.push(a, 1, b);
        walk
    }

    /// The subtree with its present place.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// The two edges beyond this one.
    fn push(&mut self, (by, node): End, distance: usize, above: End) {
        let may_pass = || match (self.constraint, self.home) {
            (Some(view), Some(home)) => view.may_pass(self.tree, home, node, by),
            _ => true,
        };
        if distance <= self.radius && !self.tree.is_tip(node) && may_pass() {
            let [first, second] = self.tree.other_links(node, by).map(|(far, edge)| (edge, far));
            self.stack.push(Step { edge: second, beside: first, distance, above });
            self.stack.push(Step { edge: first, beside: second, distance, above });
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.stack.pop()?;
        self.push(step.edge, step.distance + 1, step.above);
        Some(step)
    }
}
