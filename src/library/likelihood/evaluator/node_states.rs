//! Probabilities of the states at the inner nodes of the global tree, on the tree of each partition.
//!
//! An inner node of the global tree is a node of T|g if taxa of the partition are on all three sides of it, and a point on a
//! branch of T|g if they are on two sides. Otherwise T|g says nothing about the node: its states would be those
//! of another point, carried along a branch without any data.

use super::evaluator::Evaluator;
use crate::likelihood::engine::{PointJob, Result};
use crate::tree::{EdgeId, NodeId};

/// An evaluator whose nodes are asked for their states.
///
/// The virtual root of each partition moves from node to node, so neighbours should follow each other: then a node costs one
/// or two CLV updates.
pub struct NodeStates<'a> {
    evaluator: &'a mut Evaluator,
    /// `[set of taxa][edge of T|g]`: the sum of the global lengths on its path.
    path_lengths: Vec<Vec<f64>>,
}

/// A point on a partition's tree.
struct Point {
    edge: EdgeId,
    /// One end of the edge.
    from: NodeId,
    /// Distances from this end and from the other.
    distances: [f64; 2],
}

impl<'a> NodeStates<'a> {
    /// For the present tree, branch lengths and models.
    pub fn new(evaluator: &'a mut Evaluator) -> Self {
        evaluator.update_restrictions();
        let tree = &evaluator.tree;
        let lengths = evaluator.restrictions.iter().map(|restriction| {
            let mut lengths = vec![0.0; 2 * restriction.taxa().len()];
            if restriction.taxa().len() >= 2 {
                for edge in tree.edges().filter(|&edge| restriction.is_on_path(edge)) {
                    lengths[restriction.image(edge).edge.index()] += tree.brlen(edge);
                }
            }
            lengths
        });
        let path_lengths = lengths.collect();
        NodeStates { evaluator, path_lengths }
    }

    /// For each partition the probability of each state at an inner node of the global tree, given all data of the pattern
    /// in the partition: `[pattern][state]`. `None` if the partition has no taxa on two or more sides of the node.
    ///
    /// Under unlinked lengths, a node that is a point on a branch of a partition's tree divides the branch in the same
    /// proportion as the global lengths do, because the partition's own data do not say where it is.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn at(&mut self, node: NodeId) -> Result<Vec<Option<Vec<f64>>>> {
        let num_partitions = self.evaluator.num_partitions();
        let points: Vec<Option<Point>> =
            (0..num_partitions).map(|partition| self.point(partition, node)).collect();
        let evaluator = &mut *self.evaluator;
        let (mut partitions, mut jobs) = (Vec::new(), Vec::new());
        for (partition, point) in points.iter().enumerate() {
            let Some(Point { edge, from, distances }) = point else { continue };
            if evaluator.partitions[partition].tree.root() != *edge {
                evaluator.set_virtual_root(partition, *edge);
            }
            let state = &evaluator.partitions[partition];
            let mut brlens = distances.map(|distance| state.brlen_scaler * distance);
            if state.tree.tree().ends(*edge)[0] != *from {
                brlens.reverse();
            }
            partitions.push(partition);
            jobs.push(PointJob { partition, ends: state.tree.root_ends(), brlens });
        }
        evaluator.update_partials(&partitions)?;
        let mut found = evaluator.compute(|engine| engine.state_probabilities(&jobs))?.into_iter();
        Ok(points.iter().map(|point| point.as_ref().and_then(|_| found.next())).collect())
    }

    /// Where an inner node of the global tree is on a partition's tree.
    fn point(&self, partition: usize, node: NodeId) -> Option<Point> {
        let Evaluator { tree, linkage, partitions, restrictions, .. } = &*self.evaluator;
        let (state, restriction) =
            (&partitions[partition], &restrictions[partitions[partition].set]);
        if restriction.taxa().len() < 2 {
            return None;
        }
        let on_path = tree.links(node).map(|(_, edge)| edge);
        let on_path: Vec<EdgeId> = on_path.filter(|&edge| restriction.is_on_path(edge)).collect();
        let image = restriction.image(*on_path.first()?);
        let total = state.tree.tree().brlen(image.edge);
        let is_near = image.near == node;
        let distance = if on_path.len() == 3 {
            // A node of T|g: the first one at or behind `near`, or the other end of the edge.
            if is_near { 0.0 } else { total }
        } else {
            let position = image.position + if is_near { 0.0 } else { tree.brlen(on_path[0]) };
            let path = self.path_lengths[state.set][image.edge.index()];
            match linkage.has_own_lengths() {
                true if path > 0.0 => total * (position / path).min(1.0),
                true => total / 2.0,
                false => position.min(total),
            }
        };
        let distances = [distance, total - distance];
        Some(Point { edge: image.edge, from: image.from, distances })
    }
}
