//! [`GpuError`].

use crate::error::Error;
use std::fmt;

/// What computes on GPUs, as users name it.
pub const NAME: &str = "cuda";

/// A GPU cannot compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuError {
    /// This machine or this build cannot use it: why not, and what is needed.
    Unavailable(String),
    /// It is no longer available: the cause, as reported by the driver.
    Lost(String),
}

/// Short form of `std::result::Result` with [`GpuError`].
pub type Result<T> = std::result::Result<T, GpuError>;

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuError::Unavailable(reason) => {
                write!(f, "the {NAME} engine cannot be used: {reason}")
            }
            GpuError::Lost(reason) => write!(f, "the {NAME} engine stopped working: {reason}"),
        }
    }
}

impl std::error::Error for GpuError {}

impl From<GpuError> for Error {
    fn from(error: GpuError) -> Self {
        Error::Engine(error.to_string())
    }
}
