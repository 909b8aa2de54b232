//! [`View`]: a partition's tree with its CLVs pointing to another edge, without changing the stored ones.
//!
//! Each node has one stored CLV. So that several subtrees or edges can be evaluated in one call, CLVs of
//! other directions are temporaries of the programs that need them.

use super::partition_tree::PartitionTree;
use crate::likelihood::engine::{Clv, SweepOperation};
use crate::tree::{EdgeId, NodeId, Tree};
use std::borrow::Cow;

/// A partition's tree with all CLVs pointing to one edge.
pub(super) struct View<'a> {
    partition_tree: Cow<'a, PartitionTree>,
    /// Updates that make the CLVs that are not stored, as temporaries numbered from 0.
    operations: Vec<SweepOperation>,
    /// Number of the temporary that replaces a stored CLV, by slot.
    temporaries: Vec<Option<u32>>,
}

impl<'a> View<'a> {
    /// A view with all CLVs pointing to the last of the given edges. The virtual root is moved to one edge
    /// after the other, so CLVs that depend on the length of one of the others are recomputed.
    pub(super) fn at(partition_tree: &'a PartitionTree, edges: &[EdgeId]) -> Self {
        let mut view = View {
            partition_tree: Cow::Borrowed(partition_tree),
            operations: Vec::new(),
            temporaries: Vec::new(),
        };
        if edges.iter().all(|&edge| edge == partition_tree.root()) && partition_tree.is_up_to_date()
        {
            return view;
        }
        let turned = view.partition_tree.to_mut();
        edges.iter().for_each(|&edge| turned.move_root(edge));
        turned.take_stale(&mut view.operations);
        view.temporaries = vec![None; turned.tree().num_nodes()];
        for (number, operation) in view.operations.iter_mut().enumerate() {
            operation.children = operation.children.map(|child| of(&view.temporaries, child));
            if let Clv::Stored(slot) = operation.parent {
                view.temporaries[slot as usize] = Some(number as u32);
            }
            operation.parent = Clv::Temporary(number as u32);
        }
        view
    }

    /// Topology and branch lengths.
    pub(super) fn tree(&self) -> &Tree {
        self.partition_tree.tree()
    }

    /// Updates that make the CLVs that are not stored.
    pub(super) fn operations(&self) -> &[SweepOperation] {
        &self.operations
    }

    /// The same for a program with its own numbers of edges: `length` of each edge that they read is appended to
    /// the program's lengths.
    pub(super) fn numbered_operations(
        &self,
        brlens: &mut Vec<f64>,
        length: impl Fn(EdgeId) -> f64,
    ) -> Vec<SweepOperation> {
        let number = |operation: &SweepOperation| SweepOperation {
            edges: operation.edges.map(|edge| push(brlens, length(EdgeId(edge)))),
            ..*operation
        };
        self.operations.iter().map(number).collect()
    }

    /// A node's CLV.
    pub(super) fn clv(&self, node: NodeId) -> Clv {
        of(&self.temporaries, self.partition_tree.clv(node))
    }

    /// The two CLVs at the edge to which all CLVs point.
    pub(super) fn root_ends(&self) -> [Clv; 2] {
        self.partition_tree.root_ends().map(|end| of(&self.temporaries, end))
    }

    /// The edge towards which a node's CLV points.
    pub(super) fn toward(&self, node: NodeId) -> EdgeId {
        self.partition_tree.toward(node)
    }

    /// The end of an edge that is nearer to the edge to which all CLVs point.
    pub(super) fn near_end(&self, edge: EdgeId) -> NodeId {
        self.partition_tree.near_end(edge)
    }
}

/// Appends a length of a program; returns its number.
pub(super) fn push(brlens: &mut Vec<f64>, length: f64) -> u32 {
    brlens.push(length);
    brlens.len() as u32 - 1
}

/// The CLV itself, or the temporary that replaces it.
fn of(temporaries: &[Option<u32>], clv: Clv) -> Clv {
    match clv {
        Clv::Stored(slot) => match temporaries.get(slot as usize) {
            Some(Some(number)) => Clv::Temporary(*number),
            _ => clv,
        },
        _ => clv,
    }
}
