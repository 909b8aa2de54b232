//! [`EdgeNumbers`]: a program's own numbers of edges.
//!
//! Most programs use few edges of a tree. With numbers of their own, they need no table of all edges.

use crate::tree::EdgeId;

/// Numbers of the edges that a program uses, from 0, in the order of their first use.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeNumbers {
    /// By edge of the tree; kept between programs, so that a small program takes little time in a large tree.
    numbers: Vec<Option<u32>>,
    edges: Vec<EdgeId>,
}

impl EdgeNumbers {
    /// The number of an edge.
    pub(super) fn of(&mut self, edge: EdgeId) -> u32 {
        if self.numbers.len() <= edge.index() {
            self.numbers.resize(edge.index() + 1, None);
        }
        *self.numbers[edge.index()].get_or_insert_with(|| {
            self.edges.push(edge);
            self.edges.len() as u32 - 1
        })
    }

    /// The edges by their numbers. The next program begins with number 0.
    pub(super) fn take(&mut self) -> Vec<EdgeId> {
        let edges = std::mem::take(&mut self.edges);
        edges.iter().for_each(|edge| self.numbers[edge.index()] = None);
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_numbered_in_the_order_of_their_first_use() {
        let mut numbers = EdgeNumbers::default();
        for _ in 0..2 {
            let found = [7, 2, 7, 9, 2].map(|edge| numbers.of(EdgeId(edge)));
            assert_eq!(found, [0, 1, 0, 2, 1]);
            assert_eq!(numbers.take(), [7, 2, 9].map(EdgeId));
        }
    }
}
