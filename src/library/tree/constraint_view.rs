//! [`ConstraintView`]: a tree as its constraint sees it, and where a subtree may be regrafted.
//!
//! Let T satisfy the constraint tree K, let S be a subtree that is pruned from it and R the rest. Pruning takes no split
//! of K from R, so that only the position of S can violate K. If S or R have no taxa of K, every position is legal.
//! Otherwise, the taxa of S are those of some, but not all, of the branches around one node of K, its *home* (were they a
//! whole clade, the home is the node of K to which this is attached). Every other branch of K at the home with two taxa or
//! more is a split that has S on its other side, and R has it, too: as a path of edges, beyond whose far end S must not go.
//! All other splits of K stay where they are. The legal positions are thus a connected part of R:
//!
//! ```text
//!        S                             home of S in K: the node where the clades {A,B}, {C,D} and S meet
//!        |           f                 legal: all edges between the nodes x and y and beyond f, a free subtree,
//!   A    |           |     C                  which may hang on the paths of both splits, too
//!     x --- -- ------ --- y            illegal: beyond x and beyond y
//!   B                      D
//! ```
//!
//! A walk from the present position over all legal ones meets each of these far ends at a node w, by an edge that it came
//! along. What is behind w, seen from this edge, is then exactly one branch at the home, and w is where it divides: taxa of
//! K are behind both other edges of w. Seen from the origin of K, this takes two numbers per node v of T: how many taxa of
//! K are below v, and their last common ancestor in K.
//!
//! - If w is the lower end of its edge, all below it is in one branch at the home if and only if the common ancestor is not
//!   the home itself.
//! - If w is the upper end, the origin is behind it. What is behind it is the one branch at the home towards the origin if
//!   and only if the nearer side has as many taxa of K as the home's clade.
//!
//! The two numbers are those of T with S at its present position, which takes part on the nearer side. So they are computed
//! once per tree, in time proportional to its size, and a walk asks once per node that it passes.

use super::constraint::{Constraint, ConstraintNode, NOWHERE};
use super::topology::{EdgeId, NodeId, Tree};

/// The home of a pruned subtree: a node of the constraint around which it may be regrafted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home(ConstraintNode);

/// A tree that satisfies a constraint, seen from the constraint's origin. To be updated when the tree has changed. The
/// tree may still be growing.
#[derive(Debug, Clone)]
pub(crate) struct ConstraintView<'c> {
    constraint: &'c Constraint,
    /// Per node the edge towards the origin; that of the origin itself and of nodes outside a growing tree is none.
    above: Vec<EdgeId>,
    /// Per node the number of taxa of the constraint at or below it.
    counts: Vec<u32>,
    /// Per node the last common ancestor of these taxa, in the constraint.
    ancestors: Vec<ConstraintNode>,
    /// Per node of the constraint the number of taxa of its clade that are in the tree, and one of them.
    present: Vec<(u32, NodeId)>,
}

impl Constraint {
    /// The taxa on the smaller side of a split that the tree lacks, ascending; `None` if the tree satisfies the
    /// constraint.
    pub fn violated(&self, tree: &Tree) -> Option<Vec<usize>> {
        let view = ConstraintView::new(self, tree);
        let mut has = vec![false; self.num_nodes()];
        for clade in tree.nodes().filter_map(|node| view.whole_clade(node)) {
            has[clade as usize] = true;
        }
        let lacking = self.clades().find(|&clade| !has[clade as usize])?;
        let is_below = |mut node: ConstraintNode| {
            // Nodes have larger numbers than those above them.
            while node != NOWHERE && node > lacking {
                node = self.parent(node);
            }
            node == lacking
        };
        let own = (0..tree.num_tips()).filter(|&taxon| self.place(taxon).is_some());
        let (inside, outside): (Vec<usize>, _) = own.partition(|&t| is_below(self.leaf(t)));
        Some(if inside.len() <= outside.len() { inside } else { outside })
    }
}

impl<'c> ConstraintView<'c> {
    /// The view of a tree.
    pub(crate) fn new(constraint: &'c Constraint, tree: &Tree) -> Self {
        let num_nodes = tree.num_nodes();
        let mut view = ConstraintView {
            constraint,
            above: vec![EdgeId::NONE; num_nodes],
            counts: vec![0; num_nodes],
            ancestors: vec![NOWHERE; num_nodes],
            present: vec![(0, NodeId::NONE); constraint.num_nodes()],
        };
        view.update(tree);
        view
    }

    /// Brings the view up to date.
    pub(crate) fn update(&mut self, tree: &Tree) {
        let Some((first, edge)) = tree.links(self.constraint.origin()).next() else { return };
        for (node, edge) in tree.preorder(first, edge).into_iter().rev() {
            let at = node.index();
            self.above[at] = edge;
            if tree.is_tip(node) {
                self.ancestors[at] = self.constraint.leaf(at);
                self.counts[at] = u32::from(self.ancestors[at] != NOWHERE);
                continue;
            }
            let [a, b] = tree.other_links(node, edge).map(|(child, _)| child.index());
            self.counts[at] = self.counts[a] + self.counts[b];
            self.ancestors[at] = match [self.ancestors[a], self.ancestors[b]] {
                [NOWHERE, only] | [only, NOWHERE] => only,
                [a, b] => self.constraint.common_ancestor(a, b),
            };
        }
        self.count_present();
    }

    fn count_present(&mut self) {
        self.present.fill((0, NodeId::NONE));
        for node in (0..self.constraint.num_nodes()).rev() {
            if let Some(taxon) = self.constraint.taxon(node as ConstraintNode)
                && self.above[taxon] != EdgeId::NONE
            {
                self.present[node] = (1, NodeId(taxon as u32));
            }
            let (count, taxon) = self.present[node];
            let parent = self.constraint.parent(node as ConstraintNode) as usize;
            if let Some(clade) = self.present.get_mut(parent).filter(|_| count > 0) {
                *clade = (clade.0 + count, taxon);
            }
        }
    }

    /// The home of the subtree behind `pendant`, seen from `attach`; `None` if it may be anywhere.
    pub(crate) fn home(&self, tree: &Tree, attach: NodeId, pendant: EdgeId) -> Option<Home> {
        let home = if self.above[attach.index()] == pendant {
            // The rest is what is below.
            self.ancestors[attach.index()]
        } else {
            let top = tree.other_end(pendant, attach);
            match self.whole_clade(top) {
                Some(clade) => self.constraint.parent(clade),
                None => self.ancestors[top.index()],
            }
        };
        (home != NOWHERE).then_some(Home(home))
    }

    /// True if a subtree that may be regrafted into the edge `by` may be regrafted beyond its end `node` as well. This is
    /// an inner node other than that of the subtree.
    pub(crate) fn may_pass(&self, tree: &Tree, Home(home): Home, node: NodeId, by: EdgeId) -> bool {
        let [a, b] = tree.other_links(node, by);
        let above = self.above[node.index()];
        if above == by {
            let divides = [a, b].iter().all(|(child, _)| self.counts[child.index()] > 0);
            return !divides || self.ancestors[node.index()] == home;
        }
        let (beside, _) = if a.1 == above { b } else { a };
        let nearer = self.counts[tree.other_end(by, node).index()];
        self.counts[beside.index()] == 0 || nearer != self.num_present(home)
    }

    /// True if the subtrees around an inner edge may be interchanged: if all splits of the constraint that the edge has are
    /// also those of others.
    pub(crate) fn may_interchange(&self, tree: &Tree, edge: EdgeId) -> bool {
        let [a, b] = tree.ends(edge);
        let lower = if self.above[a.index()] == edge { a } else { b };
        // Above is the origin.
        let upper = tree.other_links(tree.other_end(edge, lower), edge);
        let beside = upper.iter().filter(|(node, edge)| self.above[node.index()] == *edge);
        let around = tree.other_links(lower, edge);
        let divides = around.iter().chain(beside).all(|(node, _)| self.counts[node.index()] > 0);
        !divides || self.whole_clade(lower).is_none()
    }

    /// For each edge of a growing tree whether a further tip may be put into it; `None` if it may be put into any. The
    /// origin must be the first taxon of the constraint in the tree.
    pub(crate) fn places(&self, tree: &Tree, tip: usize) -> Option<Vec<bool>> {
        let mut home = self.constraint.leaf(tip);
        while home != NOWHERE && self.num_present(home) == 0 {
            home = self.constraint.parent(home);
        }
        if home == NOWHERE {
            return None;
        }
        // The edge above all taxa that the clade of the home has so far.
        let (count, mut node) = self.present[home as usize];
        while self.counts[node.index()] < count {
            node = tree.other_end(self.above[node.index()], node);
        }
        let edge = self.above[node.index()];
        let mut legal = vec![false; tree.num_edges()];
        legal[edge.index()] = true;
        let mut stack = vec![(node, edge), (tree.other_end(edge, node), edge)];
        while let Some((node, by)) = stack.pop() {
            if !tree.is_tip(node) && self.may_pass(tree, Home(home), node, by) {
                for (next, edge) in tree.other_links(node, by) {
                    legal[edge.index()] = true;
                    stack.push((next, edge));
                }
            }
        }
        Some(legal)
    }

    /// The node of the constraint at which the subtree behind `edge`, seen from its end `near`, meets others, and the
    /// number of its taxa of the constraint; `None` if it has none, or has the origin or all others.
    pub(super) fn meeting_point(
        &self,
        tree: &Tree,
        near: NodeId,
        edge: EdgeId,
    ) -> Option<(ConstraintNode, u32)> {
        let Home(home) =
            self.home(tree, near, edge).filter(|_| self.above[near.index()] != edge)?;
        Some((home, self.counts[tree.other_end(edge, near).index()]))
    }

    /// The node above a clade, of whose taxa this number was counted; `None` if these are not all, and above the top.
    pub(super) fn above_clade(&self, clade: ConstraintNode, count: u32) -> Option<ConstraintNode> {
        let above = self.constraint.parent(clade);
        (count == self.num_present(clade) && above != NOWHERE).then_some(above)
    }

    /// The clade of the constraint whose taxa in the tree are exactly those below a node, if there is one.
    pub(super) fn whole_clade(&self, node: NodeId) -> Option<ConstraintNode> {
        let clade = self.ancestors[node.index()];
        let is_whole = clade != NOWHERE && self.counts[node.index()] == self.num_present(clade);
        is_whole.then_some(clade)
    }

    fn num_present(&self, node: ConstraintNode) -> u32 {
        self.present[node as usize].0
    }
}
