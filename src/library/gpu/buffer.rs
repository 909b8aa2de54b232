//! [`Buffer`]: memory on a GPU, and copies to and from it.

use super::device::{Device, lost, mebibytes, not_enough};
use super::error::Result;
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};

/// Memory on a GPU that grows when more is needed, and does not keep its content then.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    slice: Option<CudaSlice<T>>,
    purpose: &'static str,
}

impl<T: DeviceRepr + Copy> Buffer<T> {
    /// An empty buffer.
    pub(crate) fn new(purpose: &'static str) -> Self {
        Buffer { slice: None, purpose }
    }

    /// Length in elements.
    pub(crate) fn len(&self) -> usize {
        self.slice.as_ref().map_or(0, CudaSlice::len)
    }

    /// Length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.len() * size_of::<T>()) as u64
    }

    /// Address on the GPU; 0 if the buffer is empty.
    pub(crate) fn address(&self, device: &Device) -> u64 {
        self.slice.as_ref().map_or(0, |slice| slice.device_ptr(&device.stream).0)
    }

    /// Makes the buffer at least so long; true if it was replaced by another, whose content is undefined.
    ///
    /// # Errors
    /// [`super::GpuError::Unavailable`] if there is not enough memory, or [`super::GpuError::Lost`].
    pub(crate) fn reserve(&mut self, device: &Device, len: usize) -> Result<bool> {
        if self.len() >= len {
            return Ok(false);
        }
        // The old one first: there may be no memory for both.
        self.slice = None;
        // SAFETY: all elements are written before they are read: buffers are filled from the host, or by kernels before
        // other kernels read them.
        #[allow(unsafe_code)]
        let slice = unsafe { device.stream.alloc::<T>(len) };
        let needed = len * size_of::<T>();
        self.slice = Some(slice.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let free = device.free_bytes().unwrap_or(0);
                not_enough(&format!("{} more for {}", mebibytes(needed as u64), self.purpose), free)
            }
            _ => lost(error),
        })?);
        Ok(true)
    }

    /// Copies numbers to the beginning of the buffer.
    ///
    /// # Errors
    /// Those of [`Buffer::reserve`].
    pub(crate) fn upload(&mut self, device: &Device, values: &[T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.reserve(device, values.len())?;
        let slice = self.slice.as_mut().expect("memory was reserved");
        device.stream.memcpy_htod(values, slice).map_err(lost)
    }

    /// The first numbers of the buffer, after all work on it.
    ///
    /// # Errors
    /// [`super::GpuError::Lost`].
    pub(crate) fn download(
        &self,
        device: &Device,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<T>> {
        let Some(slice) = self.slice.as_ref().filter(|_| !range.is_empty()) else {
            return Ok(Vec::new());
        };
        let found = device.stream.clone_dtoh(&slice.slice(range)).map_err(lost)?;
        device.wait()?;
        Ok(found)
    }
}
