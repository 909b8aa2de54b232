//! [`SquareMatrix`]: distances of all pairs of taxa in memory, as trees are made from them.

use std::fmt::Debug;

/// How a distance is stored: in 8 bytes, or in 4 for many taxa.
pub trait Stored: Copy + Debug + Send + Sync + 'static {
    /// From a distance.
    fn store(value: f64) -> Self;
    /// The distance.
    fn load(self) -> f64;
}

impl Stored for f64 {
    #[inline(always)]
    fn store(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn load(self) -> f64 {
        self
    }
}

impl Stored for f32 {
    #[inline(always)]
    fn store(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn load(self) -> f64 {
        f64::from(self)
    }
}

/// A symmetric matrix with zeros in its diagonal, both halves stored, so that a row is contiguous.
#[derive(Debug, Clone)]
pub struct SquareMatrix<T> {
    size: usize,
    values: Vec<T>,
}

impl<T: Stored> SquareMatrix<T> {
    /// All distances are 0.
    pub fn zero(size: usize) -> Self {
        SquareMatrix { size, values: vec![T::store(0.0); size * size] }
    }

    /// Number of taxa.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The distance of two taxa.
    #[inline(always)]
    pub fn get(&self, a: usize, b: usize) -> f64 {
        self.values[a * self.size + b].load()
    }

    /// Sets the distance of two taxa.
    #[inline(always)]
    pub fn set(&mut self, a: usize, b: usize, distance: f64) {
        self.values[a * self.size + b] = T::store(distance);
        self.values[b * self.size + a] = T::store(distance);
    }

    /// The distances of a taxon from the first `width`.
    #[inline(always)]
    pub(super) fn row(&self, a: usize, width: usize) -> &[T] {
        &self.values[a * self.size..][..width]
    }

    /// Sets the distances of a taxon from the first ones.
    pub(super) fn replace(&mut self, a: usize, row: &[T]) {
        self.values[a * self.size..][..row.len()].copy_from_slice(row);
        for (other, &distance) in row.iter().enumerate() {
            self.values[other * self.size + a] = distance;
        }
        self.values[a * self.size + a] = T::store(0.0);
    }

    /// Copies the distances of one place from the first `width` to another place, in both halves.
    pub(super) fn copy(&mut self, from: usize, to: usize, width: usize) {
        for other in (0..width).filter(|&other| other != to) {
            let distance = self.values[from * self.size + other];
            self.values[to * self.size + other] = distance;
            self.values[other * self.size + to] = distance;
        }
        self.values[to * self.size + to] = T::store(0.0);
    }

    /// Puts the largest known distance in the place of each that is infinite or not a number. Returns how many there
    /// were, and that distance.
    pub fn fill_unknown(&mut self) -> (usize, f64) {
        let known = self.values.iter().map(|value| value.load()).filter(|value| value.is_finite());
        let largest = known.fold(0.0, f64::max);
        let mut count = 0;
        for value in self.values.iter_mut().filter(|value| !value.load().is_finite()) {
            *value = T::store(largest);
            count += 1;
        }
        (count / 2, largest)
    }
}
