//! [`View`]: a gene's tree with its vectors turned to another edge, while what is stored stays as it is.
//!
//! A node stores one CLV, so several subtrees, or several edges, can be looked at together only if the
//! vectors of further directions are temporaries of the program that needs them.

use super::gene_tree::GeneTree;
use crate::likelihood::engine::{SweepOperation, Vector};
use crate::tree::{EdgeId, NodeId, Tree};
use std::borrow::Cow;

/// All vectors of a gene's tree, pointing to one edge.
pub(super) struct View<'a> {
    gene_tree: Cow<'a, GeneTree>,
    /// What makes those that are not stored: temporaries, in their order from 0 on.
    operations: Vec<SweepOperation>,
    /// Slot → temporary.
    temporaries: Vec<Option<u32>>,
}

impl<'a> View<'a> {
    /// Turned to the last of some edges, one after the other: vectors that contain one of the others'
    /// lengths are made anew.
    pub(super) fn at(gene_tree: &'a GeneTree, edges: &[EdgeId]) -> Self {
        let mut view = View {
            gene_tree: Cow::Borrowed(gene_tree),
            operations: Vec::new(),
            temporaries: Vec::new(),
        };
        if edges.iter().all(|&edge| edge == gene_tree.root()) && gene_tree.is_up_to_date() {
            return view;
        }
        let turned = view.gene_tree.to_mut();
        edges.iter().for_each(|&edge| turned.move_root(edge));
        turned.take_stale(&mut view.operations);
        view.temporaries = vec![None; turned.tree().num_nodes()];
        for (number, operation) in view.operations.iter_mut().enumerate() {
            operation.children = operation.children.map(|child| of(&view.temporaries, child));
            if let Vector::Clv(slot) = operation.parent {
                view.temporaries[slot as usize] = Some(number as u32);
            }
            operation.parent = Vector::Temporary(number as u32);
        }
        view
    }

    /// Structure and lengths.
    pub(super) fn tree(&self) -> &Tree {
        self.gene_tree.tree()
    }

    /// What makes the vectors that are not stored.
    pub(super) fn operations(&self) -> &[SweepOperation] {
        &self.operations
    }

    /// A node's vector.
    pub(super) fn vector(&self, node: NodeId) -> Vector {
        of(&self.temporaries, self.gene_tree.vector(node))
    }

    /// The two vectors at the edge that all of them point to.
    pub(super) fn root_ends(&self) -> [Vector; 2] {
        self.gene_tree.root_ends().map(|end| of(&self.temporaries, end))
    }

    /// The edge that a node's vector looks at.
    pub(super) fn toward(&self, node: NodeId) -> EdgeId {
        self.gene_tree.toward(node)
    }

    /// The end of an edge that is nearer to the one that all vectors point to.
    pub(super) fn near_end(&self, edge: EdgeId) -> NodeId {
        self.gene_tree.near_end(edge)
    }
}

/// The vector itself, or the temporary that stands for it.
fn of(temporaries: &[Option<u32>], vector: Vector) -> Vector {
    match vector {
        Vector::Clv(slot) => match temporaries.get(slot as usize) {
            Some(Some(number)) => Vector::Temporary(*number),
            _ => vector,
        },
        _ => vector,
    }
}
