//! Buffers of numbers that are aligned to cache lines.

use crate::likelihood::engine::{EngineError, Result};

/// A fixed-length buffer of `f64` whose first element is on a 64-byte boundary. It is filled with zeros, and
/// its memory pages are first touched when they are written.
#[derive(Debug, Default)]
pub(super) struct Arena {
    buffer: Vec<f64>,
    start: usize,
    len: usize,
}

/// `len` zeros.
///
/// # Errors
/// [`EngineError::OutOfMemory`].
pub(super) fn zeros<T: bytemuck::Zeroable>(len: usize, purpose: &'static str) -> Result<Vec<T>> {
    let bytes = (len * size_of::<T>()) as u64;
    bytemuck::allocation::try_zeroed_vec(len)
        .map_err(|()| EngineError::OutOfMemory { bytes, purpose })
}

/// Sets the length of a buffer; it keeps its elements, and new ones are zeros.
///
/// # Errors
/// [`EngineError::OutOfMemory`].
pub(super) fn grow<T: bytemuck::Zeroable + Clone>(
    buffer: &mut Vec<T>,
    len: usize,
    purpose: &'static str,
) -> Result<()> {
    let more = len.saturating_sub(buffer.len());
    let bytes = (more * size_of::<T>()) as u64;
    buffer.try_reserve_exact(more).map_err(|_| EngineError::OutOfMemory { bytes, purpose })?;
    buffer.resize(len, T::zeroed());
    Ok(())
}

impl Arena {
    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// [`EngineError::OutOfMemory`].
    pub(super) fn new(len: usize, purpose: &'static str) -> Result<Self> {
        let buffer: Vec<f64> = zeros(len + 8, purpose)?;
        let start = buffer.as_ptr().align_offset(64).min(8);
        Ok(Arena { buffer, start, len })
    }

    /// All numbers.
    pub(super) fn as_slice(&self) -> &[f64] {
        &self.buffer[self.start..self.start + self.len]
    }

    /// All numbers, mutable.
    pub(super) fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}
