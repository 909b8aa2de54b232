//! [`ClusterRows`]: the distances of clusters as a tree grows, row by row, wherever they are.
//!
//! Trees are made with three operations, so that the same code serves a matrix in memory and one in a file: a row is
//! looked at, two clusters become one, and a second matrix begins as a copy of the first (the variances of BIONJ).

use super::square::{SquareMatrix, Stored};
use std::convert::Infallible;

/// Distances between clusters at the places 0, 1, ....
pub(super) trait ClusterRows: Sized {
    /// As what a distance is stored.
    type Value: Stored;
    /// What goes wrong where rows are read and written.
    type Fault;

    /// Number of clusters.
    fn len(&self) -> usize;

    /// The distances of a cluster from those at all places; what is at its own place has no meaning.
    ///
    /// # Errors
    /// A row that cannot be read.
    fn row(&mut self, place: usize) -> Result<&[Self::Value], Self::Fault>;

    /// Of two clusters, the one at the place `a`, the smaller one, becomes their union, with the distances `row` (what
    /// is at `a` and `b` has no meaning); then the last cluster takes the place `b`.
    ///
    /// # Errors
    /// A row that cannot be written.
    fn join(&mut self, a: usize, b: usize, row: &[Self::Value]) -> Result<(), Self::Fault>;

    /// The same again, before anything was joined.
    ///
    /// # Errors
    /// A copy that cannot be written.
    fn copy(&self) -> Result<Self, Self::Fault>;
}

/// The clusters at the first places of a square matrix.
#[derive(Debug, Clone)]
pub(super) struct RowsInMemory<T> {
    matrix: SquareMatrix<T>,
    count: usize,
}

impl<T: Stored> RowsInMemory<T> {
    pub(super) fn new(matrix: SquareMatrix<T>) -> Self {
        RowsInMemory { count: matrix.size(), matrix }
    }
}

impl<T: Stored> ClusterRows for RowsInMemory<T> {
    type Value = T;
    type Fault = Infallible;

    fn len(&self) -> usize {
        self.count
    }

    fn row(&mut self, place: usize) -> Result<&[T], Infallible> {
        Ok(self.matrix.row(place, self.count))
    }

    fn join(&mut self, a: usize, b: usize, row: &[T]) -> Result<(), Infallible> {
        self.matrix.replace(a, row);
        self.count -= 1;
        if b < self.count {
            self.matrix.copy(self.count, b, self.count);
        }
        Ok(())
    }

    fn copy(&self) -> Result<Self, Infallible> {
        Ok(self.clone())
    }
}
