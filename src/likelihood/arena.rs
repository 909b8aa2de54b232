//! Buffers of numbers that start on a cache line.

/// A fixed-length buffer of `f64` whose first element lies on a 64-byte boundary. Zeroed; the pages
/// are touched first by the thread that allocates.
#[derive(Debug)]
pub struct Arena {
    buffer: Vec<f64>,
    start: usize,
    len: usize,
}

impl Arena {
    /// A buffer of `len` zeros.
    pub fn new(len: usize) -> Self {
        let buffer = vec![0.0; len + 8];
        let start = buffer.as_ptr().align_offset(64).min(8);
        Arena { buffer, start, len }
    }

    /// All numbers.
    pub fn as_slice(&self) -> &[f64] {
        &self.buffer[self.start..self.start + self.len]
    }

    /// All numbers, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}
