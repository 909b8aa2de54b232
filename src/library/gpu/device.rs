//! [`Device`]: a GPU, opening it, and what is free on it.

use super::error::{GpuError, Result};
use cudarc::driver::sys::{CUdevice_attribute_enum as Attribute, CUresult};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, result, sys};
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, PoisonError};

/// Oldest compute capability that runs the kernels: Turing (2018), the oldest that CUDA 13 still supports. All kernels are
/// compiled for it, into NVIDIA's intermediate language; the driver translates it for the GPU, and remembers the result.
const OLDEST: (i32, i32) = (7, 5);

/// The contexts of GPUs that were opened, by their numbers. They are kept: to make one takes a fifth of a second, and the kernels in
/// it would be loaded again.
static CONTEXTS: Mutex<BTreeMap<usize, Arc<CudaContext>>> = Mutex::new(BTreeMap::new());

/// The context of a GPU.
fn context(number: usize) -> std::result::Result<Arc<CudaContext>, DriverError> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&number) {
        return Ok(context.clone());
    }
    let context = CudaContext::new(number)?;
    // SAFETY: events order work on several streams; each engine has a stream and buffers of its own.
    #[allow(unsafe_code)]
    unsafe {
        context.disable_event_tracking();
    }
    contexts.insert(number, context.clone());
    Ok(context)
}

/// An opened GPU.
#[derive(Debug)]
pub struct Device {
    pub(super) context: Arc<CudaContext>,
    /// Everything is done in the order of this stream.
    pub stream: Arc<CudaStream>,
    /// Number of multiprocessors.
    pub(crate) num_multiprocessors: usize,
    /// Most threads of a CTA: a power of two.
    pub(crate) most_threads: usize,
    /// True if CTAs of a launch may wait for each other.
    is_cooperative: bool,
    pub(super) number: usize,
    name: String,
}

pub(super) fn unavailable(reason: impl Into<String>) -> GpuError {
    GpuError::Unavailable(reason.into())
}

/// A GPU has too little memory for what is needed.
pub fn not_enough(needed: &str, free: u64) -> GpuError {
    unavailable(format!(
        "there is not enough memory on the GPU: it takes {needed}, and {} are free",
        mebibytes(free)
    ))
}

/// A number of bytes for messages.
pub fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// What the driver says of an error.
pub(super) fn text(error: DriverError) -> String {
    let name = error.error_name().map(|text| text.to_string_lossy().into_owned());
    let what = error.error_string().map(|text| text.to_string_lossy().into_owned());
    match (name, what) {
        (Ok(name), Ok(what)) => format!("{what} ({name})"),
        _ => format!("error {}", error.0 as u32),
    }
}

/// An error while computing.
pub(super) fn lost(error: DriverError) -> GpuError {
    GpuError::Lost(text(error))
}

/// Number of GPUs of this machine.
///
/// # Errors
/// [`GpuError::Unavailable`] if there is no driver or no GPU.
fn count() -> Result<usize> {
    // SAFETY: the call loads the driver's library, whose initialisation is the system's own and has no requirements.
    #[allow(unsafe_code)]
    let is_present = unsafe { sys::is_culib_present() };
    if !is_present {
        return Err(unavailable("this machine has no driver for NVIDIA GPUs (libcuda.so.1)"));
    }
    // A driver that is too old lacks functions, which cudarc reports by a panic.
    let count = catch_unwind(|| result::init().and_then(|()| CudaContext::device_count()));
    let none = || unavailable("the driver found no NVIDIA GPU");
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

/// The version of CUDA that the driver is for.
fn driver_version() -> std::result::Result<String, DriverError> {
    let mut version = 0;
    // SAFETY: the call writes one number.
    #[allow(unsafe_code)]
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

/// What is known of a GPU before it is opened.
#[derive(Debug, Clone)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub capability: (i32, i32),
    /// The version of CUDA that its driver is for.
    pub driver: String,
}

/// Looks whether a GPU is there and can run the kernels, without opening it.
///
/// # Errors
/// [`GpuError::Unavailable`], with the reason.
pub fn look_at(number: usize) -> Result<Known> {
    let gpus = count()?;
    if number >= gpus {
        let known = match gpus {
            1 => "only GPU 0".to_string(),
            _ => format!("GPUs 0 to {}", gpus - 1),
        };
        return Err(unavailable(format!("there is no GPU {number}; this machine has {known}")));
    }
    let failed = |error| unavailable(format!("GPU {number} cannot be used: {}", text(error)));
    let gpu = result::device::get(number as i32).map_err(failed)?;
    let name = result::device::get_name(gpu).map_err(failed)?;
    let attribute = |attribute| {
        // SAFETY: the GPU's handle comes from the driver.
        #[allow(unsafe_code)]
        let value = unsafe { result::device::get_attribute(gpu, attribute) };
        value.map_err(failed)
    };
    let capability = (
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    if capability < OLDEST {
        let ((own_major, own_minor), (major, minor)) = (capability, OLDEST);
        return Err(unavailable(format!(
            "GPU {number} ({name}) is too old: it has compute capability {own_major}.{own_minor}, and at least \
             {major}.{minor} is needed"
        )));
    }
    let driver = driver_version().map_err(failed)?;
    Ok(Known { name, capability, driver })
}

/// The numbers of GPUs that are given as bits; without any, the first one.
pub fn numbers(bits: u64) -> Vec<usize> {
    let chosen: Vec<usize> = (0..64).filter(|number| bits >> number & 1 == 1).collect();
    if chosen.is_empty() { vec![0] } else { chosen }
}

impl Device {
    /// Opens a GPU.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`], with the reason.
    pub fn open(number: usize) -> Result<Self> {
        let Known { name, .. } = look_at(number)?;
        let failed = |error| unavailable(format!("GPU {number} cannot be used: {}", text(error)));
        let context = context(number).map_err(failed)?;
        let multiprocessors = context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(failed)?;
        let threads = context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
            .map_err(failed)?;
        let is_cooperative = context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)
            .is_ok_and(|value| value != 0);
        Ok(Device {
            stream: context.new_stream().map_err(failed)?,
            num_multiprocessors: multiprocessors.max(1) as usize,
            most_threads: 1 << threads.max(1).ilog2(),
            is_cooperative,
            context,
            number,
            name,
        })
    }

    /// Its number and name, for messages.
    pub(super) fn described(&self) -> String {
        format!("GPU {} ({})", self.number, self.name)
    }

    /// Bytes of memory that are free, where the driver says.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        self.free_bytes_of_one(1)
    }

    /// The same for one of several engines that are to have the same share of the memory.
    pub(crate) fn free_bytes_of_one(&self, engines: usize) -> Option<u64> {
        let (free, total) = self.context.mem_get_info().ok()?;
        Some(free.min(total / engines) as u64)
    }

    /// Number of CTAs of so many threads of this kernel that can wait for each other, because they are on the GPU at the
    /// same time; 0 if none can.
    pub(crate) fn most_together(&self, kernel: &CudaFunction, threads: usize) -> usize {
        if !self.is_cooperative {
            return 0;
        }
        let resident =
            kernel.occupancy_max_active_blocks_per_multiprocessor(threads as u32, 0, None);
        resident.map_or(0, |resident| resident as usize * self.num_multiprocessors)
    }

    /// Waits until everything that was asked for is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(lost)
    }
}
