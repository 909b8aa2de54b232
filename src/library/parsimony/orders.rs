//! What all that compute with the columns of parsimony data do at the same time, each with its own.

use super::changes::changes_of;
use super::columns::Columns;
use super::fitch::score_of;
use super::views::{OwnViews, Place, Step};
use crate::tree::{EdgeId, NodeId, Tree};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What is counted on a tree.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Order<'a> {
    /// All changes: one number.
    Score(Cow<'a, Tree>),
    /// The changes on each edge.
    Changes(Cow<'a, Tree>),
}

impl Order<'_> {
    /// The numbers of these columns.
    pub(super) fn carry_out(&self, columns: &Columns) -> Vec<u64> {
        match self {
            Order::Score(tree) => vec![score_of(tree, columns)],
            Order::Changes(tree) => changes_of(tree, columns),
        }
    }
}

/// What is done with the views of a tree.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum ViewsOrder<'a> {
    /// The costs of a subtree at its place and at the steps of a walk.
    Costs(Place, Cow<'a, [Step]>),
    /// The costs of a taxon in these edges.
    TipCosts(usize, Cow<'a, [EdgeId]>),
    /// A subtree (behind an edge, at a node) is moved into an edge.
    Spr(NodeId, EdgeId, EdgeId),
    /// By an inner node, a taxon is put into an edge.
    AddTip(NodeId, NodeId, EdgeId),
}

impl ViewsOrder<'_> {
    /// The numbers of these views, which are those of the tree.
    pub(super) fn carry_out(&self, tree: &mut Tree, views: &mut OwnViews) -> Vec<u64> {
        match *self {
            ViewsOrder::Costs(place, ref steps) => views.all_costs(place, steps),
            ViewsOrder::TipCosts(taxon, ref edges) => views.all_tip_costs(taxon, edges),
            ViewsOrder::Spr(attach, pendant, target) => {
                views.spr(tree, attach, pendant, target);
                Vec::new()
            }
            ViewsOrder::AddTip(inner, taxon, target) => {
                views.add_tip(tree, inner, taxon, target);
                Vec::new()
            }
        }
    }
}
