//! [`Module`]: compiled kernels that were loaded into a GPU.

use super::buffer::Buffer;
use super::device::{Device, text, unavailable};
use super::error::Result;
use super::launch::{Grid, launch};
use cudarc::driver::{CudaFunction, CudaModule, PushKernelArg};
use cudarc::nvrtc::Ptx;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Kernels from one text in NVIDIA's intermediate language.
#[derive(Debug, Clone)]
pub(crate) struct Module {
    module: Arc<CudaModule>,
    device: String,
    /// Seconds in which the driver translated and loaded them.
    load_seconds: f64,
}

/// A GPU and the name of a text.
type Key = (usize, &'static str);

/// What was loaded, which is kept.
static LOADED: Mutex<Vec<(Key, Module)>> = Mutex::new(Vec::new());

impl Module {
    /// Loads kernels, of a text of this name, if that was not done before, and checks that the structs which they share with the host have these sizes: the kernel `sizes` writes its
    /// own.
    ///
    /// # Errors
    /// [`super::GpuError::Unavailable`] if the driver does not accept the kernels, or they are those of another version, which is an
    /// error of the build.
    pub(crate) fn load(
        device: &Device,
        name: &'static str,
        ptx: &'static str,
        sizes: &str,
        own_sizes: &[u32],
    ) -> Result<Self> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (device.number, name);
        if let Some((_, module)) = loaded.iter().find(|(known, _)| *known == key) {
            return Ok(module.clone());
        }
        let module = Self::load_now(device, ptx, sizes, own_sizes)?;
        loaded.push((key, module.clone()));
        Ok(module)
    }

    fn load_now(
        device: &Device,
        ptx: &'static str,
        sizes: &str,
        own_sizes: &[u32],
    ) -> Result<Self> {
        let described = device.described();
        let start = Instant::now();
        let module = device.context.load_module(Ptx::from_src(ptx)).map_err(|error| {
            unavailable(format!(
                "the driver does not accept the kernels for {described}: {}; version 525 or newer is needed",
                text(error)
            ))
        })?;
        let load_seconds = start.elapsed().as_secs_f64();
        let module = Module { module, device: described, load_seconds };
        let mut out = Buffer::<u32>::new("sizes");
        out.reserve(device, own_sizes.len())?;
        let address = out.address(device);
        let function = module.function(sizes)?;
        let mut arguments = device.stream.launch_builder(&function);
        arguments.arg(&address);
        // SAFETY: the kernel writes as many numbers as the buffer has.
        #[allow(unsafe_code)]
        unsafe {
            launch(&mut arguments, Grid { ctas: 1, threads: 1 })?;
        }
        match out.download(device, 0..own_sizes.len())? == own_sizes {
            true => Ok(module),
            false => Err(unavailable("its kernels do not belong to this version of mlsearch")),
        }
    }

    /// Seconds in which the driver translated and loaded all that was loaded into a GPU so far.
    pub(crate) fn seconds_of_all(device: &Device) -> f64 {
        let loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let own = loaded.iter().filter(|((gpu, _), _)| *gpu == device.number);
        own.map(|(_, module)| module.load_seconds).sum()
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// [`super::GpuError::Unavailable`] if there is none, which is an error of the build.
    pub(crate) fn function(&self, name: &str) -> Result<CudaFunction> {
        self.module.load_function(name).map_err(|error| {
            unavailable(format!("{} cannot be used: kernel '{name}': {}", self.device, text(error)))
        })
    }
}
