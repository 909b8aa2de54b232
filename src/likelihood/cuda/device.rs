//! A card: opening it, its memory, and copies to and from it.

use super::modules::{KernelId, NAME, SWEEP_OF_ANY, ptx_for};
use crate::likelihood::engine::layout::{BLOCK, STATE_COUNTS};
use crate::likelihood::engine::{EngineError, Result};
use cudarc::driver::sys::{CUdevice_attribute_enum as Attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr,
    DriverError, result, sys,
};
use cudarc::nvrtc::Ptx;
use std::panic::catch_unwind;
use std::sync::Arc;

/// An opened card with its kernels.
#[derive(Debug)]
pub(super) struct Device {
    context: Arc<CudaContext>,
    pub(super) stream: Arc<CudaStream>,
    functions: Vec<CudaFunction>,
    sweep_of_any: CudaFunction,
    module: Arc<CudaModule>,
    pub(super) common_sizes: CudaFunction,
    /// Number of multiprocessors.
    pub(super) num_multiprocessors: usize,
    /// True if CTAs of a launch may wait for each other.
    is_cooperative: bool,
}

fn unavailable(reason: impl Into<String>) -> EngineError {
    EngineError::Unavailable { engine: NAME, reason: reason.into() }
}

/// A card has too little memory for what is needed.
pub(super) fn not_enough(needed: &str, free: u64) -> EngineError {
    unavailable(format!(
        "there is not enough memory on the card: it takes {needed}, and {} are free",
        mebibytes(free)
    ))
}

/// A number of bytes for messages.
pub(super) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// What the driver says of an error.
fn text(error: DriverError) -> String {
    let name = error.error_name().map(|text| text.to_string_lossy().into_owned());
    let what = error.error_string().map(|text| text.to_string_lossy().into_owned());
    match (name, what) {
        (Ok(name), Ok(what)) => format!("{what} ({name})"),
        _ => format!("error {}", error.0 as u32),
    }
}

/// An error while computing.
pub(super) fn lost(error: DriverError) -> EngineError {
    EngineError::Lost { engine: NAME, reason: text(error) }
}

/// Number of cards of this machine.
///
/// # Errors
/// [`EngineError::Unavailable`] if there is no driver or no card.
pub(super) fn count() -> Result<usize> {
    // SAFETY: the call loads the driver's library, whose initialisation is the system's own and has no requirements.
    #[allow(unsafe_code)]
    let is_present = unsafe { sys::is_culib_present() };
    if !is_present {
        return Err(unavailable("this machine has no driver for NVIDIA cards (libcuda.so.1)"));
    }
    // A driver that is too old lacks functions, which cudarc reports by a panic.
    let count = catch_unwind(|| result::init().and_then(|()| CudaContext::device_count()));
    let none = || unavailable("the driver found no NVIDIA card");
    match count {
        Ok(Ok(count)) if count > 0 => Ok(count as usize),
        Ok(Ok(_)) => Err(none()),
        Ok(Err(error)) if error.0 == CUresult::CUDA_ERROR_NO_DEVICE => Err(none()),
        Ok(Err(error)) => {
            Err(unavailable(format!("the driver could not be started: {}", text(error))))
        }
        Err(_) => {
            Err(unavailable("the driver is too old: at least version 525 (CUDA 12.0) is needed"))
        }
    }
}

/// What is known of a card before it is opened.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Its name.
    pub(super) name: String,
    /// Its compute capability.
    pub(super) capability: (i32, i32),
    /// The kernels' code for it.
    code: &'static str,
}

/// Looks whether a card is there and can run the kernels, without opening it.
///
/// # Errors
/// [`EngineError::Unavailable`], with the reason.
pub(super) fn look_at(number: usize) -> Result<Known> {
    let cards = count()?;
    if number >= cards {
        let known = match cards {
            1 => "only card 0".to_string(),
            _ => format!("cards 0 to {}", cards - 1),
        };
        return Err(unavailable(format!("there is no card {number}; this machine has {known}")));
    }
    let failed = |error| unavailable(format!("card {number} cannot be used: {}", text(error)));
    let card = result::device::get(number as i32).map_err(failed)?;
    let name = result::device::get_name(card).map_err(failed)?;
    let attribute = |attribute| {
        // SAFETY: the card's handle comes from the driver.
        #[allow(unsafe_code)]
        let value = unsafe { result::device::get_attribute(card, attribute) };
        value.map_err(failed)
    };
    let capability = (
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    let code = ptx_for(capability).map_err(|(major, minor)| {
        let (own_major, own_minor) = capability;
        unavailable(format!(
            "card {number} ({name}) is too old: it has compute capability {own_major}.{own_minor}, and at least \
             {major}.{minor} is needed"
        ))
    })?;
    Ok(Known { name, capability, code })
}

impl Device {
    /// Opens a card and loads the kernels.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], with the reason.
    pub(super) fn open(number: usize) -> Result<Self> {
        let known = look_at(number)?;
        let Known { name, code, .. } = &known;
        let failed = |error| unavailable(format!("card {number} cannot be used: {}", text(error)));
        let context = CudaContext::new(number).map_err(failed)?;
        // SAFETY: events order work on several streams; everything of this context is on one stream.
        #[allow(unsafe_code)]
        unsafe {
            context.disable_event_tracking();
        }
        let module = context.load_module(Ptx::from_src(*code)).map_err(|error| {
            unavailable(format!(
                "the driver does not accept the kernels for card {number} ({name}): {}; version 525 or newer is needed",
                text(error)
            ))
        })?;
        let mut functions = Vec::new();
        for id in KernelId::ALL {
            for states in STATE_COUNTS {
                functions.push(module.load_function(&id.function(states)).map_err(failed)?);
            }
        }
        let multiprocessors = context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(failed)?;
        let is_cooperative = context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)
            .is_ok_and(|value| value != 0);
        Ok(Device {
            stream: context.new_stream().map_err(failed)?,
            common_sizes: module.load_function("common_sizes").map_err(failed)?,
            num_multiprocessors: multiprocessors.max(1) as usize,
            sweep_of_any: module.load_function(SWEEP_OF_ANY).map_err(failed)?,
            module,
            functions,
            is_cooperative,
            context,
        })
    }

    /// Bytes of memory that are free, where the driver says.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        self.free_bytes_of_one(1)
    }

    /// The same for one of several engines that are to have the same share of the memory.
    pub(super) fn free_bytes_of_one(&self, engines: usize) -> Option<u64> {
        let (free, total) = self.context.mem_get_info().ok()?;
        Some(free.min(total / engines) as u64)
    }

    /// A kernel of other code than the engine's.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the driver does not accept it.
    pub(super) fn load(&self, code: &'static str, name: &str) -> Result<CudaFunction> {
        let module = self.context.load_module(Ptx::from_src(code));
        let function = module.and_then(|module| module.load_function(name));
        function.map_err(|error| unavailable(format!("kernel '{name}': {}", text(error))))
    }

    /// A kernel for so many states.
    pub(super) fn function(&self, id: KernelId, states: usize) -> &CudaFunction {
        &self.functions[id.number(states)]
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// [`EngineError::Lost`].
    pub(super) fn named(&self, name: &str) -> Result<CudaFunction> {
        self.module.load_function(name).map_err(lost)
    }

    /// The kernel of sweeps over genes with so many states, or with different ones.
    pub(super) fn sweep(&self, states: Option<usize>) -> &CudaFunction {
        states.map_or(&self.sweep_of_any, |states| self.function(KernelId::Sweep, states))
    }

    /// Number of CTAs of this kernel that can wait for each other, because they are on the card at the same time; 0 if
    /// none can.
    pub(super) fn most_together(&self, kernel: &CudaFunction) -> usize {
        if !self.is_cooperative {
            return 0;
        }
        let resident = kernel.occupancy_max_active_blocks_per_multiprocessor(BLOCK as u32, 0, None);
        resident.map_or(0, |resident| resident as usize * self.num_multiprocessors)
    }

    /// Waits until everything that was asked for is done.
    ///
    /// # Errors
    /// [`EngineError::Lost`].
    pub(super) fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(lost)
    }
}

/// Memory on a card that grows when more is needed, and does not keep its content then.
#[derive(Debug)]
pub(super) struct Buffer<T> {
    slice: Option<CudaSlice<T>>,
    purpose: &'static str,
}

impl<T: DeviceRepr + Copy> Buffer<T> {
    /// An empty buffer.
    pub(super) fn new(purpose: &'static str) -> Self {
        Buffer { slice: None, purpose }
    }

    /// Length in elements.
    pub(super) fn len(&self) -> usize {
        self.slice.as_ref().map_or(0, CudaSlice::len)
    }

    /// Length in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.len() * size_of::<T>()) as u64
    }

    /// Address on the card; 0 if the buffer is empty.
    pub(super) fn address(&self, device: &Device) -> u64 {
        self.slice.as_ref().map_or(0, |slice| slice.device_ptr(&device.stream).0)
    }

    /// Makes the buffer at least so long; true if it was replaced by another, whose content is undefined.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if there is not enough memory, or [`EngineError::Lost`].
    pub(super) fn reserve(&mut self, device: &Device, len: usize) -> Result<bool> {
        if self.len() >= len {
            return Ok(false);
        }
        // The old one first: there may be no memory for both.
        self.slice = None;
        // SAFETY: all elements are written before they are read: buffers are filled from the host, or by kernels before
        // other kernels read them (the order of a program, which `Checked` has checked).
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
    pub(super) fn upload(&mut self, device: &Device, values: &[T]) -> Result<()> {
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
    /// [`EngineError::Lost`].
    pub(super) fn download(
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
